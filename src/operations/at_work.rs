//! Who is changing which group right now, from open intents whose process may still be working on them.

use super::{DirectoryError, Mutation, Operations, RotationRow};
use crate::domain::{
    active_change::{ActiveChange, ChangeKind},
    history::Operation,
    rotation::State,
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
}
