//! What this desk remembers: the groups of every profile with where each value came from, the append-only history,
//! and the journal of rotations. Fingerprints, never tokens. One story; SQLite tells it today.

use std::path::Path;

use jiff::Timestamp;

use crate::domain::{
    group::UserGroupId,
    history::Entry,
    known::{KnownGroup, Lesson, Noticed},
    rotation::{Event, Rotation, State},
    token::{Fingerprint, Fingerprinter},
};

/// Number of a rotation in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RotationId(pub i64);

/// What one exchange leaves behind; written in one transaction, all or nothing.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// What was learnt of a group; adds the group when it is new to the profile.
    pub lesson: Option<Lesson>,
    pub entry: Option<Entry>,
    pub rotation: Option<RotationStep>,
}

/// One step of a rotation; refused when another process has moved the rotation on.
#[derive(Debug, Clone)]
pub struct RotationStep {
    pub id: RotationId,
    /// The state the step starts from.
    pub from: State,
    pub event: Event,
    /// The rotation after the step.
    pub after: Rotation,
    pub at: Timestamp,
    /// What was seen, in words.
    pub note: Option<String>,
}

/// What the directory holds after a record.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    pub group: Option<KnownGroup>,
    pub noticed: Noticed,
}

/// A rotation to begin.
#[derive(Debug, Clone)]
pub struct Intent {
    pub user_group_id: UserGroupId,
    /// Fingerprint of the token the preflight read (T0).
    pub previous: Fingerprint,
    pub by: String,
    pub reason: Option<String>,
    pub at: Timestamp,
}

/// A rotation as journalled.
#[derive(Debug, Clone)]
pub struct JournalRow {
    pub id: RotationId,
    pub profile: String,
    pub user_group_id: UserGroupId,
    pub rotation: Rotation,
    pub by: String,
    pub reason: Option<String>,
    pub started_at: Timestamp,
    pub sent_at: Option<Timestamp>,
    pub note: Option<String>,
}
