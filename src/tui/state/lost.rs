//! Why the directory cannot be used, and since when.

use jiff::Timestamp;

use crate::operations::{DirectoryError, TeamFault};

/// Why the directory cannot be used, or not be written.
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
    /// This person may look, and do no more.
    Viewer,
    /// Its tables are newer, and may still be read.
    NotWritable,
    /// All of it is elsewhere now.
    Moved,
}

/// Since when, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    pub since: Timestamp,
    pub why: WhyLost,
}

impl WhyLost {
    /// What others write is still seen.
    pub fn can_be_read(self) -> bool {
        matches!(
            self,
            Self::Standby | Self::Viewer | Self::NotWritable | Self::Moved
        )
    }

    /// `None` where waiting a moment helps: somebody holds it for a while.
    pub fn of(error: &DirectoryError) -> Option<Self> {
        match error {
            DirectoryError::Locked { .. } => None,
            DirectoryError::Team { fault, .. } => match fault {
                TeamFault::Busy => None,
                TeamFault::ReadOnly => Some(Self::Standby),
                TeamFault::NeedsRole { .. } => Some(Self::Viewer),
                TeamFault::NotWritable => Some(Self::NotWritable),
                TeamFault::Moved(_) => Some(Self::Moved),
                TeamFault::NotAllowed(_)
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
