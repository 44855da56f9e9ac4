//! Notices what others write into the directory: a hint that something was written, then a look that finds out what.
//! For a file, the hint is a file system event; nothing is polled.

pub(super) mod requests;
pub(super) mod snapshots;

use jiff::Timestamp;

use super::{PlaceId, RotationRow};
use snapshots::Snapshots;

use crate::domain::{active_change::ActiveChange, group::UserGroupId, known::KnownGroup};

/// What a look has seen of a place; the next one reports later changes. Only meaningful to its own directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeCursor {
    pub(super) place: PlaceId,
    pub(super) seen: Seen,
}

/// How far the history was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryCursor(pub(super) ChangeCursor);

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    File {
        /// The number of the last write of a group.
        change: i64,
        /// The commits of others that the connection had seen, and the number of the connection.
        commits: (u64, i64),
    },
    Team(Snapshots),
}

impl ChangeCursor {
    pub fn place(&self) -> PlaceId {
        self.place
    }
}

/// What others have changed in a place. Rows are complete; one may be reported twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// In the order of their writes.
    pub groups: Vec<KnownGroup>,
    /// Whether more groups have changed than are reported: the place has to be read again.
    pub are_more: bool,
    /// All rotations with an unknown outcome.
    pub open: Vec<RotationRow>,
    /// All drafts.
    pub drafts: Vec<DraftHead>,
    pub status: PlaceStatus,
    /// Who is changing which group right now; filled in by `operations`, which has a clock.
    pub at_work: Vec<ActiveChange>,
}

/// A draft without its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftHead {
    pub id: UserGroupId,
    /// When it was changed.
    pub at: Timestamp,
    pub by: String,
}

/// The state of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceStatus {
    /// The place that was looked at; changes if the profile was bound to another one.
    pub place: PlaceId,
    /// Number of unacknowledged alarms.
    pub alarms: u32,
}
