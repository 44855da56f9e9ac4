//! The groups of the current profile as the console holds them: a copy of the directory in a few buffers, from which any
//! group is had whole when a pane needs it.

use jiff::Timestamp;

use crate::{
    domain::{group::UserGroupId, known::KnownGroup, rotation::State},
    search::{Entry, Index, ListView},
};

/// A profile as it was read from the directory, made ready beside the loop.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    index: Index,
    /// The open rotations; `None` where they were not read.
    pub open: Option<Vec<(UserGroupId, State)>>,
    /// How the list was left; `None` where it never was.
    pub view: Option<ListView>,
}

impl From<Index> for Listing {
    fn from(index: Index) -> Self {
        Self {
            index,
            open: None,
            view: None,
        }
    }
}

impl From<Vec<KnownGroup>> for Listing {
    fn from(mut groups: Vec<KnownGroup>) -> Self {
        groups.sort_by(|a, b| a.id.cmp(&b.id));
        Index::of(&groups).into()
    }
}

#[derive(Debug, Clone, Default)]
pub struct Groups {
    index: Index,
    /// When the directory was read; `None` before the first time.
    pub read_at: Option<Timestamp>,
    /// Counts the changes, for what is derived from all of them.
    pub generation: u64,
}

impl Groups {
    pub fn replace(&mut self, listing: Listing, at: Timestamp) {
        self.index = listing.index;
        self.read_at = Some(at);
        self.generation += 1;
    }

    /// Takes in what is known of one group now.
    pub fn upsert(&mut self, group: &KnownGroup) {
        self.generation += 1;
        self.index.put(group);
    }

    /// All that is known of a group, put together for whoever asks.
    pub fn get(&self, id: &UserGroupId) -> Option<KnownGroup> {
        self.index.group(id)
    }

    pub fn contains(&self, id: &UserGroupId) -> bool {
        self.index.number(id.as_str()).is_some()
    }

    /// The name of a group where one is known, else its id; nothing of a group that is not known.
    pub fn title(&self, id: &UserGroupId) -> &str {
        let number = self.index.number(id.as_str());
        let entry = number.and_then(|number| self.index.entry(number));
        entry.map_or("", Entry::title)
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.index.entries().map(Entry::id)
    }

    /// What is shown and searched of all groups.
    pub fn index(&self) -> &Index {
        &self.index
    }
}
