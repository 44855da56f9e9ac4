//! Requests about lists of groups.

use tokio::sync::mpsc;

use crate::{
    database::{Access, values},
    directory::{
        Directory, DirectoryError, FirstGroups, PlaceId, Role,
        sqlite::{Fault, groups, list},
        tables::NEWEST,
    },
    domain::known::KnownGroup,
    search::{Builder, SortBy},
};

impl Directory {
    /// Returns all groups of a place if there are at most `all`; otherwise the first `some` in this order, or none if
    /// no index provides the order. Reads little more than that.
    pub async fn first_groups(
        &self,
        place: PlaceId,
        sort: SortBy,
        reverse: bool,
        (all, some): (usize, usize),
    ) -> Result<FirstGroups, DirectoryError> {
        self.execute(Access::Short, move |c| {
            list::first(c, place, (&sort, reverse), (all, some))
        })
        .await
    }

    /// Loads all groups of a place. `tell` receives the number loaded so far and returns whether to go on.
    pub async fn load_groups(
        &self,
        place: PlaceId,
        tell: impl FnMut(usize) -> bool + Send + 'static,
    ) -> Result<Builder, DirectoryError> {
        self.execute(Access::Long, move |c| list::load(c, place, tell))
            .await
    }

    /// Call before many [`Directory::fill`]; nothing may be listed until [`Directory::end_filling`].
    pub async fn begin_filling(&self) -> Result<(), DirectoryError> {
        self.write(|tx| tx.sqlite().map_or(Ok(()), list::drop_title_index))
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
                list::create_title_index(file)
            })
        })
        .await
    }
}
