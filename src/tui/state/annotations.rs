//! Notes and labels of the groups of the profile, saved views, and the filters used in this session.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    domain::{
        annotation::{Annotation, AnnotationChange, Label},
        group::UserGroupId,
    },
    search::{SavedView, Views},
};

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
        let all = Arc::make_mut(&mut self.of);
        for (id, annotation) in changed {
            all.insert(id.clone(), annotation.clone());
        }
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
    let ids: Vec<_> = changed.iter().map(|(id, _)| id.clone()).collect();
    describe(&ids, change).trim_end().to_owned()
}

fn describe(ids: &[UserGroupId], change: &AnnotationChange) -> String {
    let of = match ids {
        [one] => one.to_string(),
        all => format!("{} groups", all.len()),
    };
    let added = change.add.iter().map(|label| format!("+{label}"));
    let removed = change.remove.iter().map(|label| format!("-{label}"));
    let labels: Vec<String> = added.chain(removed).collect();
    let labels = labels.join(" ");
    match (change.favourite, change.note.as_deref().map(str::trim)) {
        (Some(true), _) => format!("Favourite: {of}"),
        (Some(false), _) => format!("No longer a favourite: {of}"),
        (None, Some("")) => format!("Note removed: {of}  {labels}"),
        (None, Some(_)) => format!("Note saved: {of}  {labels}"),
        (None, None) => format!("Labels saved: {of}  {labels}"),
    }
}
