//! Describes who holds a group.

use std::fmt;

use jiff::Timestamp;

use crate::{
    domain::{group::UserGroupId, history::Operation, mutation::State, text::visible, when},
    operations::Warning,
};

/// The mutation that holds a group which somebody else wants to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimHolder {
    pub id: UserGroupId,
    pub operation: Operation,
    pub state: State,
    pub by: String,
    /// Whether it is a lost create or first read of the same person, who may repeat it.
    pub is_own: bool,
    pub since: Timestamp,
    /// When the claim ends at the latest if the outcome stays unknown; never set for a rotation.
    pub until: Option<Timestamp>,
    /// What a read of the group noticed that was to find out what became of it.
    pub noticed: Vec<Warning>,
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
            "\"{}\" is locked by the {} of {} (since {}",
            self.id,
            what,
            visible(&self.by),
            when::second(self.since)
        )?;
        for warning in &self.noticed {
            write!(f, "; a read showed: {warning}")?;
        }
        f.write_str(")")?;
        match (self.state, self.until) {
            (State::Unknown, None) => f.write_str(
                ", whose result is unknown. To find out, run `groupdesk rotations check`",
            ),
            (State::Unknown, Some(until)) => {
                let until = when::second(until);
                write!(f, ", and it may still take effect until {until}")?;
                let get = |options| self.id.command("get", options);
                match self.operation {
                    Operation::Create | Operation::Get if self.is_own => {
                        write!(f, ": run `{}`, which repeats it", get("--exists"))
                    }
                    // Only its owner may repeat it; and the group was read just now, without a result.
                    Operation::Create | Operation::Get | Operation::Update => {
                        f.write_str(": wait until then, and run the command again")
                    }
                    Operation::Rotate | Operation::HandOff => {
                        write!(f, ": run `{}`, or wait until then", get(""))
                    }
                }
            }
            _ => f.write_str(", which is running"),
        }
    }
}
