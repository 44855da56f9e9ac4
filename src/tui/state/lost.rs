//! Why the directory cannot be used, and since when.

use jiff::Timestamp;

use crate::operations::{DirectoryError, TeamFault};

/// Why the directory cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyLost {
    /// It cannot be reached.
    Away,
    /// It only reads.
    Standby,
    /// It does not let this person in, or not do this.
    NotAllowed,
    /// Its tables are of another version.
    OtherVersion,
}

/// Since when, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    pub since: Timestamp,
    pub why: WhyLost,
}

impl WhyLost {
    /// `None` where waiting a moment helps: somebody holds it for a while.
    pub fn of(error: &DirectoryError) -> Option<Self> {
        match error {
            DirectoryError::Locked { .. } => None,
            DirectoryError::Team { fault, .. } => match fault {
                TeamFault::Busy => None,
                TeamFault::ReadOnly => Some(Self::Standby),
                TeamFault::NotAllowed(_)
                | TeamFault::NeedsRole { .. }
                | TeamFault::NeedsRight(_)
                | TeamFault::NoPassword(_)
                | TeamFault::NotSetUp => Some(Self::NotAllowed),
                TeamFault::Newer { .. } | TeamFault::Older { .. } => Some(Self::OtherVersion),
                _ => Some(Self::Away),
            },
            DirectoryError::Newer { .. } => Some(Self::OtherVersion),
            _ => Some(Self::Away),
        }
    }
}
