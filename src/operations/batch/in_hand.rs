//! Rotations and updates whose process may still be at them, and so the batches that another process may be running.

use std::collections::HashMap;

use crate::{
    directory::{BatchItem, DirectoryError, Mutation, MutationId, RotationId, RotationRow},
    domain::{mutation, rotation::State},
    operations::Operations,
};

/// What may still be moving, and who began each.
#[derive(Debug, Default)]
pub(crate) struct InHand {
    rotations: HashMap<RotationId, String>,
    updates: HashMap<MutationId, String>,
}

impl InHand {
    /// Says whether its process may still be at it, and remembers it if so.
    pub(crate) fn note_rotation(&mut self, operations: &Operations, row: &RotationRow) -> bool {
        let moves = matches!(
            row.rotation.state,
            State::Intended | State::Sent | State::Rotated
        );
        let is_held = moves && operations.settle_window_left(row).is_some();
        if is_held {
            self.rotations.insert(row.id, row.by.clone());
        }
        is_held
    }

    /// As [`InHand::note_rotation`], of a create or an update.
    pub(crate) fn note_change(&mut self, operations: &Operations, change: &Mutation) -> bool {
        let moves = matches!(
            change.state,
            mutation::State::Intended | mutation::State::Sent
        );
        let is_held = moves && !operations.window_left(change).is_zero();
        if is_held {
            self.updates.insert(change.id, change.by.clone());
        }
        is_held
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rotations.is_empty() && self.updates.is_empty()
    }

    /// Who may be running the batch of these items.
    pub(crate) fn runs(&self, items: &[BatchItem]) -> Option<&str> {
        let held = items.iter().find_map(|item| {
            let rotation = item.rotation.and_then(|id| self.rotations.get(&id));
            let update = item.update.and_then(|update| self.updates.get(&update.id));
            rotation.or(update)
        });
        held.map(String::as_str)
    }
}

impl Operations {
    /// What may still be moving in the place of this profile.
    pub(super) async fn in_hand(&self) -> Result<InHand, DirectoryError> {
        let mut held = InHand::default();
        for row in self.open_rotations().await? {
            held.note_rotation(self, &row);
        }
        for change in self.open_changes().await? {
            held.note_change(self, &change);
        }
        Ok(held)
    }
}
