//! An unsent form as it comes out of the directory, and what became of saving one.

use jiff::Timestamp;

use crate::domain::draft::Draft;

/// A draft, and who typed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDraft {
    pub draft: Draft,
    /// The operator, for example `ana@bastion2`.
    pub by: String,
}

/// A draft of the same group that another console has kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherDraft {
    pub by: String,
    pub at: Timestamp,
}

/// What became of a draft that was to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftSaved {
    Kept,
    /// It stands in the place of one that this console had not seen.
    Replaced(OtherDraft),
    /// Another console has kept a newer one, which stays.
    Overtaken(OtherDraft),
}
