//! What others have changed in a place since a look: the groups by the number of their last write, the rest whole,
//! because it is little.

use rusqlite::{Connection, params};

use super::{fault::Fault, groups, journal, open};
use crate::{
    directory::{ChangeCursor, Changes, DraftHead, PlaceId, RotationFilter, Standing, columns},
    domain::group::UserGroupId,
};

/// Groups told one by one; more of them are a new list.
const MOST: usize = 1_000;

/// Where the next look begins. Taken before something is read, it misses nothing of what comes after.
pub(crate) fn cursor(connection: &Connection, place: PlaceId) -> Result<ChangeCursor, Fault> {
    Ok(ChangeCursor {
        place,
        change: groups::last_change(connection, place)?,
        commits: commits(connection)?,
    })
}

/// On the connection that writes and under its lock: whoever is committing has then ended, and a count of commits that
/// is still the same says that only this directory has written.
pub(crate) fn since(
    tx: &Connection,
    place: PlaceId,
    seen: ChangeCursor,
) -> Result<(ChangeCursor, Option<Changes>), Fault> {
    let next = cursor(tx, place)?;
    if seen.place == place && seen.commits == next.commits {
        return Ok((next, None));
    }
    let since = if seen.place == place { seen.change } else { 0 };
    let (groups, are_more) = groups::changed(tx, place, since, MOST)?;
    let open = RotationFilter {
        place: Some(place),
        open_only: true,
        ..RotationFilter::default()
    };
    let changes = Changes {
        groups,
        are_more,
        open: journal::list(tx, open)?,
        drafts: drafts(tx, place)?,
        standing: standing(tx, place)?,
    };
    Ok((next, Some(changes)))
}

/// Another value once somebody else has written, or the connection is a new one, which has not counted what was written
/// before.
fn commits(connection: &Connection) -> Result<(u64, i64), Fault> {
    let commits = connection
        .prepare_cached("PRAGMA data_version")?
        .query_row([], |row| row.get(0))?;
    Ok((open::opened(), commits))
}

fn drafts(connection: &Connection, place: PlaceId) -> Result<Vec<DraftHead>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT user_group_id, changed_at, by FROM drafts WHERE place = $1 AND merged = 0 \
         ORDER BY user_group_id",
    )?;
    let heads = statement.query_map(params![place.0], |row| {
        let (id, at, by): (String, i64, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let head = UserGroupId::parse(id).ok().zip(columns::timestamp(at));
        Ok(head.map(|(id, at)| DraftHead { id, at, by }))
    })?;
    let heads: Vec<Option<DraftHead>> = heads.collect::<rusqlite::Result<_>>()?;
    Ok(heads.into_iter().flatten().collect())
}

fn standing(connection: &Connection, place: PlaceId) -> Result<Standing, Fault> {
    let alarms = connection
        .prepare_cached("SELECT COUNT(*) FROM alarms WHERE place = $1 AND acknowledged_at IS NULL")?
        .query_row([place.0], |row| row.get(0))?;
    Ok(Standing { place, alarms })
}
