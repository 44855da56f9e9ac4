//! The journal of rotations (docs/design/rotation.md): intents, steps, and every event for ever.

use rusqlite::{Connection, OptionalExtension, Rows, params, params_from_iter, types::Value};

use super::{batches, fault::Fault, fingerprints, mutations, rows, select::Select};
use crate::{
    directory::{
        BeginResult, DirectoryError, EventKind, JournalEvent, PlaceId, RotationFilter, RotationId,
        RotationIntent, RotationRow, RotationStep,
        columns::{self, EventColumns, boot_clock},
        replay,
    },
    domain::{
        group::UserGroupId,
        rotation::{Event, State},
        token::Fingerprint,
    },
};

const TABLE: &str = "rotations";

macro_rules! columns {
    () => {
        "id, profile, user_group_id, state, previous, fingerprint, refused, read_unchanged, by, reason, \
         started_at, sent_at, note, handoff, handoff_exit, handoff_note, boot_clock, place, key, hands_off"
    };
}

macro_rules! open_states {
    () => {
        "state IN ('intended', 'sent', 'rotated', 'unknown')"
    };
}
pub(super) use open_states;

/// The open states, as the index `rotations_open` lists them.
pub(super) const OPEN: &str = open_states!();

const ROTATIONS: &str = concat!("SELECT ", columns!(), " FROM rotations");

const UNSETTLED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM rotations WHERE place = $1 AND user_group_id = $2 \
     AND state IN ('intended', 'sent', 'unknown') ORDER BY id DESC LIMIT 1"
);

/// Nothing is returned where another rotation holds the token.
const BEGIN_ROTATION: &str = "\
INSERT INTO rotations (place, user_group_id, state, previous, refused, read_unchanged, by, reason, started_at, \
 boot_clock, profile, key, hands_off) \
VALUES ($1, $2, 'intended', $3, 0, 0, $4, $5, $6, $7, $8, $9, $10) \
ON CONFLICT DO NOTHING RETURNING id";

const HOLDER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM rotations WHERE place = $1 AND user_group_id = $2 AND previous = $3 \
     AND state NOT IN ('not_applied', 'abandoned')"
);

/// Inserts the intent, unless the item of the batch is taken or the group held; about the same token the index decides.
pub(crate) fn begin(
    tx: &Connection,
    place: PlaceId,
    intent: &RotationIntent,
) -> Result<BeginResult, Fault> {
    let group = intent.user_group_id.as_str();
    let at = columns::micros(intent.at);
    if let Some(item) = intent.item
        && let Some(rotation) = batches::taken(tx, item, &intent.user_group_id)?
    {
        let row = one(tx, rotation)?.ok_or(Fault::Row(TABLE))?;
        return Ok(BeginResult::TakenBy(row));
    }
    // Until it is known what became of an earlier one, another token may be its work.
    let unsettled = tx
        .prepare_cached(UNSETTLED)?
        .query_row(params![place.0, group], rows::rotation)
        .optional()?;
    if let Some(row) = unsettled {
        return Ok(BeginResult::TakenBy(row.ok_or(Fault::Row(TABLE))?));
    }
    if let Some(holder) = mutations::holder(tx, place, &intent.user_group_id)? {
        return Ok(BeginResult::HeldBy(Box::new(holder)));
    }
    let started: Option<i64> = tx
        .prepare_cached(BEGIN_ROTATION)?
        .query_row(
            params![
                place.0,
                group,
                intent.previous.as_bytes(),
                intent.by,
                intent.reason,
                at,
                boot_clock(),
                intent.profile,
                intent.key.map(|key| key.0),
                intent.hands_off,
            ],
            |row| row.get(0),
        )
        .optional()?;
    let Some(id) = started.map(RotationId) else {
        let holder = tx
            .prepare_cached(HOLDER)?
            .query_row(
                params![place.0, group, intent.previous.as_bytes()],
                rows::rotation,
            )?
            .ok_or(Fault::Row(TABLE))?;
        return Ok(BeginResult::TakenBy(holder));
    };
    let what = EventKind::Intended {
        previous: intent.previous,
    };
    add(tx, id, at, what, State::Intended, None)?;
    if let Some(item) = intent.item {
        batches::take(tx, item, id)?;
    }
    mutations::begin_rotation(tx, place, id, intent)?;
    fingerprints::keep(tx, place, &intent.user_group_id, intent.previous, at)?;
    Ok(BeginResult::Started(id))
}

/// Compare and set: changes nothing where the state is not the expected one.
const STEP_ROTATION: &str = "\
UPDATE rotations SET state = $1, fingerprint = $2, refused = $3, read_unchanged = $4, \
 sent_at = COALESCE(sent_at, $5), note = COALESCE($6, note), boot_clock = COALESCE($7, boot_clock) \
WHERE id = $8 AND state = $9";

/// Takes one step, if the rotation still is where the step starts from and the step follows from there.
pub(super) fn step(tx: &Connection, place: PlaceId, step: &RotationStep) -> Result<(), Fault> {
    let RotationStep {
        id,
        from,
        event,
        after,
        ..
    } = *step;
    let before = one(tx, id)?
        .filter(|row| row.place == place)
        .ok_or(DirectoryError::NoRotation { id })?;
    let moved_on = || DirectoryError::MovedOn {
        id,
        from,
        now: before.rotation.state,
    };
    if before.rotation.state != from {
        return Err(moved_on().into());
    }
    // The same state can hide another step (an unchanged read): the whole rotation is compared.
    let horizon_passed =
        replay::horizon_passed(before.rotation, event, after).ok_or_else(moved_on)?;
    let at = columns::micros(step.at);
    let sends = matches!(event, Event::Sending);
    let changed = tx.prepare_cached(STEP_ROTATION)?.execute(params![
        after.state.as_str(),
        after.fingerprint.as_ref().map(Fingerprint::as_bytes),
        after.refused,
        after.read_unchanged,
        sends.then_some(at),
        step.note,
        sends.then(boot_clock).flatten(),
        id.0,
        from.as_str(),
    ])?;
    if changed != 1 {
        return Err(moved_on().into());
    }
    mutations::follow(tx, step)?;
    let what = EventKind::Stepped {
        event,
        horizon_passed,
    };
    add(tx, id, at, what, after.state, step.note.as_deref())?;
    if let Some(fingerprint) = after.fingerprint {
        fingerprints::keep(tx, place, &before.user_group_id, fingerprint, at)?;
    }
    Ok(())
}

const ADD_EVENT: &str = "\
INSERT INTO rotation_events (rotation_id, seq, at, event, fingerprint, since_sent, horizon_passed, state, note) \
SELECT $1, COALESCE(MAX(seq), 0) + 1, $2, $3, $4, $5, $6, $7, $8 FROM rotation_events WHERE rotation_id = $1";

fn add(
    tx: &Connection,
    id: RotationId,
    at: i64,
    what: EventKind,
    state: State,
    note: Option<&str>,
) -> Result<(), Fault> {
    let columns = EventColumns::from(what);
    tx.prepare_cached(ADD_EVENT)?.execute(params![
        id.0,
        at,
        columns.event,
        columns.fingerprint.as_ref().map(Fingerprint::as_bytes),
        columns.since_sent,
        columns.horizon_passed,
        state.as_str(),
        note,
    ])?;
    Ok(())
}

const ROTATION: &str = concat!("SELECT ", columns!(), " FROM rotations WHERE id = $1");

pub(crate) fn one(connection: &Connection, id: RotationId) -> Result<Option<RotationRow>, Fault> {
    connection
        .prepare_cached(ROTATION)?
        .query_row([id.0], rows::rotation)
        .optional()?
        .map(|row| row.ok_or(Fault::Row(TABLE)))
        .transpose()
}

/// Listed by the index `rotations_open`.
const OPEN_OF_GROUP: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM rotations WHERE place = $1 AND user_group_id = $2 AND ",
    open_states!(),
    " ORDER BY id DESC"
);

/// What is still to be found out of the rotations of a group.
pub(super) fn open_of(
    connection: &Connection,
    place: PlaceId,
    id: &UserGroupId,
) -> Result<Vec<RotationRow>, Fault> {
    let mut statement = connection.prepare_cached(OPEN_OF_GROUP)?;
    rotations(statement.query(params![place.0, id.as_str()])?)
}

/// The text of a filter, and its parameters.
pub(super) fn selected(filter: RotationFilter) -> (String, Vec<Value>) {
    let mut select = Select::new(ROTATIONS);
    select.and_place(filter.place);
    select.and_text(
        "user_group_id =",
        filter.user_group_id.map(|id| id.as_str().to_owned()),
    );
    if filter.open_only {
        select.condition(OPEN);
    }
    select.and_text(
        "handoff =",
        filter.handoff.map(|state| state.as_str().to_owned()),
    );
    select.newest_first("id", filter.limit)
}

pub(crate) fn list(
    connection: &Connection,
    filter: RotationFilter,
) -> Result<Vec<RotationRow>, Fault> {
    let (text, parameters) = selected(filter);
    let mut statement = connection.prepare_cached(&text)?;
    rotations(statement.query(params_from_iter(parameters))?)
}

fn rotations(mut found: Rows<'_>) -> Result<Vec<RotationRow>, Fault> {
    let mut rotations = Vec::new();
    while let Some(row) = found.next()? {
        rotations.push(rows::rotation(row)?.ok_or(Fault::Row(TABLE))?);
    }
    Ok(rotations)
}

const EVENTS: &str = "\
SELECT at, event, fingerprint, since_sent, horizon_passed, state, note \
FROM rotation_events WHERE rotation_id = $1 ORDER BY seq";

pub(crate) fn events(connection: &Connection, id: RotationId) -> Result<Vec<JournalEvent>, Fault> {
    let mut statement = connection.prepare_cached(EVENTS)?;
    let mut found = statement.query([id.0])?;
    let mut events = Vec::new();
    while let Some(row) = found.next()? {
        events.push(rows::journal_event(row)?.ok_or(Fault::Row("rotation_events"))?);
    }
    Ok(events)
}
