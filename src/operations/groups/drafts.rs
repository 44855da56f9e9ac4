//! Unsent forms of a profile, kept in the directory until they are sent or discarded. Nothing here reaches the service.

use jiff::Timestamp;

use crate::{
    domain::{draft::Draft, group::UserGroupId},
    operations::{DirectoryError, DraftSaved, KeptDraft, Operations, profiles::places::not_bound},
};

impl Operations {
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
