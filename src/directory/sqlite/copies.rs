//! Packed copies of groups: their number, the first ones of an order as lists read them, comparison with their groups, and
//! rebuilding them.

use rusqlite::{Connection, params};

use super::{fault::Fault, groups, loading::push, packed, rows};
use crate::{
    database::{Row, Tx, values},
    directory::{FirstGroups, PlaceId},
    domain::group::UserGroupId,
    search::{Builder, FirstInOrder, SortBy, pack, title_key},
};

/// The texts that the order compares, with their ids and in the order of their bytes, if an index provides that.
fn indexed_texts(sort: &SortBy, reverse: bool) -> Option<&'static str> {
    match (sort, reverse) {
        (SortBy::Name, false) => Some(
            "SELECT title, user_group_id FROM packed_groups WHERE place = $1 ORDER BY title, user_group_id",
        ),
        (SortBy::Name, true) => Some(
            "SELECT title, user_group_id FROM packed_groups WHERE place = $1 ORDER BY title DESC, user_group_id",
        ),
        (SortBy::Id, false) => Some(
            "SELECT user_group_id, user_group_id FROM packed_groups WHERE place = $1 ORDER BY user_group_id",
        ),
        (SortBy::Id, true) => Some(
            "SELECT user_group_id, user_group_id FROM packed_groups WHERE place = $1 ORDER BY user_group_id DESC",
        ),
        _ => None,
    }
}

/// The ids of the first `some` groups in this order. Reads little more, unless all names begin alike before a number.
fn first_ids(
    connection: &Connection,
    place: PlaceId,
    (sort, reverse): (&SortBy, bool),
    some: usize,
) -> Result<Vec<String>, Fault> {
    let mut first = FirstInOrder::new(some, reverse);
    if let Some(text) = indexed_texts(sort, reverse).filter(|_| some > 0) {
        let mut statement = connection.prepare_cached(text)?;
        let mut found = statement.query([place.0])?;
        while let Some(row) = found.next()? {
            let text = |at| row.get_ref(at)?.as_str().map_err(rusqlite::Error::from);
            if !first.push(text(0)?, text(1)?) {
                break;
            }
        }
    }
    Ok(first.into_ids().collect())
}

/// All groups if there are at most `all`; otherwise the first `some` in this order, or none if no index provides it.
pub(crate) fn first(
    connection: &Connection,
    place: PlaceId,
    order: (&SortBy, bool),
    (all, some): (usize, usize),
) -> Result<FirstGroups, Fault> {
    let total = count(connection, place)?;
    let mut rows: Vec<(String, Vec<u8>)> = Vec::new();
    if total <= all {
        rows = connection
            .prepare_cached(
                "SELECT user_group_id, packed FROM packed_groups WHERE place = $1 ORDER BY user_group_id LIMIT $2",
            )?
            .query_map(params![place.0, (all + 1) as i64], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
    } else {
        let mut one = connection.prepare_cached(
            "SELECT packed FROM packed_groups WHERE place = $1 AND user_group_id = $2",
        )?;
        for id in first_ids(connection, place, order, some)? {
            let packed = one.query_row(params![place.0, id], |row| row.get(0))?;
            rows.push((id, packed));
        }
    }
    let is_all = total <= all && rows.len() <= all;
    if !is_all && total <= all {
        // The stored count is wrong, so these are not the first groups.
        rows.clear();
    }
    // Sorted as an index sorts them.
    rows.sort_unstable();
    let (mut builder, mut unreadable) = (Builder::for_groups(0), Vec::new());
    for (id, packed) in &rows {
        unreadable.extend(push(connection, place, &mut builder, (id, packed))?);
    }
    Ok(FirstGroups {
        total,
        is_all,
        index: builder.finish(),
        unreadable,
    })
}

/// The number of groups of a place.
pub(crate) fn count(connection: &Connection, place: PlaceId) -> Result<usize, Fault> {
    let count: i64 = connection
        .prepare_cached("SELECT COALESCE(MAX(groups), 0) FROM group_counts WHERE place = $1")?
        .query_row([place.0], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or_default())
}

const EMPTY: &str = "\
SELECT user_group_id FROM packed_groups WHERE place = $1 AND packed = x'' ORDER BY user_group_id";

/// Rebuilds the empty copies of a place.
pub(super) fn repair_empty(tx: &Tx<'_>, place: PlaceId) -> Result<(), Fault> {
    let ids = tx.all(EMPTY, values![place.0], |row| {
        Ok::<_, Fault>(UserGroupId::parse(row.text(0)?))
    })?;
    let ids: Vec<_> = ids.into_iter().flatten().collect();
    repair(tx, place, &ids)
}

/// Rebuilds the copies of these groups.
pub(crate) fn repair(tx: &Tx<'_>, place: PlaceId, ids: &[UserGroupId]) -> Result<(), Fault> {
    for id in ids {
        if let Some(group) = groups::one(tx, place, id)? {
            packed::keep(tx, place, &group)?;
        }
    }
    Ok(())
}

/// Every group of every place with its copy, if it has one.
const COMPARED: &str = concat!(
    "SELECT ",
    groups::group_columns!(),
    ", title, packed FROM user_groups LEFT JOIN packed_groups USING (place, user_group_id) \
     ORDER BY place, user_group_id"
);

/// The number of copies that differ from their groups, are missing or superfluous; an empty copy does not differ.
pub(super) fn count_differing(connection: &Connection) -> Result<usize, Fault> {
    let mut statement = connection.prepare(COMPARED)?;
    let mut found = statement.query([])?;
    let mut count_differing = 0;
    while let Some(row) = found.next()? {
        let group = rows::group(&Row::Sqlite(row))?.group;
        let title = row.get_ref(12)?.as_str().ok();
        let packed = row.get_ref(13)?.as_blob().ok();
        let is_right = match (group, packed) {
            (_, Some([])) | (None, _) => true,
            (Some(group), Some(packed)) => {
                packed == pack(&group) && title == Some(title_key(&group).as_str())
            }
            (Some(_), None) => false,
        };
        count_differing += usize::from(!is_right);
    }
    let of_nothing: i64 = connection.query_row(
        "SELECT (SELECT count(*) FROM packed_groups p WHERE NOT EXISTS (SELECT 1 FROM user_groups g \
          WHERE g.place = p.place AND g.user_group_id = p.user_group_id)) \
         + (SELECT count(*) FROM (SELECT place, count(*) AS there FROM user_groups GROUP BY place) g \
          FULL JOIN (SELECT place, groups FROM group_counts WHERE groups <> 0) c ON c.place = g.place \
          WHERE g.there IS DISTINCT FROM c.groups)",
        [],
        |row| row.get(0),
    )?;
    Ok(count_differing + of_nothing as usize)
}

/// As in the schema.
const BY_TITLE: &str = "CREATE INDEX packed_groups_by_title ON packed_groups (place, title)";

/// Drops the index before many groups are added; nothing may be listed before [`create_title_index`].
pub(crate) fn drop_title_index(tx: &Connection) -> Result<(), Fault> {
    Ok(tx.execute_batch("DROP INDEX IF EXISTS packed_groups_by_title")?)
}

/// Creates the index of titles: building it over existing rows costs a fraction of maintaining it.
pub(crate) fn create_title_index(tx: &Connection) -> Result<(), Fault> {
    drop_title_index(tx)?;
    Ok(tx.execute_batch(BY_TITLE)?)
}

/// Rebuilds all copies and counts, and their index if it is missing.
pub(crate) fn rebuild(tx: &Connection) -> Result<(), Fault> {
    drop_title_index(tx)?;
    tx.execute_batch(
        "DELETE FROM packed_groups; DELETE FROM group_counts; \
         INSERT INTO group_counts (place, groups) SELECT place, count(*) FROM user_groups GROUP BY place;",
    )?;
    let mut statement = tx.prepare(concat!(
        "SELECT ",
        groups::group_columns!(),
        ", place FROM user_groups ORDER BY place, user_group_id"
    ))?;
    let mut put = tx.prepare(
        "INSERT INTO packed_groups (place, user_group_id, title, packed) VALUES ($1, $2, $3, $4)",
    )?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let place: i64 = row.get(12)?;
        match rows::group(&Row::Sqlite(row))?.group {
            Some(group) => put.execute(params![
                place,
                group.id.as_str(),
                title_key(&group),
                pack(&group)
            ])?,
            // Not even the id can be read: no list shows this group.
            None => continue,
        };
    }
    create_title_index(tx)
}
