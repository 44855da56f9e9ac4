//! Requests about hidden concerns.

use jiff::Timestamp;

use super::HiddenConcern;
use crate::{
    database::Access,
    directory::{Directory, DirectoryError, PlaceId, sqlite::hidden},
};

impl Directory {
    /// Returns the hidden concerns of a place, including those that are due again.
    pub async fn hidden_concerns(
        &self,
        place: PlaceId,
    ) -> Result<Vec<HiddenConcern>, DirectoryError> {
        self.execute(Access::Short, move |c| hidden::list(c, place))
            .await
    }

    /// Hides a concern, replacing an earlier entry for it, and deletes entries that were due before `now`.
    pub async fn hide_concern(
        &self,
        place: PlaceId,
        hidden: HiddenConcern,
        now: Timestamp,
    ) -> Result<(), DirectoryError> {
        self.write(move |tx| hidden::hide(tx, place, &hidden, now))
            .await
    }

    /// Shows a concern again.
    pub async fn unhide_concern(
        &self,
        place: PlaceId,
        concern: String,
    ) -> Result<(), DirectoryError> {
        self.write(move |tx| hidden::unhide(tx, place, &concern))
            .await
    }
}
