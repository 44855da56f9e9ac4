//! Decodes rows into values, column by column as the SQL next to the functions names them. Returns `None` for a row
//! that cannot be decoded; of a group, only the affected field is left out.

use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::edits;
use crate::{
    database::{Fault, Row, ValueRef},
    directory::{
        BatchId, BatchItem, ItemKey, ItemUpdate, JournalEvent, MutationId, Numbered, Owner,
        PlaceId, RotationId, RotationRow,
        columns::{self, EventColumns, Origin, Origins},
    },
    domain::{
        batch::ItemStatus,
        group::{EnvironmentTag, UserGroupId},
        handoff::{HandOff, HandOffState},
        history::{Ending, Entry, Operation},
        known::{Known, KnownGroup, LastRotated},
        mutation,
        rotation::{Rotation, State},
        token::Fingerprint,
    },
    platform::boot_time::BootTime,
};

type Result<T> = std::result::Result<T, Fault>;

/// A group as far as its row can be read.
pub(super) struct Group {
    /// `None` if not even the id can be read.
    pub(super) group: Option<KnownGroup>,
    pub(super) unreadable: Vec<&'static str>,
}

pub(super) fn group(row: &Row<'_>) -> Result<Group> {
    let mut unreadable = Vec::new();
    let Ok(id) = UserGroupId::parse(row.text(0)?) else {
        return Ok(Group {
            group: None,
            unreadable: vec!["user_group_id"],
        });
    };
    let origins = serde_json::from_str::<Origins<'_>>(row.text(7)?).unwrap_or_else(|_| {
        unreadable.push("origin");
        Origins::default()
    });
    let mut fields = Fields { row, unreadable };
    let mut group = KnownGroup::new(id);
    group.name = fields.known("name", 1, origins.name, string)?;
    group.team_id = fields.known("team_id", 2, origins.team_id, integer)?;
    group.mapping = fields.known("mapping", 3, origins.mapping, json)?;
    group.properties = fields.known("properties", 4, origins.properties, json)?;
    group.environment_tag = fields.known("environment_tag", 5, origins.environment_tag, |tag| {
        tag.text().map(EnvironmentTag::parse)
    })?;
    group.fingerprint = fields.known("fingerprint", 6, origins.fingerprint, to_fingerprint)?;
    let by = row.get(9)?;
    group.last_rotated = fields
        .time("last_rotated_at", 8)?
        .map(|at| LastRotated { at, by });
    group.last_seen = fields.time("last_seen", 10)?;
    group.created_at = fields.time("created_at", 11)?;
    Ok(Group {
        group: Some(group),
        unreadable: fields.unreadable,
    })
}

/// A group row, and the names of the fields that could not be read so far.
struct Fields<'a> {
    row: &'a Row<'a>,
    unreadable: Vec<&'static str>,
}

impl Fields<'_> {
    /// A value is known only together with its origin.
    fn known<T>(
        &mut self,
        name: &'static str,
        index: usize,
        origin: Option<Origin<'_>>,
        read: impl FnOnce(ValueRef<'_>) -> Option<T>,
    ) -> Result<Option<Known<T>>> {
        let value = self.row.value(index)?;
        if value == ValueRef::Null && origin.is_none() {
            return Ok(None);
        }
        let known = origin.and_then(|origin| origin.known(read(value)?));
        if known.is_none() {
            self.unreadable.push(name);
        }
        Ok(known)
    }

    fn time(&mut self, name: &'static str, index: usize) -> Result<Option<Timestamp>> {
        let Some(micros) = self.row.get(index)? else {
            return Ok(None);
        };
        let time = columns::timestamp(micros);
        if time.is_none() {
            self.unreadable.push(name);
        }
        Ok(time)
    }
}

pub(super) fn owner(row: &Row<'_>) -> Result<Option<Owner>> {
    let (id, last_seen) = (id(row, 1)?, time(row, 3)?);
    let (profile, current) = (row.get(0)?, row.get(2)?);
    let place = PlaceId(row.get(4)?);
    Ok(id.zip(last_seen).map(|(user_group_id, last_seen)| Owner {
        profile,
        place,
        user_group_id,
        current,
        last_seen,
    }))
}

pub(super) fn entry(row: &Row<'_>) -> Result<Option<Numbered<Entry>>> {
    let changes = row.value(10)?;
    let parts = (
        time(row, 1)?,
        id(row, 4)?,
        Operation::parse(row.text(5)?),
        Ending::parse(row.text(6)?),
        json_or_null(changes),
    );
    let (Some(at), Some(user_group_id), Some(operation), Some(ending), Some(changes)) = parts
    else {
        return Ok(None);
    };
    let value = Entry {
        at,
        by: row.get(2)?,
        profile: row.get(3)?,
        user_group_id,
        operation,
        ending,
        previous_fingerprint: fingerprint(row, 7)?,
        fingerprint: fingerprint(row, 8)?,
        reason: row.get(9)?,
        changes,
        note: row.get(11)?,
    };
    let number = row.get(0)?;
    Ok(Some(Numbered { number, value }))
}

pub(super) fn rotation(row: &Row<'_>) -> Result<Option<RotationRow>> {
    let sent: Option<i64> = row.get(11)?;
    let sent_at = sent.map(columns::timestamp);
    let parts = (
        id(row, 2)?,
        State::parse(row.text(3)?),
        fingerprint(row, 4)?,
        time(row, 10)?,
        HandOffState::parse(row.text(13)?),
    );
    let (Some(user_group_id), Some(state), Some(previous), Some(started_at), Some(handoff)) = parts
    else {
        return Ok(None);
    };
    if sent_at == Some(None) {
        return Ok(None);
    }
    Ok(Some(RotationRow {
        id: RotationId(row.get(0)?),
        place: PlaceId(row.get(17)?),
        profile: row.get(1)?,
        hands_off: row.get(19)?,
        user_group_id,
        rotation: Rotation {
            state,
            previous,
            fingerprint: fingerprint(row, 5)?,
            refused: row.get(6)?,
            read_unchanged: row.get(7)?,
        },
        by: row.get(8)?,
        reason: row.get(9)?,
        started_at,
        sent_at: sent_at.flatten(),
        note: row.get(12)?,
        handoff: HandOff {
            state: handoff,
            exit: row.get(14)?,
            note: row.get(15)?,
        },
        boot_clock: row
            .get::<Option<String>>(16)?
            .and_then(|text| BootTime::parse(&text)),
    }))
}

pub(super) fn journal_event(row: &Row<'_>) -> Result<Option<JournalEvent>> {
    let what = EventColumns {
        event: row.text(1)?,
        fingerprint: fingerprint(row, 2)?,
        since_sent: row.get(3)?,
        horizon_passed: row.get(4)?,
    }
    .what();
    let (Some(at), Some(what), Some(state)) = (time(row, 0)?, what, State::parse(row.text(5)?))
    else {
        return Ok(None);
    };
    let note = row.get(6)?;
    Ok(Some(JournalEvent {
        at,
        what,
        state,
        note,
    }))
}

/// Columns: state of the rotation, ending without one, state of the update.
pub(super) fn item_status(row: &Row<'_>) -> Result<Option<ItemStatus>> {
    let (state, ending) = (word(row, 0, State::parse)?, word(row, 1, Ending::parse)?);
    let update = word(row, 2, mutation::State::parse)?;
    let (Some(state), Some(ending), Some(update)) = (state, ending, update) else {
        return Ok(None);
    };
    Ok(Some(match update {
        Some(update) => ItemStatus::of_update(update, ending),
        None => ItemStatus::of(state, ending),
    }))
}

pub(super) fn item(batch: BatchId, row: &Row<'_>) -> Result<Option<BatchItem>> {
    let position: u32 = row.get(0)?;
    let parts = (
        id(row, 1)?,
        word(row, 3, State::parse)?,
        word(row, 4, Ending::parse)?,
        word(row, 9, mutation::State::parse)?,
        word(row, 11, HandOffState::parse)?,
    );
    let (Some(user_group_id), Some(state), Some(ending), Some(update), Some(handoff)) = parts
    else {
        return Ok(None);
    };
    let id: Option<i64> = row.get(8)?;
    let edit: Option<String> = row.get(10)?;
    let rotation: Option<i64> = row.get(2)?;
    Ok(Some(BatchItem {
        key: ItemKey {
            batch,
            position: position as usize,
        },
        user_group_id,
        rotation: rotation.map(RotationId),
        state,
        update: id.zip(update).map(|(id, state)| ItemUpdate {
            id: MutationId(id),
            state,
        }),
        edit: edit.as_deref().and_then(edits::item),
        ending,
        note: row.get(5)?,
        previous: fingerprint(row, 6)?,
        fingerprint: fingerprint(row, 7)?,
        handoff: HandOff {
            state: handoff.unwrap_or_default(),
            exit: row.get(12)?,
            note: row.get(13)?,
        },
        cause: row.get(14)?,
    }))
}

/// The outer `None` means an unknown word.
#[expect(clippy::option_option, reason = "absent and unreadable differ")]
fn word<T>(
    row: &Row<'_>,
    index: usize,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<Option<T>>> {
    Ok(match row.value(index)? {
        ValueRef::Null => Some(None),
        value => value.text().and_then(parse).map(Some),
    })
}

fn id(row: &Row<'_>, index: usize) -> Result<Option<UserGroupId>> {
    Ok(UserGroupId::parse(row.text(index)?).ok())
}

fn time(row: &Row<'_>, index: usize) -> Result<Option<Timestamp>> {
    Ok(columns::timestamp(row.get(index)?))
}

fn fingerprint(row: &Row<'_>, index: usize) -> Result<Option<Fingerprint>> {
    let bytes: Option<[u8; 32]> = row.get(index)?;
    Ok(bytes.map(Fingerprint::from_bytes))
}

fn to_fingerprint(value: ValueRef<'_>) -> Option<Fingerprint> {
    let bytes = value.bytes()?.try_into().ok()?;
    Some(Fingerprint::from_bytes(bytes))
}

fn integer(value: ValueRef<'_>) -> Option<i64> {
    value.integer()
}

fn string(value: ValueRef<'_>) -> Option<String> {
    value.text().map(str::to_owned)
}

fn json<T: DeserializeOwned>(value: ValueRef<'_>) -> Option<T> {
    serde_json::from_str(value.text()?).ok()
}

/// The outer `None` means neither JSON nor null.
#[expect(clippy::option_option, reason = "absent and unreadable differ")]
fn json_or_null<T: DeserializeOwned>(value: ValueRef<'_>) -> Option<Option<T>> {
    match value {
        ValueRef::Null => Some(None),
        value => json(value).map(Some),
    }
}
