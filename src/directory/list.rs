//! The groups of a place as a list shows them.

mod requests;

use crate::search::Index;

/// The beginning of a list.
#[derive(Debug, Clone, Default)]
pub struct FirstGroups {
    /// Total number of groups.
    pub total: usize,
    /// Whether `index` contains all of them.
    pub is_all: bool,
    pub index: Index,
}
