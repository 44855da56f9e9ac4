//! Requests about packed copies.

use tokio::sync::mpsc;

use crate::{
    database::{Access, values},
    directory::{
        Directory, DirectoryError, FirstGroups, Location, PlaceId, Role,
        sqlite::{Fault, backup, copies, groups, loading, unpacked},
        tables::NEWEST,
    },
    domain::{group::UserGroupId, known::KnownGroup},
    search::{Builder, SortBy},
};

impl Directory {
    /// Returns all groups of a place if there are at most `all`; otherwise the first `some` in this order, or none if
    /// no index provides the order. Reads no more than that.
    pub async fn first_groups(
        &self,
        place: PlaceId,
        sort: SortBy,
        reverse: bool,
        (all, some): (usize, usize),
    ) -> Result<FirstGroups, DirectoryError> {
        self.execute(Access::Short, move |c| match c.sqlite() {
            Some(file) => copies::first(file, place, (&sort, reverse), (all, some)),
            None => unpacked::first(c, place, all),
        })
        .await
    }

    /// Returns all groups of a place, and those whose copies could not be read. `tell` receives the number loaded so
    /// far and returns whether to go on.
    pub async fn load_groups(
        &self,
        place: PlaceId,
        tell: impl FnMut(usize) -> bool + Send + 'static,
    ) -> Result<(Builder, Vec<UserGroupId>), DirectoryError> {
        self.execute(Access::Long, move |c| {
            let Some(file) = c.sqlite() else {
                return Ok((unpacked::load(c, place, tell)?, Vec::new()));
            };
            let total = copies::count(file, place)?;
            let mut builder = Builder::for_groups(total);
            let unreadable = loading::load(file, place, &mut builder, tell)?;
            Ok((builder, unreadable))
        })
        .await
    }

    /// Call before many [`Directory::fill`]; nothing may be listed until [`Directory::end_filling`].
    pub async fn begin_filling(&self) -> Result<(), DirectoryError> {
        self.write(|tx| tx.sqlite().map_or(Ok(()), copies::drop_title_index))
            .await
    }

    /// Adds groups that their places do not know yet, as they arrive, in one transaction; nothing else is written until
    /// the channel ends. They are stored as they are, without history entries.
    pub async fn fill(
        &self,
        mut parts: mpsc::Receiver<Vec<(PlaceId, KnownGroup)>>,
    ) -> Result<(), DirectoryError> {
        // The channel can be read only once.
        let parts = std::iter::from_fn(move || parts.blocking_recv());
        self.may(Role::Operator)?;
        self.execute(Access::WriteOnce, move |tx| {
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
        self.write(|tx| {
            tx.sqlite().map_or(Ok(()), |file| {
                // An index is sorted in as much memory as pages may take, and what fills no more needs less.
                file.execute_batch("PRAGMA cache_size = -4000")?;
                copies::create_title_index(file)
            })
        })
        .await
    }

    /// Rebuilds the copies of these groups, after another program wrote the groups or if the copies are damaged.
    pub async fn repair_copies(
        &self,
        place: PlaceId,
        ids: Vec<UserGroupId>,
    ) -> Result<(), DirectoryError> {
        self.write(move |tx| copies::repair(tx, place, &ids)).await
    }

    /// Rebuilds the copies of all groups. Refused if the disk lacks the space.
    pub async fn rebuild_copies(&self) -> Result<(), DirectoryError> {
        // A team's directory has no copies.
        let Location::File(path) = self.location().clone() else {
            return Ok(());
        };
        self.write(move |tx| {
            backup::check_free_space(&path, backup::REBUILD_FACTOR)?;
            tx.sqlite().map_or(Ok(()), copies::rebuild)
        })
        .await
    }
}
