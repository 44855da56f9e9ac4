//! What has to be done so that the groups are as a file says, as far as this desk knows.

use super::Row;
use crate::domain::{
    change::{Change, Wanted},
    known::KnownGroup,
};

/// What one row needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Todo {
    /// The service is not known to have it.
    Create,
    /// Something differs, or is not known here.
    Update,
    Unchanged,
}

impl Todo {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Unchanged => "unchanged",
        }
    }
}

/// One row, what it needs, and what would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    pub todo: Todo,
    pub change: Change,
    /// The whole that would be sent.
    pub wanted: Wanted,
}

impl Planned {
    /// A group that only files have told of may not exist yet.
    pub fn of(row: &Row, known: Option<&KnownGroup>) -> Self {
        let Some(known) = known.filter(|known| known.last_seen.is_some()) else {
            return Self {
                todo: Todo::Create,
                change: Change::between(&Wanted::default(), &row.said),
                wanted: row.said.clone(),
            };
        };
        let base = Wanted::of(known);
        let wanted = row.said.over(&base);
        let change = Change::between(&base, &wanted);
        let todo = if change.is_empty() {
            Todo::Unchanged
        } else {
            Todo::Update
        };
        Self {
            todo,
            change,
            wanted,
        }
    }
}

/// How many rows need what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Plan {
    pub create: usize,
    pub update: usize,
    pub unchanged: usize,
}

impl Plan {
    pub fn count(&mut self, todo: Todo) {
        match todo {
            Todo::Create => self.create += 1,
            Todo::Update => self.update += 1,
            Todo::Unchanged => self.unchanged += 1,
        }
    }

    /// Rows for which something is to be done.
    pub fn to_do(&self) -> usize {
        self.create + self.update
    }
}
