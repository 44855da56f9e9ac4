//! Notes, labels, favourites, saved views and unsent forms: written by people for each other and kept in the directory.
//! Nothing of this reaches the service or changes a group.

use std::collections::BTreeMap;

use crate::{
    domain::{
        annotation::{Annotation, AnnotationChange, Attribution},
        draft::Draft,
    },
    operations::{DraftSaved, KeptDraft, prelude::*, profiles::places::not_bound},
    search::{ListView, SavedView, Views},
};

/// Maximum length of the name of a view, in characters.
const LONGEST_NAME: usize = 40;

/// A name for a view as it is stored; otherwise why it cannot be one.
pub fn view_name(name: &str) -> Result<String, String> {
    let kept = name.trim().trim_start_matches('@').to_lowercase();
    let length = kept.chars().count();
    let is_allowed = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    if length == 0 || length > LONGEST_NAME || !kept.chars().all(is_allowed) {
        return Err(format!(
            "invalid view name {name:?}: expected up to 40 letters, digits and - _ .; nothing was saved"
        ));
    }
    Ok(kept)
}

impl Operations {
    /// Returns the annotations of the groups of this place.
    pub async fn annotations(&self) -> Result<BTreeMap<UserGroupId, Annotation>, DirectoryError> {
        self.directory().annotations(self.place().await?).await
    }

    /// As [`Operations::annotations`], for these groups, in the order of `ids`. Meant for up to a few hundred ids.
    pub async fn annotations_of(
        &self,
        ids: Vec<UserGroupId>,
    ) -> Result<Vec<Option<Annotation>>, DirectoryError> {
        let place = self.place().await?;
        self.directory().annotations_by_ids(place, ids).await
    }

    /// Changes the annotations of these groups, all or none, and returns the result in the same order. Refuses a known
    /// secret, and a group that the directory does not know.
    pub async fn annotate(
        &self,
        ids: Vec<UserGroupId>,
        change: AnnotationChange,
    ) -> Result<Vec<(UserGroupId, Annotation)>, Failure> {
        let what = match (&change.note, change.favourite) {
            (Some(_), _) => "the note was",
            (None, Some(_)) => "the favourite was",
            (None, None) => "the labels were",
        };
        let changed = self.annotate_known(ids, change).await;
        changed.map_err(|failure| failure.of_saving(what))
    }

    async fn annotate_known(
        &self,
        ids: Vec<UserGroupId>,
        change: AnnotationChange,
    ) -> Result<Vec<(UserGroupId, Annotation)>, Failure> {
        let known = self.show_by_ids(ids.clone()).await;
        let known = known.map_err(Failure::NothingSent)?;
        let unknown = ids.iter().zip(known).find(|(_, known)| known.is_none());
        if let Some((id, _)) = unknown {
            return Err(self.not_known(id, "nothing was saved").await);
        }
        if let Some(note) = &change.note {
            self.no_secret_in_text("note", note).await?;
        }
        for label in change.labels.iter().flatten().chain(&change.add) {
            self.no_secret_in_text("label", label.as_str()).await?;
        }
        let place = self.place_of_drafts().await.map_err(Failure::NothingSent)?;
        let written = self.written();
        let changed = self.directory().annotate(place, ids, change, written);
        Ok(changed.await.map_err(Failure::NothingSent)??)
    }

    /// Returns the saved list views of all profiles, by name.
    pub async fn saved_views(&self) -> Result<Vec<SavedView>, DirectoryError> {
        self.directory().saved_views().await
    }

    /// Returns the filters of the saved views, as `@name` refers to them.
    pub async fn filters_of_views(&self) -> Result<Views, DirectoryError> {
        let saved = self.saved_views().await?.into_iter();
        Ok(saved.map(|saved| (saved.name, saved.view.filter)).collect())
    }

    /// Saves a list view under a name, in place of the one that was `seen` there. Returns the one that has this name if it
    /// is another: then nothing is saved.
    pub async fn save_view(
        &self,
        name: &str,
        view: ListView,
        seen: Option<SavedView>,
    ) -> Result<Result<(), SavedView>, Failure> {
        let kept = view_name(name).map_err(Failure::usage)?;
        let saved = async {
            self.no_secret_in_text("name of the view", &kept).await?;
            self.no_secret_in_text("filter", &view.filter).await?;
            let directory = self.directory();
            let saved = directory.save_view(&kept, view, seen, self.written());
            saved.await.map_err(Failure::NothingSent)
        };
        let saved = saved.await;
        saved.map_err(|failure| failure.of_saving("the view was"))
    }

    /// Removes a saved view; returns whether there was this one.
    pub async fn remove_view(&self, seen: &SavedView) -> Result<bool, DirectoryError> {
        self.directory().remove_view(seen.clone()).await
    }

    fn written(&self) -> Attribution {
        let now = self.now();
        Attribution {
            // The database stores whole microseconds.
            at: Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now),
            by: self.operator().to_owned(),
        }
    }

    /// Returns the drafts, most recently changed first.
    pub async fn drafts(&self) -> Result<Vec<KeptDraft>, DirectoryError> {
        self.directory().drafts(self.place().await?).await
    }

    /// Saves a draft. `seen` is the time of change of the stored draft that the caller knows.
    pub async fn keep_draft(
        &self,
        draft: Draft,
        seen: Option<Timestamp>,
    ) -> Result<DraftSaved, DirectoryError> {
        self.no_secret_in_draft(&draft).await.map_err(not_bound)?;
        let (place, by) = (self.place_of_drafts().await?, self.operator());
        self.directory().save_draft(place, draft, by, seen).await
    }

    /// Deletes the version of a draft that was sent or discarded; what was typed on other consoles is kept.
    pub async fn forget_draft(
        &self,
        id: &UserGroupId,
        until: Timestamp,
    ) -> Result<(), DirectoryError> {
        let place = self.place().await?;
        let version = (until, self.operator());
        self.directory().forget_draft(place, id, version).await
    }
}
