//! What is known of groups beside their values: few of many, by their ids.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::domain::{annotation::Annotation, group::UserGroupId};

/// Shared, so that a search can work on it while it changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beside {
    /// Notes, labels and favourites.
    pub annotations: Arc<BTreeMap<UserGroupId, Annotation>>,
    /// Groups with an unsent form.
    pub drafts: Arc<BTreeSet<UserGroupId>>,
    /// Changed by another console.
    pub changed: Arc<BTreeSet<UserGroupId>>,
    /// Added by another console.
    pub new: Arc<BTreeSet<UserGroupId>>,
}
