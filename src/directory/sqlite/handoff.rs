//! The hand-off of a rotation's new token, stored in the row of the rotation (docs/design/rotation.md, "Hand-off").
//! Only the latest rotation of a group has a token worth handing off.

use super::{fault::Fault, history, journal};
use crate::{
    database::{Results, Statements, values},
    directory::{Directory, DirectoryError, HandOffStep, PlaceId, RotationId},
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
            let mut reads = Statements::default();
            journal::query(&mut reads, id);
            let values = values![
                handoff.state.as_str(),
                handoff.exit,
                handoff.note.as_ref(),
                id.0
            ];
            let mut found = tx.read(reads.with(END_HAND_OFF, values))?;
            let row = journal::parse(&mut found)?.ok_or(DirectoryError::NoRotation { id })?;
            let mut writes = Statements::default();
            history::add(&mut writes, row.place, None, &entry);
            let ended = found.next().changed == 1;
            if !ended {
                let again = "an older token may have been put over it";
                writes.add(HAND_OFF_LATER, values![again, id.0]);
            }
            tx.write_all_later(writes)?;
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

/// Reads what [`set`] needs to decide.
pub(super) fn query(reads: &mut Statements, step: &HandOffStep) {
    journal::query(reads, step.id);
}

/// Sets the state of the hand-off of a rotation of this place.
pub(super) fn set(
    found: &mut Results,
    writes: &mut Statements,
    place: PlaceId,
    step: &HandOffStep,
) -> Result<(), Fault> {
    let HandOffStep {
        id,
        moved_to,
        after,
    } = step;
    let row = journal::parse(found)?
        .filter(|row| row.place == place)
        .ok_or(DirectoryError::NoRotation { id: *id })?;
    let values = values![
        after.state.as_str(),
        after.exit,
        after.note.as_ref(),
        moved_to.as_ref(),
        id.0
    ];
    writes.add(HAND_OFF, values);
    if after.state == HandOffState::Pending {
        let values = values![OVERTAKEN, id.0, place.0, row.user_group_id.as_str()];
        writes.add(OVERTAKE_HAND_OFFS, values);
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
