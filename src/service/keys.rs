//! API keys and the environments they belong to: make, list, revoke, recognise. A key exists in the clear once, in
//! the answer of its creation; the database holds its SHA-256.

use jiff::Timestamp;
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
}

/// Whoever holds a live key: the environment, and what may be done in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) environment: i64,
    pub(super) tag: Option<String>,
    pub(super) read_only: bool,
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
        let length = environment.chars().count();
        if !(1..=LONGEST_ENVIRONMENT).contains(&length) || environment.contains(char::is_control) {
            return Err(StoreError::InvalidEnvironment);
        }
        if !matches!(tag, None | Some("Customer" | "Testing")) {
            return Err(StoreError::InvalidTag);
        }
        let key = secret::random()?;
        let hash = secret::hash(key.expose_secret().as_bytes());
        let (environment, tag) = (environment.to_owned(), tag.map(ToOwned::to_owned));
        let info = self.ask_blocking(Access::Write, move |connection| {
            create(connection, &environment, tag.as_deref(), read_only, &hash)
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

const SELECT: &str = "SELECT k.id, e.name, e.tag, k.read_only, k.created_at, k.revoked_at
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
    Ok(KeyInfo {
        id: row.get(0)?,
        environment: row.get(1)?,
        tag: row.get(2)?,
        read_only: row.get(3)?,
        created_at: time(4, row.get(4)?)?,
        revoked_at: row
            .get::<_, Option<i64>>(5)?
            .map(|at| time(5, at))
            .transpose()?,
    })
}

fn create(
    connection: &Connection,
    environment: &str,
    tag: Option<&str>,
    read_only: bool,
    hash: &Hash,
) -> Result<KeyInfo, StoreError> {
    connection.execute(
        "INSERT INTO environments (name, tag) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET tag = coalesce(tag, excluded.tag)",
        (environment, tag),
    )?;
    let (environment_id, stored): (i64, Option<String>) = connection.query_row(
        "SELECT id, tag FROM environments WHERE name = ?1",
        [environment],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    match stored {
        Some(stored) if tag.is_some_and(|tag| tag != stored) => {
            return Err(StoreError::TagDiffers {
                environment: environment.to_owned(),
                tag: stored,
            });
        }
        _ => {}
    }
    connection.execute(
        "INSERT INTO keys (environment, hash, read_only, created_at) VALUES (?1, ?2, ?3, ?4)",
        (
            environment_id,
            hash,
            read_only,
            Timestamp::now().as_millisecond(),
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
    let mut statement =
        connection.prepare_cached("SELECT id, hash FROM keys WHERE revoked_at IS NULL")?;
    let mut rows = statement.query([])?;
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
        "SELECT e.id, e.tag, k.read_only FROM keys k JOIN environments e ON e.id = k.environment
         WHERE k.id = ?1 AND k.revoked_at IS NULL",
    )?;
    let caller = statement.query_row([key], |row| {
        Ok(Caller {
            environment: row.get(0)?,
            tag: row.get(1)?,
            read_only: row.get(2)?,
        })
    });
    Ok(caller.optional()?)
}
