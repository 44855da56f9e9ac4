//! The hand-off of a rotation's new token, as its row keeps it (docs/design/rotation.md, "Hand-off"). Only the latest
//! rotation of a group has a token worth handing off.

use rusqlite::{Connection, params};

use super::{fault::Fault, history, journal};
use crate::{
    directory::{DirectoryError, HandOffStep, PlaceId, RotationId},
    domain::{
        handoff::{HandOff, HandOffState},
        history::Entry,
    },
};

const OVERTAKEN: &str = "overtaken by a later rotation";

const HAND_OFF: &str = "\
UPDATE rotations SET handoff = $1, handoff_exit = $2, handoff_note = $3, profile = COALESCE($4, profile) WHERE id = $5";

/// What is open of earlier rotations of the same group.
const OVERTAKE_HAND_OFFS: &str = "\
UPDATE rotations SET handoff = 'none', handoff_note = $1 \
WHERE id < $2 AND place = $3 AND user_group_id = $4 AND handoff IN ('pending', 'failed')";

/// Sets where the hand-off stands, of a rotation of this place.
pub(super) fn set(tx: &Connection, place: PlaceId, step: &HandOffStep) -> Result<(), Fault> {
    let HandOffStep {
        id,
        moved_to,
        after,
    } = step;
    let row = journal::one(tx, *id)?
        .filter(|row| row.place == place)
        .ok_or(DirectoryError::NoRotation { id: *id })?;
    tx.prepare_cached(HAND_OFF)?.execute(params![
        after.state.as_str(),
        after.exit,
        after.note,
        moved_to,
        id.0
    ])?;
    if after.state == HandOffState::Pending {
        tx.prepare_cached(OVERTAKE_HAND_OFFS)?.execute(params![
            OVERTAKEN,
            id.0,
            place.0,
            row.user_group_id.as_str()
        ])?;
    }
    Ok(())
}

/// Changes nothing where a later rotation has overtaken it.
const END_HAND_OFF: &str = "\
UPDATE rotations SET handoff = $1, handoff_exit = $2, handoff_note = $3 WHERE id = $4 AND handoff <> 'none'";

/// The latest of the later rotations of the same group that have a hand-off.
const HAND_OFF_LATER: &str = "\
UPDATE rotations SET handoff = 'pending', handoff_note = $1 \
WHERE id = (SELECT MAX(later.id) FROM rotations later JOIN rotations this \
 ON later.place = this.place AND later.user_group_id = this.user_group_id \
 WHERE this.id = $2 AND later.id > $2 AND later.handoff <> 'none')";

/// Writes how it ended; false where it was overtaken meanwhile, and the later one is pending again.
pub(crate) fn end(
    tx: &Connection,
    id: RotationId,
    handoff: &HandOff,
    entry: &Entry,
) -> Result<bool, Fault> {
    let row = journal::one(tx, id)?.ok_or(DirectoryError::NoRotation { id })?;
    history::add(tx, row.place, None, entry)?;
    let changed = tx.prepare_cached(END_HAND_OFF)?.execute(params![
        handoff.state.as_str(),
        handoff.exit,
        handoff.note,
        id.0
    ])?;
    if changed == 1 {
        return Ok(true);
    }
    let again = "an older token may have been put over it";
    tx.prepare_cached(HAND_OFF_LATER)?
        .execute(params![again, id.0])?;
    Ok(false)
}
