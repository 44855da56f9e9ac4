//! API keys and the environments they belong to: creating, listing, revoking, recognising, expiry and last use. A key
//! exists in clear text only once, when it is created; the database stores its SHA-256.

use std::{str::FromStr, time::Duration};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use secrecy::{ExposeSecret, SecretString};

use super::{
    secret::{self, Hash},
    store::{Access, Result, Store, StoreError},
};
use crate::{
    db::{Asked, Cursor, Fault, Read, Tx, record, values},
    intake::duration::{self, InvalidAge},
    platform::clock::Clock,
};

/// Maximum length of the name of an environment or a key, in characters.
const MAX_NAME: usize = 100;

/// A key that is to be created.
#[derive(Debug, Clone, Default)]
pub struct NewKey {
    pub environment: String,
    /// `Customer` or `Testing`.
    pub tag: Option<String>,
    /// Who or what uses the key: shown by lists, the access log and metrics.
    pub name: Option<String>,
    pub read_only: bool,
    pub expires: Option<Expiry>,
}

/// An API key as it may be listed: everything but the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    pub id: i64,
    /// Who or what uses the key.
    pub name: Option<String>,
    pub environment: String,
    /// `Customer` or `Testing`.
    pub tag: Option<String>,
    pub read_only: bool,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// The key is refused from then on.
    pub expires_at: Option<Timestamp>,
    /// To the minute; only of requests that got as far as the groups.
    pub last_used_at: Option<Timestamp>,
    /// Whether it is neither revoked nor expired, by the clock of the storage.
    pub is_valid: bool,
}

/// When a key expires: at a time, or so long after its creation.
#[derive(Debug, Clone, Copy)]
pub enum Expiry {
    At(Timestamp),
    In(Duration),
}

impl FromStr for Expiry {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(at) = text.parse::<Timestamp>() {
            return Ok(Self::At(at));
        }
        // Of a time without a time zone, a day would be read.
        let day = text.parse::<Date>().ok();
        if let Some(day) = day.filter(|_| text.len() == "2027-01-31".len()) {
            let midnight = day.to_zoned(TimeZone::UTC).map(|at| at.timestamp());
            return midnight.map(Self::At).map_err(|_| WHEN.to_owned());
        }
        duration::age(text).map(Self::In).map_err(|why| match why {
            InvalidAge::Unreadable => WHEN.to_owned(),
            why => why.to_string(),
        })
    }
}

const WHEN: &str = "expected a time from now in h, d or w, a day or a time in UTC: 90d, 2027-01-31 or 2027-01-31T12:00:00Z";

impl Expiry {
    fn after(self, now: Timestamp) -> Result<Timestamp> {
        let at = match self {
            Self::At(at) => Some(at),
            Self::In(span) => now.checked_add(span).ok(),
        };
        at.filter(|at| *at > now).ok_or_else(|| {
            let why = "the key would already be expired; give a time in the future";
            StoreError::Unfit(why.into())
        })
    }
}

/// How old the recorded last use may become before it is updated.
const USE_IS_FRESH: i64 = 60_000;

/// The holder of a valid key: its environment, and what it may do there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) environment: i64,
    pub(super) tag: Option<String>,
    pub(super) read_only: bool,
    last_used_at: Option<i64>,
}

impl Caller {
    pub(super) fn was_used_lately(&self) -> bool {
        let now = now();
        // A clock that was set back must not cause a write every time.
        let is_fresh = |at: i64| (at - now).abs() < USE_IS_FRESH;
        self.last_used_at.is_some_and(is_fresh)
    }
}

/// Returns when a new key ends, or why there can be no such key. Needs no database, if `now` is that of its clock.
pub(crate) fn check_new(new: &NewKey, now: Timestamp) -> Result<Option<Timestamp>> {
    let is_name = |text: &str| {
        (1..=MAX_NAME).contains(&text.chars().count()) && !text.contains(char::is_control)
    };
    let why = if !is_name(&new.environment) {
        "the environment name must have 1 to 100 characters, none of them a control character"
    } else if !new.name.as_deref().is_none_or(is_name) {
        "invalid name of the key: expected 1 to 100 characters, none of them a control character"
    } else if !matches!(new.tag.as_deref(), None | Some("Customer" | "Testing")) {
        "the tag must be Customer or Testing"
    } else {
        return new.expires.map(|expires| expires.after(now)).transpose();
    };
    Err(StoreError::Unfit(why.into()))
}

impl Store {
    /// Creates a key, and its environment if there is none of that name. An untagged environment may get a tag later; a
    /// tag never changes. Blocks; the key is durable when this returns.
    pub fn create_key(
        &self,
        environment: &str,
        tag: Option<&str>,
        read_only: bool,
    ) -> Result<(KeyInfo, SecretString)> {
        self.create_new_key(NewKey {
            environment: environment.to_owned(),
            tag: tag.map(ToOwned::to_owned),
            read_only,
            ..NewKey::default()
        })
    }

    /// As [`Store::create_key`], for a key that may have a name and may expire.
    pub fn create_new_key(&self, new: NewKey) -> Result<(KeyInfo, SecretString)> {
        let key = secret::random()?;
        let hash = secret::hash(key.expose_secret().as_bytes());
        let info = self.execute_blocking(Access::Write, move |tx| create(tx, &new, &hash))?;
        Ok((info, key))
    }

    /// Returns all keys, including revoked ones, oldest first. Blocks.
    pub fn list_keys(&self) -> Result<Vec<KeyInfo>> {
        self.execute_blocking(Access::Short, |tx| {
            Ok(tx.all(timed(tx, SELECT) + " ORDER BY k.id", values![])?)
        })
    }

    /// Revokes a key immediately, in every process that serves this database. Revoking it again changes nothing.
    /// Blocks.
    pub fn revoke_key(&self, id: i64) -> Result<KeyInfo> {
        self.execute_blocking(Access::Write, move |tx| {
            if tx.sqlite().is_none() {
                tx.batch(ALONE)?;
            }
            let sql = "UPDATE keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL";
            tx.write(sql, values![now(), id])?;
            find(tx, id)?.ok_or(StoreError::UnknownKey(id))
        })
    }
}

/// Waits for the changes that hold a key, and lets no further one begin before: otherwise they could go on forever.
const ALONE: &str = "LOCK TABLE keys IN EXCLUSIVE MODE";

/// With the time of the storage: of several machines that serve it, each may have another clock, and none of them decides when
/// a key ends.
fn timed(tx: &Tx<'_>, text: &str) -> String {
    let now = match tx.sqlite() {
        Some(_) => "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
        None => "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
    };
    text.replace("NOW", now)
}

const SELECT: &str = "SELECT k.id, e.name, e.tag, k.read_only, k.created_at, k.revoked_at, k.expires_at, k.last_used_at, k.name, \
    k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > NOW) \
    FROM keys k JOIN environments e ON e.id = k.environment";

fn find(tx: &Tx<'_>, id: i64) -> Result<Option<KeyInfo>> {
    Ok(tx.one(timed(tx, SELECT) + " WHERE k.id = $1", values![id])?)
}

impl Read for KeyInfo {
    fn columns(_: &'static str, _: &mut Vec<&'static str>) {}

    fn read(row: &mut Cursor<'_>) -> Result<Self, Fault> {
        let time = |at: i64| Timestamp::from_millisecond(at).map_err(|_| Fault::Column);
        let perhaps = |at: Option<i64>| at.map(time).transpose();
        Ok(Self {
            id: row.next()?,
            environment: row.next()?,
            tag: row.next()?,
            read_only: row.next()?,
            created_at: time(row.next()?)?,
            revoked_at: perhaps(row.next()?)?,
            expires_at: perhaps(row.next()?)?,
            last_used_at: perhaps(row.next()?)?,
            name: row.next()?,
            is_valid: row.next()?,
        })
    }
}

const NAME_ENVIRONMENT: &str = "\
INSERT INTO environments (name, tag) VALUES ($1, $2) \
ON CONFLICT (name) DO UPDATE SET tag = coalesce(environments.tag, excluded.tag) RETURNING id, tag";

/// Returns the number of the environment with this name, creating it if needed.
fn environment_for(tx: &Tx<'_>, environment: &str, tag: Option<&str>) -> Result<i64> {
    let named: Option<(i64, Option<String>)> =
        tx.one(NAME_ENVIRONMENT, values![environment, tag])?;
    match named.ok_or(Fault::Column)? {
        (_, Some(stored)) if tag.is_some_and(|tag| tag != stored) => {
            Err(StoreError::Unfit(format!(
                "the environment {environment:?} is already tagged {stored}, and a tag cannot be changed; remove --tag, or use another \
                 environment"
            )))
        }
        (id, _) => Ok(id),
    }
}

const CREATE: &str = "\
INSERT INTO keys (environment, hash, read_only, created_at, expires_at, name) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id";

fn create(tx: &Tx<'_>, new: &NewKey, hash: &Hash) -> Result<KeyInfo> {
    let now: i64 = tx
        .one(timed(tx, "SELECT NOW"), values![])?
        .ok_or(Fault::Column)?;
    let at = Timestamp::from_millisecond(now).map_err(|_| Fault::Column)?;
    let expires = check_new(new, at)?.map(Timestamp::as_millisecond);
    let environment = environment_for(tx, &new.environment, new.tag.as_deref())?;
    let values = values![
        environment,
        hash,
        new.read_only,
        now,
        expires,
        new.name.as_deref()
    ];
    let id: Option<i64> = tx.one(CREATE, values)?;
    let id = id.ok_or(Fault::Column)?;
    find(tx, id)?.ok_or(StoreError::UnknownKey(id))
}

/// The holders of keys that are valid at this time.
const VALID: &str = "\
SELECT * FROM keys k JOIN environments e ON e.id = k.environment \
WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > NOW)";

/// A key as the access log and the metrics name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyLabel {
    pub(super) number: i64,
    pub(super) name: Option<String>,
}

record!(KeyLabel, "keys" { number = "k.id", name = "k.name" });
record!(Caller, "keys" {
    environment = "e.id", tag = "e.tag", read_only = "k.read_only", last_used_at = "k.last_used_at",
});

/// Returns label and holder of the valid key with this hash. An index lookup is safe here although its timing reveals
/// something about the hash: nobody can choose a SHA-256, or find a key of 256 random bits from one.
pub(super) fn recognise(tx: &Tx<'_>, presented: &Hash) -> Result<Option<(KeyLabel, Caller)>> {
    let sql = timed(tx, VALID) + " AND k.hash = $1";
    Ok(tx.one(sql, values![presented])?)
}

/// Asks for the holder of the key, if it is still valid; `lock` is how its row is held.
pub(super) fn ask_caller<'t, 'c>(
    tx: &'t Tx<'c>,
    key: i64,
    lock: &str,
) -> Result<Asked<'t, 'c, Caller>> {
    let sql = format!("{} AND k.id = $1{lock}", timed(tx, VALID));
    Ok(tx.ask(sql, values![key])?)
}

/// A key whose holder is about to change something.
pub(super) struct HeldKey<'t, 'c> {
    tx: &'t Tx<'c>,
    key: i64,
    is_use_due: bool,
    caller: Asked<'t, 'c, Caller>,
}

/// For a change, which can be asked for together with this: the key stays valid until it is committed. `is_use_due`: when
/// the request arrived, the recorded time of the last use was not recent enough. Then the row is held alone from the start,
/// because of two who share it neither could write it.
pub(super) fn hold<'t, 'c>(tx: &'t Tx<'c>, key: i64, is_use_due: bool) -> Result<HeldKey<'t, 'c>> {
    let lock = match tx.sqlite() {
        // The change is the only writer.
        Some(_) => "",
        None if is_use_due => " FOR NO KEY UPDATE OF k",
        None => " FOR SHARE OF k",
    };
    Ok(HeldKey {
        tx,
        key,
        is_use_due,
        caller: ask_caller(tx, key, lock)?,
    })
}

impl HeldKey<'_, '_> {
    /// The holder; an error, which undoes the change, if the key is not valid any more. Records that it was used.
    pub(super) fn check(self) -> Result<Caller> {
        let caller = self.caller.one()?.ok_or(StoreError::UnknownKey(self.key))?;
        if self.is_use_due && !caller.was_used_lately() {
            let text = "UPDATE keys SET last_used_at = $1 WHERE id = $2";
            self.tx.put(text, values![now(), self.key])?;
        }
        Ok(caller)
    }
}

/// In milliseconds, as times are stored.
pub(super) fn now() -> i64 {
    Clock::System.now().as_millisecond()
}
