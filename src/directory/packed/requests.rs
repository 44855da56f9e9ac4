//! What is asked of the packed copies.

use crate::{
    database::Access,
    directory::{Directory, DirectoryError, FirstGroups, PlaceId, sqlite::copies},
    search::{Builder, SortBy},
};

impl Directory {
    /// All groups of a place where they are no more than `all`; else the first `some` of a list in this order, none where
    /// the order is not kept. Reads no more than that.
    pub async fn first_groups(
        &self,
        place: PlaceId,
        sort: SortBy,
        reverse: bool,
        (all, some): (usize, usize),
    ) -> Result<FirstGroups, DirectoryError> {
        self.run(Access::Short, move |c| {
            copies::first(c, place, (&sort, reverse), (all, some))
        })
        .await
    }

    /// All groups of a place, and how many copies were empty; `tell` hears how many are there so far, and says whether more
    /// are wanted.
    pub async fn load_groups(
        &self,
        place: PlaceId,
        tell: impl FnMut(usize) -> bool + Send + 'static,
    ) -> Result<(Builder, usize), DirectoryError> {
        self.run(Access::Long, move |c| {
            let total = copies::count(c, place)?;
            let mut builder = Builder::for_groups(total);
            let empty = copies::load(c, place, &mut builder, tell)?;
            Ok((builder, empty))
        })
        .await
    }

    /// Makes the copies of a place anew that are empty: another program wrote their groups. Says how many.
    pub async fn mend_copies(&self, place: PlaceId) -> Result<usize, DirectoryError> {
        self.run(Access::Write, move |tx| copies::mend(tx, place))
            .await
    }

    /// Makes the copies of all groups anew.
    pub async fn rebuild_copies(&self) -> Result<(), DirectoryError> {
        self.run(Access::Write, copies::rebuild).await
    }
}
