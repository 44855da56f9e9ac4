//! The hand-off of a rotation's new token, stored in the row of the rotation (docs/design/rotation.md, "Hand-off").
//! Only the latest rotation of a group has a token worth handing off.

use super::{fault::Fault, history, journal};
use crate::{
    database::{Asked, Tx, values},
    directory::{Directory, DirectoryError, HandOffStep, PlaceId, RotationId, RotationRow},
    domain::{
        handoff::{HandOff, HandOffState},
        history::Entry,
    },
};

impl Directory {
    /// Records how the hand-off of a rotation ended together with its history entry, in one transaction.
    ///
    /// Returns `false` if a later rotation of the group has overtaken it. The command may then have put the older token
    /// in place, so the later hand-off becomes pending again.
    pub async fn end_hand_off(
        &self,
        id: RotationId,
        handoff: HandOff,
        entry: Entry,
    ) -> Result<bool, DirectoryError> {
        self.write(move |tx| {
            let row = journal::lock(tx, id)?;
            let values = values![handoff.state, handoff.exit, handoff.note.as_ref(), id];
            let ended = tx.ask::<()>(END_HAND_OFF, values)?;
            let row = row.one()?.ok_or(DirectoryError::NoRotation { id })?;
            history::add(tx, row.place, None, &entry)?;
            let ended = ended.changed()? == 1;
            if !ended {
                let again = "an older token may have been delivered after it";
                tx.put(HAND_OFF_LATER, values![again, id])?;
            }
            Ok(ended)
        })
        .await
    }
}

const OVERTAKEN: &str = "overtaken by a later rotation";

const HAND_OFF: &str = "\
UPDATE rotations SET handoff = $1, handoff_exit = $2, handoff_note = $3, profile = COALESCE($4, profile) WHERE id = $5";

/// Unfinished hand-offs of earlier rotations of the same group.
const OVERTAKE_HAND_OFFS: &str = "\
UPDATE rotations SET handoff = 'none', handoff_note = $1 \
WHERE id < $2 AND place = $3 AND user_group_id = $4 AND handoff IN ('pending', 'failed')";

/// Sets the state of the hand-off of a rotation of this place.
pub(super) fn set(
    tx: &Tx<'_>,
    row: Asked<'_, '_, RotationRow>,
    place: PlaceId,
    step: &HandOffStep,
) -> Result<(), Fault> {
    let HandOffStep {
        id,
        moved_to,
        after,
    } = step;
    let row = row.one()?.filter(|row| row.place == place);
    let row = row.ok_or(DirectoryError::NoRotation { id: *id })?;
    let note = after.note.as_ref();
    tx.put(
        HAND_OFF,
        values![after.state, after.exit, note, moved_to.as_ref(), id],
    )?;
    if after.state == HandOffState::Pending {
        let values = values![OVERTAKEN, id, place, &row.user_group_id];
        tx.put(OVERTAKE_HAND_OFFS, values)?;
    }
    Ok(())
}

/// Changes nothing if a later rotation has overtaken it.
const END_HAND_OFF: &str = "\
UPDATE rotations SET handoff = $1, handoff_exit = $2, handoff_note = $3 WHERE id = $4 AND handoff <> 'none'";

/// The latest later rotation of the same group that has a hand-off.
const HAND_OFF_LATER: &str = "\
UPDATE rotations SET handoff = 'pending', handoff_note = $1 \
WHERE id = (SELECT MAX(later.id) FROM rotations later JOIN rotations this \
 ON later.place = this.place AND later.user_group_id = this.user_group_id \
 WHERE this.id = $2 AND later.id > $2 AND later.handoff <> 'none')";
