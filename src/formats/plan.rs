//! What has to be done to bring the groups to the state in a file, as far as is known here.

use jiff::Timestamp;

use super::GroupRow;
use crate::domain::{
    change::{Change, DesiredFields},
    known::KnownGroup,
    word_enum::word_enum,
};

word_enum! {
    /// What one row needs.
    pub enum RowAction {
        /// The service is not known to have it.
        Create = "create",
        /// Something differs, or is unknown.
        Update = "update",
        Unchanged = "unchanged",
    }
}

/// One row, what it requires, and what would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPlan {
    pub action: RowAction,
    pub change: Change,
    /// All values that would be sent.
    pub wanted: DesiredFields,
    /// What is known of the group; empty for a group that is to be created.
    pub base: DesiredFields,
    /// When the service last reported it.
    pub seen: Option<Timestamp>,
}

impl RowPlan {
    /// Plans one row. A group known only from files may not exist yet.
    pub fn of(row: &GroupRow, known: Option<&KnownGroup>) -> Self {
        let Some(known) = known.filter(|known| known.is_seen()) else {
            return Self {
                action: RowAction::Create,
                change: Change::between(&DesiredFields::default(), &row.fields),
                wanted: row.fields.clone(),
                base: DesiredFields::default(),
                seen: None,
            };
        };
        let base = DesiredFields::of(known);
        let wanted = row.fields.over(&base);
        let change = Change::between(&base, &wanted);
        let action = if change.is_empty() {
            RowAction::Unchanged
        } else {
            RowAction::Update
        };
        Self {
            action,
            change,
            wanted,
            base,
            seen: known.last_seen,
        }
    }
}

/// How many rows require what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plan {
    pub create: usize,
    pub update: usize,
    pub unchanged: usize,
}

impl Plan {
    pub fn count(&mut self, action: RowAction) {
        match action {
            RowAction::Create => self.create += 1,
            RowAction::Update => self.update += 1,
            RowAction::Unchanged => self.unchanged += 1,
        }
    }

    pub fn all(&self) -> usize {
        self.to_do() + self.unchanged
    }

    /// Rows that require a change.
    pub fn to_do(&self) -> usize {
        self.create + self.update
    }
}
