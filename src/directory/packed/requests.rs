//! What is asked of the packed copies.

use tokio::sync::mpsc;

use crate::{
    database::{Access, values},
    directory::{
        Directory, DirectoryError, FirstGroups, Location, PlaceId, Role,
        sqlite::{Fault, backup, copies, groups, whole},
        tables::NEWEST,
    },
    domain::{group::UserGroupId, known::KnownGroup},
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
        self.ask(Access::Short, move |c| match c.sqlite() {
            Some(file) => copies::first(file, place, (&sort, reverse), (all, some)),
            None => whole::first(c, place, all),
        })
        .await
    }

    /// All groups of a place, and those whose copies could not be read; `tell` hears how many are there so far, and says
    /// whether more are wanted.
    pub async fn load_groups(
        &self,
        place: PlaceId,
        tell: impl FnMut(usize) -> bool + Send + 'static,
    ) -> Result<(Builder, Vec<UserGroupId>), DirectoryError> {
        self.ask(Access::Long, move |c| {
            let Some(file) = c.sqlite() else {
                return Ok((whole::load(c, place, tell)?, Vec::new()));
            };
            let total = copies::count(file, place)?;
            let mut builder = Builder::for_groups(total);
            let unreadable = copies::load(file, place, &mut builder, tell)?;
            Ok((builder, unreadable))
        })
        .await
    }

    /// Before many [`Directory::fill`]: until [`Directory::end_filling`] nothing is to be listed.
    pub async fn begin_filling(&self) -> Result<(), DirectoryError> {
        self.write(|tx| tx.sqlite().map_or(Ok(()), copies::disorder))
            .await
    }

    /// Adds groups that their places do not know yet, as they come, in one transaction; until their end nothing else is
    /// written. What is known of them is taken as it is, with no line of history.
    pub async fn fill(
        &self,
        mut parts: mpsc::Receiver<Vec<(PlaceId, KnownGroup)>>,
    ) -> Result<(), DirectoryError> {
        // What came cannot come again.
        let parts = std::iter::from_fn(move || parts.blocking_recv());
        self.may(Role::Operator)?;
        self.ask(Access::Once, move |tx| {
            if tx.sqlite().is_none() {
                tx.one("SELECT may_write($1, FALSE)", values![NEWEST], |_| {
                    Ok::<_, Fault>(())
                })?;
            }
            groups::fill(tx, parts)
        })
        .await
    }

    pub async fn end_filling(&self) -> Result<(), DirectoryError> {
        self.write(|tx| tx.sqlite().map_or(Ok(()), copies::order))
            .await
    }

    /// Makes the copies of these groups anew: another program wrote the groups, or the copies are damaged.
    pub async fn repair_copies(
        &self,
        place: PlaceId,
        ids: Vec<UserGroupId>,
    ) -> Result<(), DirectoryError> {
        self.write(move |tx| copies::repair(tx, place, &ids)).await
    }

    /// Makes the copies of all groups anew. Refused where the disk has no room for it.
    pub async fn rebuild_copies(&self) -> Result<(), DirectoryError> {
        // A team's directory has none.
        let Location::File(path) = self.location().clone() else {
            return Ok(());
        };
        self.write(move |tx| {
            backup::room(&path, backup::MADE_ANEW)?;
            tx.sqlite().map_or(Ok(()), copies::rebuild)
        })
        .await
    }
}
