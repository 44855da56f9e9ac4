//! Recognises rotations, hand-offs and updates whose process may still be working on them.

use std::time::Duration;

use crate::{
    config::{Profile, guard},
    directory::{Mutation, RotationRow},
    domain::{
        handoff::HandOffState,
        mutation,
        rotation::{State, settle_window},
    },
    operations::{Guarded, Operations},
    platform::process,
};

impl Operations {
    /// Whether the process that began this rotation may still be working on it.
    pub(in crate::operations) fn is_rotation_in_progress(&self, row: &RotationRow) -> bool {
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
    pub(in crate::operations) fn in_hand_for(&self, row: &RotationRow) -> Option<Duration> {
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
    pub(in crate::operations) fn is_change_in_progress(&self, change: &Mutation) -> bool {
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
pub(in crate::operations) fn hand_off_window(profile: &Profile) -> Duration {
    if guard::forbidden(&profile.guards, Guarded::HandOff).is_some() {
        return Duration::ZERO;
    }
    let limit = profile.handoff.as_ref().map(|command| command.timeout);
    settle_window(profile.timeout) + limit.unwrap_or_default()
}

fn has_process(row: &RotationRow) -> bool {
    row.process.as_deref().and_then(process::has_ended) != Some(true)
}
