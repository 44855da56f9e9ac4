//! Lists of groups: their number, the first ones of an order, and all of them. The titles, by which the first ones are
//! found, are written with their groups; what another program wrote without one is only listed with all of them.

use std::{sync::mpsc::sync_channel, thread};

use rusqlite::{Connection, functions::FunctionFlags};

use super::{fault::Fault, groups};
use crate::{
    db::{Access, Tx, values},
    directory::{Directory, PlaceId, Result},
    domain::{group::UserGroupId, known::KnownGroup},
    search::{Builder, FirstInOrder, Index, SortBy, title_key},
};

/// The beginning of a list.
#[derive(Debug, Clone, Default)]
pub struct FirstGroups {
    /// Total number of groups.
    pub total: usize,
    /// Whether `index` contains all of them.
    pub is_all: bool,
    pub index: Index,
}

impl Directory {
    /// Returns all groups of a place if there are at most `all`; otherwise the first `some` in this order, or none if
    /// no index provides the order. Reads little more than that.
    pub async fn first_groups(
        &self,
        place: PlaceId,
        sort: SortBy,
        reverse: bool,
        (all, some): (usize, usize),
    ) -> Result<FirstGroups> {
        self.execute(Access::Short, move |tx| {
            let order = (&sort, reverse);
            let total = count(tx, place)?;
            let is_all = total <= all;
            let builder = if is_all {
                load(tx, place, |_| true)?
            } else {
                let ids = first_ids(tx, place, order, some)?.into_iter();
                let mut ids: Vec<_> = ids.flat_map(UserGroupId::parse).collect();
                // As an index sorts them.
                ids.sort_unstable();
                let mut builder = Builder::default();
                for group in groups::by_ids(tx, place, &ids)?.iter().flatten() {
                    builder.push(group);
                }
                builder
            };
            Ok(FirstGroups {
                total,
                is_all,
                index: builder.finish(),
            })
        })
        .await
    }

    /// Loads all groups of a place. `tell` receives the number loaded so far and returns whether to go on.
    pub async fn load_groups(
        &self,
        place: PlaceId,
        tell: impl FnMut(usize) -> bool + Send + 'static,
    ) -> Result<Builder> {
        self.execute(Access::Long, move |c| load(c, place, tell))
            .await
    }

    /// Call before many [`Directory::fill`]; nothing may be listed until [`Directory::end_filling`].
    pub async fn begin_filling(&self) -> Result<()> {
        self.write(|tx| tx.sqlite().map_or(Ok(()), drop_title_index))
            .await
    }

    pub async fn end_filling(&self) -> Result<()> {
        self.write(|tx| {
            tx.sqlite().map_or(Ok(()), |file| {
                // An index is sorted in as much memory as pages may take, and what fills no more needs less.
                file.execute_batch("PRAGMA cache_size = -4000")?;
                create_title_index(file)
            })
        })
        .await
    }
}

/// The number of groups of a place.
fn count(tx: &Tx<'_>, place: PlaceId) -> Result<usize, Fault> {
    let text = "SELECT COUNT(*) FROM user_groups WHERE place = $1";
    Ok(tx.one(text, values![place])?.unwrap_or_default())
}

/// The texts that the order compares, with their ids and in the order of their bytes, if an index provides that.
fn indexed_texts(sort: &SortBy, reverse: bool) -> Option<String> {
    let desc = if reverse { " DESC" } else { "" };
    match sort {
        SortBy::Name => Some(format!(
            "SELECT title, user_group_id FROM user_groups WHERE place = $1 AND title IS NOT NULL \
             ORDER BY title{desc}, user_group_id LIMIT $2",
        )),
        SortBy::Id => Some(format!(
            "SELECT user_group_id, user_group_id FROM user_groups WHERE place = $1 \
             ORDER BY user_group_id{desc} LIMIT $2",
        )),
        _ => None,
    }
}

/// A server sends all rows that were asked for, also those that are no longer wanted.
const MAX_READ_FROM_SERVER: usize = 4_000;

/// The ids of the first `some` groups in this order; none if no index provides it. Reads little more, unless all names
/// begin alike before a number: then none from a server.
fn first_ids(
    tx: &Tx<'_>,
    place: PlaceId,
    (sort, reverse): (&SortBy, bool),
    some: usize,
) -> Result<Vec<String>, Fault> {
    let Some(text) = indexed_texts(sort, reverse).filter(|_| some > 0) else {
        return Ok(Vec::new());
    };
    let most = tx
        .sqlite()
        .map_or(MAX_READ_FROM_SERVER, |_| usize::MAX >> 1);
    let mut first = FirstInOrder::new(some, reverse);
    let (mut read, mut is_wanted) = (0, true);
    tx.each_row(text, values![place, most], |row| {
        read += 1;
        is_wanted = first.push(row.text(0)?, row.text(1)?);
        Ok::<_, Fault>(is_wanted)
    })?;
    if is_wanted && read == most {
        return Ok(Vec::new());
    }
    Ok(first.into_ids().collect())
}

/// Number of groups between two progress reports.
const PROGRESS_EVERY: usize = 1 << 14;

/// With fewer groups, a thread costs more than it saves.
const GROUPS_PER_THREAD: usize = 1 << 12;

/// Loads all groups of a place: one thread reads them, another one makes rows of them. `tell` receives the number loaded
/// so far and returns whether to go on.
pub(crate) fn load(
    tx: &Tx<'_>,
    place: PlaceId,
    mut tell: impl FnMut(usize) -> bool,
) -> Result<Builder, Fault> {
    let total = count(tx, place)?;
    let mut builder = Builder::for_groups(total);
    if total < GROUPS_PER_THREAD {
        groups::each(tx, place, false, |some| {
            for group in &some {
                builder.push(group);
            }
            true
        })?;
        return Ok(builder);
    }
    let (give, given) = sync_channel::<Vec<KnownGroup>>(4);
    thread::scope(|scope| {
        scope.spawn(|| {
            for group in given.into_iter().flatten() {
                builder.push(&group);
            }
        });
        let give = give;
        let (mut read, mut told) = (0, 0);
        groups::each(tx, place, false, |some| {
            read += some.len();
            let is_due = read >= told + PROGRESS_EVERY;
            if is_due {
                told = read;
            }
            // It fails only if the other thread has panicked, and so will this one.
            give.send(some).is_ok() && (!is_due || tell(read))
        })
    })?;
    Ok(builder)
}

/// As in the schema.
const BY_TITLE: &str = "CREATE INDEX user_groups_by_title ON user_groups (place, title)";

/// Drops the index before many groups are added; nothing may be listed before [`create_title_index`].
pub(crate) fn drop_title_index(tx: &Connection) -> Result<(), Fault> {
    Ok(tx.execute_batch("DROP INDEX IF EXISTS user_groups_by_title")?)
}

/// Creates the index of titles: building it over existing rows costs a fraction of maintaining it.
pub(crate) fn create_title_index(tx: &Connection) -> Result<(), Fault> {
    drop_title_index(tx)?;
    Ok(tx.execute_batch(BY_TITLE)?)
}

/// Writes the titles of groups from before there were titles.
pub(super) fn fill_titles(tx: &Connection) -> Result<(), Fault> {
    drop_title_index(tx)?;
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    tx.create_scalar_function("title_key", 2, flags, |call| {
        // A damaged name is as good as none.
        let name = call.get_raw(0).as_str().ok();
        let id = call.get_raw(1).as_str().unwrap_or_default();
        Ok(title_key(name, id))
    })?;
    tx.execute_batch("UPDATE user_groups SET title = title_key(name, user_group_id)")?;
    tx.remove_function("title_key", 2)?;
    create_title_index(tx)
}
