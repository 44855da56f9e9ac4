//! The rules of the service: what get-or-create, update and rotate do to stored groups (docs/design/service.md, "Rules
//! of the service"). Runs inside one transaction; a refusal has written nothing.

use indexmap::IndexMap;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

use super::{keys::Caller, refusal::Refusal, request::GroupFields, secret, store::StoreError};
use crate::api::wire::{Presence, ResponseBody, UserGroup};

/// The outer error undoes the work; the inner one is an answer like any other.
pub(super) type Verdict = Result<Result<ResponseBody, Refusal>, StoreError>;

/// A stored group.
pub(super) struct StoredGroup {
    pub(super) team_id: i64,
    pub(super) user_group_id: String,
    pub(super) token: SecretString,
    pub(super) name: String,
    /// JSON text, read only when an answer carries it.
    properties: String,
}

/// Returns the group unchanged if there is one, else makes it with `new_token`.
pub(super) fn get_or_create(
    connection: &Connection,
    caller: &Caller,
    wanted: GroupFields,
    new_token: SecretString,
) -> Verdict {
    let carried = wanted.properties.is_some();
    let found = find(connection, caller.environment, &wanted.user_group_id)?;
    let is_new = found.is_none();
    let row = match found {
        Some(row) => row,
        None if caller.read_only => return Ok(Err(Refusal::ReadOnlyKey)),
        None if !may_exist(connection, caller, &wanted.user_group_id)? => {
            return Ok(Err(Refusal::TagRequired));
        }
        None => insert(connection, caller.environment, wanted, new_token)?,
    };
    Ok(Ok(ResponseBody {
        new_user_group: Presence::Present(is_new),
        ..success(UserGroup {
            properties: row.properties(carried)?,
            ..row.into_user_group()
        })
    }))
}

/// Replaces the fields that are present; the others stay.
pub(super) fn update(connection: &Connection, caller: &Caller, wanted: GroupFields) -> Verdict {
    if caller.read_only {
        return Ok(Err(Refusal::ReadOnlyKey));
    }
    let carried = wanted.properties.is_some();
    let changed = connection
        .prepare_cached(
            "UPDATE groups SET name = coalesce(?3, name), mapping = coalesce(?4, mapping),
                properties = coalesce(?5, properties), updated_at = ?6
             WHERE environment = ?1 AND user_group_id = ?2",
        )?
        .execute((
            caller.environment,
            &wanted.user_group_id,
            &wanted.name,
            wanted.mapping.map(mapping_text),
            wanted.properties.map(properties_text),
            now(),
        ))?;
    let row = find(connection, caller.environment, &wanted.user_group_id)?;
    let Some(row) = row.filter(|_| changed == 1) else {
        return Ok(Err(Refusal::UnknownGroup));
    };
    Ok(Ok(success(UserGroup {
        properties: row.properties(carried)?,
        api_environment_tag: caller.tag.clone().into(),
        ..row.into_user_group()
    })))
}

/// Replaces the token; the old one is retired in the same transaction.
pub(super) fn rotate(
    connection: &Connection,
    caller: &Caller,
    current: &SecretString,
    new_token: SecretString,
) -> Verdict {
    if caller.read_only {
        return Ok(Err(Refusal::ReadOnlyKey));
    }
    let hash = secret::hash(current.expose_secret().as_bytes());
    let Some(row) = find_by_token(connection, caller.environment, current)? else {
        // Retired in another environment is unknown in this one.
        let retired = connection
            .prepare_cached("SELECT 1 FROM retired_tokens WHERE hash = ?1 AND environment = ?2")?
            .exists((hash, caller.environment))?;
        return Ok(Err(if retired {
            Refusal::TokenRetired
        } else {
            Refusal::UnknownToken
        }));
    };
    let at = now();
    connection
        .prepare_cached("UPDATE groups SET token = ?2, updated_at = ?3 WHERE team_id = ?1")?
        .execute((row.team_id, new_token.expose_secret(), at))?;
    connection
        .prepare_cached(
            "INSERT INTO retired_tokens (hash, environment, team_id, retired_at)
             VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((hash, caller.environment, row.team_id, at))?;
    let row = StoredGroup {
        token: new_token,
        ..row
    };
    Ok(Ok(success(UserGroup {
        api_environment_tag: caller.tag.clone().into(),
        ..row.into_user_group()
    })))
}

/// Whether a group of this id may be made here: every other environment that has the id must be the counterpart.
pub(super) fn may_exist(
    connection: &Connection,
    caller: &Caller,
    user_group_id: &str,
) -> Result<bool, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT e.tag FROM groups g JOIN environments e ON e.id = g.environment
         WHERE g.user_group_id = ?1 AND g.environment <> ?2",
    )?;
    let mut others = statement.query((user_group_id, caller.environment))?;
    while let Some(other) = others.next()? {
        let other: Option<String> = other.get(0)?;
        let pair = (caller.tag.as_deref(), other.as_deref());
        if !matches!(
            pair,
            (Some("Customer"), Some("Testing")) | (Some("Testing"), Some("Customer"))
        ) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) fn find(
    connection: &Connection,
    environment: i64,
    user_group_id: &str,
) -> Result<Option<StoredGroup>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT team_id, user_group_id, token, name, properties FROM groups
         WHERE environment = ?1 AND user_group_id = ?2",
    )?;
    Ok(statement
        .query_row((environment, user_group_id), StoredGroup::read)
        .optional()?)
}

fn find_by_token(
    connection: &Connection,
    environment: i64,
    token: &SecretString,
) -> Result<Option<StoredGroup>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT team_id, user_group_id, token, name, properties FROM groups
         WHERE environment = ?1 AND token = ?2",
    )?;
    Ok(statement
        .query_row((environment, token.expose_secret()), StoredGroup::read)
        .optional()?)
}

/// Adds a group. A name that is absent is the id.
pub(super) fn insert(
    connection: &Connection,
    environment: i64,
    wanted: GroupFields,
    token: SecretString,
) -> Result<StoredGroup, StoreError> {
    let name = wanted.name.unwrap_or_else(|| wanted.user_group_id.clone());
    let properties = properties_text(wanted.properties.unwrap_or_default());
    connection
        .prepare_cached(
            "INSERT INTO groups
                (environment, user_group_id, name, mapping, properties, token, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)",
        )?
        .execute((
            environment,
            &wanted.user_group_id,
            &name,
            mapping_text(wanted.mapping.unwrap_or_default()),
            &properties,
            token.expose_secret(),
            now(),
        ))?;
    Ok(StoredGroup {
        team_id: connection.last_insert_rowid(),
        user_group_id: wanted.user_group_id,
        token,
        name,
        properties,
    })
}

impl StoredGroup {
    fn read(row: &rusqlite::Row) -> rusqlite::Result<Self> {
        Ok(Self {
            team_id: row.get(0)?,
            user_group_id: row.get(1)?,
            token: SecretString::from(row.get::<_, String>(2)?),
            name: row.get(3)?,
            properties: row.get(4)?,
        })
    }

    /// The stored properties if the request carried some, else null.
    fn properties(&self, carried: bool) -> Result<Presence<Map<String, Value>>, StoreError> {
        if !carried {
            return Ok(Presence::Null);
        }
        serde_json::from_str(&self.properties)
            .map(Presence::Present)
            .map_err(|_| StoreError::Unexpected("stored properties are not a JSON object".into()))
    }

    /// Without properties and tag; those depend on the operation.
    fn into_user_group(self) -> UserGroup {
        UserGroup {
            team_id: Presence::Present(self.team_id),
            token: Presence::Present(self.token),
            name: Presence::Present(self.name),
            provided_id: Presence::Present(self.user_group_id),
            ..UserGroup::default()
        }
    }
}

fn success(user_group: UserGroup) -> ResponseBody {
    ResponseBody {
        success: Presence::Present(Value::from(1)),
        user_group: Presence::Present(user_group),
        ..ResponseBody::default()
    }
}

fn mapping_text(mapping: IndexMap<String, String>) -> String {
    let entries = mapping.into_iter();
    Value::Object(
        entries
            .map(|(key, value)| (key, Value::String(value)))
            .collect(),
    )
    .to_string()
}

fn properties_text(properties: Map<String, Value>) -> String {
    Value::Object(properties).to_string()
}

fn now() -> i64 {
    Timestamp::now().as_millisecond()
}
