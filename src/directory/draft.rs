//! Drafts as stored in the directory, and the result of saving one.

use jiff::Timestamp;

use crate::domain::draft::Draft;

/// A draft and its author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDraft {
    pub draft: Draft,
    /// The operator, for example `ana@bastion2`.
    pub by: String,
}

/// A draft of the same group that another console has saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherDraft {
    pub by: String,
    pub at: Timestamp,
}

/// The result of saving a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftSaved {
    Kept,
    /// It is kept as the draft of the group; another one, which this console had not seen, is kept beside it.
    Replaced(OtherDraft),
    /// Another console has saved a newer one; this one is kept beside it.
    Overtaken(OtherDraft),
}
