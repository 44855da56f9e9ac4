//! Seeing what others write into the directory: a hint that something was written, then a look that says what. The hint
//! of a file is an event of the file system; nothing is asked again and again.

pub(super) mod requests;
pub(super) mod snapshots;

use jiff::Timestamp;

use super::{PlaceId, RotationRow};
use snapshots::Snapshots;

use crate::domain::{at_work::AtWork, group::UserGroupId, known::KnownGroup};

/// What a look has seen of a place; the next one tells what came after. Only its directory can read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeCursor {
    pub(super) place: PlaceId,
    pub(super) seen: Seen,
}

/// How far the history was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryCursor(pub(super) ChangeCursor);

/// How far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    File {
        /// The number of the last write of a group.
        change: i64,
        /// How many commits of others the connection had seen, and which connection.
        commits: (u64, i64),
    },
    Team(Snapshots),
}

impl ChangeCursor {
    pub fn place(&self) -> PlaceId {
        self.place
    }
}

/// What others have changed in a place. Rows come whole; one may be told twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// In the order of their writes.
    pub groups: Vec<KnownGroup>,
    /// So many have changed that only some are told: the place is to be read again.
    pub are_more: bool,
    /// All rotations whose outcome is still to be found out.
    pub open: Vec<RotationRow>,
    /// All unsent forms.
    pub drafts: Vec<DraftHead>,
    pub standing: Standing,
    /// Who is changing which group right now; told by `operations`, which has a clock.
    pub at_work: Vec<AtWork>,
}

/// That there is a draft, without what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftHead {
    pub id: UserGroupId,
    /// When it was changed.
    pub at: Timestamp,
    pub by: String,
}

/// How a place stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The place that was looked at; another one than before where the profile was bound anew.
    pub place: PlaceId,
    /// Alarms that nobody has acknowledged.
    pub alarms: u32,
}
