//! What waits for a person and was put aside for a while.

mod requests;

use jiff::Timestamp;

/// Something that waits and is not shown for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenConcern {
    /// What it is about, the same as long as it waits.
    pub concern: String,
    /// How it stood; once it stands otherwise it is shown again.
    pub stands: String,
    /// Shown again from then on.
    pub until: Timestamp,
    /// Who put it aside.
    pub by: String,
}
