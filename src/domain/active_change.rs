//! Who is changing a group right now, as others see it.

use std::time::Duration;

use super::{group::UserGroupId, word_enum::word_enum};

word_enum! {
    /// What is being done to a group.
    pub enum ChangeKind {
        Rotating = "rotating",
        /// A new token is being read back.
        Confirming = "confirming",
        Updating = "updating",
        Creating = "creating",
        /// The first read of an id, which can create it.
        FirstRead = "reading first",
    }
}

/// A change whose process may still be working on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveChange {
    pub id: UserGroupId,
    pub kind: ChangeKind,
    pub by: String,
    /// How long it has been in progress.
    pub age: Duration,
    /// How long it may still be in progress if nothing more is heard of it.
    pub left: Duration,
}
