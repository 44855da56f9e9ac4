//! The journal of mutations: who holds a group, and the outcomes.

use super::{batches, fault::Fault};
use crate::{
    database::{Access, Request, Results, Row, Statements, values},
    directory::{
        Claimed, Directory, DirectoryError, Mutation, MutationId, MutationIntent, MutationStep,
        PlaceId, RotationId, RotationIntent, RotationStep,
        columns::{self, boot_clock},
        lanes::Subject,
        unsettled_here::CountedStep,
    },
    domain::{
        group::UserGroupId,
        history::{Ending, Operation},
        known::Sent,
        mutation::State,
        rotation,
    },
    platform::boot_time::BootTime,
};

impl Directory {
    /// Makes the intent durable, unless another mutation holds the group.
    pub async fn begin_mutation(
        &self,
        place: PlaceId,
        intent: MutationIntent,
    ) -> Result<Claimed, DirectoryError> {
        let subject = Subject::Group(place, intent.user_group_id.clone());
        self.request_about(Some(subject), BeginMutation { place, intent })
            .await
    }

    /// Takes one step; [`DirectoryError::ClaimMoved`] if the mutation is not in the state that the step starts from.
    pub async fn step_mutation(
        &self,
        place: PlaceId,
        step: MutationStep,
    ) -> Result<(), DirectoryError> {
        let counted_steps = CountedStep::of_mutation(&step);
        let stepped = self.request(StepMutation { place, step }).await;
        counted_steps.written(stepped.is_ok());
        stepped
    }

    /// Returns the creates and updates of a place whose outcome is unknown, most recently begun first.
    pub async fn open_mutations(&self, place: PlaceId) -> Result<Vec<Mutation>, DirectoryError> {
        self.execute(Access::Long, move |tx| {
            tx.all(OPEN, values![place.0], parse_row)
        })
        .await
    }

    /// Returns one mutation of a place.
    pub async fn mutation(
        &self,
        place: PlaceId,
        id: MutationId,
    ) -> Result<Option<Mutation>, DirectoryError> {
        self.execute(Access::Short, move |tx| {
            tx.one(ONE, values![place.0, id.0], parse_row)
        })
        .await
    }
}

const TABLE: &str = "mutations";

macro_rules! columns {
    () => {
        "id, user_group_id, operation, state, rotation_id, by, profile, started_at, sent_at, since(boot_clock), ending, \
         note, changes, sent"
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

/// The open states, as in the index `mutations_open`.
#[cfg(test)]
pub(super) const IS_OPEN: &str = is_open!();
/// The states that hold the group, as in the index `mutations_one_per_group`.
#[cfg(test)]
pub(super) const HOLDS: &str = holds!();

macro_rules! begin_columns {
    () => {
        "INSERT INTO mutations (place, user_group_id, operation, state, rotation_id, by, profile, key, reason, \
         started_at, boot_clock, changes) "
    };
}

/// Returns no row if another mutation holds the group. The index alone is not enough: after two places were merged, it
/// allows two mutations of one group.
const BEGIN: &str = concat!(
    begin_columns!(),
    "SELECT $1, $2, $3, 'intended', NULL, $4, $5, $6, NULL, $7, $8, $9 \
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
pub(crate) struct BeginMutation {
    pub(crate) place: PlaceId,
    pub(crate) intent: MutationIntent,
}

impl Request for BeginMutation {
    type Answer = Claimed;
    type Error = Fault;

    fn read(&self) -> Statements {
        let intent = &self.intent;
        let claim = values![
            self.place.0,
            intent.user_group_id.as_str(),
            intent.operation.as_str(),
            &intent.by,
            &intent.profile,
            intent.key.map(|key| key.0),
            columns::micros(intent.at),
            boot_clock(),
            intent.changes.as_ref().map(serde_json::Value::to_string),
        ];
        let mut reads = Statements::default();
        if let Some(lost) = intent.repeats {
            let lost = values![
                self.place.0,
                intent.user_group_id.as_str(),
                lost.0,
                &intent.by
            ];
            reads.add(REPEAT, lost);
        }
        reads.add(BEGIN, claim);
        query_holder(&mut reads, self.place, &intent.user_group_id);
        reads
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, Claimed), Fault> {
        if self.intent.repeats.is_some() {
            found.next();
        }
        let begun: Option<i64> = found.next().first(|row| row.get(0))?;
        let answer = match begun {
            Some(id) => Claimed::Begun(MutationId(id)),
            None => Claimed::HeldBy(Box::new(holder(found)?.ok_or(Fault::Row(TABLE))?)),
        };
        Ok((Statements::default(), answer))
    }
}

/// Fails if another mutation holds the group; the claim of the rotation has checked that before.
const BEGIN_ROTATION: &str = concat!(
    begin_columns!(),
    "VALUES ($1, $2, 'rotate', 'intended', $3, $4, $5, $6, $7, $8, $9, NULL)"
);

/// The claim of a rotation, in the transaction of its intent.
pub(super) fn begin_rotation(
    writes: &mut Statements,
    place: PlaceId,
    id: RotationId,
    intent: &RotationIntent,
) {
    let values = values![
        place.0,
        intent.user_group_id.as_str(),
        id.0,
        &intent.by,
        &intent.profile,
        intent.key.map(|key| key.0),
        intent.reason.as_ref(),
        columns::micros(intent.at),
        boot_clock(),
    ];
    writes.add(BEGIN_ROTATION, values);
}

/// Includes mutations of a place that was merged into this one.
const HOLDER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM mutations WHERE place = $1 AND user_group_id = $2 AND ",
    holds!(),
    " ORDER BY id DESC LIMIT 1"
);

pub(super) fn query_holder(reads: &mut Statements, place: PlaceId, id: &UserGroupId) {
    reads.add(HOLDER, values![place.0, id.as_str()]);
}

pub(super) fn holder(found: &mut Results) -> Result<Option<Mutation>, Fault> {
    found.next().first(parse_row)
}

/// Compare and set: changes nothing if the state is not the expected one.
const STEP: &str = "\
UPDATE mutations SET state = $1, sent_at = COALESCE(sent_at, $2), boot_clock = COALESCE($3, boot_clock), \
 ended_at = COALESCE(ended_at, $4), ending = COALESCE($5, ending), note = COALESCE($6, note), \
 changes = COALESCE($7, changes), sent = CASE $1 WHEN 'ended' THEN NULL ELSE COALESCE($8, sent) END \
WHERE place = $9 AND id = $10 AND state = $11";

/// Takes one step, if the mutation is still in the state that the step starts from.
pub(crate) struct StepMutation {
    pub(crate) place: PlaceId,
    pub(crate) step: MutationStep,
}

impl Request for StepMutation {
    type Answer = ();
    type Error = Fault;

    fn read(&self) -> Statements {
        let mut claims = Statements::default();
        claim_step(&mut claims, self.place, &self.step);
        claims
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, ()), Fault> {
        step(found, &self.step)?;
        Ok((Statements::default(), ()))
    }
}

pub(super) fn claim_step(claims: &mut Statements, place: PlaceId, step: &MutationStep) {
    let at = columns::micros(step.at);
    let sends = step.to == State::Sent;
    let values = values![
        step.to.as_str(),
        sends.then_some(at),
        sends.then(boot_clock).flatten(),
        (step.to == State::Ended).then_some(at),
        step.ending.map(Ending::as_str),
        step.note.as_ref(),
        step.changes.as_ref().map(serde_json::Value::to_string),
        step.sent.as_ref().map(columns::sent_text),
        place.0,
        step.id.0,
        step.from.as_str(),
    ];
    claims.add(STEP, values);
    if let Some(item) = step.item {
        batches::claim_for_update(claims, item, step.id);
    }
}

/// Refuses a step that [`claim_step`] could not take or that is not allowed.
pub(super) fn step(found: &mut Results, step: &MutationStep) -> Result<(), Fault> {
    if found.next().changed != 1 || !step.from.may_become(step.to) {
        return Err(DirectoryError::ClaimMoved { id: step.id }.into());
    }
    if let Some(item) = step.item {
        batches::taken_for_update(found, item)?;
    }
    Ok(())
}

const REPLACED: &str = "UPDATE mutations SET sent = $1 WHERE id = $2";

/// A later request has replaced some of what an open change sent: from now on only the rest may become known by it.
pub(super) fn replace_sent(writes: &mut Statements, id: MutationId, rest: &Sent) {
    writes.add(REPLACED, values![columns::sent_text(rest), id.0]);
}

/// A step of a rotation advances its claim, too.
const FOLLOW_ROTATION: &str = "\
UPDATE mutations SET state = $1, sent_at = COALESCE(sent_at, $2), boot_clock = COALESCE($3, boot_clock), \
 ended_at = COALESCE(ended_at, $4), ending = COALESCE($5, ending) WHERE rotation_id = $6";

/// Advances the claim of a rotation together with it.
pub(super) fn follow(writes: &mut Statements, step: &RotationStep) {
    let at = columns::micros(step.at);
    let sends = matches!(step.event, rotation::Event::Sending);
    let state = match step.after.state {
        rotation::State::Intended => State::Intended,
        rotation::State::Sent => State::Sent,
        rotation::State::Unknown => State::Unknown,
        _ => State::Ended,
    };
    let values = values![
        state.as_str(),
        sends.then_some(at),
        sends.then(boot_clock).flatten(),
        (state == State::Ended).then_some(at),
        (state == State::Ended).then(|| step.after.state.as_str()),
        step.id.0,
    ];
    writes.add(FOLLOW_ROTATION, values);
}

const ONE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM mutations WHERE place = $1 AND id = $2"
);

/// Rotations are listed from their own journal. They are not excluded by `rotation_id IS NULL`: SQLite would then use
/// the index of that column and read every mutation that is no rotation.
const OPEN: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM mutations WHERE place = $1 AND operation <> 'rotate' AND ",
    is_open!(),
    " ORDER BY id DESC"
);

pub(super) const OPEN_OF_GROUP: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM mutations WHERE place = $1 AND user_group_id = $2 AND operation <> 'rotate' AND ",
    is_open!(),
    " ORDER BY id DESC"
);

pub(super) fn query_open(reads: &mut Statements, place: PlaceId, id: &UserGroupId) {
    reads.add(OPEN_OF_GROUP, values![place.0, id.as_str()]);
}

/// The same, to decide about them.
pub(super) fn query_open_locked(reads: &mut Statements, place: PlaceId, id: &UserGroupId) {
    reads.lock(OPEN_OF_GROUP, values![place.0, id.as_str()]);
}

pub(super) fn parse_row(row: &Row<'_>) -> Result<Mutation, Fault> {
    as_written(row)?.ok_or(Fault::Row(TABLE))
}

/// Returns `None` for a row that cannot be decoded.
fn as_written(row: &Row<'_>) -> Result<Option<Mutation>, Fault> {
    let ending: Option<String> = row.get(10)?;
    let changes: Option<String> = row.get(12)?;
    let changes = changes.map(|text| serde_json::from_str(&text).ok());
    let sent: Option<i64> = row.get(8)?;
    let parts = (
        UserGroupId::parse(row.text(1)?).ok(),
        Operation::parse(row.text(2)?),
        State::parse(row.text(3)?),
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
        rotation: row.get::<Option<i64>>(4)?.map(RotationId),
        by: row.get(5)?,
        profile: row.get(6)?,
        started_at,
        sent_at: sent.and_then(columns::timestamp),
        boot_clock: row
            .get::<Option<String>>(9)?
            .and_then(|text| BootTime::parse(&text)),
        ending: ending.as_deref().and_then(Ending::parse),
        note: row.get(11)?,
        changes: changes.flatten(),
        sent: row
            .get::<Option<String>>(13)?
            .and_then(|text| columns::sent(&text)),
    }))
}
