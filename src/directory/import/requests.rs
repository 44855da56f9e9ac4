//! Requests about imports.

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
    /// Returns those of these groups that are known, in the order of `ids`. Meant for up to a few thousand ids.
    pub async fn groups_by_ids(
        &self,
        place: PlaceId,
        ids: Vec<UserGroupId>,
    ) -> Result<Vec<Option<KnownGroup>>, DirectoryError> {
        self.execute(Access::Short, move |c| groups::by_ids(c, place, &ids))
            .await
    }

    /// Returns the known ids of a place in ascending order.
    pub async fn known_ids(&self, place: PlaceId) -> Result<Vec<UserGroupId>, DirectoryError> {
        self.execute(Access::Long, move |c| groups::ids(c, place))
            .await
    }

    /// Whether [`Self::each_group`] passes the groups in the natural order of their ids.
    pub async fn are_in_natural_order(&self, place: PlaceId) -> Result<bool, DirectoryError> {
        self.execute(Access::Long, move |c| {
            groups::are_in_natural_order(c, place)
        })
        .await
    }

    /// Adds ids with the values of the file where nothing better is known, in one transaction. Notes and labels that
    /// somebody wrote are kept unless `replaces` is set. The results are in the order of the rows.
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

    /// Returns the unfinished import with this digest, if any.
    pub async fn open_import(
        &self,
        place: PlaceId,
        digest: [u8; 32],
    ) -> Result<Option<Import>, DirectoryError> {
        self.execute(Access::Long, move |c| imports::open(c, place, digest))
            .await
    }

    /// Continues the unfinished import of the file with this digest, or begins one.
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

    /// Records that a row is done, so that it is not sent again.
    pub async fn end_row(
        &self,
        import: ImportId,
        row: usize,
        outcome: &'static str,
    ) -> Result<(), DirectoryError> {
        self.write(move |tx| imports::end_row(tx, import, row, outcome))
            .await
    }

    /// Closes an import whose rows are all done; if the same file is imported again, it starts from the beginning.
    pub async fn end_import(&self, import: ImportId, at: Timestamp) -> Result<(), DirectoryError> {
        self.write(move |tx| imports::end(tx, import, at)).await
    }
}
