//! API keys and the environments they belong to: make, list, revoke, recognise; when they end, and were used. A key exists in the clear once, in
//! the answer of its creation; the database holds its SHA-256.

use std::str::FromStr;

use jiff::{Span, Timestamp, civil::Date, tz::TimeZone};
use rusqlite::{Connection, OptionalExtension, Row, named_params};
use secrecy::{ExposeSecret, SecretString};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use super::{
    secret::{self, Hash},
    store::{Access, Store, StoreError},
};

/// Longest name of an environment, in characters.
const LONGEST_ENVIRONMENT: usize = 100;

/// An API key as it may be listed: everything but the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    pub id: i64,
    pub environment: String,
    /// `Customer` or `Testing`.
    pub tag: Option<String>,
    pub read_only: bool,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// From then on it is refused.
    pub expires_at: Option<Timestamp>,
    /// To the minute; of requests that came as far as the groups.
    pub last_used_at: Option<Timestamp>,
}

impl KeyInfo {
    /// Neither revoked nor over.
    pub fn is_valid(&self) -> bool {
        let is_over = |at| at <= Timestamp::now();
        self.revoked_at.is_none() && !self.expires_at.is_some_and(is_over)
    }
}

/// When a key is to end: at a time, or so long after it was made.
#[derive(Debug, Clone, Copy)]
pub enum Expiry {
    At(Timestamp),
    In(Span),
}

impl FromStr for Expiry {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(at) = text.parse::<Timestamp>() {
            return Ok(Self::At(at));
        }
        if let Ok(day) = text.parse::<Date>() {
            let midnight = day.to_zoned(TimeZone::UTC).map(|at| at.timestamp());
            return midnight.map(Self::At).map_err(|_| WHEN);
        }
        let span = text.parse::<Span>().map_err(|_| WHEN)?;
        Ok(Self::In(span))
    }
}

const WHEN: &str = "write a duration, a day or a time: 90d, 2027-01-31 or 2027-01-31T12:00:00Z";

impl Expiry {
    fn after(self, now: Timestamp) -> Result<Timestamp, StoreError> {
        let at = match self {
            Self::At(at) => Some(at),
            Self::In(span) => {
                let later = now.to_zoned(TimeZone::UTC).checked_add(span);
                later.ok().map(|at| at.timestamp())
            }
        };
        at.filter(|at| *at > now).ok_or(StoreError::InvalidExpiry)
    }
}

/// How old a time of last use may get before it is written anew.
const USE_IS_FRESH: i64 = 60_000;

/// Whoever holds a live key: the environment, and what may be done in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) environment: i64,
    pub(super) tag: Option<String>,
    pub(super) read_only: bool,
    last_used_at: Option<i64>,
}

impl Caller {
    /// Whoever may do everything in an environment.
    pub(super) fn of(environment: i64, tag: Option<String>) -> Self {
        Self {
            environment,
            tag,
            read_only: false,
            last_used_at: None,
        }
    }
}

impl Store {
    /// Makes a key, and its environment if there is none of that name. A tag may be given later to an untagged
    /// environment, never changed. Blocks; the key is durable when this returns.
    pub fn create_key(
        &self,
        environment: &str,
        tag: Option<&str>,
        read_only: bool,
    ) -> Result<(KeyInfo, SecretString), StoreError> {
        self.create_key_until(environment, tag, read_only, None)
    }

    /// [`Store::create_key`]; the key may end by itself.
    pub fn create_key_until(
        &self,
        environment: &str,
        tag: Option<&str>,
        read_only: bool,
        expires: Option<Expiry>,
    ) -> Result<(KeyInfo, SecretString), StoreError> {
        let length = environment.chars().count();
        if !(1..=LONGEST_ENVIRONMENT).contains(&length) || environment.contains(char::is_control) {
            return Err(StoreError::InvalidEnvironment);
        }
        if !matches!(tag, None | Some("Customer" | "Testing")) {
            return Err(StoreError::InvalidTag);
        }
        let now = Timestamp::now();
        let expires = expires.map(|expires| expires.after(now)).transpose()?;
        let key = secret::random()?;
        let hash = secret::hash(key.expose_secret().as_bytes());
        let (environment, tag) = (environment.to_owned(), tag.map(ToOwned::to_owned));
        let info = self.ask_blocking(Access::Write, move |connection| {
            let times = (now, expires);
            let environment = environment_for(connection, &environment, tag.as_deref())?;
            create(connection, environment, read_only, &hash, times)
        })?;
        Ok((info, key))
    }

    /// All keys, the revoked ones too, oldest first. Blocks.
    pub fn list_keys(&self) -> Result<Vec<KeyInfo>, StoreError> {
        self.ask_blocking(Access::Short, |connection| {
            let mut statement = connection.prepare_cached(&format!("{SELECT} ORDER BY k.id"))?;
            let keys = statement.query_map([], info)?;
            Ok(keys.collect::<Result<_, _>>()?)
        })
    }

    /// Revokes a key at once, in every process that serves this database. Revoking it again changes nothing. Blocks.
    pub fn revoke_key(&self, id: i64) -> Result<KeyInfo, StoreError> {
        self.ask_blocking(Access::Write, move |connection| {
            connection.execute(
                "UPDATE keys SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL",
                named_params! { ":now": Timestamp::now().as_millisecond(), ":id": id },
            )?;
            find(connection, id)?.ok_or(StoreError::UnknownKey(id))
        })
    }
}

const SELECT: &str = "SELECT k.id, e.name, e.tag, k.read_only, k.created_at, k.revoked_at, k.expires_at, k.last_used_at
    FROM keys k JOIN environments e ON e.id = k.environment";

fn find(connection: &Connection, id: i64) -> rusqlite::Result<Option<KeyInfo>> {
    connection
        .query_row(&format!("{SELECT} WHERE k.id = ?1"), [id], info)
        .optional()
}

fn info(row: &Row) -> rusqlite::Result<KeyInfo> {
    let time = |index: usize, milliseconds: i64| {
        Timestamp::from_millisecond(milliseconds)
            .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(index, milliseconds))
    };
    let perhaps = |index: usize| {
        let found: Option<i64> = row.get(index)?;
        found.map(|at| time(index, at)).transpose()
    };
    Ok(KeyInfo {
        id: row.get(0)?,
        environment: row.get(1)?,
        tag: row.get(2)?,
        read_only: row.get(3)?,
        created_at: time(4, row.get(4)?)?,
        revoked_at: perhaps(5)?,
        expires_at: perhaps(6)?,
        last_used_at: perhaps(7)?,
    })
}

/// Number of the environment of that name, which is made if there is none.
fn environment_for(
    connection: &Connection,
    environment: &str,
    tag: Option<&str>,
) -> Result<i64, StoreError> {
    connection.execute(
        "INSERT INTO environments (name, tag) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET tag = coalesce(tag, excluded.tag)",
        (environment, tag),
    )?;
    let (id, stored): (i64, Option<String>) = connection.query_row(
        "SELECT id, tag FROM environments WHERE name = ?1",
        [environment],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    match stored {
        Some(stored) if tag.is_some_and(|tag| tag != stored) => Err(StoreError::TagDiffers {
            environment: environment.to_owned(),
            tag: stored,
        }),
        _ => Ok(id),
    }
}

fn create(
    connection: &Connection,
    environment: i64,
    read_only: bool,
    hash: &Hash,
    (now, expires): (Timestamp, Option<Timestamp>),
) -> Result<KeyInfo, StoreError> {
    connection.execute(
        "INSERT INTO keys (environment, hash, read_only, created_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        (
            environment,
            hash,
            read_only,
            now.as_millisecond(),
            expires.map(Timestamp::as_millisecond),
        ),
    )?;
    let id = connection.last_insert_rowid();
    find(connection, id)?.ok_or(StoreError::UnknownKey(id))
}

/// The number of the live key with this hash. Every live key is compared, in constant time: how long it takes says
/// nothing about how much of a guess was right.
pub(super) fn recognise(
    connection: &Connection,
    presented: &Hash,
) -> Result<Option<i64>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT id, hash FROM keys
         WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?1)",
    )?;
    let mut rows = statement.query([Timestamp::now().as_millisecond()])?;
    let (mut found, mut recognised) = (0_i64, Choice::from(0));
    while let Some(row) = rows.next()? {
        let (id, hash): (i64, Hash) = (row.get(0)?, row.get(1)?);
        let same = hash.ct_eq(presented);
        found.conditional_assign(&id, same);
        recognised |= same;
    }
    Ok(bool::from(recognised).then_some(found))
}

/// Who holds the key, if it is still live: asked again in the transaction that acts, so that revoking is at once.
pub(super) fn caller(connection: &Connection, key: i64) -> Result<Option<Caller>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT e.id, e.tag, k.read_only, k.last_used_at
         FROM keys k JOIN environments e ON e.id = k.environment
         WHERE k.id = ?1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?2)",
    )?;
    let now = Timestamp::now().as_millisecond();
    let caller = statement.query_row([key, now], |row| {
        Ok(Caller {
            environment: row.get(0)?,
            tag: row.get(1)?,
            read_only: row.get(2)?,
            last_used_at: row.get(3)?,
        })
    });
    Ok(caller.optional()?)
}

/// Writes down that a key was used, unless that is known well enough.
pub(super) fn used(connection: &Connection, key: i64, caller: &Caller) -> Result<(), StoreError> {
    let now = Timestamp::now().as_millisecond();
    // A clock that was set back is no reason to write each time.
    let is_fresh = |at: i64| (at - now).abs() < USE_IS_FRESH;
    if !caller.last_used_at.is_some_and(is_fresh) {
        connection
            .prepare_cached("UPDATE keys SET last_used_at = ?2 WHERE id = ?1")?
            .execute([key, now])?;
    }
    Ok(())
}
