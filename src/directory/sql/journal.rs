//! The journal of rotations (docs/design/rotation.md): intents, steps, and every event, all kept permanently; and the
//! hand-off of a new token in its row: only the latest rotation of a group has a token worth handing off.

use std::collections::HashSet;

use jiff::Timestamp;

use super::{
    batches,
    fault::{Fault, beside},
    history, mutations, order, places,
    states::{conflicts, holds, open_states},
};
use crate::{
    db::{Access, Asked, Select, Tx, Value, values},
    directory::{
        BeginResult, ChangeId, Directory, DirectoryError, EventKind, Gate, HandOffStep,
        HandOffTaker, JournalEvent, PlaceId, Result, RotationFilter, RotationId, RotationIntent,
        RotationRow, RotationStep, RunId, TokenChange,
        columns::{EventColumns, boot_clock},
        lanes::Subject,
        replay,
    },
    domain::{
        group::UserGroupId,
        handoff::{HandOff, HandOffState},
        history::Entry,
        rotation::{Event, State},
        token::Fingerprint,
    },
    platform::process,
};

impl Directory {
    /// Makes the intent to rotate durable, unless another rotation holds the same token (docs/design/rotation.md).
    pub async fn begin_rotation(
        &self,
        place: PlaceId,
        intent: RotationIntent,
    ) -> Result<BeginResult> {
        let (begun, _) = self.begin_rotation_with_gate(place, intent).await?;
        Ok(begun)
    }

    /// As [`Self::begin_rotation`], with the gate of the place for the key of the intent, if it began and the gate can be
    /// read.
    pub(crate) async fn begin_rotation_with_gate(
        &self,
        place: PlaceId,
        intent: RotationIntent,
    ) -> Result<(BeginResult, Option<Gate>)> {
        let subject = Subject::Group(place, intent.user_group_id.clone());
        let write = move |tx: &Tx<'_>| {
            let begun = begin(tx, place, &intent)?;
            let key = intent
                .key
                .filter(|_| matches!(begun, BeginResult::Started(_)));
            let Some(key) = key else {
                return Ok((begun, None));
            };
            tx.ends_with_reads();
            let gate = places::ask_gate(tx, place, key).and_then(places::GateAsked::read);
            Ok((begun, beside(tx, gate)?))
        };
        self.write_about(Some(subject), true, write).await
    }

    /// Returns the current state of one rotation.
    pub async fn rotation(&self, id: RotationId) -> Result<Option<RotationRow>> {
        self.one(ROTATION, values![id]).await
    }

    /// Returns the current state of rotations, most recently started first.
    pub async fn rotations(&self, filter: RotationFilter) -> Result<Vec<RotationRow>> {
        let access = match filter.user_group_id {
            Some(_) => Access::Short,
            None => Access::Long,
        };
        let (text, values) = selected(filter);
        self.all(access, text, values).await
    }

    /// Returns the rotations whose replaced token is the known one of its group again, one for each group.
    pub async fn revived(&self, place: PlaceId) -> Result<Vec<RotationRow>> {
        let rows = self.all(Access::Long, REVIVED, values![place]);
        let mut rows: Vec<RotationRow> = rows.await?;
        let mut seen = HashSet::new();
        rows.retain(|row| seen.insert(row.user_group_id.clone()));
        Ok(rows)
    }

    /// Returns the rotations that belong to no batch and whose new token is not in the file that it was to be written to,
    /// the latest first.
    pub async fn unwritten(&self, place: PlaceId) -> Result<Vec<RotationRow>> {
        self.all(Access::Long, UNWRITTEN, values![place]).await
    }

    /// Records that this token of a group is in a file. Of a rotation whose outcome is not known yet it says nothing.
    pub async fn note_written(
        &self,
        place: PlaceId,
        group: UserGroupId,
        token: Fingerprint,
    ) -> Result<()> {
        let text =
            "SELECT 1 FROM rotations WHERE place = $1 AND user_group_id = $2 AND unwritten LIMIT 1";
        let marked = self.one::<()>(text, values![place, &group]).await?;
        if marked.is_some() {
            self.changes(WRITTEN, values![place, &group, token]).await?;
        }
        Ok(())
    }

    /// Returns the journal of a rotation, in order; empty if there is no such rotation. [`replay()`] reconstructs the
    /// rotation from it.
    pub async fn journal_events(&self, id: RotationId) -> Result<Vec<JournalEvent>> {
        let text = "SELECT * FROM rotation_events WHERE rotation_id = $1 ORDER BY seq";
        self.all(Access::Short, text, values![id]).await
    }

    /// Takes the hand-off of a rotation, if it still is as `seen`: of all who want to run it, one does. It is pending from
    /// here on, and overtakes unfinished ones of earlier rotations. Returns how it is now if it was not taken.
    pub async fn take_hand_off(
        &self,
        seen: RotationRow,
        taker: HandOffTaker,
        moved_to: Option<String>,
    ) -> Result<Option<RotationRow>> {
        self.write(move |tx| {
            let id = seen.id;
            let row = tx.lock::<RotationRow>(ROTATION, values![id])?.one()?;
            let row = row.ok_or(DirectoryError::NoRotation { id })?;
            let run = |row: &RotationRow| row.taker.as_ref().map(|taker| taker.run);
            if (row.handoff.state, run(&row)) != (seen.handoff.state, run(&seen)) {
                return Ok(Some(row));
            }
            let values = values![
                moved_to.as_ref(),
                taker.run,
                &taker.by,
                taker.process.as_ref(),
                taker.limit,
                taker.at,
                boot_clock(),
                id,
            ];
            tx.put(TAKE_HAND_OFF, values)?;
            let values = values![OVERTAKEN, id, row.place, &row.user_group_id];
            tx.put(OVERTAKE_HAND_OFFS, values)?;
            Ok(None)
        })
        .await
    }

    /// Records how the run of a hand-off ended together with its history entry, in one transaction. If another run has
    /// taken it since, what that one records stays.
    ///
    /// Returns what is recorded of it then, or `None` if a later rotation of the group has overtaken it; that entry is
    /// recorded. The command may then have put the older token in place, so the later hand-off becomes pending again.
    pub async fn end_hand_off(
        &self,
        (id, run): (RotationId, RunId),
        handoff: HandOff,
        entry: Entry,
        overtaken: Entry,
    ) -> Result<Option<HandOff>> {
        self.write(move |tx| {
            let row = tx.lock::<RotationRow>(ROTATION, values![id])?;
            let values = values![handoff.state, handoff.exit, handoff.note.as_ref(), id, run];
            tx.put(END_HAND_OFF, values)?;
            let row = row.one()?.ok_or(DirectoryError::NoRotation { id })?;
            let ended = row.handoff.state != HandOffState::None;
            let entry = if ended { &entry } else { &overtaken };
            history::add(tx, row.place, None, entry, Some(ChangeId::Rotation(id)))?;
            if !ended {
                let again = "an older token may have been delivered after it";
                tx.put(HAND_OFF_LATER, values![again, id])?;
            }
            let is_own = row.taker.is_some_and(|taker| taker.run == run);
            Ok(ended.then(|| if is_own { handoff.clone() } else { row.handoff }))
        })
        .await
    }
}

const TABLE: &str = "rotations";

/// The open states, as in the index `rotations_open`.
pub(super) const OPEN: &str = open_states!();

pub(super) const UNSETTLED: &str = concat!(
    "SELECT * FROM rotations WHERE place = $1 AND user_group_id = $2 AND ",
    holds!(),
    " ORDER BY id DESC LIMIT 1"
);

/// Returns no row if another rotation holds the token, if something holds the group, if the batch item is taken, or if
/// a rotation that was recorded after the last one that the caller looked at has replaced the token.
pub(super) const BEGIN_ROTATION: &str = concat!(
    "\
INSERT INTO rotations (place, user_group_id, state, previous, refused, read_unchanged, by, reason, started_at, \
 boot_clock, profile, key, hands_off, process, settles_in, unwritten) \
SELECT $1, $2, 'intended', $3, FALSE, FALSE, $4, $5, $6, $7, $8, $9, $10, $11, $15, $16 \
WHERE NOT EXISTS (SELECT 1 FROM rotations WHERE place = $1 AND user_group_id = $2 AND ",
    holds!(),
    ") \
 AND NOT EXISTS (SELECT 1 FROM mutations WHERE place = $1 AND user_group_id = $2 AND ",
    holds!(),
    ") \
 AND NOT EXISTS (SELECT 1 FROM batch_items WHERE batch_id = $12 AND position = $13 \
  AND (rotation_id IS NOT NULL OR outcome IS NOT NULL)) \
 AND NOT EXISTS (SELECT 1 FROM last_changes WHERE place = $1 AND user_group_id = $2 AND part = 'token' \
  AND number > $14) \
ON CONFLICT DO NOTHING RETURNING id"
);

pub(super) const HOLDER: &str = "\
SELECT * FROM rotations WHERE place = $1 AND user_group_id = $2 AND previous = $3 \
 AND state NOT IN ('not_applied', 'abandoned') AND NOT revived";

/// The states in which a rotation has ended with a newer token.
macro_rules! replaced {
    () => {
        "place = $1 AND user_group_id = $2 AND previous = $3 AND state IN ('confirmed', 'recovered', 'superseded')"
    };
}

/// The latest rotation that replaced a token.
pub(super) const REPLACED_BY: &str = concat!(
    "SELECT * FROM rotations WHERE ",
    replaced!(),
    " ORDER BY id DESC LIMIT 1"
);

/// They no longer hold the token: it is current again.
pub(super) const REVIVE: &str = concat!("UPDATE rotations SET revived = TRUE WHERE ", replaced!());

/// The rotations whose replaced token is the known one of its group, the latest first.
const REVIVED: &str = "\
SELECT * FROM rotations WHERE place = $1 AND revived AND EXISTS (SELECT 1 FROM user_groups g \
  WHERE g.place = rotations.place AND g.user_group_id = rotations.user_group_id AND g.fingerprint = rotations.previous) \
ORDER BY id DESC";

const UNWRITTEN: &str = concat!(
    "SELECT * FROM rotations r WHERE place = $1 AND ",
    batches::unwritten!(),
    " AND NOT EXISTS (SELECT 1 FROM batch_items WHERE rotation_id = r.id) ORDER BY id DESC"
);

/// A superseded token is of no use any more.
const WRITTEN: &str = "\
UPDATE rotations SET unwritten = FALSE WHERE place = $1 AND user_group_id = $2 AND unwritten \
AND (fingerprint = $3 OR state = 'superseded')";

const TAKER: &str = "\
SELECT * FROM rotations WHERE id = (SELECT rotation_id FROM batch_items WHERE batch_id = $1 AND position = $2)";

/// Begins a rotation, unless the token is one that the intent leaves alone.
pub(super) fn begin(
    tx: &Tx<'_>,
    place: PlaceId,
    intent: &RotationIntent,
) -> Result<BeginResult, Fault> {
    if intent.noted.is_none() && intent.spares.is_zero() {
        return claim(tx, place, intent, i64::MAX);
    }
    let id = &intent.user_group_id;
    let last = order::of_group(tx, place, id)?;
    let is_later = intent.noted.is_some_and(|noted| last.noted.token > noted);
    let mut until = last.noted.token;
    let is_young = |token: &TokenChange| {
        token.rotation.is_some() && token.ago().is_some_and(|ago| ago < intent.spares)
    };
    if let Some(token) = last.token
        && (is_later || is_young(&token))
    {
        if tx
            .one::<RotationRow>(UNSETTLED, values![place, id])?
            .is_none()
        {
            return Ok(BeginResult::RotatedBy(token));
        }
        // Refused as open, or by the number if it ends before this begins: its result is not known yet.
        until -= 1;
    }
    claim(tx, place, intent, until)
}

/// Inserts the intent, unless the batch item is taken or the group is held; a second rotation of the same token is
/// prevented by the index. `until`: the last change that may have given the group its token, by its number in the
/// directory.
fn claim(
    tx: &Tx<'_>,
    place: PlaceId,
    intent: &RotationIntent,
    until: i64,
) -> Result<BeginResult, Fault> {
    let (id, previous) = (&intent.user_group_id, intent.previous);
    let item = match intent.item {
        Some(item) => {
            let of_item = values![item.batch, item.position, id];
            let taker = values![item.batch, item.position];
            let state = tx.ask(batches::ITEM, of_item)?;
            Some((item, state, tx.ask_later(TAKER, taker)))
        }
        None => None,
    };
    let values = values![
        place,
        id,
        previous,
        &intent.by,
        intent.reason.as_ref(),
        intent.at,
        boot_clock(),
        &intent.profile,
        intent.key,
        intent.hands_off,
        process::this(),
        intent.item.map(|item| item.batch),
        intent.item.map(|item| item.position),
        until,
        intent.settles_in,
        intent.to_file,
    ];
    let begun = tx.ask(BEGIN_ROTATION, values)?;
    // Read after the claim, which may have waited for whoever held the group.
    let last = tx.ask_later(order::OF_GROUP, values![place, id]);
    let unsettled = tx.ask_later(UNSETTLED, values![place, id]);
    let mutation = tx.ask_later(mutations::HOLDER, values![place, id]);
    let holder = tx.ask_later(HOLDER, values![place, id, previous]);
    if let Some((item, state, taker)) = item
        && batches::taken(state, item)?.is_some()
    {
        let taker = taker.one()?;
        return Ok(BeginResult::TakenBy(taker.ok_or(Fault::Row(TABLE))?));
    }
    if let Some(id) = begun.one()? {
        note_begun(tx, place, id, intent)?;
        return Ok(BeginResult::Started(id));
    }
    // Until the outcome of an earlier rotation is known, a different token may be the result of that one.
    if let Some(row) = unsettled.one()? {
        return Ok(BeginResult::TakenBy(row));
    }
    if let Some(holder) = mutation.one()? {
        return Ok(BeginResult::HeldBy(Box::new(holder)));
    }
    if let Some(holder) = holder.one()? {
        return Ok(BeginResult::TakenBy(holder));
    }
    let last = order::of(last.all()?)?;
    let token = last.token.filter(|_| last.noted.token > until);
    // The claim was refused but no holder is found: an error, not an invented answer.
    Ok(BeginResult::RotatedBy(token.ok_or(Fault::Row(TABLE))?))
}

/// Whatever belongs to an intent that was inserted.
fn note_begun(
    tx: &Tx<'_>,
    place: PlaceId,
    id: RotationId,
    intent: &RotationIntent,
) -> Result<(), Fault> {
    let (group, previous) = (&intent.user_group_id, intent.previous);
    let what = EventKind::Intended { previous };
    add_event(tx, id, intent.at, what, State::Intended, None)?;
    if let Some(item) = intent.item {
        tx.put(batches::TAKE, values![id, item.batch, item.position])?;
    }
    mutations::begin_rotation(tx, place, id, intent)?;
    history::note_token(tx, place, group, previous, intent.at)
}

/// The row was read in the same transaction.
const STEP_ROTATION: &str = "\
UPDATE rotations SET state = $1, fingerprint = $2, refused = $3, read_unchanged = $4, \
 sent_at = COALESCE(sent_at, $5), note = COALESCE($6, note), boot_clock = COALESCE($7, boot_clock), \
 unwritten = (unwritten AND NOT $9) \
WHERE id = $8";

/// Takes one step, if the rotation is still in the state that the step starts from and the step is valid there.
pub(super) fn step(
    tx: &Tx<'_>,
    before: Asked<'_, '_, RotationRow>,
    place: PlaceId,
    step: &RotationStep,
) -> Result<(), Fault> {
    let RotationStep {
        id,
        from,
        event,
        after,
        at,
        ..
    } = *step;
    let before = before.one()?.filter(|row| row.place == place);
    let before = before.ok_or(DirectoryError::NoRotation { id })?;
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
    let sends = matches!(event, Event::Sending);
    let values = values![
        after.state,
        after.fingerprint,
        after.refused,
        after.read_unchanged,
        sends.then_some(at),
        step.note.as_ref(),
        sends.then(boot_clock).flatten(),
        id,
        step.written,
    ];
    tx.put(STEP_ROTATION, values)?;
    mutations::follow(tx, step)?;
    let what = EventKind::Stepped {
        event,
        horizon_passed,
    };
    add_event(tx, id, at, what, after.state, step.note.as_deref())?;
    match after.fingerprint {
        Some(fingerprint) => history::note_token(tx, place, &before.user_group_id, fingerprint, at),
        None => Ok(()),
    }
}

const ADD_EVENT: &str = "\
INSERT INTO rotation_events (rotation_id, seq, at, event, fingerprint, since_sent, horizon_passed, state, note) \
SELECT $1, COALESCE(MAX(seq), 0) + 1, $2, $3, $4, $5, $6, $7, $8 FROM rotation_events WHERE rotation_id = $1";

fn add_event(
    tx: &Tx<'_>,
    id: RotationId,
    at: Timestamp,
    what: EventKind,
    state: State,
    note: Option<&str>,
) -> Result<(), Fault> {
    let columns = EventColumns::from(what);
    let values = values![
        id,
        at,
        columns.event,
        columns.fingerprint,
        columns.since_sent,
        columns.horizon_passed,
        state,
        note,
    ];
    Ok(tx.put(ADD_EVENT, values)?)
}

pub(super) const ROTATION: &str = "SELECT * FROM rotations WHERE id = $1";

/// The rotations of a group with an unknown outcome.
pub(super) const OPEN_OF_GROUP: &str = concat!(
    "SELECT * FROM rotations WHERE place = $1 AND user_group_id = $2 AND ",
    open_states!(),
    " ORDER BY id DESC"
);

/// The SQL of a filter, and its parameters.
pub(super) fn selected(filter: RotationFilter) -> (String, Vec<Value>) {
    let mut select = Select::from(TABLE)
        .and("place =", filter.place)
        .and("user_group_id =", filter.user_group_id);
    if filter.open_only {
        select = select.only(OPEN);
    }
    if filter.conflicts_only {
        select = select.only(conflicts!());
    }
    let select = select.and("handoff =", filter.handoff);
    select.newest_first("id", filter.limit)
}

pub(super) fn list(tx: &Tx<'_>, filter: RotationFilter) -> Result<Vec<RotationRow>, Fault> {
    let (text, values) = selected(filter);
    Ok(tx.all(text, values)?)
}

const OVERTAKEN: &str = "overtaken by a later rotation";

const HAND_OFF: &str = "\
UPDATE rotations SET handoff = $1, handoff_exit = $2, handoff_note = $3 WHERE id = $4";

const TAKE_HAND_OFF: &str = "\
UPDATE rotations SET handoff = 'pending', handoff_exit = NULL, handoff_note = NULL, profile = COALESCE($1, profile), \
 handoff_run = $2, handoff_by = $3, handoff_process = $4, handoff_limit = $5, handoff_at = $6, handoff_clock = $7 \
WHERE id = $8";

/// Unfinished hand-offs of earlier rotations of the same group.
const OVERTAKE_HAND_OFFS: &str = "\
UPDATE rotations SET handoff = 'none', handoff_note = $1 \
WHERE id < $2 AND place = $3 AND user_group_id = $4 AND handoff IN ('pending', 'failed')";

/// Sets the state of the hand-off of a rotation of this place.
pub(super) fn set_hand_off(
    tx: &Tx<'_>,
    row: Asked<'_, '_, RotationRow>,
    place: PlaceId,
    step: &HandOffStep,
) -> Result<(), Fault> {
    let (id, after) = (step.id, &step.after);
    let row = row.one()?.filter(|row| row.place == place);
    let row = row.ok_or(DirectoryError::NoRotation { id })?;
    let values = values![after.state, after.exit, after.note.as_ref(), id];
    tx.put(HAND_OFF, values)?;
    if after.state == HandOffState::Pending {
        let values = values![OVERTAKEN, id, place, &row.user_group_id];
        tx.put(OVERTAKE_HAND_OFFS, values)?;
    }
    Ok(())
}

/// Changes nothing if a later rotation has overtaken it, or another run has taken it.
const END_HAND_OFF: &str = "\
UPDATE rotations SET handoff = $1, handoff_exit = $2, handoff_note = $3 \
WHERE id = $4 AND handoff <> 'none' AND handoff_run = $5";

/// The latest later rotation of the same group that has a hand-off, for whoever takes it.
const HAND_OFF_LATER: &str = "\
UPDATE rotations SET handoff = 'pending', handoff_note = $1, handoff_run = NULL, handoff_by = NULL \
WHERE id = (SELECT MAX(later.id) FROM rotations later JOIN rotations this \
 ON later.place = this.place AND later.user_group_id = this.user_group_id \
 WHERE this.id = $2 AND later.id > $2 AND later.handoff <> 'none')";
