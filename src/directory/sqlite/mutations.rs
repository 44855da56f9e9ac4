//! The journal of mutations: who holds a group, and what became of it.

use rusqlite::{Connection, OptionalExtension, Row, Rows, params};

use super::fault::Fault;
use crate::{
    directory::{
        Claimed, DirectoryError, Intent, Mutation, MutationId, MutationIntent, MutationStep,
        PlaceId, RotationId, RotationStep,
        columns::{self, boot_clock},
        sql::mutations as sql,
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

/// Inserts the intent, unless another mutation holds the group.
pub(in crate::directory) fn begin(
    tx: &Connection,
    place: PlaceId,
    intent: &MutationIntent,
) -> Result<Claimed, Fault> {
    // Not the index alone: where two places became one, it lets two stand beside each other.
    if let Some(holder) = holder(tx, place, &intent.user_group_id)? {
        return Ok(Claimed::HeldBy(Box::new(holder)));
    }
    let id = tx.prepare_cached(sql::BEGIN)?.query_row(
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
    intent: &Intent,
) -> Result<(), Fault> {
    tx.prepare_cached(sql::BEGIN)?.query_row(
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

pub(super) fn holder(
    connection: &Connection,
    place: PlaceId,
    id: &UserGroupId,
) -> Result<Option<Mutation>, Fault> {
    connection
        .prepare_cached(sql::HOLDER)?
        .query_row(params![place.0, id.as_str()], mutation)
        .optional()?
        .map(|row| row.ok_or(Fault::Row(TABLE)))
        .transpose()
}

/// Takes one step, if the mutation still is where it starts from.
pub(in crate::directory) fn step(
    tx: &Connection,
    place: PlaceId,
    step: &MutationStep,
) -> Result<(), Fault> {
    let at = columns::micros(step.at);
    let sends = step.to == State::Sent;
    let moved = || DirectoryError::ClaimMoved { id: step.id };
    if !step.from.may_become(step.to) {
        return Err(moved().into());
    }
    let changed = tx.prepare_cached(sql::STEP)?.execute(params![
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
    if step.is_outcome {
        tx.prepare_cached(sql::COUNT_RECORDED)?
            .execute([step.id.0])?;
    }
    Ok(())
}

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
    tx.prepare_cached(sql::FOLLOW_ROTATION)?.execute(params![
        state.as_str(),
        sends.then_some(at),
        sends.then(boot_clock).flatten(),
        (state == State::Ended).then_some(at),
        (state == State::Ended).then(|| step.after.state.as_str()),
        step.id.0,
    ])?;
    Ok(())
}

/// How many outcomes of the group were written down so far.
pub(super) fn recorded(
    connection: &Connection,
    place: PlaceId,
    id: &UserGroupId,
) -> Result<i64, Fault> {
    let recorded = connection
        .prepare_cached(sql::RECORDED)?
        .query_row(params![place.0, id.as_str()], |row| row.get(0))?;
    Ok(recorded)
}

pub(in crate::directory) fn one(
    connection: &Connection,
    place: PlaceId,
    id: MutationId,
) -> Result<Option<Mutation>, Fault> {
    connection
        .prepare_cached(sql::ONE)?
        .query_row(params![place.0, id.0], mutation)
        .optional()?
        .map(|row| row.ok_or(Fault::Row(TABLE)))
        .transpose()
}

pub(in crate::directory) fn open(
    connection: &Connection,
    place: PlaceId,
) -> Result<Vec<Mutation>, Fault> {
    let mut statement = connection.prepare_cached(sql::OPEN)?;
    all(statement.query([place.0])?)
}

pub(super) fn open_of(
    connection: &Connection,
    place: PlaceId,
    id: &UserGroupId,
) -> Result<Vec<Mutation>, Fault> {
    let mut statement = connection.prepare_cached(sql::OPEN_OF_GROUP)?;
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
