//! Notes, labels, favourites and saved views: written by people for each other, kept in the directory. Nothing here reaches
//! the service, and nothing of a group changes.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::{
    directory::DirectoryError,
    domain::{
        annotation::{Annotation, AnnotationChange, Label, Written},
        group::UserGroupId,
    },
    operations::{Failure, Operations},
    search::{ListView, SavedView, Views},
};

/// Characters of the name of a view, at the most.
const LONGEST_NAME: usize = 40;

impl Operations {
    /// What is written beside the groups of this place.
    pub async fn annotations(&self) -> Result<BTreeMap<UserGroupId, Annotation>, DirectoryError> {
        self.directory().annotations(self.place().await?).await
    }

    /// The same of these groups, in the order of the ids; some hundreds at a time.
    pub async fn annotations_of(
        &self,
        ids: Vec<UserGroupId>,
    ) -> Result<Vec<Option<Annotation>>, DirectoryError> {
        let place = self.place().await?;
        self.directory().some_annotations(place, ids).await
    }

    /// Changes what is written beside these groups, all or none; what stands there then, in the same order. Refuses a
    /// known secret, and a group that the directory does not know.
    pub async fn annotate(
        &self,
        ids: Vec<UserGroupId>,
        change: AnnotationChange,
    ) -> Result<Vec<(UserGroupId, Annotation)>, Failure> {
        let known = self.show_some(ids.clone()).await;
        let known = known.map_err(Failure::NothingSent)?;
        let unknown = ids.iter().zip(known).find(|(_, known)| known.is_none());
        if let Some((id, _)) = unknown {
            let id = id.clone();
            return Err(Failure::NotKnown { id, near: vec![] });
        }
        let labels = change.labels.iter().flatten().chain(&change.add);
        let texts = change.note.iter().map(String::as_str);
        for text in texts.chain(labels.map(Label::as_str)) {
            self.no_secret_in_note(text).await?;
        }
        let place = self.place_of_drafts().await.map_err(Failure::NothingSent)?;
        let changed = self
            .directory()
            .annotate(place, ids, change, self.written());
        Ok(changed.await.map_err(Failure::NothingSent)??)
    }

    /// Saved views of the list, by name; those of all profiles.
    pub async fn saved_views(&self) -> Result<Vec<SavedView>, DirectoryError> {
        self.directory().saved_views().await
    }

    /// The filters of the saved views, as `@name` finds them.
    pub async fn filters_of_views(&self) -> Result<Views, DirectoryError> {
        let saved = self.saved_views().await?.into_iter();
        Ok(saved.map(|saved| (saved.name, saved.view.filter)).collect())
    }

    /// Saves how the list is looked at under a name, in the place of what had that name; the name as it is kept.
    pub async fn save_view(&self, name: &str, view: ListView) -> Result<String, Failure> {
        let kept = name.trim().trim_start_matches('@').to_lowercase();
        let length = kept.chars().count();
        let is_allowed = |c: char| c.is_alphanumeric() || "-_.".contains(c);
        if length == 0 || length > LONGEST_NAME || !kept.chars().all(is_allowed) {
            let name = name.to_owned();
            return Err(Failure::ViewName { name });
        }
        self.no_secret_in_note(&view.filter).await?;
        let saved = self.directory().save_view(&kept, view, self.written());
        saved.await.map_err(Failure::NothingSent)?;
        Ok(kept)
    }

    /// Removes a saved view; whether there was one.
    pub async fn remove_view(&self, name: &str) -> Result<bool, DirectoryError> {
        self.directory().remove_view(name).await
    }

    fn written(&self) -> Written {
        let now = self.now();
        Written {
            // As it is kept, in whole microseconds.
            at: Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now),
            by: self.operator().to_owned(),
        }
    }
}
