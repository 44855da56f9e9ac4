//! What is asked of a directory about what was put aside.

use jiff::Timestamp;

use super::HiddenConcern;
use crate::{
    database::Access,
    directory::{Directory, DirectoryError, PlaceId, sqlite::hidden},
};

impl Directory {
    /// What was put aside in a place, also what is due again.
    pub async fn hidden_concerns(
        &self,
        place: PlaceId,
    ) -> Result<Vec<HiddenConcern>, DirectoryError> {
        self.ask(Access::Short, move |c| hidden::list(c, place))
            .await
    }

    /// Puts something aside, in the place of what was said of it before; what was due before `now` is forgotten.
    pub async fn hide_concern(
        &self,
        place: PlaceId,
        hidden: HiddenConcern,
        now: Timestamp,
    ) -> Result<(), DirectoryError> {
        self.write(move |tx| hidden::hide(tx, place, &hidden, now))
            .await
    }

    /// Takes that back.
    pub async fn unhide_concern(
        &self,
        place: PlaceId,
        concern: String,
    ) -> Result<(), DirectoryError> {
        self.write(move |tx| hidden::unhide(tx, place, &concern))
            .await
    }
}
