//! Settles rotations with an unknown outcome by what a get returned (docs/design/rotation.md, rule 2: only a get
//! decides). Plans what to write; the get and the writing are done by `answer::observe`.

use crate::{
    directory::{Noted, RotationStep, SnapshotExtras},
    domain::{
        operation_record::SETTLED,
        rotation::{Event, Rotation},
    },
    operations::{handoff::hand_off_after, prelude::*, profiles::places::GateSnapshot},
    platform::clock::Moment,
};

/// What was open when a get was sent, and when that was: a get says nothing about later changes.
pub(crate) struct OpenBeforeGet {
    pub open: Vec<RotationRow>,
    /// Open creates and updates.
    pub mutations: Vec<Mutation>,
    /// The last recorded changes of the group by then.
    pub noted: Noted,
    pub at: Moment,
    /// The rotation whose new token this process has put in its file.
    pub written: Option<RotationId>,
}

impl OpenBeforeGet {
    /// What is still as it was when the get was sent. What was advanced since, an answer to that get cannot settle; nor
    /// creates and updates, if another one was recorded since.
    pub(crate) fn still_open(&self, found: &GroupSnapshot, fields_are_later: bool) -> Self {
        let rotations = self.open.iter().filter(|row| {
            let mut now = found.open.iter();
            now.any(|now| now.id == row.id && now.rotation == row.rotation)
        });
        let mutations = self.mutations.iter().filter(|mutation| {
            let mut now = found.mutations.iter();
            !fields_are_later && now.any(|now| now.id == mutation.id && now.state == mutation.state)
        });
        Self {
            open: rotations.cloned().collect(),
            mutations: mutations.cloned().collect(),
            noted: self.noted,
            at: self.at.clone(),
            written: self.written,
        }
    }
}

/// What the directory knew of a group just before a get is sent.
pub(crate) struct BeforeGet {
    pub known: Option<KnownGroup>,
    pub facts: Facts,
    pub open_before: OpenBeforeGet,
    /// The gate of the place, if it was read in the same query.
    pub gate: Option<GateSnapshot>,
}

/// What a get found.
pub(crate) enum Evidence {
    /// The group, with this token.
    Token(Fingerprint),
    /// The get created the group, or another environment answered; as text.
    Contradiction(String),
    /// No get was sent: it is only known that the settle window is over.
    Nothing,
}

/// The steps that follow from a get, to be written together with its observation.
#[derive(Default)]
pub(crate) struct SettlementPlan {
    pub steps: Vec<Record>,
    /// How these steps ended rotations.
    pub endings: Vec<Ending>,
}

impl Operations {
    pub(crate) fn moment(&self) -> Moment {
        self.0.clock.moment()
    }

    /// Call this when the sending is durable and the request has not left: the horizon begins.
    pub(crate) fn note_sending(&self, id: RotationId) {
        if let Some(at) = self.moment().monotonic {
            self.0.sent_times.note(id, at);
        }
    }

    /// Time since a rotation was sent, or intended if it was not sent.
    pub(crate) fn since_sent(&self, row: &RotationRow, now: &Moment) -> Duration {
        self.0.sent_times.since(row, now)
    }

    /// Returns what is known and what is open. Call this before the get is sent.
    pub(crate) async fn snapshot_before_get(
        &self,
        id: &UserGroupId,
    ) -> Result<BeforeGet, DirectoryError> {
        let at = self.moment();
        let (found, gate) = self.snapshot(id).await?;
        Ok(self.before_get(at, found, gate))
    }

    fn before_get(
        &self,
        at: Moment,
        found: GroupSnapshot,
        gate: Option<GateSnapshot>,
    ) -> BeforeGet {
        let open_before = OpenBeforeGet {
            open: found.open,
            mutations: found.mutations,
            noted: found.noted,
            at,
            written: None,
        };
        BeforeGet {
            known: found.group,
            facts: self.with_configured_facts(found.facts),
            open_before,
            gate,
        }
    }

    /// As [`Self::snapshot_before_get`], from what was read together with a record at that moment.
    pub(crate) fn recorded_before_get(
        &self,
        at: Moment,
        found: GroupSnapshot,
    ) -> Option<BeforeGet> {
        let (found, gate) = self.with_gate(found)?;
        Some(self.before_get(at, found, gate))
    }

    /// What to read of a group whose place this process knows.
    pub(crate) fn extras_here(&self) -> SnapshotExtras {
        let profile = self.profile();
        let is_named = !profile.from_variables;
        SnapshotExtras {
            profile: is_named.then(|| (profile.name.clone(), profile.url())),
            key: self.key_id(),
            fingerprint: None,
        }
    }

    /// The snapshot and the gate in it; `None` if another process has bound the profile to another place.
    fn with_gate(&self, mut found: GroupSnapshot) -> Option<(GroupSnapshot, Option<GateSnapshot>)> {
        let here = self.here();
        found.bound.is_none_or(|bound| bound == here).then(|| {
            let gate = found.gate.take().zip(self.key_id());
            let gate = gate.map(|(gate, key)| GateSnapshot::of(here, key, gate));
            (found, gate)
        })
    }

    /// Reads the snapshot of a group, and the gate in the same round trip if this process knows its place.
    pub(super) async fn snapshot(
        &self,
        id: &UserGroupId,
    ) -> Result<(GroupSnapshot, Option<GateSnapshot>), DirectoryError> {
        let directory = self.directory();
        let here = self.here();
        if here != PlaceId::NONE {
            let found = directory.snapshot(here, id, self.extras_here()).await?;
            if let Some(found) = self.with_gate(found) {
                return Ok(found);
            }
        }
        let extras = SnapshotExtras::default();
        let found = directory.snapshot(self.place().await?, id, extras);
        Ok((found.await?, None))
    }

    /// Plans the steps of every rotation that was open when the get was sent.
    pub(crate) fn plan_settlement(
        &self,
        open_before: &OpenBeforeGet,
        evidence: &Evidence,
    ) -> SettlementPlan {
        let mut settled = SettlementPlan::default();
        for row in &open_before.open {
            self.settle_one(row, open_before, evidence, &mut settled);
        }
        settled
    }

    fn settle_one(
        &self,
        row: &RotationRow,
        before: &OpenBeforeGet,
        evidence: &Evidence,
        settled: &mut SettlementPlan,
    ) {
        let since_sent = self.since_sent(row, &before.at);
        let mut rotation = row.rotation;
        // Younger ones may be in progress in their process, and are its business.
        let left_behind = since_sent >= self.settle_window_of(row.settles_in);
        if matches!(rotation.state, State::Intended | State::Sent) && left_behind {
            rotation = self.step(row, rotation, Event::Orphaned, evidence, settled);
        }
        let event = match evidence {
            Evidence::Token(fingerprint) => Event::Read {
                fingerprint: *fingerprint,
                since_sent,
            },
            Evidence::Contradiction(_) => Event::ReadContradicts,
            Evidence::Nothing => return,
        };
        if matches!(rotation.state, State::Rotated | State::Unknown) {
            let after = self.step(row, rotation, event, evidence, settled);
            let step = settled.steps.last_mut().filter(|_| after != rotation);
            if let Some(step) = step.and_then(|record| record.rotation.as_mut()) {
                step.written = before.written == Some(row.id) && after.state == State::Confirmed;
            }
        }
    }

    fn step(
        &self,
        row: &RotationRow,
        before: Rotation,
        event: Event,
        evidence: &Evidence,
        settled: &mut SettlementPlan,
    ) -> Rotation {
        let horizon = self.settle_window_of(row.settles_in);
        let after = before.step(event, horizon).unwrap_or(before);
        if after == before {
            return after;
        }
        let ending = ending(after.state);
        let note = note(row, after, evidence);
        let entry = ending.map(|ending| Entry {
            previous_fingerprint: Some(after.previous),
            fingerprint: after.fingerprint,
            reason: row.reason.clone(),
            note: Some(note.clone()),
            ..self.entry(Operation::Rotate, &row.user_group_id, ending)
        });
        settled.endings.extend(ending);
        settled.steps.push(Record {
            entry,
            handoff: hand_off_after(row.id, self.hands_off(row), before.state, after.state),
            rotation: Some(RotationStep {
                id: row.id,
                from: before.state,
                event,
                after,
                at: self.now(),
                note: ending.is_some().then_some(note),
                written: false,
            }),
            ..Record::default()
        });
        after
    }
}

fn note(row: &RotationRow, after: Rotation, evidence: &Evidence) -> String {
    match (after.state, evidence) {
        (State::Confirmed, _) => "read back: the service has the new token".to_owned(),
        (State::Conflict, Evidence::Contradiction(what)) => what.clone(),
        (State::Conflict, Evidence::Token(_)) => {
            "the service returned a new token, but still has the old one".to_owned()
        }
        (State::NotApplied, _) if row.rotation.state == State::Intended => {
            format!("{SETTLED} {} and never sent", row.by)
        }
        _ => format!("{SETTLED} {}, resolved by reading the group", row.by),
    }
}

/// The ending for a state in which nothing is left to be found out; `None` while it is open.
pub(crate) fn ending(state: State) -> Option<Ending> {
    match state {
        State::Confirmed => Some(Ending::Confirmed),
        State::Recovered => Some(Ending::Recovered),
        State::NotApplied => Some(Ending::NotApplied),
        State::Superseded => Some(Ending::Superseded),
        State::Conflict => Some(Ending::Conflict),
        State::Abandoned => Some(Ending::Abandoned),
        State::Intended | State::Sent | State::Rotated | State::Unknown => None,
    }
}
