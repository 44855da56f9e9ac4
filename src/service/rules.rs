//! The rules of the service: what get-or-create, update and rotate do to stored groups (docs/design/service.md, "Rules
//! of the service"). Runs inside one transaction; a refusal has written nothing. A file has a single writer; on a server
//! others write meanwhile, so that the key and the id are held until the end.

use indexmap::IndexMap;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{
    keys::{self, HeldKey, now},
    refusal::Refusal,
    secret,
    store::{Result, StoreError},
};
use crate::{
    api::wire::{GroupRequest, Presence, ResponseBody, UserGroup, WireToken},
    db::{Asked, Fault, FromValue, Tx, ValueRef, record, values},
};

/// The outer error undoes the work; the inner one is an answer like any other.
pub(super) type Verdict = Result<Result<ResponseBody, Refusal>>;

/// A stored group.
pub(super) struct StoredGroup {
    pub(super) team_id: i64,
    pub(super) user_group_id: String,
    pub(super) token: SecretString,
    pub(super) name: String,
    /// JSON text, parsed only if an answer contains it.
    properties: String,
}

record!(StoredGroup, "groups" { team_id, user_group_id, token, name, properties });

impl FromValue for SecretString {
    fn from_value(value: ValueRef<'_>) -> Result<Self, Fault> {
        String::from_value(value).map(Self::from)
    }
}

/// What a caller wants done.
pub(super) enum Change {
    GetOrCreate {
        wanted: GroupRequest,
        /// Used if the group is created.
        new_token: SecretString,
    },
    Update(GroupRequest),
    Rotate {
        current: SecretString,
        new_token: SecretString,
    },
}

/// Executes a change in this environment for the holder of the key. The key is checked again here, because it may have
/// been revoked meanwhile, and stays valid until the change is committed. Only a get is asked for with a read-only key.
pub(super) fn execute(
    tx: &Tx<'_>,
    (key, environment): (i64, i64),
    is_use_due: bool,
    change: &Change,
) -> Verdict {
    let held = keys::hold(tx, key, is_use_due)?;
    match change {
        Change::GetOrCreate { wanted, new_token } => {
            get_or_create(tx, held, environment, wanted, new_token)
        }
        Change::Update(wanted) => update(tx, held, environment, wanted),
        Change::Rotate { current, new_token } => rotate(tx, held, environment, current, new_token),
    }
}

/// The answer if the group exists and nothing has to be written: on a server a get that only reads needs no commit.
pub(super) fn find_existing(
    tx: &Tx<'_>,
    (key, environment): (i64, i64),
    change: &Change,
) -> Result<Option<ResponseBody>> {
    let Change::GetOrCreate { wanted, .. } = change else {
        return Ok(None);
    };
    let caller = keys::ask_caller(tx, key, "")?;
    let found = ask_group(tx, environment, &wanted.user_group_id)?;
    if !caller.one()?.is_some_and(|caller| caller.was_used_lately()) {
        return Ok(None);
    }
    let found = found.one()?;
    found.map(|row| got(row, wanted, false)).transpose()
}

/// Until the end of the transaction, nobody else can create a group with this id in any environment; later statements
/// see what was created before. A unique index cannot cover other environments.
const LOCK_ID: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))::text";

/// Returns an existing group unchanged; otherwise creates it with `new_token`.
fn get_or_create(
    tx: &Tx<'_>,
    held: HeldKey<'_, '_>,
    environment: i64,
    wanted: &GroupRequest,
    new_token: &SecretString,
) -> Verdict {
    let id = &wanted.user_group_id;
    let is_shared = tx.sqlite().is_none();
    if is_shared {
        tx.put(LOCK_ID, values![id])?;
    }
    let found = ask_group(tx, environment, id)?;
    // Most often a server is asked for a group that is to be created.
    let others = is_shared.then(|| ask_others(tx, environment, id));
    let others = others.transpose()?;
    let caller = held.check()?;
    if let Some(found) = found.one()? {
        return Ok(Ok(got(found, wanted, false)?));
    }
    if caller.read_only {
        return Ok(Err(Refusal::ReadOnlyKey));
    }
    let others = match others {
        Some(others) => others,
        None => ask_others(tx, environment, id)?,
    };
    if !may_create(caller.tag.as_deref(), others)? {
        return Ok(Err(Refusal::TagRequired));
    }
    let row = insert(tx, environment, wanted, new_token)?;
    Ok(Ok(got(row, wanted, true)?))
}

fn got(row: StoredGroup, wanted: &GroupRequest, is_new: bool) -> Result<ResponseBody> {
    Ok(ResponseBody {
        new_user_group: Presence::Present(is_new),
        ..success(row.into_user_group(wanted.properties.is_some())?)
    })
}

const UPDATE: &str = "\
UPDATE groups SET name = coalesce($1, name), mapping = coalesce($2, mapping), \
 properties = coalesce($3, properties), updated_at = $4 \
WHERE environment = $5 AND user_group_id = $6 \
RETURNING *";

/// Replaces the fields that are present; the others stay.
fn update(tx: &Tx<'_>, held: HeldKey<'_, '_>, environment: i64, wanted: &GroupRequest) -> Verdict {
    let values = values![
        wanted.name.as_ref(),
        wanted.mapping.as_ref().map(json),
        wanted.properties.as_ref().map(json),
        now(),
        environment,
        &wanted.user_group_id,
    ];
    let row = tx.ask::<StoredGroup>(UPDATE, values)?;
    let caller = held.check()?;
    let Some(row) = row.one()? else {
        return Ok(Err(Refusal::UnknownGroup));
    };
    Ok(Ok(success(UserGroup {
        api_environment_tag: caller.tag.into(),
        ..row.into_user_group(wanted.properties.is_some())?
    })))
}

const ROTATE: &str = "\
UPDATE groups SET token = $1, updated_at = $2 WHERE environment = $3 AND token = $4 \
RETURNING *";
const RETIRE: &str = "\
INSERT INTO retired_tokens (hash, environment, team_id, retired_at) VALUES ($1, $2, $3, $4)";
const WAS_CURRENT: &str = "SELECT 1 FROM retired_tokens WHERE hash = $1 AND environment = $2";

/// Replaces the token; the old one is retired in the same transaction. Of several rotations of the same token one wins; on
/// a server the others wait for it and then find another token.
fn rotate(
    tx: &Tx<'_>,
    held: HeldKey<'_, '_>,
    environment: i64,
    current: &SecretString,
    new_token: &SecretString,
) -> Verdict {
    let at = now();
    let (old, new) = (current.expose_secret(), new_token.expose_secret());
    let hash = secret::hash(old.as_bytes());
    let row = tx.ask::<StoredGroup>(ROTATE, values![new, at, environment, old])?;
    let caller = held.check()?;
    let Some(row) = row.one()? else {
        // A token retired in another environment is unknown in this one.
        let retired: Option<()> = tx.one(WAS_CURRENT, values![&hash, environment])?;
        return Ok(Err(if retired.is_some() {
            Refusal::TokenRetired
        } else {
            Refusal::UnknownToken
        }));
    };
    tx.put(RETIRE, values![&hash, environment, row.team_id, at])?;
    Ok(Ok(success(UserGroup {
        api_environment_tag: caller.tag.into(),
        // A rotation says nothing of them.
        properties: Presence::Absent,
        ..row.into_user_group(false)?
    })))
}

const OTHERS: &str = "\
SELECT e.tag FROM groups g JOIN environments e ON e.id = g.environment \
WHERE g.user_group_id = $1 AND g.environment <> $2";

/// The tags of the other environments that have this id.
pub(super) fn ask_others<'t, 'c>(
    tx: &'t Tx<'c>,
    environment: i64,
    user_group_id: &str,
) -> Result<Asked<'t, 'c, Option<String>>> {
    Ok(tx.ask(OTHERS, values![user_group_id, environment])?)
}

/// Whether a group may be created in an environment with this tag: every other one that has its id must be the counterpart.
pub(super) fn may_create(tag: Option<&str>, others: Asked<'_, '_, Option<String>>) -> Result<bool> {
    let is_pair = |other: &Option<String>| {
        matches!(
            (tag, other.as_deref()),
            (Some("Customer"), Some("Testing")) | (Some("Testing"), Some("Customer"))
        )
    };
    Ok(others.all()?.iter().all(is_pair))
}

const FIND: &str = "\
SELECT * FROM groups \
WHERE environment = $1 AND user_group_id = $2";

pub(super) fn ask_group<'t, 'c>(
    tx: &'t Tx<'c>,
    environment: i64,
    user_group_id: &str,
) -> Result<Asked<'t, 'c, StoredGroup>> {
    Ok(tx.ask(FIND, values![environment, user_group_id])?)
}

const INSERT: &str = "\
INSERT INTO groups (environment, user_group_id, name, mapping, properties, token, created_at, updated_at) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $7) RETURNING *";

/// Adds a group. If the name is absent, the id is used.
pub(super) fn insert(
    tx: &Tx<'_>,
    environment: i64,
    wanted: &GroupRequest,
    token: &SecretString,
) -> Result<StoredGroup> {
    let none = (IndexMap::new(), Map::new());
    let values = values![
        environment,
        &wanted.user_group_id,
        wanted.name.as_ref().unwrap_or(&wanted.user_group_id),
        json(wanted.mapping.as_ref().unwrap_or(&none.0)),
        json(wanted.properties.as_ref().unwrap_or(&none.1)),
        token.expose_secret(),
        now(),
    ];
    let row: Option<StoredGroup> = tx.one(INSERT, values)?;
    Ok(row.ok_or(Fault::Column)?)
}

impl StoredGroup {
    /// With the stored properties if the request `carried` some, otherwise null; without the tag, which depends on the
    /// operation.
    fn into_user_group(self, carried: bool) -> Result<UserGroup> {
        let properties = carried.then(|| serde_json::from_str(&self.properties));
        let properties = properties.transpose().map_err(|_| {
            StoreError::Unexpected("stored properties are not a JSON object".into())
        })?;
        Ok(UserGroup {
            team_id: Presence::Present(self.team_id),
            token: Presence::Present(WireToken(self.token)),
            name: Presence::Present(self.name),
            provided_id: Presence::Present(self.user_group_id),
            properties: properties.into(),
            ..UserGroup::default()
        })
    }
}

fn success(user_group: UserGroup) -> ResponseBody {
    ResponseBody {
        success: Presence::Present(Value::from(1)),
        user_group: Presence::Present(user_group),
        ..ResponseBody::default()
    }
}

fn json(map: &impl Serialize) -> String {
    // A map with string keys always serializes.
    serde_json::to_string(map).unwrap_or_default()
}
