//! The groups of the current profile as the console holds them: a copy of the directory in a few buffers, from which any
//! group is had whole when a pane needs it.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{
    domain::{annotation::Annotation, group::UserGroupId, known::KnownGroup, rotation::State},
    operations::ChangeCursor,
    search::{Entry, Index, ListView, SavedView},
};

/// A profile as it was read from the directory, made ready beside the loop.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    index: Index,
    /// How many groups there are, where these are only the first of them.
    pub total: Option<usize>,
    /// The open rotations; `None` where they were not read.
    pub open: Option<Vec<(UserGroupId, State)>>,
    /// How the list was left; `None` where it never was.
    pub view: Option<ListView>,
    /// What others change after this is not in it.
    pub since: Option<ChangeCursor>,
    /// What is written beside the groups; `None` where it was not read.
    pub annotations: Option<BTreeMap<UserGroupId, Annotation>>,
    /// `None` where they were not read.
    pub saved_views: Option<Vec<SavedView>>,
}

impl Listing {
    /// All groups are there now.
    pub fn replace_index(&mut self, index: Index) {
        self.index = index;
        self.total = None;
    }
}

impl From<Index> for Listing {
    fn from(index: Index) -> Self {
        Self {
            index,
            total: None,
            open: None,
            view: None,
            since: None,
            annotations: None,
            saved_views: None,
        }
    }
}

impl From<Vec<KnownGroup>> for Listing {
    fn from(mut groups: Vec<KnownGroup>) -> Self {
        groups.sort_by(|a, b| a.id.cmp(&b.id));
        Index::of(&groups).into()
    }
}

/// How far a list is read whose first groups are shown already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coming {
    pub read: usize,
    pub total: usize,
}

#[derive(Debug, Clone, Default)]
pub struct Groups {
    index: Index,
    /// Only the first groups are here; the others are being read.
    coming: Option<Coming>,
    /// What became known while the others were read: newer than what is read.
    meanwhile: Vec<KnownGroup>,
    /// What order and membership of the list stand on where that is older than the values: nothing moves under the hand.
    listed: Option<Index>,
    /// When the directory was read; `None` before the first time.
    pub read_at: Option<Timestamp>,
    /// Counts the changes, for what is derived from all of them.
    pub generation: u64,
}

impl Groups {
    /// The first groups are there, and the others will be. Of no use where all have been.
    pub fn begin(&mut self, listing: Listing) {
        let total = listing.total.unwrap_or_default();
        self.coming = Some(Coming { read: 0, total });
        self.index = listing.index;
        self.generation += 1;
    }

    /// So many of those that are coming have been read.
    pub fn note_read(&mut self, read: usize) {
        if let Some(coming) = &mut self.coming {
            coming.read = read.min(coming.total);
        }
    }

    /// `None` where all that are known are here, or none were read yet.
    pub fn coming(&self) -> Option<Coming> {
        self.coming
    }

    pub fn replace(&mut self, listing: Listing, at: Timestamp) {
        self.index = listing.index;
        self.coming = None;
        for group in std::mem::take(&mut self.meanwhile) {
            self.index.put(&group);
        }
        self.listed = None;
        self.read_at = Some(at);
        self.generation += 1;
    }

    /// Takes in what is known of one group now.
    pub fn upsert(&mut self, group: &KnownGroup) {
        self.generation += 1;
        if self.coming.is_some() {
            self.meanwhile.push(group.clone());
        }
        self.index.put(group);
        if let Some(listed) = &mut self.listed {
            listed.put(group);
        }
    }

    /// Takes in what another console has written: its values are shown, and rows stay where they are.
    pub fn merge(&mut self, group: &KnownGroup) {
        self.listed.get_or_insert_with(|| self.index.clone());
        self.generation += 1;
        self.index.put(group);
    }

    /// The person sorts, filters or reads again: what was merged may move rows now.
    pub fn let_move(&mut self) {
        self.listed = None;
    }

    /// Merged groups that the list does not hold yet.
    pub fn unlisted(&self) -> usize {
        let listed = self.listed.as_ref().map_or(self.index.len(), Index::len);
        self.index.len().saturating_sub(listed)
    }

    /// What the list orders and filters.
    pub fn listed(&self) -> &Index {
        self.listed.as_ref().unwrap_or(&self.index)
    }

    /// What is shown of a group now.
    pub fn entry(&self, id: &str) -> Option<Entry<'_>> {
        self.index.entry(self.index.number(id)?)
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
