//! Why the directory cannot be used, and since when.

use jiff::Timestamp;

use crate::operations::{DirectoryError, ServerFault, TeamFault};

/// Why the directory cannot be used, or cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutageReason {
    /// It cannot be reached.
    Away,
    /// Only a standby or a read-only server answers, from which nothing is read.
    Standby,
    /// It does not let this person in, or not do this.
    NotAllowed,
    /// Its tables have another version.
    OtherVersion,
    /// This person may only read.
    Viewer,
    /// Its tables have a newer version, which may still be read.
    NotWritable,
    /// The directory was moved elsewhere.
    Moved,
}

/// Since when, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    pub since: Timestamp,
    pub why: OutageReason,
}

impl OutageReason {
    /// Whether changes by others can still be read.
    pub fn can_be_read(self) -> bool {
        matches!(self, Self::Viewer | Self::NotWritable | Self::Moved)
    }

    /// `None` if waiting a moment helps, because another process holds a lock for a while.
    pub fn of(error: &DirectoryError) -> Option<Self> {
        match error {
            DirectoryError::Locked { .. } => None,
            DirectoryError::Team { fault, .. } => match fault {
                TeamFault::Server(ServerFault::Busy) => None,
                TeamFault::Server(ServerFault::ReadOnly) => Some(Self::Standby),
                TeamFault::NeedsRole { .. } => Some(Self::Viewer),
                TeamFault::NotWritable => Some(Self::NotWritable),
                TeamFault::Moved(_) => Some(Self::Moved),
                TeamFault::NeedsRight(_)
                | TeamFault::Server(
                    ServerFault::NotAllowed(_) | ServerFault::NoPassword(_) | ServerFault::NotThere,
                ) => Some(Self::NotAllowed),
                TeamFault::Newer { .. }
                | TeamFault::Older { .. }
                | TeamFault::Unreleased { .. } => Some(Self::OtherVersion),
                _ => Some(Self::Away),
            },
            DirectoryError::Newer { .. } | DirectoryError::Unreleased { .. } => {
                Some(Self::OtherVersion)
            }
            _ => Some(Self::Away),
        }
    }
}
