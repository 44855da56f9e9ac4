//! Describes who holds a group.

use std::fmt;

use jiff::Timestamp;

use crate::domain::{group::UserGroupId, history::Operation, mutation::State, text::visible};

/// The mutation that holds a group which somebody else wants to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimHolder {
    pub id: UserGroupId,
    pub operation: Operation,
    pub state: State,
    pub by: String,
    pub since: Timestamp,
    /// When the claim ends at the latest if the outcome stays unknown; never set for a rotation.
    pub until: Option<Timestamp>,
}

impl fmt::Display for ClaimHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.operation {
            Operation::Create => "create",
            Operation::Update => "update",
            Operation::Rotate => "rotation",
            Operation::Get | Operation::HandOff => "first read",
        };
        write!(
            f,
            "\"{}\" is held by {} of {} ({})",
            self.id,
            what,
            visible(&self.by),
            self.since.strftime("%H:%M:%S UTC")
        )?;
        match (self.state, self.until) {
            (State::Unknown, None) => f.write_str(
                ", and nobody knows yet whether it took effect: `groupdesk rotations settle` finds out",
            ),
            (State::Unknown, Some(until)) => write!(
                f,
                ", and it may still take effect until {}: `groupdesk get {}` may tell, else wait for it",
                until.strftime("%H:%M:%S UTC"),
                self.id
            ),
            _ => f.write_str(", which is running"),
        }
    }
}
