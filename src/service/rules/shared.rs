//! The rules on a server, where other processes write concurrently, so that the database has to enforce them. Each
//! change is two round trips, the second of which commits; the key and its rights are checked in the same transaction.

use secrecy::{ExposeSecret, SecretString};

use super::{
    Change, INSERT, StoredGroup, Verdict, got, insert_values, mapping_text, may_share, now,
    properties_text,
};
use crate::{
    api::wire::ResponseBody,
    database::{Fault, Request, Results, Row, Statements, Tx, values},
    service::{
        keys::{self, Caller},
        refusal::Refusal,
        request::GroupFields,
        secret::{self, Hash},
        store::StoreError,
    },
};

/// The environment of the key if it may write; no row if the key has expired, was revoked or is read-only.
const WHO: &str = "\
WITH who AS (SELECT e.id, e.tag FROM keys k JOIN environments e ON e.id = k.environment \
  WHERE k.id = $1 AND NOT k.read_only AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $2)), ";

/// Of several rotations of the same token one wins; the others wait for it and then find another token.
const ROTATE: &str = "\
 won AS (UPDATE groups g SET token = $3, updated_at = $2 FROM who WHERE g.environment = who.id AND g.token = $4 \
  RETURNING g.team_id, g.user_group_id, g.token, g.name, g.properties, who.tag, who.id), \
 dead AS (INSERT INTO retired_tokens (hash, environment, team_id, retired_at) \
  SELECT $5::bytea, id, team_id, $2 FROM won) \
SELECT team_id, user_group_id, token, name, properties, tag FROM won";

const UPDATE: &str = "\
 won AS (UPDATE groups g SET name = coalesce($3, name), mapping = coalesce($4, mapping), \
  properties = coalesce($5, properties), updated_at = $2 \
  FROM who WHERE g.environment = who.id AND g.user_group_id = $6 \
  RETURNING g.team_id, g.user_group_id, g.token, g.name, g.properties, who.tag) \
SELECT team_id, user_group_id, token, name, properties, tag FROM won";

/// Until the end of the transaction, nobody else can create a group with this id in any environment; later statements
/// see what was created before. A unique index cannot cover other environments.
const LOCK_ID: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text";

const FIND_OF_KEY: &str = "\
SELECT g.team_id, g.user_group_id, g.token, g.name, g.properties \
FROM groups g JOIN keys k ON k.environment = g.environment WHERE k.id = $1 AND g.user_group_id = $2";
const OTHERS_OF_KEY: &str = "\
SELECT e.tag FROM groups g JOIN environments e ON e.id = g.environment JOIN keys k ON k.id = $1 \
WHERE g.user_group_id = $2 AND g.environment <> k.environment";

const WAS_CURRENT_OF_KEY: &str = "\
SELECT 1 FROM retired_tokens r JOIN keys k ON k.environment = r.environment WHERE r.hash = $1 AND k.id = $2";

pub(super) fn execute(tx: &Tx<'_>, key: i64, change: &Change) -> Verdict {
    match change {
        Change::GetOrCreate { wanted, new_token } => {
            let creation = Creation {
                key,
                wanted,
                new_token,
            };
            match tx.run_last(&creation)? {
                Ok(CreateResult { row: None, .. }) => Err(Fault::Column.into()),
                Ok(CreateResult {
                    row: Some(row),
                    is_new,
                }) => Ok(Ok(got(row, wanted, is_new)?)),
                Err(refusal) => Ok(Err(refusal)),
            }
        }
        Change::Update(wanted) => tx.run_last(&Update { key, wanted }),
        Change::Rotate { current, new_token } => {
            let old = current.expose_secret();
            tx.run_last(&Rotation {
                key,
                old,
                new: new_token.expose_secret(),
                hash: secret::hash(old.as_bytes()),
            })
        }
    }
}

/// Returns the group if it exists and nothing has to be written: a get that only reads needs no commit.
pub(in crate::service) fn find_existing(
    tx: &Tx<'_>,
    key: i64,
    wanted: &GroupFields,
) -> Result<Option<ResponseBody>, StoreError> {
    let found = tx.run(&FindExisting { key, wanted })?;
    found.map(|row| got(row, wanted, false)).transpose()
}

fn with_tag(row: &Row<'_>) -> Result<(StoredGroup, Option<String>), Fault> {
    Ok((StoredGroup::read(row)?, row.get(5)?))
}

/// Records that the key was used, unless the recorded time is recent enough.
fn record_use(key: i64, caller: Option<&Caller>) -> Statements {
    let mut writes = Statements::default();
    if caller.is_some_and(|caller| !caller.was_used_lately()) {
        writes.add(keys::RECORD_USE, values![now(), key]);
    }
    writes
}

struct FindExisting<'a> {
    key: i64,
    wanted: &'a GroupFields,
}

impl Request for FindExisting<'_> {
    type Answer = Option<StoredGroup>;
    type Error = StoreError;

    fn read(&self) -> Statements {
        Statements::default()
            .with(keys::CALLER, values![self.key, now()])
            .with(FIND_OF_KEY, values![self.key, &self.wanted.user_group_id])
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, Self::Answer), StoreError> {
        let caller = found.next().first(keys::read_caller)?;
        let row = found.next().first(StoredGroup::read)?;
        let is_known = caller.is_some_and(|caller| caller.was_used_lately());
        Ok((Statements::default(), row.filter(|_| is_known)))
    }
}

struct Creation<'a> {
    key: i64,
    wanted: &'a GroupFields,
    new_token: &'a SecretString,
}

struct CreateResult {
    row: Option<StoredGroup>,
    is_new: bool,
}

impl Request for Creation<'_> {
    type Answer = Result<CreateResult, Refusal>;
    type Error = StoreError;

    fn read(&self) -> Statements {
        let id = &self.wanted.user_group_id;
        Statements::default()
            .with(LOCK_ID, values![id])
            .with(keys::CALLER, values![self.key, now()])
            .with(FIND_OF_KEY, values![self.key, id])
            .with(OTHERS_OF_KEY, values![self.key, id])
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, Self::Answer), StoreError> {
        found.next();
        let caller = found.next().first(keys::read_caller)?;
        let row = found.next().first(StoredGroup::read)?;
        let others = found.next().all(|row| row.get::<Option<String>>(0))?;
        let mut writes = record_use(self.key, caller.as_ref());
        let is_new = row.is_none();
        let refusal = match &caller {
            None => Some(Refusal::Unauthorized),
            Some(_) if !is_new => None,
            Some(caller) if caller.read_only => Some(Refusal::ReadOnlyKey),
            Some(caller) if !may_share(caller.tag.as_deref(), &others) => {
                Some(Refusal::TagRequired)
            }
            Some(caller) => {
                let values = insert_values(caller.environment, self.wanted, self.new_token);
                writes.add(INSERT, values);
                None
            }
        };
        let answer = refusal.map_or(Ok(CreateResult { row, is_new }), Err);
        Ok((writes, answer))
    }

    fn read_after(&self) -> Statements {
        let values = values![self.key, &self.wanted.user_group_id];
        Statements::default().with(FIND_OF_KEY, values)
    }

    fn finish(&self, answer: &mut Self::Answer, after: &mut Results) {
        if let Ok(got) = answer {
            // A row that cannot be decoded is reported by its reader.
            got.row = after.next().first(StoredGroup::read).ok().flatten();
        }
    }
}

struct Update<'a> {
    key: i64,
    wanted: &'a GroupFields,
}

impl Request for Update<'_> {
    type Answer = Result<ResponseBody, Refusal>;
    type Error = StoreError;

    fn read(&self) -> Statements {
        let GroupFields {
            user_group_id,
            name,
            mapping,
            properties,
        } = self.wanted;
        let values = values![
            self.key,
            now(),
            name.as_ref(),
            mapping.as_ref().map(mapping_text),
            properties.as_ref().map(properties_text),
            user_group_id,
        ];
        Statements::default()
            .with(format!("{WHO}{UPDATE}"), values)
            .with(keys::CALLER, values![self.key, now()])
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, Self::Answer), StoreError> {
        let won = found.next().first(with_tag)?;
        let caller = found.next().first(keys::read_caller)?;
        let answer = match won {
            Some((row, tag)) => Ok(row.updated(self.wanted, tag)?),
            None => Err(refused(caller.as_ref(), Refusal::UnknownGroup)),
        };
        Ok((record_use(self.key, caller.as_ref()), answer))
    }
}

struct Rotation<'a> {
    key: i64,
    old: &'a str,
    new: &'a str,
    hash: Hash,
}

impl Request for Rotation<'_> {
    type Answer = Result<ResponseBody, Refusal>;
    type Error = StoreError;

    fn read(&self) -> Statements {
        let values = values![self.key, now(), self.new, self.old, &self.hash];
        Statements::default()
            .with(format!("{WHO}{ROTATE}"), values)
            .with(keys::CALLER, values![self.key, now()])
            .with(WAS_CURRENT_OF_KEY, values![&self.hash, self.key])
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, Self::Answer), StoreError> {
        let won = found.next().first(with_tag)?;
        let caller = found.next().first(keys::read_caller)?;
        let was_current = found.next().first(|_| Ok::<_, Fault>(()))?.is_some();
        let answer = match won {
            Some((row, tag)) => Ok(row.rotated(tag)),
            None if was_current => Err(refused(caller.as_ref(), Refusal::TokenRetired)),
            None => Err(refused(caller.as_ref(), Refusal::UnknownToken)),
        };
        Ok((record_use(self.key, caller.as_ref()), answer))
    }
}

/// Why nothing was found to change: the key if that is the reason, otherwise `other`.
fn refused(caller: Option<&Caller>, other: Refusal) -> Refusal {
    match caller {
        None => Refusal::Unauthorized,
        Some(caller) if caller.read_only => Refusal::ReadOnlyKey,
        Some(_) => other,
    }
}
