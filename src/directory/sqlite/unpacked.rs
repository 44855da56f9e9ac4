//! Lists of groups in a database without packed copies, read from the groups' own rows.

use super::{fault::Fault, groups};
use crate::{
    database::{Tx, values},
    directory::{FirstGroups, PlaceId},
    search::Builder,
};

const COUNT: &str = "SELECT COUNT(*) FROM user_groups WHERE place = $1";

fn count(tx: &Tx<'_>, place: PlaceId) -> Result<usize, Fault> {
    let count: Option<i64> = tx.one(COUNT, values![place.0], |row| row.get(0))?;
    Ok(usize::try_from(count.unwrap_or_default()).unwrap_or_default())
}

/// All groups if there are at most `all`; otherwise none.
pub(crate) fn first(tx: &Tx<'_>, place: PlaceId, all: usize) -> Result<FirstGroups, Fault> {
    let total = count(tx, place)?;
    let is_all = total <= all;
    let builder = if is_all {
        load(tx, place, |_| true)?
    } else {
        Builder::for_groups(0)
    };
    Ok(FirstGroups {
        total,
        is_all,
        index: builder.finish(),
        unreadable: Vec::new(),
    })
}

/// `tell` receives the number loaded so far and returns whether to go on.
pub(crate) fn load(
    tx: &Tx<'_>,
    place: PlaceId,
    mut tell: impl FnMut(usize) -> bool,
) -> Result<Builder, Fault> {
    let mut builder = Builder::for_groups(count(tx, place)?);
    let mut there = 0;
    groups::each(tx, place, false, |some| {
        for group in &some {
            builder.push(group);
        }
        there += some.len();
        tell(there)
    })?;
    Ok(builder)
}
