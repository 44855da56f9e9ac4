//! Places: which one a profile means, the keys of each, alarms, and two places that turn out to be one.

mod answering;
mod binding;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

pub(in crate::directory) use answering::{answer, end_trial};
pub(in crate::directory) use binding::{
    bind, bound, elsewhere, foresee, others, place_of, with_key,
};

use super::{fault::Fault, groups};
use crate::{
    directory::{
        Alarm, Caller, Gate, KeyId, KeyState, Place, PlaceEvent, PlaceId, PlaceKey, Refusal,
        STILL_UNDER_WAY, columns, sql::places as sql,
    },
    domain::{
        group::{EnvironmentTag, UserGroupId},
        history::Entry,
        token::Fingerprint,
    },
};

const TABLE: &str = "places";

/// The moment of a column that must hold one.
fn moment(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let micros = row.get(column)?;
    columns::timestamp(micros).ok_or(rusqlite::Error::IntegralValueOutOfRange(column, micros))
}

/// Rows of one query, each as a value.
fn rows<T>(
    connection: &Connection,
    text: &str,
    parameters: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Fault> {
    let mut statement = connection.prepare_cached(text)?;
    let found = statement.query_map(parameters, read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn number(row: &Row<'_>) -> rusqlite::Result<PlaceId> {
    row.get(0).map(PlaceId)
}

pub(in crate::directory) fn gate(
    connection: &Connection,
    place: PlaceId,
    key: KeyId,
) -> Result<Gate, Fault> {
    let found: Option<(String, Option<String>)> = connection
        .prepare_cached(sql::KEY_STATE)?
        .query_row(params![key.0, place.0], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let (state, tag) = found.unzip();
    let state = state.as_deref().and_then(KeyState::parse);
    let tag = tag.flatten();
    Ok(Gate {
        // A key that is there no more went with a place that became part of another.
        key: state.unwrap_or(KeyState::Withdrawn),
        tag: tag.as_deref().map(EnvironmentTag::parse),
        alarms: alarms(connection, place)?,
    })
}

fn alarms(connection: &Connection, place: PlaceId) -> Result<Vec<Alarm>, Fault> {
    rows(connection, sql::ALARMS, [place.0], |row| {
        Ok(Alarm {
            number: row.get(0)?,
            user_group_id: row.get(1)?,
            what: row.get(2)?,
            at: moment(row, 3)?,
            by: row.get(4)?,
        })
    })
}

/// Nothing by id is sent for the place from here on.
pub(super) fn raise(
    tx: &Connection,
    place: PlaceId,
    what: &str,
    entry: &Entry,
) -> Result<(), Fault> {
    tx.prepare_cached(sql::ADD_ALARM)?.execute(params![
        place.0,
        entry.user_group_id.as_str(),
        what,
        columns::micros(entry.at),
        entry.by
    ])?;
    Ok(())
}

pub(in crate::directory) fn acknowledge(
    tx: &Connection,
    place: PlaceId,
    tag: Option<&EnvironmentTag>,
    at: Timestamp,
    by: &str,
    reason: &str,
) -> Result<usize, Fault> {
    let count = tx.prepare_cached(sql::ACKNOWLEDGE)?.execute(params![
        columns::micros(at),
        by,
        reason,
        place.0
    ])?;
    tx.prepare_cached(sql::SET_TAG)?
        .execute(params![tag.map(EnvironmentTag::as_str), place.0])?;
    // The tags that raised the alarms are no knowledge of this place.
    tx.prepare_cached(sql::FORGET_TAGS)?
        .execute(params![place.0, tag.map(EnvironmentTag::as_str)])?;
    add_event(tx, place, (at, by, ""), "alarms acknowledged", Some(reason))?;
    Ok(count)
}

pub(in crate::directory) fn had_token(
    connection: &Connection,
    place: PlaceId,
    id: &UserGroupId,
    token: Fingerprint,
) -> Result<bool, Fault> {
    let known = connection.prepare_cached(sql::HAD_TOKEN)?.exists(params![
        token.as_bytes(),
        place.0,
        id.as_str()
    ])?;
    Ok(known)
}

pub(in crate::directory) fn first_secret(
    connection: &Connection,
    texts: &[[Fingerprint; 2]],
) -> Result<Option<usize>, Fault> {
    let mut statement = connection.prepare_cached(sql::IS_SECRET)?;
    for (at, fingerprints) in texts.iter().enumerate() {
        for fingerprint in fingerprints {
            if statement.exists([fingerprint.as_bytes()])? {
                return Ok(Some(at));
            }
        }
    }
    Ok(None)
}

pub(in crate::directory) fn all(connection: &Connection) -> Result<Vec<Place>, Fault> {
    let found = rows(connection, sql::PLACES, [], |row| {
        let tag: Option<String> = row.get(2)?;
        let last_used: Option<i64> = row.get(5)?;
        Ok(Place {
            id: PlaceId(row.get(0)?),
            name: row.get(1)?,
            tag: tag.as_deref().map(EnvironmentTag::parse),
            urls: Vec::new(),
            keys: Vec::new(),
            profiles: Vec::new(),
            groups: row.get(3)?,
            open: row.get(4)?,
            last_used: last_used.and_then(columns::timestamp),
            alarms: Vec::new(),
        })
    })?;
    found
        .into_iter()
        .map(|mut place| {
            let number = [place.id.0];
            place.urls = rows(connection, sql::URLS, number, |row| row.get(0))?;
            place.profiles = rows(connection, sql::PROFILES, number, |row| row.get(0))?;
            place.keys = keys(connection, place.id)?;
            place.alarms = alarms(connection, place.id)?;
            Ok(place)
        })
        .collect()
}

fn keys(connection: &Connection, place: PlaceId) -> Result<Vec<PlaceKey>, Fault> {
    rows(connection, sql::KEYS, [place.0], |row| {
        let state: String = row.get(2)?;
        Ok(PlaceKey {
            id: KeyId(row.get(0)?),
            fingerprint: Fingerprint::from_bytes(row.get(1)?),
            // What is no state that is known is trusted with nothing.
            state: KeyState::parse(&state).unwrap_or(KeyState::Withdrawn),
            added_at: moment(row, 3)?,
            added_by: row.get(4)?,
            recorded: row.get(5)?,
        })
    })
}

pub(in crate::directory) fn events(
    connection: &Connection,
    place: PlaceId,
) -> Result<Vec<PlaceEvent>, Fault> {
    rows(connection, sql::EVENTS, [place.0], |row| {
        Ok(PlaceEvent {
            at: moment(row, 0)?,
            by: row.get(1)?,
            profile: row.get(2)?,
            event: row.get(3)?,
            note: row.get(4)?,
        })
    })
}

fn event(
    tx: &Connection,
    place: PlaceId,
    caller: &Caller,
    event: &str,
    note: Option<&str>,
) -> Result<(), Fault> {
    add_event(
        tx,
        place,
        (caller.at, &caller.by, &caller.profile),
        event,
        note,
    )
}

fn add_event(
    tx: &Connection,
    place: PlaceId,
    (at, by, profile): (Timestamp, &str, &str),
    event: &str,
    note: Option<&str>,
) -> Result<(), Fault> {
    tx.prepare_cached(sql::ADD_EVENT)?.execute(params![
        place.0,
        columns::micros(at),
        by,
        profile,
        event,
        note
    ])?;
    Ok(())
}

fn name(connection: &Connection, place: PlaceId) -> Result<String, Fault> {
    let name = connection
        .prepare_cached(sql::NAME)?
        .query_row([place.0], |row| row.get(0))?;
    Ok(name)
}

fn is_empty(connection: &Connection, place: PlaceId) -> Result<bool, Fault> {
    let used = connection
        .prepare_cached(sql::IS_USED)?
        .query_row([place.0], |row| row.get::<_, bool>(0))?;
    Ok(!used)
}

fn has_no_key(connection: &Connection, place: PlaceId) -> Result<bool, Fault> {
    let mut statement = connection.prepare_cached(sql::HAS_KEY)?;
    Ok(!statement.exists([place.0])?)
}

fn has_no_tokens(connection: &Connection, place: PlaceId) -> Result<bool, Fault> {
    let mut statement = connection.prepare_cached(sql::HAS_TOKEN)?;
    Ok(!statement.exists([place.0])?)
}

pub(in crate::directory) fn rename(
    tx: &Connection,
    place: PlaceId,
    to: &str,
    at: Timestamp,
    by: &str,
) -> Result<bool, Fault> {
    let was = name(tx, place)?;
    let changed = tx
        .prepare_cached(sql::RENAME)?
        .execute(params![to, place.0])?;
    if changed == 1 {
        let note = format!("{was} is {to} from here on");
        add_event(tx, place, (at, by, ""), "renamed", Some(&note))?;
    }
    Ok(changed == 1)
}

/// Everything of one place becomes the other's. What both hold of a group is united field by field.
pub(in crate::directory) fn merge(
    tx: &Connection,
    from: PlaceId,
    into: PlaceId,
    at: Timestamp,
    by: &str,
) -> Result<Result<(), Refusal>, Fault> {
    if from == into {
        return Ok(Ok(()));
    }
    let was = name(tx, from)?;
    let since = columns::micros(at - STILL_UNDER_WAY);
    let begun_by = tx
        .prepare_cached(sql::UNDER_WAY)?
        .query_row(params![from.0, since], |row| row.get(0))
        .optional()?;
    if let Some(by) = begun_by {
        return Ok(Err(Refusal::UnderWay { place: was, by }));
    }
    groups::unite(tx, from, into)?;
    for text in sql::MERGE {
        tx.prepare_cached(text)?.execute([into.0, from.0])?;
    }
    tx.prepare_cached(sql::MERGE_TAG)?
        .execute([from.0, into.0])?;
    let note = format!("{was} turned out to be this place");
    add_event(tx, into, (at, by, ""), "merged", Some(&note))?;
    tx.prepare_cached(sql::REMOVE)?.execute([from.0])?;
    Ok(Ok(()))
}
