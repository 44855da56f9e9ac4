//! The groups of a place as lists hold them: read from their packed copies, which costs a fraction of the groups themselves.

mod requests;

use crate::{domain::group::UserGroupId, search::Index};

/// What a list begins with.
#[derive(Debug, Clone, Default)]
pub struct FirstGroups {
    /// How many groups there are.
    pub total: usize,
    /// All of them are in `index`.
    pub is_all: bool,
    pub index: Index,
    /// Groups whose copies could not be read, and are to be repaired.
    pub unreadable: Vec<UserGroupId>,
}
