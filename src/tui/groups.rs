//! The groups of the current profile as the console holds them: a copy of the directory, by id, and what the list shows
//! and searches of it.

use jiff::Timestamp;

use crate::domain::{
    group::UserGroupId,
    known::KnownGroup,
    rotation::State,
    search::{Index, ListView},
};

/// A profile as it was read from the directory, made ready beside the loop.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Ordered by id.
    groups: Vec<KnownGroup>,
    index: Index,
    /// The open rotations; `None` where they were not read.
    pub open: Option<Vec<(UserGroupId, State)>>,
    /// How the list was left; `None` where it never was.
    pub view: Option<ListView>,
}

impl From<Vec<KnownGroup>> for Listing {
    fn from(mut groups: Vec<KnownGroup>) -> Self {
        groups.sort_by(|a, b| a.id.cmp(&b.id));
        let index = Index::of(&groups);
        Self {
            groups,
            index,
            open: None,
            view: None,
        }
    }
}

/// Ordered by id.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    all: Vec<KnownGroup>,
    index: Index,
    /// When the directory was read; `None` before the first time.
    pub read_at: Option<Timestamp>,
    /// Counts the changes, for what is derived from all of them.
    pub generation: u64,
}

impl Groups {
    pub fn replace(&mut self, listing: Listing, at: Timestamp) {
        self.all = listing.groups;
        self.index = listing.index;
        self.read_at = Some(at);
        self.generation += 1;
    }

    /// Takes in what is known of one group now.
    pub fn upsert(&mut self, group: KnownGroup) {
        self.generation += 1;
        self.index.put(&group);
        match self.position(&group.id) {
            Ok(at) => self.all[at] = group,
            Err(at) => self.all.insert(at, group),
        }
    }

    pub fn get(&self, id: &UserGroupId) -> Option<&KnownGroup> {
        let at = self.position(id).ok()?;
        Some(&self.all[at])
    }

    /// What is shown and searched of all groups.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Ordered by id.
    pub fn all(&self) -> impl Iterator<Item = &KnownGroup> {
        self.all.iter()
    }

    pub fn ids(&self) -> impl Iterator<Item = &UserGroupId> {
        self.all.iter().map(|group| &group.id)
    }

    fn position(&self, id: &UserGroupId) -> Result<usize, usize> {
        self.all.binary_search_by(|group| group.id.cmp(id))
    }
}
