//! What others have changed in a place since a look: the groups by the number of their last write, the rest whole,
//! because it is little.

use super::{fault::Fault, groups, journal, open};
use crate::{
    database::{Tx, values},
    directory::{ChangeCursor, Changes, DraftHead, PlaceId, RotationFilter, Standing, columns},
    domain::group::UserGroupId,
};

/// Groups told one by one; more of them are a new list.
const MOST: usize = 1_000;

/// Where the next look begins. Taken before something is read, it misses nothing of what comes after.
pub(crate) fn cursor(tx: &Tx<'_>, place: PlaceId) -> Result<ChangeCursor, Fault> {
    if tx.sqlite().is_none() {
        return snapshot(tx, place);
    }
    Ok(ChangeCursor {
        place,
        change: groups::last_change(tx, place)?,
        commits: commits(tx)?,
    })
}

const SNAPSHOT: &str = "\
SELECT pg_snapshot_xmin(s)::text::bigint, hashtextextended(s::text, 0) FROM (SELECT pg_current_snapshot()) now (s)";

/// Of several writers no number that is counted up tells in which order rows became visible. Whatever this snapshot does not
/// see was written by a transaction that is not older than its oldest one.
fn snapshot(tx: &Tx<'_>, place: PlaceId) -> Result<ChangeCursor, Fault> {
    let seen = tx.one(SNAPSHOT, values![], |row| {
        Ok::<_, Fault>((row.get(0)?, row.get(1)?))
    })?;
    let (change, seen) = seen.unwrap_or_default();
    Ok(ChangeCursor {
        place,
        change,
        commits: (0, seen),
    })
}

/// On the connection that writes and under its lock: whoever is committing has then ended, and a count of commits that
/// is still the same says that only this directory has written.
pub(crate) fn since(
    tx: &Tx<'_>,
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
fn commits(tx: &Tx<'_>) -> Result<(u64, i64), Fault> {
    let commits = tx.one("PRAGMA data_version", values![], |row| row.get(0))?;
    Ok((open::opened(), commits.unwrap_or_default()))
}

fn drafts(tx: &Tx<'_>, place: PlaceId) -> Result<Vec<DraftHead>, Fault> {
    let text = "SELECT user_group_id, changed_at, by FROM drafts WHERE place = $1 AND merged = 0 \
                ORDER BY user_group_id";
    let heads = tx.all(text, values![place.0], |row| {
        let id = UserGroupId::parse(row.text(0)?).ok();
        let (head, by) = (id.zip(columns::timestamp(row.get(1)?)), row.get(2)?);
        Ok::<_, Fault>(head.map(|(id, at)| DraftHead { id, at, by }))
    })?;
    Ok(heads.into_iter().flatten().collect())
}

fn standing(tx: &Tx<'_>, place: PlaceId) -> Result<Standing, Fault> {
    let text = "SELECT COUNT(*) FROM alarms WHERE place = $1 AND acknowledged_at IS NULL";
    let alarms = tx.one(text, values![place.0], |row| row.get(0))?;
    let alarms = alarms.unwrap_or_default();
    Ok(Standing { place, alarms })
}
