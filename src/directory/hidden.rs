//! Concerns that were hidden for a while.

mod requests;

use jiff::Timestamp;

/// A concern that is hidden for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenConcern {
    /// Identifies the concern, whatever its state.
    pub concern: String,
    /// Its state when it was hidden; it is shown again when this changes.
    pub state: String,
    /// When it is shown again.
    pub until: Timestamp,
    /// Who hid it.
    pub by: String,
}
