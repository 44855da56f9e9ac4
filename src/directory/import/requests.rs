//! What can be asked of a directory about files, and told to it.

use jiff::Timestamp;

use super::{Import, ImportId, Imported};
use crate::{
    database::Access,
    directory::{
        Directory, DirectoryError, PlaceId,
        sqlite::{groups, imports},
    },
    domain::{group::UserGroupId, known::KnownGroup},
    formats::GroupRow,
};

impl Directory {
    /// These groups, as far as they are known, in the order of the ids; meant for some thousands at a time.
    pub async fn some_groups(
        &self,
        place: PlaceId,
        ids: Vec<UserGroupId>,
    ) -> Result<Vec<Option<KnownGroup>>, DirectoryError> {
        self.ask(Access::Short, move |c| groups::some(c, place, &ids))
            .await
    }

    /// The ids that are known in a place, ascending.
    pub async fn known_ids(&self, place: PlaceId) -> Result<Vec<UserGroupId>, DirectoryError> {
        self.ask(Access::Long, move |c| groups::ids(c, place)).await
    }

    /// Adds ids, and what the file says of them where nothing better is known; one transaction. Notes
    /// and labels that somebody wrote stay unless it `replaces` them. The answers are in the order of the rows.
    pub async fn import(
        &self,
        place: PlaceId,
        rows: Vec<GroupRow>,
        at: Timestamp,
        by: &str,
        replaces: bool,
    ) -> Result<Vec<Imported>, DirectoryError> {
        let by = by.to_owned();
        self.write(move |tx| groups::import(tx, place, &rows, at, &by, replaces))
            .await
    }

    /// What was begun with this digest and not finished.
    pub async fn open_import(
        &self,
        place: PlaceId,
        digest: [u8; 32],
    ) -> Result<Option<Import>, DirectoryError> {
        self.ask(Access::Long, move |c| imports::open(c, place, digest))
            .await
    }

    /// Goes on with the file of this digest that was not finished, or begins it.
    pub async fn begin_import(
        &self,
        place: PlaceId,
        digest: [u8; 32],
        at: Timestamp,
        by: &str,
    ) -> Result<Import, DirectoryError> {
        let by = by.to_owned();
        self.write(move |tx| imports::begin(tx, place, digest, at, &by))
            .await
    }

    /// Writes down that a row is done: it is not sent again.
    pub async fn end_row(
        &self,
        import: ImportId,
        row: usize,
        outcome: &'static str,
    ) -> Result<(), DirectoryError> {
        self.write(move |tx| imports::end_row(tx, import, row, outcome))
            .await
    }

    /// Every row is done; the same file is sent again from its start.
    pub async fn end_import(&self, import: ImportId, at: Timestamp) -> Result<(), DirectoryError> {
        self.write(move |tx| imports::end(tx, import, at)).await
    }
}
