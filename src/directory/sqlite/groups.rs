//! The groups of a place.

use std::io;

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, ToSql, params, types::ToSqlOutput};
use serde::Serialize;

use super::{facts, fault::Fault, fingerprints, journal, mutations, packed, rows};
use crate::{
    directory::{
        Damaged, DirectoryError, GroupSnapshot, KeyId, PlaceId, Precondition, Recorded,
        columns::{self, Origins},
    },
    domain::{
        group::{EnvironmentTag, UserGroupId},
        known::{ImportResult, Known, KnownGroup, Observation},
    },
    formats::GroupRow,
};

const TABLE: &str = "user_groups";

/// As `rows::group` reads them.
macro_rules! group_columns {
    () => {
        "user_group_id, name, team_id, mapping, properties, environment_tag, fingerprint, origin, \
         last_rotated_at, last_rotated_by, last_seen, created_at"
    };
}
pub(super) use group_columns;

/// All groups of a place, and what could not be read of them.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) groups: Vec<KnownGroup>,
    pub(crate) damaged: Vec<Damaged>,
}

const GROUPS: &str = concat!(
    "SELECT ",
    group_columns!(),
    " FROM user_groups WHERE place = $1 ORDER BY user_group_id"
);

pub(crate) fn all(connection: &Connection, place: PlaceId) -> Result<Groups, Fault> {
    let mut statement = connection.prepare_cached(GROUPS)?;
    let mut found = statement.query([place.0])?;
    let mut all = Groups::default();
    while let Some(row) = found.next()? {
        let rows::Group {
            group,
            unreadable: fields,
        } = rows::group(row)?;
        if !fields.is_empty() {
            let user_group_id = row.get(0)?;
            all.damaged.push(Damaged {
                user_group_id,
                fields,
            });
        }
        all.groups.extend(group);
    }
    Ok(all)
}

/// Groups that are handed over together; few, so that the taker is not far behind when the last ones come.
const SOME: usize = 128;

pub(crate) fn each(
    connection: &Connection,
    place: PlaceId,
    mut take: impl FnMut(Vec<KnownGroup>) -> bool,
) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(GROUPS)?;
    let mut found = statement.query([place.0])?;
    let mut some = Vec::with_capacity(SOME);
    while let Some(row) = found.next()? {
        some.extend(rows::group(row)?.group);
        if some.len() == SOME && !take(std::mem::replace(&mut some, Vec::with_capacity(SOME))) {
            return Ok(());
        }
    }
    take(some);
    Ok(())
}

/// The ids of a place, ascending.
pub(crate) fn ids(connection: &Connection, place: PlaceId) -> Result<Vec<UserGroupId>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT user_group_id FROM user_groups WHERE place = $1 ORDER BY user_group_id",
    )?;
    let rows = statement.query_map([place.0], |row| {
        Ok(UserGroupId::parse(row.get::<_, String>(0)?))
    })?;
    let rows: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
    // As where groups are read, an id that makes no sense hides no other.
    Ok(rows.into_iter().flatten().collect())
}

const GROUP: &str = concat!(
    "SELECT ",
    group_columns!(),
    " FROM user_groups WHERE place = $1 AND user_group_id = $2"
);

pub(crate) fn one(
    connection: &Connection,
    place: PlaceId,
    id: &UserGroupId,
) -> Result<Option<KnownGroup>, Fault> {
    let row = connection
        .prepare_cached(GROUP)?
        .query_row(params![place.0, id.as_str()], rows::group)
        .optional()?;
    Ok(row.and_then(|row| row.group))
}

/// In the order of the ids.
pub(crate) fn some(
    connection: &Connection,
    place: PlaceId,
    ids: &[UserGroupId],
) -> Result<Vec<Option<KnownGroup>>, Fault> {
    let groups = ids.iter().map(|id| one(connection, place, id));
    groups.collect()
}

pub(crate) fn snapshot(
    connection: &Connection,
    place: PlaceId,
    id: &UserGroupId,
) -> Result<GroupSnapshot, Fault> {
    Ok(GroupSnapshot {
        group: one(connection, place, id)?,
        open: journal::open_of(connection, place, id)?,
        mutations: mutations::open_of(connection, place, id)?,
        recorded: mutations::recorded(connection, place, id)?,
    })
}

/// What an observation is drawn from, and holds under.
#[derive(Clone, Copy)]
pub(super) struct ObservedUnder {
    pub(super) upon: Precondition,
    pub(super) since: Option<i64>,
    pub(super) key: Option<KeyId>,
    pub(super) created: bool,
}

/// Reads the group, lets it learn, writes it back.
pub(super) fn observe(
    tx: &Connection,
    place: PlaceId,
    mut observation: Observation,
    drawn: ObservedUnder,
) -> Result<Recorded, Fault> {
    let ObservedUnder {
        upon,
        since,
        key,
        created,
    } = drawn;
    observation.at = columns::as_kept(observation.at);
    let mut group =
        one(tx, place, &observation.id)?.unwrap_or_else(|| KnownGroup::new(observation.id.clone()));
    let token = group.fingerprint.as_ref().map(|known| known.value);
    if matches!(upon, Precondition::Token(seen) if seen != token) {
        return Err(DirectoryError::Overtaken(Box::new(observation)).into());
    }
    if let Some(since) = since
        && mutations::recorded(tx, place, &observation.id)? > since
    {
        return Err(DirectoryError::ReadOvertaken(Box::new(observation)).into());
    }
    let (at, returned) = (
        columns::micros(observation.at),
        observation.returned.as_ref(),
    );
    let fingerprint = returned.map(|returned| returned.fingerprint);
    if let Some(tag) = observation
        .returned
        .as_ref()
        .and_then(|r| r.environment_tag.as_ref())
    {
        facts::first_tag(tx, place, tag)?;
    }
    if created {
        group.created_at = columns::timestamp(at);
    }
    let noticed = group.observe(observation);
    save(tx, place, &group, key)?;
    if let Some(fingerprint) = fingerprint {
        fingerprints::keep(tx, place, &group.id, fingerprint, at)?;
    }
    let open = journal::open_of(tx, place, &group.id)?;
    Ok(Recorded {
        group: Some(group),
        noticed,
        open,
    })
}

/// Takes in rows of a file: ids that were not known, and what nothing better is known of.
pub(crate) fn import(
    tx: &Connection,
    place: PlaceId,
    rows: &[GroupRow],
    at: Timestamp,
    by: &str,
) -> Result<Vec<ImportResult>, Fault> {
    let at = columns::as_kept(at);
    let rows = rows.iter().map(|row| {
        let known = one(tx, place, &row.id)?;
        let is_new = known.is_none();
        let mut group = known.unwrap_or_else(|| KnownGroup::new(row.id.clone()));
        let before = group.clone();
        let taken = group.import(&row.said, at, by);
        if is_new || group != before {
            save(tx, place, &group, None)?;
        }
        Ok(if is_new { ImportResult::Added } else { taken })
    });
    rows.collect()
}

/// What both places hold of a group is united field by field; the rest is moved.
pub(super) fn unite(tx: &Connection, from: PlaceId, into: PlaceId) -> Result<(), Fault> {
    for group in all(tx, from)?.groups {
        let group = match one(tx, into, &group.id)? {
            Some(other) => other.combined_with(group),
            None => group,
        };
        save(tx, into, &group, None)?;
    }
    Ok(())
}

/// A value that is not known never erases a stored one, not even one that could not be read.
const SAVE_GROUP: &str = "\
INSERT INTO user_groups (place, user_group_id, name, team_id, mapping, properties, environment_tag, fingerprint, \
 origin, last_rotated_at, last_rotated_by, last_seen, key, created_at, desk, change) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
 (SELECT COALESCE(MAX(change), 0) + 1 FROM user_groups WHERE place = $1 AND change > 0)) \
ON CONFLICT (place, user_group_id) DO UPDATE SET \
 name = COALESCE(excluded.name, user_groups.name), \
 team_id = COALESCE(excluded.team_id, user_groups.team_id), \
 mapping = COALESCE(excluded.mapping, user_groups.mapping), \
 properties = COALESCE(excluded.properties, user_groups.properties), \
 environment_tag = COALESCE(excluded.environment_tag, user_groups.environment_tag), \
 fingerprint = COALESCE(excluded.fingerprint, user_groups.fingerprint), \
 origin = excluded.origin, \
 last_rotated_at = excluded.last_rotated_at, \
 last_rotated_by = excluded.last_rotated_by, \
 last_seen = excluded.last_seen, \
 key = COALESCE(excluded.key, user_groups.key), \
 created_at = COALESCE(excluded.created_at, user_groups.created_at), \
 desk = excluded.desk, \
 change = excluded.change";

fn save(
    tx: &Connection,
    place: PlaceId,
    group: &KnownGroup,
    key: Option<KeyId>,
) -> Result<(), Fault> {
    let unwritable = |_| Fault::Row(TABLE);
    let origin = serde_json::to_string(&Origins::of(group)).map_err(unwritable)?;
    tx.prepare_cached(SAVE_GROUP)?.execute(params![
        place.0,
        group.id.as_str(),
        group.name.as_ref().map(|known| &known.value),
        group.team_id.as_ref().map(|known| known.value),
        group.mapping.as_ref().map(Json),
        group.properties.as_ref().map(Json),
        group
            .environment_tag
            .as_ref()
            .map(|known| known.value.as_str()),
        group
            .fingerprint
            .as_ref()
            .map(|known| known.value.as_bytes()),
        origin,
        group
            .last_rotated
            .as_ref()
            .map(|last| columns::micros(last.at)),
        group
            .last_rotated
            .as_ref()
            .and_then(|last| last.by.as_ref()),
        group.last_seen.map(columns::micros),
        key.map(|key| key.0),
        group.created_at.map(columns::micros),
        desk(),
    ])?;
    packed::write(tx, place, group)?;
    #[cfg(debug_assertions)]
    must_have_its_copy(tx, place, group)?;
    Ok(())
}

/// Every test that writes a group proves it.
#[cfg(debug_assertions)]
fn must_have_its_copy(tx: &Connection, place: PlaceId, group: &KnownGroup) -> Result<(), Fault> {
    use crate::search::{pack, title_key};
    let kept: (String, Vec<u8>) = tx
        .prepare_cached(
            "SELECT title, packed FROM packed_groups WHERE place = $1 AND user_group_id = $2",
        )?
        .query_row(params![place.0, group.id.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let whole = one(tx, place, &group.id)?;
    let right = whole.map(|whole| (title_key(&whole), pack(&whole)));
    assert_eq!(Some(kept), right, "the copy of {:?}", group.id.as_str());
    Ok(())
}

thread_local! {
    static DESK: i64 = {
        let mut number = [0; 8];
        // Without randomness one's own writes may look like another's.
        let _ = getrandom::fill(&mut number);
        i64::from_le_bytes(number)
    };
}

/// Tells the writes of one open directory from those of others: all of them are done by its one thread.
fn desk() -> i64 {
    DESK.with(|number| *number)
}

/// The number of the last write of a group of this place.
pub(super) fn last_change(connection: &Connection, place: PlaceId) -> Result<i64, Fault> {
    Ok(connection
        .prepare_cached(
            "SELECT COALESCE(MAX(change), 0) FROM user_groups WHERE place = $1 AND change > 0",
        )?
        .query_row([place.0], |row| row.get(0))?)
}

const CHANGED: &str = concat!(
    "SELECT ",
    group_columns!(),
    " FROM user_groups WHERE place = $1 AND change > 0 AND change > $2 AND desk IS DISTINCT FROM $3 \
     ORDER BY change LIMIT $4"
);

/// The groups that others have written since, at most so many of them, and whether there are more.
pub(super) fn changed(
    connection: &Connection,
    place: PlaceId,
    since: i64,
    most: usize,
) -> Result<(Vec<KnownGroup>, bool), Fault> {
    let mut statement = connection.prepare_cached(CHANGED)?;
    let limit = most as i64 + 1;
    let rows = statement.query_map(params![place.0, since, desk(), limit], rows::group)?;
    let mut rows: Vec<rows::Group> = rows.collect::<rusqlite::Result<_>>()?;
    // Counted with those that cannot be read.
    let are_more = rows.len() > most;
    rows.truncate(most);
    let groups = rows.into_iter().filter_map(|row| row.group).collect();
    Ok((groups, are_more))
}

/// The tags that this place does not have are known of no group any more.
const FORGET_TAGS: &str = "\
UPDATE user_groups SET environment_tag = NULL, origin = json_remove(origin, '$.environment_tag'), desk = $1, \
 change = (SELECT COALESCE(MAX(change), 0) + 1 FROM user_groups WHERE place = $2 AND change > 0) \
WHERE place = $2 AND environment_tag IS NOT NULL AND environment_tag IS DISTINCT FROM $3";

pub(super) fn forget_tags(
    tx: &Connection,
    place: PlaceId,
    tag: Option<&EnvironmentTag>,
) -> Result<(), Fault> {
    tx.prepare_cached(FORGET_TAGS)?.execute(params![
        desk(),
        place.0,
        tag.map(EnvironmentTag::as_str)
    ])?;
    Ok(())
}

/// A value as JSON; the text stands in memory only until SQLite has its copy of it.
struct Json<'a, T>(&'a Known<T>);

impl<T: Serialize> ToSql for Json<'_, T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let unwritable = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
        let mut length = Length(0);
        serde_json::to_writer(&mut length, &self.0.value).map_err(unwritable)?;
        // A buffer that grows stands there twice.
        let mut text = Vec::with_capacity(length.0);
        serde_json::to_writer(&mut text, &self.0.value).map_err(unwritable)?;
        let text = String::from_utf8(text).expect("JSON is UTF-8");
        Ok(text.into())
    }
}

/// Counts what is written, in bytes.
struct Length(usize);

impl io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
