//! Texts that people keep beside groups (notes, labels, favourites) and saved views of the list.

use std::collections::BTreeMap;

use super::{
    Directory, DirectoryError, PlaceId,
    sqlite::{annotations, console},
};
use crate::{
    database::Access,
    domain::{
        annotation::{Annotation, AnnotationChange, Attribution, InvalidAnnotation},
        group::UserGroupId,
    },
    search::{ListView, SavedView},
};

impl Directory {
    /// Returns the notes, labels and favourites of a place.
    pub async fn annotations(
        &self,
        place: PlaceId,
    ) -> Result<BTreeMap<UserGroupId, Annotation>, DirectoryError> {
        self.execute(Access::Short, move |c| annotations::all(c, place))
            .await
    }

    /// As [`Self::annotations`], for these groups, in the order of `ids`. Meant for up to a few hundred ids.
    pub async fn annotations_by_ids(
        &self,
        place: PlaceId,
        ids: Vec<UserGroupId>,
    ) -> Result<Vec<Option<Annotation>>, DirectoryError> {
        self.execute(Access::Short, move |c| annotations::by_ids(c, place, &ids))
            .await
    }

    /// Changes the annotations of these groups, all or none, and returns the result in the same order.
    pub async fn annotate(
        &self,
        place: PlaceId,
        ids: Vec<UserGroupId>,
        change: AnnotationChange,
        by: Attribution,
    ) -> Result<Result<Vec<(UserGroupId, Annotation)>, InvalidAnnotation>, DirectoryError> {
        self.request(annotations::Annotate {
            place,
            ids,
            change,
            by,
        })
        .await
    }

    /// Returns the saved list views, by name.
    pub async fn saved_views(&self) -> Result<Vec<SavedView>, DirectoryError> {
        self.execute(Access::Short, console::saved_views).await
    }

    /// Saves a view under a name, replacing any of that name.
    pub async fn save_view(
        &self,
        name: &str,
        view: ListView,
        by: Attribution,
    ) -> Result<(), DirectoryError> {
        let name = name.to_owned();
        self.write(move |tx| console::save_view(tx, &name, &view, &by))
            .await
    }

    /// Removes a saved view; returns whether it existed.
    pub async fn remove_view(&self, name: &str) -> Result<bool, DirectoryError> {
        let name = name.to_owned();
        self.write(move |tx| console::remove_view(tx, &name)).await
    }
}
