//! The journal of mutations: who holds a group, and the outcomes.

use super::{
    batches, facts,
    fault::Fault,
    states::{holds, is_open},
};
use crate::{
    db::{self, Access, Asked, Tx, row, values},
    directory::{
        Claimed, Directory, DirectoryError, Mutation, MutationId, MutationIntent, MutationStep,
        PlaceId, Result, RotationId, RotationIntent, RotationStep, columns::boot_clock,
        lanes::Subject, unsettled_here::CountedStep,
    },
    domain::{history::Operation, mutation::State, rotation},
};

impl Directory {
    /// Makes the intent durable, unless another mutation holds the group.
    pub async fn begin_mutation(&self, place: PlaceId, intent: MutationIntent) -> Result<Claimed> {
        let subject = Subject::Group(place, intent.user_group_id.clone());
        let begun = self.write_about(Some(subject), true, move |tx| begin(tx, place, &intent));
        let begun = begun.await?;
        if let Some(seen) = self.0.latest_change.clone() {
            // After the commit: what is remembered is in the file. The change goes on without.
            let noted = self.execute(Access::Long, move |tx| facts::lacks_changes(tx, &seen));
            noted.await.ok();
        }
        Ok(begun)
    }

    /// Takes one step; [`DirectoryError::ClaimMoved`] if the mutation is not in the state that the step starts from.
    pub async fn step_mutation(&self, place: PlaceId, step: MutationStep) -> Result<()> {
        let counted_steps = CountedStep::of_mutation(&step);
        let stepped = self
            .write(move |tx| claim_step(tx, place, &step)?.check(&step))
            .await;
        counted_steps.written(stepped.is_ok());
        stepped
    }

    /// Returns the creates and updates of a place whose outcome is unknown, most recently started first.
    pub async fn open_mutations(&self, place: PlaceId) -> Result<Vec<Mutation>> {
        self.all(Access::Long, OPEN, values![place]).await
    }

    /// Returns what holds groups of a place, rotations as well.
    pub async fn holders(&self, place: PlaceId) -> Result<Vec<Mutation>> {
        self.all(Access::Long, HOLDERS, values![place]).await
    }

    /// Returns one mutation of a place.
    pub async fn mutation(&self, place: PlaceId, id: MutationId) -> Result<Option<Mutation>> {
        let text = "SELECT * FROM mutations WHERE place = $1 AND id = $2";
        self.one(text, values![place, id]).await
    }
}

/// The open states, as in the index `mutations_open`.
#[cfg(test)]
pub(super) const IS_OPEN: &str = is_open!();
/// The states that hold the group, as in the index `mutations_one_per_group`.
#[cfg(test)]
pub(super) const HOLDS: &str = holds!();

/// Returns no row if another mutation holds the group. The index alone is not enough: after two places were merged, it
/// allows two mutations of one group.
const BEGIN: &str = concat!(
    "INSERT INTO mutations (place, user_group_id, operation, state, by, profile, key, started_at, boot_clock, changes, \
      settles_in) \
     SELECT $1, $2, $3, 'intended', $4, $5, $6, $7, $8, $9, $10 \
     WHERE NOT EXISTS (SELECT 1 FROM mutations WHERE place = $1 AND user_group_id = $2 AND ",
    holds!(),
    ") ON CONFLICT DO NOTHING RETURNING id"
);

/// Lets go of a lost create that the same person repeats. Only in the transaction that begins the repetition, so that
/// nothing else gets in between.
const REPEAT: &str = "\
UPDATE mutations SET state = 'open' WHERE place = $1 AND user_group_id = $2 AND id = $3 AND by = $4 \
AND state = 'unknown' AND operation IN ('create', 'get')";

/// Inserts the intent, unless another mutation holds the group.
fn begin(tx: &Tx<'_>, place: PlaceId, intent: &MutationIntent) -> Result<Claimed, Fault> {
    let id = &intent.user_group_id;
    if let Some(lost) = intent.repeats {
        tx.put(REPEAT, values![place, id, lost, &intent.by])?;
    }
    let values = values![
        place,
        id,
        intent.operation,
        &intent.by,
        &intent.profile,
        intent.key,
        intent.at,
        boot_clock(),
        intent.changes.as_ref(),
        intent.settles_in,
    ];
    let begun = tx.ask(BEGIN, values)?;
    let holder = tx.ask_later(HOLDER, values![place, id]);
    if let Some(id) = begun.one()? {
        return Ok(Claimed::Begun(id));
    }
    let holder = holder.one()?.ok_or(Fault::Row("mutations"))?;
    Ok(Claimed::HeldBy(Box::new(holder)))
}

/// The claim of a rotation, in the transaction of its intent. Fails if another mutation holds the group; the claim of
/// the rotation has checked that before.
pub(super) fn begin_rotation(
    tx: &Tx<'_>,
    place: PlaceId,
    id: RotationId,
    intent: &RotationIntent,
) -> Result<(), Fault> {
    let row = row! {
        place,
        user_group_id: &intent.user_group_id,
        operation: Operation::Rotate,
        state: State::Intended,
        rotation_id: id,
        by: &intent.by,
        profile: &intent.profile,
        key: intent.key,
        reason: intent.reason.as_ref(),
        started_at: intent.at,
        boot_clock: boot_clock(),
        settles_in: intent.settles_in,
    };
    Ok(tx.insert("mutations", row)?)
}

/// Includes mutations of a place that was merged into this one.
pub(super) const HOLDER: &str = concat!(
    "SELECT * FROM mutations WHERE place = $1 AND user_group_id = $2 AND ",
    holds!(),
    " ORDER BY id DESC LIMIT 1"
);

const HOLDERS: &str = concat!("SELECT * FROM mutations WHERE place = $1 AND ", holds!());

/// Compare and set: changes nothing if the state is not the expected one.
const STEP: &str = "\
UPDATE mutations SET state = $1, sent_at = COALESCE(sent_at, $2), boot_clock = COALESCE($3, boot_clock), \
 ended_at = COALESCE(ended_at, $4), ending = COALESCE($5, ending), note = COALESCE($6, note), \
 changes = COALESCE($7, changes), sent = CASE $1 WHEN 'ended' THEN NULL ELSE COALESCE($8, sent) END \
WHERE place = $9 AND id = $10 AND state = $11";

/// A step that was tried.
pub(super) struct ClaimedStep<'t, 'c> {
    stepped: Asked<'t, 'c, ()>,
    item_taken: Option<Asked<'t, 'c, ()>>,
}

/// Takes one step, if the mutation is still in the state that the step starts from.
pub(super) fn claim_step<'t, 'c>(
    tx: &'t Tx<'c>,
    place: PlaceId,
    step: &MutationStep,
) -> Result<ClaimedStep<'t, 'c>, db::Fault> {
    let sent_at = (step.to == State::Sent).then_some(step.at);
    let ended_at = (step.to == State::Ended).then_some(step.at);
    let values = values![
        step.to,
        sent_at,
        sent_at.and_then(|_| boot_clock()),
        ended_at,
        step.ending,
        step.note.as_ref(),
        step.changes.as_ref(),
        step.sent.as_ref(),
        place,
        step.id,
        step.from,
    ];
    let stepped = tx.ask(STEP, values)?;
    let item_taken = step.item.map(|item| {
        let values = values![step.id, item.batch, item.position];
        tx.ask(batches::TAKE_FOR_UPDATE, values)
    });
    Ok(ClaimedStep {
        stepped,
        item_taken: item_taken.transpose()?,
    })
}

impl ClaimedStep<'_, '_> {
    /// Refuses a step that could not be taken or that is not allowed.
    pub(super) fn check(self, step: &MutationStep) -> Result<(), Fault> {
        if self.stepped.changed()? != 1 || !step.from.may_become(step.to) {
            return Err(DirectoryError::ClaimMoved { id: step.id }.into());
        }
        if let Some((item, taken)) = step.item.zip(self.item_taken)
            && taken.changed()? != 1
        {
            return Err(DirectoryError::ItemEnded(item).into());
        }
        Ok(())
    }
}

/// A later request has replaced some of what an open change sent: from now on only the rest may become known by it.
pub(super) const REPLACE_SENT: &str =
    "UPDATE mutations SET sent = $1 WHERE id = $2 AND state <> 'ended'";

/// A step of a rotation advances its claim as well.
const FOLLOW_ROTATION: &str = "\
UPDATE mutations SET state = $1, sent_at = COALESCE(sent_at, $2), boot_clock = COALESCE($3, boot_clock), \
 ended_at = COALESCE(ended_at, $4), ending = COALESCE($5, ending) WHERE rotation_id = $6";

/// Advances the claim of a rotation together with it.
pub(super) fn follow(tx: &Tx<'_>, step: &RotationStep) -> Result<(), Fault> {
    let sent_at = matches!(step.event, rotation::Event::Sending).then_some(step.at);
    let state = match step.after.state {
        rotation::State::Intended => State::Intended,
        rotation::State::Sent => State::Sent,
        rotation::State::Unknown => State::Unknown,
        _ => State::Ended,
    };
    let ended = (state == State::Ended).then_some((step.at, step.after.state));
    let (ended_at, ending) = ended.unzip();
    let values = values![
        state,
        sent_at,
        sent_at.and_then(|_| boot_clock()),
        ended_at,
        ending,
        step.id,
    ];
    Ok(tx.put(FOLLOW_ROTATION, values)?)
}

/// Rotations are listed from their own journal. They are not excluded by `rotation_id IS NULL`: SQLite would then use
/// the index of that column and read every mutation that is no rotation.
const OPEN: &str = concat!(
    "SELECT * FROM mutations WHERE place = $1 AND operation <> 'rotate' AND ",
    is_open!(),
    " ORDER BY id DESC"
);

pub(super) const OPEN_OF_GROUP: &str = concat!(
    "SELECT * FROM mutations WHERE place = $1 AND user_group_id = $2 AND operation <> 'rotate' AND ",
    is_open!(),
    " ORDER BY id DESC"
);
