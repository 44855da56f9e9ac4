//! Who is changing which group right now: open intents, hand-offs included, whose process may still be working on them.

use std::time::Duration;

use super::{DirectoryError, Guarded, Mutation, Operations, RotationRow};
use crate::{
    config::{Profile, guard},
    domain::{
        active_change::{ActiveChange, ChangeKind},
        handoff::HandOffState,
        history::Operation,
        mutation,
        rotation::{State, settle_window},
    },
    platform::process,
};

impl Operations {
    /// Returns what is being changed in this place, given its open rotations; open creates and updates are read here.
    pub async fn at_work(
        &self,
        rotations: &[RotationRow],
    ) -> Result<Vec<ActiveChange>, DirectoryError> {
        let changes = self.open_changes().await?;
        let rotating = rotations.iter().filter_map(|row| self.rotating(row));
        let changing = changes.iter().filter_map(|change| self.changing(change));
        Ok(rotating.chain(changing).collect())
    }

    fn rotating(&self, row: &RotationRow) -> Option<ActiveChange> {
        let kind = match row.rotation.state {
            _ if !self.is_rotation_in_progress(row) => return None,
            State::Rotated => ChangeKind::Confirming,
            _ => ChangeKind::Rotating,
        };
        let left = self.settle_window_left(row)?;
        Some(ActiveChange {
            id: row.user_group_id.clone(),
            kind,
            by: row.by.clone(),
            age: self.settle_window().saturating_sub(left),
            left,
        })
    }

    fn changing(&self, change: &Mutation) -> Option<ActiveChange> {
        // A rotation is listed from its own journal.
        let kind = match change.operation {
            _ if change.rotation.is_some() || !self.is_change_in_progress(change) => return None,
            Operation::Create => ChangeKind::Creating,
            Operation::Update => ChangeKind::Updating,
            Operation::Get => ChangeKind::FirstRead,
            Operation::Rotate | Operation::HandOff => return None,
        };
        let left = self.window_left(change);
        Some(ActiveChange {
            id: change.user_group_id.clone(),
            kind,
            by: change.by.clone(),
            age: self.settle_window().saturating_sub(left),
            left,
        })
    }

    /// Whether the process that began this rotation may still be working on it.
    pub(super) fn is_rotation_in_progress(&self, row: &RotationRow) -> bool {
        let moves = matches!(
            row.rotation.state,
            State::Intended | State::Sent | State::Rotated
        );
        moves && self.may_be_at_work(row)
    }

    /// Whether the process that began this rotation may be there, and the time for what it does is not over.
    fn may_be_at_work(&self, row: &RotationRow) -> bool {
        has_process(row) && self.settle_window_left(row).is_some()
    }

    /// How much longer the process that rotated may be handing the new token off. A hand-off that has a note was tried;
    /// one that a guard forbids is not tried at all.
    pub(super) fn in_hand_for(&self, row: &RotationRow) -> Option<Duration> {
        let is_untried = row.handoff.state == HandOffState::Pending && row.handoff.note.is_none();
        if !is_untried || !has_process(row) {
            return None;
        }
        let time = hand_off_window(self.profile());
        let left = time.checked_sub(self.since_sent(row, &self.moment()))?;
        (!left.is_zero()).then_some(left)
    }

    /// The same for a process other than this one, which knows what it does itself.
    pub fn in_hand_elsewhere_for(&self, row: &RotationRow) -> Option<Duration> {
        let is_here = row.process.is_some() && row.process.as_deref() == process::this();
        self.in_hand_for(row).filter(|_| !is_here)
    }

    /// As [`Self::is_rotation_in_progress`], for a create or an update.
    pub(super) fn is_change_in_progress(&self, change: &Mutation) -> bool {
        let moves = matches!(
            change.state,
            mutation::State::Intended | mutation::State::Sent
        );
        moves && !self.window_left(change).is_zero()
    }

    /// Whether a colleague may be working on this rotation: then nothing about it is left to this person.
    pub fn is_rotation_of_colleague(&self, row: &RotationRow) -> bool {
        row.by != self.operator() && self.is_rotation_in_progress(row)
    }

    /// As [`Self::is_rotation_of_colleague`], for a create or an update.
    pub fn is_change_of_colleague(&self, change: &Mutation) -> bool {
        change.by != self.operator() && self.is_change_in_progress(change)
    }
}

/// How long a process may be handing a new token off, from the time when its rotation was sent.
pub(super) fn hand_off_window(profile: &Profile) -> Duration {
    if guard::forbidden(&profile.guards, Guarded::HandOff).is_some() {
        return Duration::ZERO;
    }
    let limit = profile.handoff.as_ref().map(|command| command.timeout);
    settle_window(profile.timeout) + limit.unwrap_or_default()
}

fn has_process(row: &RotationRow) -> bool {
    row.process.as_deref().and_then(process::has_ended) != Some(true)
}
