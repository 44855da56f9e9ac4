//! Hidden concerns.

use jiff::Timestamp;

use super::fault::Fault;
use crate::{
    database::{Row, Tx, values},
    directory::{HiddenConcern, PlaceId, columns},
};

const ALL: &str = "SELECT concern, stands, until, by FROM hidden_concerns WHERE place = $1";

/// An entry that cannot be read is left out; it neither hides other entries nor its concern.
pub(crate) fn list(tx: &Tx<'_>, place: PlaceId) -> Result<Vec<HiddenConcern>, Fault> {
    let hidden = tx.all(ALL, values![place.0], |row| Ok::<_, Fault>(read(row).ok()))?;
    Ok(hidden.into_iter().flatten().collect())
}

fn read(row: &Row<'_>) -> Result<HiddenConcern, Fault> {
    Ok(HiddenConcern {
        concern: row.get(0)?,
        state: row.get(1)?,
        until: columns::timestamp(row.get(2)?).ok_or(Fault::Row("hidden_concerns"))?,
        by: row.get(3)?,
    })
}

const FORGET: &str = "DELETE FROM hidden_concerns WHERE until <= $1";

const HIDE: &str = "\
INSERT INTO hidden_concerns (place, concern, stands, until, by) VALUES ($1, $2, $3, $4, $5) \
ON CONFLICT (place, concern) DO UPDATE SET stands = excluded.stands, until = excluded.until, by = excluded.by";

pub(crate) fn hide(
    tx: &Tx<'_>,
    place: PlaceId,
    hidden: &HiddenConcern,
    now: Timestamp,
) -> Result<(), Fault> {
    tx.write(FORGET, values![columns::micros(now)])?;
    let values = values![
        place.0,
        &hidden.concern,
        &hidden.state,
        columns::micros(hidden.until),
        &hidden.by,
    ];
    tx.write(HIDE, values)?;
    Ok(())
}

const UNHIDE: &str = "DELETE FROM hidden_concerns WHERE place = $1 AND concern = $2";

pub(crate) fn unhide(tx: &Tx<'_>, place: PlaceId, concern: &str) -> Result<(), Fault> {
    tx.write(UNHIDE, values![place.0, concern])?;
    Ok(())
}
