//! The groups of a place in packed form, for lists: reading the packed copies costs a fraction of reading the groups.

mod requests;

use crate::{domain::group::UserGroupId, search::Index};

/// The beginning of a list.
#[derive(Debug, Clone, Default)]
pub struct FirstGroups {
    /// Total number of groups.
    pub total: usize,
    /// Whether `index` contains all of them.
    pub is_all: bool,
    pub index: Index,
    /// Groups whose copies could not be read and need repair.
    pub unreadable: Vec<UserGroupId>,
}
