//! The journal of rotations (docs/design/rotation.md): intents, steps, and every event for ever.

use super::{batches, fault::Fault, fingerprints, mutations, order, rows, select::Select};
use crate::{
    database::{Access, Request, Results, Row, Statements, Tx, Value, values},
    directory::{
        BeginResult, Directory, DirectoryError, EventKind, JournalEvent, PlaceId, RotationFilter,
        RotationId, RotationIntent, RotationRow, RotationStep,
        columns::{self, EventColumns, boot_clock},
        lanes::Subject,
        replay,
    },
    domain::{
        group::UserGroupId,
        rotation::{Event, State},
        token::Fingerprint,
    },
};

impl Directory {
    /// Makes the intent to rotate durable, unless another rotation holds the same token (docs/design/rotation.md).
    pub async fn begin_rotation(
        &self,
        place: PlaceId,
        intent: RotationIntent,
    ) -> Result<BeginResult, DirectoryError> {
        let subject = Subject::Group(place, intent.user_group_id.clone());
        let mut request = BeginRotation {
            place,
            intent,
            until: i64::MAX,
        };
        self.write_about(Some(subject), move |tx| begin(tx, &mut request))
            .await
    }

    /// Returns the current state of one rotation.
    pub async fn rotation(&self, id: RotationId) -> Result<Option<RotationRow>, DirectoryError> {
        self.execute(Access::Short, move |tx| {
            tx.one(ROTATION, values![id.0], parse_row)
        })
        .await
    }

    /// Returns the current state of rotations, most recently begun first.
    pub async fn rotations(
        &self,
        filter: RotationFilter,
    ) -> Result<Vec<RotationRow>, DirectoryError> {
        let access = match filter.user_group_id {
            Some(_) => Access::Short,
            None => Access::Long,
        };
        self.execute(access, move |c| list(c, filter)).await
    }

    /// Returns the journal of a rotation, in order; empty if there is no such rotation. [`replay()`] reconstructs the
    /// rotation from it.
    pub async fn journal_events(
        &self,
        id: RotationId,
    ) -> Result<Vec<JournalEvent>, DirectoryError> {
        self.execute(Access::Short, move |tx| {
            tx.all(EVENTS, values![id.0], |row| {
                rows::journal_event(row)?.ok_or(Fault::Row("rotation_events"))
            })
        })
        .await
    }
}

const TABLE: &str = "rotations";

macro_rules! columns {
    () => {
        "id, profile, user_group_id, state, previous, fingerprint, refused, read_unchanged, by, reason, \
         started_at, sent_at, note, handoff, handoff_exit, handoff_note, since(boot_clock), place, key, hands_off"
    };
}

macro_rules! open_states {
    () => {
        "state IN ('intended', 'sent', 'rotated', 'unknown')"
    };
}
pub(super) use open_states;

/// The open states, as in the index `rotations_open`.
pub(super) const OPEN: &str = open_states!();

const ROTATIONS: &str = concat!("SELECT ", columns!(), " FROM rotations");

const UNSETTLED: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM rotations WHERE place = $1 AND user_group_id = $2 \
     AND state IN ('intended', 'sent', 'unknown') ORDER BY id DESC LIMIT 1"
);

/// Returns no row if another rotation holds the token, if something holds the group, if the batch item is taken, or if
/// a rotation that was recorded after the last one that the caller looked at has replaced the token.
const BEGIN_ROTATION: &str = "\
INSERT INTO rotations (place, user_group_id, state, previous, refused, read_unchanged, by, reason, started_at, \
 boot_clock, profile, key, hands_off) \
SELECT $1, $2, 'intended', $3, FALSE, FALSE, $4, $5, $6, $7, $8, $9, $10 \
WHERE NOT EXISTS (SELECT 1 FROM rotations WHERE place = $1 AND user_group_id = $2 \
  AND state IN ('intended', 'sent', 'unknown')) \
 AND NOT EXISTS (SELECT 1 FROM mutations WHERE place = $1 AND user_group_id = $2 \
  AND state IN ('intended', 'sent', 'unknown')) \
 AND NOT EXISTS (SELECT 1 FROM batch_items WHERE batch_id = $11 AND position = $12 \
  AND (rotation_id IS NOT NULL OR outcome IS NOT NULL)) \
 AND NOT EXISTS (SELECT 1 FROM last_changes WHERE place = $1 AND user_group_id = $2 AND part = 'token' \
  AND rotation IS NOT NULL AND number > $13) \
ON CONFLICT DO NOTHING RETURNING id";

const HOLDER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM rotations WHERE place = $1 AND user_group_id = $2 AND previous = $3 \
     AND state NOT IN ('not_applied', 'abandoned')"
);

const TAKER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM rotations WHERE id = (SELECT rotation_id FROM batch_items WHERE batch_id = $1 AND position = $2)"
);

/// Inserts the intent, unless the batch item is taken or the group is held; a second rotation of the same token is
/// prevented by the index.
pub(crate) struct BeginRotation {
    pub(crate) place: PlaceId,
    pub(crate) intent: RotationIntent,
    /// The last rotation that may have given the group its token, by its number in the directory.
    pub(crate) until: i64,
}

/// Begins a rotation, unless the token came from one that the intent leaves alone.
pub(crate) fn begin(tx: &Tx<'_>, begin: &mut BeginRotation) -> Result<BeginResult, Fault> {
    let intent = &begin.intent;
    begin.until = i64::MAX;
    if intent.noted.is_some() || !intent.spares.is_zero() {
        let last = order::of_group(tx, begin.place, &intent.user_group_id)?;
        let from_here = last.token.filter(|token| token.rotation.is_some());
        if let Some(token) = from_here {
            let is_later = intent.noted.is_some_and(|noted| last.noted.token > noted);
            let is_spared = is_later || token.ago().is_some_and(|ago| ago < intent.spares);
            let open = values![begin.place.0, intent.user_group_id.as_str()];
            let is_open = is_spared && tx.one(UNSETTLED, open, parse_row)?.is_some();
            if is_spared && !is_open {
                return Ok(BeginResult::RotatedBy(token));
            }
            if is_open {
                // Refused as open, or by the number if it ends before this begins: nobody knows yet what it did.
                begin.until = last.noted.token - 1;
                return tx.run_last(begin);
            }
        }
        begin.until = last.noted.token;
    }
    tx.run_last(begin)
}

impl Request for BeginRotation {
    type Answer = BeginResult;
    type Error = Fault;

    fn read(&self) -> Statements {
        let intent = &self.intent;
        let (place, group) = (self.place.0, intent.user_group_id.as_str());
        let mut reads = Statements::default();
        if let Some(item) = intent.item {
            batches::query(&mut reads, item, &intent.user_group_id);
            reads.add(TAKER, values![item.batch.0, item.position]);
        }
        let claim = values![
            place,
            group,
            intent.previous.as_bytes(),
            &intent.by,
            intent.reason.as_ref(),
            columns::micros(intent.at),
            boot_clock(),
            &intent.profile,
            intent.key.map(|key| key.0),
            intent.hands_off,
            intent.item.map(|item| item.batch.0),
            intent.item.map(|item| item.position),
            self.until,
        ];
        reads.add(BEGIN_ROTATION, claim);
        // Read after the claim, which may have waited for whoever held the group.
        order::query(&mut reads, self.place, &intent.user_group_id);
        reads.add(UNSETTLED, values![place, group]);
        mutations::query_holder(&mut reads, self.place, &intent.user_group_id);
        reads.with(HOLDER, values![place, group, intent.previous.as_bytes()])
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, BeginResult), Fault> {
        let none = |answer| Ok((Statements::default(), answer));
        if let Some(item) = self.intent.item {
            let taken = batches::taken(found, item)?;
            let taker = found.next().first(parse_row)?;
            if taken.is_some() {
                return none(BeginResult::TakenBy(taker.ok_or(Fault::Row(TABLE))?));
            }
        }
        let begun: Option<i64> = found.next().first(|row| row.get(0))?;
        if let Some(id) = begun.map(RotationId) {
            return Ok((self.begun(id), BeginResult::Started(id)));
        }
        let last = order::parse(found)?;
        // Until the outcome of an earlier rotation is known, a different token may be the result of that one.
        if let Some(row) = found.next().first(parse_row)? {
            return none(BeginResult::TakenBy(row));
        }
        if let Some(holder) = mutations::holder(found)? {
            return none(BeginResult::HeldBy(Box::new(holder)));
        }
        let holder = found.next().first(parse_row)?;
        let is_later = last.noted.token > self.until;
        let token = last.token.filter(|_| is_later);
        none(match (holder, token) {
            (Some(holder), _) => BeginResult::TakenBy(holder),
            (None, Some(token)) => BeginResult::RotatedBy(token),
            (None, None) => return Err(Fault::Row(TABLE)),
        })
    }
}

impl BeginRotation {
    fn begun(&self, id: RotationId) -> Statements {
        let (place, intent) = (self.place, &self.intent);
        let at = columns::micros(intent.at);
        let what = EventKind::Intended {
            previous: intent.previous,
        };
        let mut writes = Statements::default();
        add(&mut writes, id, at, what, State::Intended, None);
        if let Some(item) = intent.item {
            batches::take(&mut writes, item, id);
        }
        mutations::begin_rotation(&mut writes, place, id, intent);
        let (group, previous) = (&intent.user_group_id, intent.previous);
        fingerprints::keep(&mut writes, place, group, previous, at);
        writes
    }
}

/// The row was read in the same transaction.
const STEP_ROTATION: &str = "\
UPDATE rotations SET state = $1, fingerprint = $2, refused = $3, read_unchanged = $4, \
 sent_at = COALESCE(sent_at, $5), note = COALESCE($6, note), boot_clock = COALESCE($7, boot_clock) \
WHERE id = $8";

/// Takes one step, if the rotation is still in the state that the step starts from and the step is valid there.
pub(super) fn step(
    found: &mut Results,
    writes: &mut Statements,
    place: PlaceId,
    step: &RotationStep,
) -> Result<(), Fault> {
    let RotationStep {
        id,
        from,
        event,
        after,
        ..
    } = *step;
    let before = self::parse(found)?
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
    // Compare the whole rotation: an unchanged read is a step within the same state.
    let horizon_passed =
        replay::horizon_passed(before.rotation, event, after).ok_or_else(moved_on)?;
    let at = columns::micros(step.at);
    let sends = matches!(event, Event::Sending);
    let values = values![
        after.state.as_str(),
        after.fingerprint.as_ref().map(Fingerprint::as_bytes),
        after.refused,
        after.read_unchanged,
        sends.then_some(at),
        step.note.as_ref(),
        sends.then(boot_clock).flatten(),
        id.0,
    ];
    writes.add(STEP_ROTATION, values);
    mutations::follow(writes, step);
    let what = EventKind::Stepped {
        event,
        horizon_passed,
    };
    add(writes, id, at, what, after.state, step.note.as_deref());
    if let Some(fingerprint) = after.fingerprint {
        fingerprints::keep(writes, place, &before.user_group_id, fingerprint, at);
    }
    Ok(())
}

const ADD_EVENT: &str = "\
INSERT INTO rotation_events (rotation_id, seq, at, event, fingerprint, since_sent, horizon_passed, state, note) \
SELECT $1, COALESCE(MAX(seq), 0) + 1, $2, $3, $4, $5, $6, $7, $8 FROM rotation_events WHERE rotation_id = $1";

fn add(
    writes: &mut Statements,
    id: RotationId,
    at: i64,
    what: EventKind,
    state: State,
    note: Option<&str>,
) {
    let columns = EventColumns::from(what);
    let values = values![
        id.0,
        at,
        columns.event,
        columns.fingerprint.as_ref().map(Fingerprint::as_bytes),
        columns.since_sent,
        columns.horizon_passed,
        state.as_str(),
        note,
    ];
    writes.add(ADD_EVENT, values);
}

const ROTATION: &str = concat!("SELECT ", columns!(), " FROM rotations WHERE id = $1");

/// Reads one rotation to decide about it.
pub(super) fn query(reads: &mut Statements, id: RotationId) {
    reads.lock(ROTATION, values![id.0]);
}

pub(super) fn parse(found: &mut Results) -> Result<Option<RotationRow>, Fault> {
    found.next().first(parse_row)
}

pub(super) fn parse_row(row: &Row<'_>) -> Result<RotationRow, Fault> {
    rows::rotation(row)?.ok_or(Fault::Row(TABLE))
}

pub(super) const OPEN_OF_GROUP: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM rotations WHERE place = $1 AND user_group_id = $2 AND ",
    open_states!(),
    " ORDER BY id DESC"
);

/// Reads the rotations of a group with an unknown outcome.
pub(super) fn query_open(reads: &mut Statements, place: PlaceId, id: &UserGroupId) {
    reads.add(OPEN_OF_GROUP, values![place.0, id.as_str()]);
}

/// The same, to decide about them.
pub(super) fn query_open_locked(reads: &mut Statements, place: PlaceId, id: &UserGroupId) {
    reads.lock(OPEN_OF_GROUP, values![place.0, id.as_str()]);
}

/// The SQL of a filter, and its parameters.
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

pub(crate) fn list(tx: &Tx<'_>, filter: RotationFilter) -> Result<Vec<RotationRow>, Fault> {
    let (text, values) = selected(filter);
    tx.all(text, values, parse_row)
}

const EVENTS: &str = "\
SELECT at, event, fingerprint, since_sent, horizon_passed, state, note \
FROM rotation_events WHERE rotation_id = $1 ORDER BY seq";
