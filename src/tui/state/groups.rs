//! The groups of the current profile in memory: a copy of the directory in a few buffers, from which any single group
//! can be rebuilt when a pane needs it.
//!
//! Notes and labels of the groups of the profile, saved views, and the filters used in this session.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use jiff::Timestamp;

use crate::{
    domain::{
        Annotation, AnnotationChange, KnownGroup, Label, UserGroupId, active_change::ActiveChange,
        rotation::State,
    },
    operations::{ChangeCursor, Changes},
    search::{Entry, Index, ListView, Row, SavedView, SortBy, Views, suggest::similar},
    tui::state::live::{GroupNews, news_of_annotation},
};

/// Maximum number of similar ids.
const MAX_SIMILAR: usize = 6;

/// The known ids most similar to a typed one.
pub fn similar_ids(index: &Index, typed: &str) -> Vec<UserGroupId> {
    let ids = index.entries().map(Row::id);
    let near = similar(typed, ids, MAX_SIMILAR).into_iter();
    near.filter_map(|id| UserGroupId::parse(id).ok()).collect()
}

/// The groups of a profile as read from the directory, prepared outside of the event loop.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    index: Index,
    /// Set if these are only the first groups.
    pub first: Option<FirstRows>,
    /// `None` if it was not read, or was already delivered with the first groups.
    pub extras: Option<ListingExtras>,
    /// The view of the list as it was left; `None` if there is none.
    pub view: Option<ListView>,
    /// Changes by others after this point are not included.
    pub since: Option<ChangeCursor>,
}

/// Data that is read with the groups, before them.
#[derive(Debug, Clone, Default)]
pub struct ListingExtras {
    pub open: Vec<(UserGroupId, State)>,
    pub at_work: Vec<ActiveChange>,
    pub place_name: Option<String>,
    /// The API key of the profile cannot be read.
    pub lacks_key: bool,
    /// Those of its address that have groups, if it has no key and sees none.
    pub environments: Vec<String>,
    pub annotations: BTreeMap<UserGroupId, Annotation>,
    pub saved_views: Vec<SavedView>,
}

/// Which groups are the first ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FirstRows {
    /// Total number of groups.
    pub total: usize,
    /// The sort order in which these are the first groups.
    pub sort: SortBy,
    pub reverse: bool,
}

impl Listing {
    /// Replaces the first groups by all groups.
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

/// Progress of reading a list whose first groups are already shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loading {
    pub read: usize,
    pub rows: FirstRows,
}

#[derive(Debug, Clone, Default)]
pub struct Groups {
    index: Index,
    /// Only the first groups are loaded; the others are being read.
    loading: Option<Loading>,
    /// Groups that changed since reading began and are newer than what is read; `None` while nothing is being read.
    meanwhile: Option<BTreeSet<UserGroupId>>,
    /// An older copy that determines order and membership of the list, so that nothing moves under the cursor; `None`
    /// if they come from the current values.
    listed: Option<Index>,
    /// When the directory was read; `None` before the first time.
    pub read_at: Option<Timestamp>,
    /// Incremented by every change, for what is derived from all groups.
    pub generation: u64,
}

impl Groups {
    /// Called when a list starts to be read.
    pub fn begin_reading(&mut self) {
        self.meanwhile = Some(BTreeSet::new());
        self.note_read(0);
    }

    /// Shows the first groups until the others arrive. Must not be called when all have been read.
    pub fn show_first(&mut self, listing: Listing) {
        let rows = listing.first.unwrap_or_default();
        self.loading = Some(Loading { read: 0, rows });
        self.index = listing.index;
        self.generation += 1;
    }

    /// Records how many groups have been read.
    pub fn note_read(&mut self, read: usize) {
        if let Some(loading) = &mut self.loading {
            loading.read = read.min(loading.rows.total);
        }
    }

    /// Whether all groups that the directory knows are loaded.
    pub fn is_whole(&self) -> bool {
        self.read_at.is_some()
    }

    /// `None` if all known groups are loaded, or none has been read yet.
    pub fn loading(&self) -> Option<&Loading> {
        self.loading.as_ref()
    }

    /// Replaces all groups by those that were read. Changes made meanwhile are newer; if another list is still being
    /// read, they are newer than that one as well.
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

    /// Updates one group.
    pub fn upsert(&mut self, group: &KnownGroup) {
        self.generation += 1;
        self.note_newer(&group.id);
        self.index.put(group);
        if let Some(listed) = &mut self.listed {
            listed.put(group);
        }
    }

    /// Updates a group that another console changed: shows its values, but leaves the rows where they are.
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

    /// Called when the person sorts, filters or refreshes: merged changes may move rows now.
    pub fn let_move(&mut self) {
        self.listed = None;
    }

    /// Whether there are merged changes that have not moved any rows yet.
    pub fn holds_rows(&self) -> bool {
        self.listed.is_some()
    }

    /// Number of merged groups that are not in the list yet.
    pub fn unlisted(&self) -> usize {
        let listed = self.listed.as_ref().map_or(self.index.len(), Index::len);
        self.index.len().saturating_sub(listed)
    }

    /// The groups that order and filter of the list are based on.
    pub fn listed(&self) -> &Index {
        self.listed.as_ref().unwrap_or(&self.index)
    }

    /// The displayed values of a group.
    pub fn entry(&self, id: &str) -> Option<Entry<'_>> {
        self.index.entry(self.index.number(id)?)
    }

    /// Rebuilds everything that is known about a group.
    pub fn get(&self, id: &UserGroupId) -> Option<KnownGroup> {
        self.index.group(id)
    }

    pub fn contains(&self, id: &UserGroupId) -> bool {
        self.index.number(id.as_str()).is_some()
    }

    /// The name of a group if known, otherwise its id; empty for an unknown group.
    pub fn title(&self, id: &UserGroupId) -> &str {
        let number = self.index.number(id.as_str());
        let entry = number.and_then(|number| self.index.entry(number));
        entry.map_or("", Row::title)
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.index.entries().map(Row::id)
    }

    /// The displayed and searchable values of all groups.
    pub fn index(&self) -> &Index {
        &self.index
    }
}

/// Number of recent filters that `@` and Tab offer.
const MAX_RECENT: usize = 20;

/// All of this belongs to the current profile, except the views, which are shared by all profiles.
#[derive(Debug, Default)]
pub struct Annotations {
    pub of: Arc<BTreeMap<UserGroupId, Annotation>>,
    pub saved_views: Vec<SavedView>,
    /// The filters of the saved views, by name.
    pub filters: Views,
    /// Filters used in this session, newest last.
    pub recent: Vec<String>,
}

impl Annotations {
    pub fn take_views(&mut self, saved: Vec<SavedView>) {
        let filters = saved.iter();
        let filters = filters.map(|saved| (saved.name.clone(), saved.view.filter.clone()));
        self.filters = filters.collect();
        self.saved_views = saved;
    }

    /// Takes over changed notes and labels.
    pub fn take(&mut self, changed: &[(UserGroupId, Annotation)]) {
        // Searches that are under way share it: it is copied only if something differs.
        if changed.iter().all(|(id, one)| self.of.get(id) == Some(one)) {
            return;
        }
        let all = Arc::make_mut(&mut self.of);
        for (id, annotation) in changed {
            all.insert(id.clone(), annotation.clone());
        }
    }

    /// Takes over what others have written, and returns what of it is news.
    pub fn merge(
        &mut self,
        changes: &Changes,
        own: &str,
        now: Timestamp,
    ) -> BTreeMap<UserGroupId, GroupNews> {
        let none = Annotation::default();
        let news = |(id, new): &(UserGroupId, Annotation)| {
            let old = self.of.get(id).unwrap_or(&none);
            Some((id.clone(), news_of_annotation(old, new, own, now)?))
        };
        let news = changes.annotations.iter().filter_map(news).collect();
        self.take(&changes.annotations);
        if self.saved_views != changes.saved_views {
            self.take_views(changes.saved_views.clone());
        }
        news
    }

    pub fn get(&self, id: &str) -> Option<&Annotation> {
        self.of.get(id).filter(|annotation| !annotation.is_empty())
    }

    pub fn has_favourites(&self) -> bool {
        self.of.values().any(|one| one.is_favourite)
    }

    pub fn has_labels(&self) -> bool {
        self.of.values().any(|one| !one.labels.is_empty())
    }

    /// All labels in use, each once.
    pub fn known_labels(&self) -> BTreeSet<Label> {
        let labels = self.of.values().flat_map(|one| &one.labels);
        labels.cloned().collect()
    }

    /// Remembers a filter that was used.
    pub fn used(&mut self, filter: &str) {
        let filter = filter.trim();
        if !filter.is_empty() {
            self.recent.retain(|known| known != filter);
            self.recent.push(filter.to_owned());
            if self.recent.len() > MAX_RECENT {
                self.recent.remove(0);
            }
        }
    }
}

/// One line that says what was saved.
pub fn saved(changed: &[(UserGroupId, Annotation)], change: &AnnotationChange) -> String {
    let of = match changed {
        [(one, _)] => one.to_string(),
        all => format!("{} groups", all.len()),
    };
    let added = change.add.iter().map(|label| format!("+{label}"));
    let removed = change.remove.iter().map(|label| format!("-{label}"));
    let labels: Vec<String> = added.chain(removed).collect();
    let labels = labels.join(" ");
    let text = match (change.favourite, change.note.as_deref().map(str::trim)) {
        (Some(true), _) => format!("Favourite: {of}"),
        (Some(false), _) => format!("No longer a favourite: {of}"),
        (None, Some("")) => format!("Note removed: {of}  {labels}"),
        (None, Some(_)) => format!("Note saved: {of}  {labels}"),
        (None, None) => format!("Labels saved: {of}  {labels}"),
    };
    text.trim_end().to_owned()
}
