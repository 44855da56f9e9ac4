//! Places: which one a profile means, the keys of each, alarms, and merging.

mod answering;
mod binding;
mod merging;
mod renaming;

use std::{collections::HashSet, sync::LazyLock};

use jiff::Timestamp;

pub(super) use binding::query_place;
pub(crate) use binding::{place_of, preview_binding, with_key};
#[cfg(test)]
pub(super) use merging::MERGE;

use super::{fault::Fault, groups};
use crate::{
    database::{Access, Fault as DatabaseFault, Results, Row, Statements, Tx, Value, values},
    directory::{
        Alarm, Caller, Directory, DirectoryError, Gate, KeyId, KeyState, Place, PlaceEvent,
        PlaceId, PlaceKey, columns,
    },
    domain::{
        group::{EnvironmentTag, UserGroupId},
        history::Entry,
        token::Fingerprint,
    },
};

impl Directory {
    /// Returns the name of a place; `None` if there is no place with that number.
    pub async fn place_name(&self, place: PlaceId) -> Result<Option<String>, DirectoryError> {
        self.execute(Access::Short, move |c| name_of(c, place))
            .await
    }

    /// Returns the alarms of a place that are not acknowledged, oldest first.
    pub async fn alarms(&self, place: PlaceId) -> Result<Vec<Alarm>, DirectoryError> {
        self.execute(Access::Short, move |tx| alarms(tx, place))
            .await
    }

    /// Returns what blocks requests with this key.
    pub async fn gate(&self, place: PlaceId, key: KeyId) -> Result<Gate, DirectoryError> {
        self.execute(Access::Current, move |tx| {
            let mut reads = Statements::default();
            query_gate(&mut reads, place, key);
            self::gate(&mut tx.read(reads)?)
        })
        .await
    }

    /// Whether the group of this place ever had this token.
    pub async fn had_token(
        &self,
        place: PlaceId,
        id: &UserGroupId,
        token: Fingerprint,
    ) -> Result<bool, DirectoryError> {
        let id = id.clone();
        self.execute(Access::Short, move |tx| {
            exists(
                tx,
                HAD_TOKEN,
                values![token.as_bytes(), place.0, id.as_str()],
            )
        })
        .await
    }

    /// Returns the indices of the fingerprints that are those of a token or an API key seen before, ascending.
    pub async fn known_secrets(
        &self,
        fingerprints: Vec<Fingerprint>,
    ) -> Result<Vec<usize>, DirectoryError> {
        if fingerprints.is_empty() {
            return Ok(Vec::new());
        }
        self.execute(Access::Short, move |tx| {
            let mut known = HashSet::new();
            for some in fingerprints.chunks(AT_ONCE) {
                let last = some.last().into_iter().cycle();
                let values = some.iter().chain(last).take(AT_ONCE);
                let values = values.map(|one| Value::from(one.as_bytes())).collect();
                let found = tx.all(SECRETS.as_str(), values, |row| {
                    let bytes: Vec<u8> = row.get(0)?;
                    Ok::<_, Fault>(bytes)
                })?;
                known.extend(found);
            }
            let is_known = |one: &Fingerprint| known.contains(&one.as_bytes()[..]);
            let all = fingerprints.iter().enumerate();
            Ok(all
                .filter(|(_, one)| is_known(one))
                .map(|(at, _)| at)
                .collect())
        })
        .await
    }

    /// Returns all places, by name.
    pub async fn places(&self) -> Result<Vec<Place>, DirectoryError> {
        self.execute(Access::Long, all).await
    }

    /// Returns the events of a place, oldest first.
    pub async fn place_events(&self, place: PlaceId) -> Result<Vec<PlaceEvent>, DirectoryError> {
        self.execute(Access::Long, move |tx| {
            tx.all(EVENTS, values![place.0], |row| {
                Ok(PlaceEvent {
                    at: required_time(row, 0)?,
                    by: row.get(1)?,
                    profile: row.get(2)?,
                    event: row.get(3)?,
                    note: row.get(4)?,
                })
            })
        })
        .await
    }

    /// Renames a place; `false` if another one has that name.
    pub async fn rename_place(
        &self,
        place: PlaceId,
        name: &str,
        at: Timestamp,
        by: &str,
    ) -> Result<bool, DirectoryError> {
        let (to, by) = (name.to_owned(), by.to_owned());
        self.write(move |tx| {
            let was = name_of(tx, place)?.ok_or(Fault::Row(TABLE))?;
            let changed = tx.write(RENAME, values![&to, place.0])?;
            if changed == 1 {
                let note = format!("{was} is {to} from here on");
                add_event(tx, place, (at, &by, ""), "renamed", Some(&note))?;
            }
            Ok(changed == 1)
        })
        .await
    }

    /// Acknowledges all alarms of a place and returns their number. `tag` is what answers are compared with from now
    /// on.
    pub async fn acknowledge(
        &self,
        place: PlaceId,
        tag: Option<EnvironmentTag>,
        at: Timestamp,
        by: &str,
        reason: &str,
    ) -> Result<usize, DirectoryError> {
        let (by, reason) = (by.to_owned(), reason.to_owned());
        self.write(move |tx| {
            let (tag, by, reason) = (tag.as_ref(), by.as_str(), reason.as_str());
            let count = tx.write(
                ACKNOWLEDGE,
                values![columns::micros(at), by, reason, place.0],
            )?;
            tx.write(SET_TAG, values![tag.map(EnvironmentTag::as_str), place.0])?;
            // The tags that raised the alarms are not knowledge about this place.
            groups::forget_tags(tx, place, tag)?;
            add_event(tx, place, (at, by, ""), "alarms acknowledged", Some(reason))?;
            Ok(count)
        })
        .await
    }
}

const TABLE: &str = "places";

/// A required time column.
fn required_time(row: &Row<'_>, column: usize) -> Result<Timestamp, DatabaseFault> {
    columns::timestamp(row.get(column)?).ok_or(DatabaseFault::Column)
}

fn exists(tx: &Tx<'_>, text: &'static str, values: Vec<Value>) -> Result<bool, Fault> {
    let found = tx.one(text, values, |_| Ok::<_, Fault>(()))?;
    Ok(found.is_some())
}

pub(super) fn place_id(row: &Row<'_>) -> Result<PlaceId, DatabaseFault> {
    row.get(0).map(PlaceId)
}

const KEY_STATE: &str = "SELECT k.state, p.tag FROM place_keys k JOIN places p ON p.number = k.place \
     WHERE k.number = $1 AND k.place = $2";

pub(super) fn query_gate(reads: &mut Statements, place: PlaceId, key: KeyId) {
    reads.add(KEY_STATE, values![key.0, place.0]);
    reads.add(ALARMS, values![place.0]);
}

pub(super) fn gate(found: &mut Results) -> Result<Gate, Fault> {
    let known = found.next().first(|row| {
        let tag: Option<String> = row.get(1)?;
        Ok::<_, Fault>((KeyState::parse(row.text(0)?), tag))
    })?;
    let (state, tag) = known.unzip();
    let (state, tag) = (state.flatten(), tag.flatten());
    Ok(Gate {
        // A key that is there no more went with a place that became part of another.
        key: state.unwrap_or(KeyState::Withdrawn),
        tag: tag.as_deref().map(EnvironmentTag::parse),
        alarms: found.next().all(alarm)?,
    })
}

const ALARMS: &str = "\
SELECT number, user_group_id, what, raised_at, raised_by FROM alarms \
WHERE place = $1 AND acknowledged_at IS NULL ORDER BY number";

fn alarms(tx: &Tx<'_>, place: PlaceId) -> Result<Vec<Alarm>, Fault> {
    tx.all(ALARMS, values![place.0], alarm)
}

fn alarm(row: &Row<'_>) -> Result<Alarm, Fault> {
    Ok(Alarm {
        number: row.get(0)?,
        user_group_id: row.get(1)?,
        what: row.get(2)?,
        at: required_time(row, 3)?,
        by: row.get(4)?,
    })
}

/// An alarm that already exists is not raised twice.
const ADD_ALARM: &str = "\
INSERT INTO alarms (place, user_group_id, what, raised_at, raised_by) \
SELECT $1, $2, $3, $4, $5 WHERE NOT EXISTS (SELECT 1 FROM alarms \
 WHERE place = $1 AND user_group_id IS NOT DISTINCT FROM $2 AND what = $3 AND acknowledged_at IS NULL)";

/// From here on nothing by id is sent for the place.
pub(super) fn raise(writes: &mut Statements, place: PlaceId, what: &str, entry: &Entry) {
    let values = values![
        place.0,
        entry.user_group_id.as_str(),
        what,
        columns::micros(entry.at),
        &entry.by
    ];
    writes.add(ADD_ALARM, values);
}

const ACKNOWLEDGE: &str = "\
UPDATE alarms SET acknowledged_at = $1, acknowledged_by = $2, reason = $3 \
WHERE place = $4 AND acknowledged_at IS NULL";

const SET_TAG: &str = "UPDATE places SET tag = $1 WHERE number = $2";

const HAD_TOKEN: &str =
    "SELECT 1 FROM fingerprints WHERE fingerprint = $1 AND place = $2 AND user_group_id = $3";

/// Fingerprints that are looked up with one statement.
const AT_ONCE: usize = 128;

/// Tokens and API keys that were ever seen, in any place.
static SECRETS: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<_> = (1..=AT_ONCE).map(|number| format!("${number}")).collect();
    let all = all.join(", ");
    format!(
        "SELECT fingerprint FROM fingerprints WHERE fingerprint IN ({all}) \
         UNION SELECT fingerprint FROM place_keys WHERE fingerprint IN ({all})"
    )
});

const PLACES: &str = "\
SELECT p.number, p.name, p.tag, \
 (SELECT COUNT(*) FROM user_groups g WHERE g.place = p.number), \
 (SELECT COUNT(*) FROM rotations r WHERE r.place = p.number \
  AND (r.state IN ('intended', 'sent', 'rotated', 'unknown') OR r.handoff IN ('pending', 'failed'))), \
 (SELECT MAX(h.at) FROM history h WHERE h.place = p.number) \
FROM places p ORDER BY p.name";

const URLS: &str = "SELECT url FROM place_urls WHERE place = $1 ORDER BY url";

const PROFILES: &str = "SELECT DISTINCT profile FROM bindings WHERE place = $1 ORDER BY profile";

pub(crate) fn all(tx: &Tx<'_>) -> Result<Vec<Place>, Fault> {
    let found = tx.all(PLACES, values![], |row| {
        let tag: Option<String> = row.get(2)?;
        let last_used: Option<i64> = row.get(5)?;
        Ok::<_, Fault>(Place {
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
            place.urls = tx.all(URLS, values![place.id.0], |row| row.get(0))?;
            place.profiles = tx.all(PROFILES, values![place.id.0], |row| row.get(0))?;
            place.keys = keys(tx, place.id)?;
            place.alarms = alarms(tx, place.id)?;
            Ok(place)
        })
        .collect()
}

const KEYS: &str = "\
SELECT k.number, k.fingerprint, k.state, k.added_at, k.added_by, \
 (SELECT COUNT(*) FROM history h WHERE h.place = k.place AND h.key = k.number) \
FROM place_keys k WHERE k.place = $1 ORDER BY k.number";

fn keys(tx: &Tx<'_>, place: PlaceId) -> Result<Vec<PlaceKey>, Fault> {
    tx.all(KEYS, values![place.0], |row| {
        let state: String = row.get(2)?;
        Ok(PlaceKey {
            id: KeyId(row.get(0)?),
            fingerprint: Fingerprint::from_bytes(row.get(1)?),
            // An unknown state is not trusted with anything.
            state: KeyState::parse(&state).unwrap_or(KeyState::Withdrawn),
            added_at: required_time(row, 3)?,
            added_by: row.get(4)?,
            recorded: row.get(5)?,
        })
    })
}

const EVENTS: &str = "\
SELECT at, by, profile, event, note FROM place_events WHERE place = $1 ORDER BY number";

fn event(
    tx: &Tx<'_>,
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

const ADD_EVENT: &str = "\
INSERT INTO place_events (place, at, by, profile, event, note) VALUES ($1, $2, $3, $4, $5, $6)";

fn add_event(
    tx: &Tx<'_>,
    place: PlaceId,
    (at, by, profile): (Timestamp, &str, &str),
    event: &str,
    note: Option<&str>,
) -> Result<(), Fault> {
    let values = values![place.0, columns::micros(at), by, profile, event, note];
    tx.write(ADD_EVENT, values)?;
    Ok(())
}

const NAME: &str = "SELECT name FROM places WHERE number = $1";

pub(crate) fn name_of(tx: &Tx<'_>, place: PlaceId) -> Result<Option<String>, Fault> {
    Ok(tx.one(NAME, values![place.0], |row| row.get(0))?)
}

fn name(tx: &Tx<'_>, place: PlaceId) -> Result<String, Fault> {
    name_of(tx, place)?.ok_or(Fault::Row(TABLE))
}

const HAS_KEY: &str = "SELECT 1 FROM place_keys WHERE place = $1 AND state <> 'withdrawn' LIMIT 1";

fn has_no_key(tx: &Tx<'_>, place: PlaceId) -> Result<bool, Fault> {
    Ok(!exists(tx, HAS_KEY, values![place.0])?)
}

const HAS_TOKEN: &str = "SELECT 1 FROM fingerprints WHERE place = $1 LIMIT 1";

fn has_no_tokens(tx: &Tx<'_>, place: PlaceId) -> Result<bool, Fault> {
    Ok(!exists(tx, HAS_TOKEN, values![place.0])?)
}

const RENAME: &str = "\
UPDATE places SET name = $1 WHERE number = $2 AND NOT EXISTS (SELECT 1 FROM places WHERE name = $1)";
