//! Annotations, drafts and flags of groups, by id. Only few groups have them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::domain::{annotation::Annotation, group::UserGroupId};

/// Shared, so that a search can use a snapshot while it changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beside {
    /// Notes, labels and favourites.
    pub annotations: Arc<BTreeMap<UserGroupId, Annotation>>,
    /// Groups with an unsent draft.
    pub drafts: Arc<BTreeSet<UserGroupId>>,
    /// Groups that another console changed.
    pub changed: Arc<BTreeSet<UserGroupId>>,
    /// Groups that another console added.
    pub new: Arc<BTreeSet<UserGroupId>>,
}
