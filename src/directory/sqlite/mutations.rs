//! The journal of mutations: who holds a group, and what became of it.

use rusqlite::{Connection, OptionalExtension, Row, Rows, params};

use super::{batches, fault::Fault};
use crate::{
    directory::{
        Claimed, DirectoryError, Mutation, MutationId, MutationIntent, MutationStep, PlaceId,
        RotationId, RotationIntent, RotationStep,
        columns::{self, boot_clock},
    },
    domain::{
        group::UserGroupId,
        history::{Ending, Operation},
        mutation::State,
        rotation,
    },
    platform::boot_time::BootTime,
};

const TABLE: &str = "mutations";

macro_rules! columns {
    () => {
        "id, user_group_id, operation, state, rotation_id, by, profile, started_at, sent_at, boot_clock, ending, note, \
         changes"
    };
}

macro_rules! holds {
    () => {
        "state IN ('intended', 'sent', 'unknown')"
    };
}

macro_rules! is_open {
    () => {
        "state IN ('intended', 'sent', 'unknown', 'open')"
    };
}

/// The open states, as the index `mutations_open` lists them.
#[cfg(test)]
pub(super) const IS_OPEN: &str = is_open!();
/// Those that hold the group, as the index `mutations_one_per_group` lists them.
#[cfg(test)]
pub(super) const HOLDS: &str = holds!();

/// Nothing is returned where another one holds the group.
const BEGIN: &str = "\
INSERT INTO mutations (place, user_group_id, operation, state, rotation_id, by, profile, key, reason, started_at, \
 boot_clock, changes) \
VALUES ($1, $2, $3, 'intended', $4, $5, $6, $7, $8, $9, $10, $11) \
ON CONFLICT DO NOTHING RETURNING id";

/// Inserts the intent, unless another mutation holds the group.
pub(crate) fn begin(
    tx: &Connection,
    place: PlaceId,
    intent: &MutationIntent,
) -> Result<Claimed, Fault> {
    // Not the index alone: where two places became one, it lets two stand beside each other.
    if let Some(holder) = holder(tx, place, &intent.user_group_id)? {
        return Ok(Claimed::HeldBy(Box::new(holder)));
    }
    let id = tx.prepare_cached(BEGIN)?.query_row(
        params![
            place.0,
            intent.user_group_id.as_str(),
            intent.operation.as_str(),
            None::<i64>,
            intent.by,
            intent.profile,
            intent.key.map(|key| key.0),
            None::<String>,
            columns::micros(intent.at),
            boot_clock(),
            intent.changes.as_ref().map(serde_json::Value::to_string),
        ],
        |row| row.get(0),
    )?;
    Ok(Claimed::Begun(MutationId(id)))
}

/// The claim of a rotation, in the transaction of its intent.
pub(super) fn begin_rotation(
    tx: &Connection,
    place: PlaceId,
    id: RotationId,
    intent: &RotationIntent,
) -> Result<(), Fault> {
    tx.prepare_cached(BEGIN)?.query_row(
        params![
            place.0,
            intent.user_group_id.as_str(),
            Operation::Rotate.as_str(),
            id.0,
            intent.by,
            intent.profile,
            intent.key.map(|key| key.0),
            intent.reason,
            columns::micros(intent.at),
            boot_clock(),
            None::<String>,
        ],
        |_| Ok(()),
    )?;
    Ok(())
}

/// Also one of a place that became this one.
const HOLDER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM mutations WHERE place = $1 AND user_group_id = $2 AND ",
    holds!(),
    " ORDER BY id DESC LIMIT 1"
);

pub(super) fn holder(
    connection: &Connection,
    place: PlaceId,
    id: &UserGroupId,
) -> Result<Option<Mutation>, Fault> {
    connection
        .prepare_cached(HOLDER)?
        .query_row(params![place.0, id.as_str()], mutation)
        .optional()?
        .map(|row| row.ok_or(Fault::Row(TABLE)))
        .transpose()
}

/// Compare and set: changes nothing where the state is not the expected one.
const STEP: &str = "\
UPDATE mutations SET state = $1, sent_at = COALESCE(sent_at, $2), boot_clock = COALESCE($3, boot_clock), \
 ended_at = COALESCE(ended_at, $4), ending = COALESCE($5, ending), note = COALESCE($6, note), \
 changes = COALESCE($7, changes) \
WHERE place = $8 AND id = $9 AND state = $10";

/// The outcome of something that was sent counts: readings that left before it say nothing any more.
const COUNT_RECORDED: &str = "\
UPDATE mutations SET recorded = (SELECT COALESCE(MAX(other.recorded), 0) + 1 FROM mutations other \
 WHERE other.place = mutations.place AND other.user_group_id = mutations.user_group_id) WHERE id = $1";

/// Takes one step, if the mutation still is where it starts from.
pub(crate) fn step(tx: &Connection, place: PlaceId, step: &MutationStep) -> Result<(), Fault> {
    let at = columns::micros(step.at);
    let sends = step.to == State::Sent;
    let moved = || DirectoryError::ClaimMoved { id: step.id };
    if !step.from.may_become(step.to) {
        return Err(moved().into());
    }
    let changed = tx.prepare_cached(STEP)?.execute(params![
        step.to.as_str(),
        sends.then_some(at),
        sends.then(boot_clock).flatten(),
        (step.to == State::Ended).then_some(at),
        step.ending.map(Ending::as_str),
        step.note,
        step.changes.as_ref().map(serde_json::Value::to_string),
        place.0,
        step.id.0,
        step.from.as_str(),
    ])?;
    if changed != 1 {
        return Err(moved().into());
    }
    if let Some(item) = step.item {
        batches::take_for_update(tx, item, step.id)?;
    }
    if step.is_outcome {
        tx.prepare_cached(COUNT_RECORDED)?.execute([step.id.0])?;
    }
    Ok(())
}

/// A rotation takes its claim along.
const FOLLOW_ROTATION: &str = "\
UPDATE mutations SET state = $1, sent_at = COALESCE(sent_at, $2), boot_clock = COALESCE($3, boot_clock), \
 ended_at = COALESCE(ended_at, $4), ending = COALESCE($5, ending) WHERE rotation_id = $6";

/// The claim of a rotation follows it.
pub(super) fn follow(tx: &Connection, step: &RotationStep) -> Result<(), Fault> {
    let at = columns::micros(step.at);
    let sends = matches!(step.event, rotation::Event::Sending);
    let state = match step.after.state {
        rotation::State::Intended => State::Intended,
        rotation::State::Sent => State::Sent,
        rotation::State::Unknown => State::Unknown,
        _ => State::Ended,
    };
    tx.prepare_cached(FOLLOW_ROTATION)?.execute(params![
        state.as_str(),
        sends.then_some(at),
        sends.then(boot_clock).flatten(),
        (state == State::Ended).then_some(at),
        (state == State::Ended).then(|| step.after.state.as_str()),
        step.id.0,
    ])?;
    Ok(())
}

const RECORDED: &str = "\
SELECT COALESCE(MAX(recorded), 0) FROM mutations WHERE place = $1 AND user_group_id = $2";

/// How many outcomes of the group were written down so far.
pub(super) fn recorded(
    connection: &Connection,
    place: PlaceId,
    id: &UserGroupId,
) -> Result<i64, Fault> {
    let recorded = connection
        .prepare_cached(RECORDED)?
        .query_row(params![place.0, id.as_str()], |row| row.get(0))?;
    Ok(recorded)
}

const ONE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM mutations WHERE place = $1 AND id = $2"
);

pub(crate) fn one(
    connection: &Connection,
    place: PlaceId,
    id: MutationId,
) -> Result<Option<Mutation>, Fault> {
    connection
        .prepare_cached(ONE)?
        .query_row(params![place.0, id.0], mutation)
        .optional()?
        .map(|row| row.ok_or(Fault::Row(TABLE)))
        .transpose()
}

/// Those of rotations stand in their own journal.
const OPEN: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM mutations WHERE place = $1 AND rotation_id IS NULL AND ",
    is_open!(),
    " ORDER BY id DESC"
);

pub(crate) fn open(connection: &Connection, place: PlaceId) -> Result<Vec<Mutation>, Fault> {
    let mut statement = connection.prepare_cached(OPEN)?;
    all(statement.query([place.0])?)
}

const OPEN_OF_GROUP: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM mutations WHERE place = $1 AND user_group_id = $2 AND rotation_id IS NULL AND ",
    is_open!(),
    " ORDER BY id DESC"
);

pub(super) fn open_of(
    connection: &Connection,
    place: PlaceId,
    id: &UserGroupId,
) -> Result<Vec<Mutation>, Fault> {
    let mut statement = connection.prepare_cached(OPEN_OF_GROUP)?;
    all(statement.query(params![place.0, id.as_str()])?)
}

fn all(mut found: Rows<'_>) -> Result<Vec<Mutation>, Fault> {
    let mut all = Vec::new();
    while let Some(row) = found.next()? {
        all.push(mutation(row)?.ok_or(Fault::Row(TABLE))?);
    }
    Ok(all)
}

/// `None` is a row that makes no sense.
fn mutation(row: &Row<'_>) -> rusqlite::Result<Option<Mutation>> {
    let word = |at: usize| row.get::<_, String>(at);
    let ending: Option<String> = row.get(10)?;
    let changes: Option<String> = row.get(12)?;
    let changes = changes.map(|text| serde_json::from_str(&text).ok());
    let sent: Option<i64> = row.get(8)?;
    let parts = (
        UserGroupId::parse(word(1)?).ok(),
        Operation::parse(&word(2)?),
        State::parse(&word(3)?),
        columns::timestamp(row.get(7)?),
    );
    let (Some(user_group_id), Some(operation), Some(state), Some(started_at)) = parts else {
        return Ok(None);
    };
    Ok(Some(Mutation {
        id: MutationId(row.get(0)?),
        user_group_id,
        operation,
        state,
        rotation: row.get::<_, Option<i64>>(4)?.map(RotationId),
        by: row.get(5)?,
        profile: row.get(6)?,
        started_at,
        sent_at: sent.and_then(columns::timestamp),
        boot_clock: row
            .get::<_, Option<String>>(9)?
            .and_then(|text| BootTime::parse(&text)),
        ending: ending.as_deref().and_then(Ending::parse),
        note: row.get(11)?,
        changes: changes.flatten(),
    }))
}
