//! A batch as it goes into the directory and comes out of it: a queue of single rotations (docs/design/rotation.md,
//! "Bulk").

use jiff::Timestamp;

use super::RotationId;
use crate::domain::{
    batch::{Counts, ItemStatus},
    group::UserGroupId,
    history::Ending,
    rotation::State,
    token::Fingerprint,
};

/// Number of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId(pub i64);

/// A batch to begin.
#[derive(Debug, Clone)]
pub struct NewBatch {
    pub by: String,
    pub reason: Option<String>,
    pub at: Timestamp,
    /// In the order in which they are to be rotated; no id twice.
    pub groups: Vec<UserGroupId>,
}

/// Which item: its batch, and its number in it from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ItemKey {
    pub batch: BatchId,
    pub position: usize,
}

/// A batch as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    pub id: BatchId,
    pub by: String,
    pub reason: Option<String>,
    pub started_at: Timestamp,
    /// `None` while something is left to do.
    pub ended_at: Option<Timestamp>,
    pub counts: Counts,
}

/// One group of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchItem {
    pub key: ItemKey,
    pub user_group_id: UserGroupId,
    /// Set together with the intent: from then on nothing is sent for this item again.
    pub rotation: Option<RotationId>,
    /// Where that rotation stands in the journal now.
    pub state: Option<State>,
    /// How it ended before anything was sent.
    pub ending: Option<Ending>,
    /// The last thing that was seen, in words.
    pub note: Option<String>,
    pub previous: Option<Fingerprint>,
    pub fingerprint: Option<Fingerprint>,
}

impl BatchItem {
    pub fn status(&self) -> ItemStatus {
        ItemStatus::of(self.state, self.ending)
    }
}
