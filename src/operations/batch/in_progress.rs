//! Recognises rotations and updates whose process may still be working on them.

use crate::{
    directory::{Mutation, RotationRow},
    domain::{mutation, rotation::State},
    operations::Operations,
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
    pub(in crate::operations) fn may_be_at_work(&self, row: &RotationRow) -> bool {
        let has_ended = row.process.as_deref().and_then(process::has_ended);
        has_ended != Some(true) && self.settle_window_left(row).is_some()
    }

    /// As [`Self::is_rotation_in_progress`], for a create or an update.
    pub(in crate::operations) fn is_change_in_progress(&self, change: &Mutation) -> bool {
        let moves = matches!(
            change.state,
            mutation::State::Intended | mutation::State::Sent
        );
        moves && !self.window_left(change).is_zero()
    }
}
