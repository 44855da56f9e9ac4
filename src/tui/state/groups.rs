//! The groups of the current profile as the console holds them: a copy of the directory in a few buffers, from which any
//! group is had whole when a pane needs it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::{
    domain::{
        annotation::Annotation, at_work::AtWork, group::UserGroupId, known::KnownGroup,
        rotation::State,
    },
    operations::ChangeCursor,
    search::{Entry, Index, ListView, SavedView, SortBy},
};

/// A profile as it was read from the directory, made ready beside the loop.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    index: Index,
    /// Where these are only the first groups.
    pub first: Option<FirstRows>,
    /// `None` where it was not read, or told with the first groups.
    pub beside: Option<ReadBeside>,
    /// How the list was left; `None` where it never was.
    pub view: Option<ListView>,
    /// What others change after this is not in it.
    pub since: Option<ChangeCursor>,
}

/// What is read with the groups, before them.
#[derive(Debug, Clone, Default)]
pub struct ReadBeside {
    pub open: Vec<(UserGroupId, State)>,
    pub at_work: Vec<AtWork>,
    pub place_name: Option<String>,
    pub annotations: BTreeMap<UserGroupId, Annotation>,
    pub saved_views: Vec<SavedView>,
}

/// Which groups are the first ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FirstRows {
    /// How many groups there are in all.
    pub total: usize,
    /// The order in which they are the first.
    pub sort: SortBy,
    pub reverse: bool,
}

impl Listing {
    /// All groups are there now.
    pub fn replace_index(&mut self, index: Index) {
        self.index = index;
        self.first = None;
    }
}

impl From<Index> for Listing {
    fn from(index: Index) -> Self {
        Self {
            index,
            ..Self::default()
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loading {
    pub read: usize,
    pub rows: FirstRows,
}

#[derive(Debug, Clone, Default)]
pub struct Groups {
    index: Index,
    /// Only the first groups are here; the others are being read.
    loading: Option<Loading>,
    /// What became known since a list is being read, and is newer than it; `None` while none is.
    meanwhile: Option<BTreeSet<UserGroupId>>,
    /// What order and membership of the list stand on where that is older than the values: nothing moves under the hand.
    listed: Option<Index>,
    /// When the directory was read; `None` before the first time.
    pub read_at: Option<Timestamp>,
    /// Counts the changes, for what is derived from all of them.
    pub generation: u64,
}

impl Groups {
    /// A list begins to be read.
    pub fn begin_reading(&mut self) {
        self.meanwhile = Some(BTreeSet::new());
        self.note_read(0);
    }

    /// The first groups are there, and the others will be. Of no use where all have been.
    pub fn show_first(&mut self, listing: Listing) {
        let rows = listing.first.unwrap_or_default();
        self.loading = Some(Loading { read: 0, rows });
        self.index = listing.index;
        self.generation += 1;
    }

    /// So many of all have been read.
    pub fn note_read(&mut self, read: usize) {
        if let Some(loading) = &mut self.loading {
            loading.read = read.min(loading.rows.total);
        }
    }

    /// All that the directory knows are here.
    pub fn is_whole(&self) -> bool {
        self.read_at.is_some()
    }

    /// `None` where all that are known are here, or none were read yet.
    pub fn loading(&self) -> Option<&Loading> {
        self.loading.as_ref()
    }

    /// All groups were read. What became known meanwhile is newer, also than another list that is still being read.
    pub fn replace(&mut self, listing: Listing, at: Timestamp, is_another_read: bool) {
        let old = std::mem::replace(&mut self.index, listing.index);
        self.loading = None;
        let meanwhile = self.meanwhile.take().unwrap_or_default();
        for group in meanwhile.iter().filter_map(|id| old.group(id)) {
            self.index.put(&group);
        }
        self.meanwhile = is_another_read.then_some(meanwhile);
        self.listed = None;
        self.read_at = Some(at);
        self.generation += 1;
    }

    /// Takes in what is known of one group now.
    pub fn upsert(&mut self, group: &KnownGroup) {
        self.generation += 1;
        self.note_newer(&group.id);
        self.index.put(group);
        if let Some(listed) = &mut self.listed {
            listed.put(group);
        }
    }

    /// Takes in what another console has written: its values are shown, and rows stay where they are.
    pub fn merge(&mut self, group: &KnownGroup) {
        self.listed.get_or_insert_with(|| self.index.clone());
        self.generation += 1;
        self.note_newer(&group.id);
        self.index.put(group);
    }

    fn note_newer(&mut self, id: &UserGroupId) {
        if let Some(meanwhile) = &mut self.meanwhile {
            meanwhile.insert(id.clone());
        }
    }

    /// The person sorts, filters or reads again: what was merged may move rows now.
    pub fn let_move(&mut self) {
        self.listed = None;
    }

    /// What was merged moves no row yet.
    pub fn holds_rows(&self) -> bool {
        self.listed.is_some()
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
