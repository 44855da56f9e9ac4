//! The hand-off of a rotation's new token, stored in the row of the rotation (docs/design/rotation.md, "Hand-off").
//! Only the latest rotation of a group has a token worth handing off.

use super::{fault::Fault, history, journal};
use crate::{
    database::{Request, Results, Statements, values},
    directory::{DirectoryError, HandOffStep, PlaceId, RotationId},
    domain::{
        handoff::{HandOff, HandOffState},
        history::Entry,
    },
};

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

/// Records how the hand-off ended; false if a later rotation has overtaken it, whose hand-off is then pending again.
pub(crate) struct EndHandOff {
    pub(crate) id: RotationId,
    pub(crate) handoff: HandOff,
    pub(crate) entry: Entry,
}

impl Request for EndHandOff {
    type Answer = bool;
    type Error = Fault;

    fn read(&self) -> Statements {
        let mut reads = Statements::default();
        journal::query(&mut reads, self.id);
        let values = values![
            self.handoff.state.as_str(),
            self.handoff.exit,
            self.handoff.note.as_ref(),
            self.id.0
        ];
        reads.with(END_HAND_OFF, values)
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, bool), Fault> {
        let row = journal::parse(found)?.ok_or(DirectoryError::NoRotation { id: self.id })?;
        let mut writes = Statements::default();
        history::add(&mut writes, row.place, None, &self.entry);
        let ended = found.next().changed == 1;
        if !ended {
            let again = "an older token may have been put over it";
            writes.add(HAND_OFF_LATER, values![again, self.id.0]);
        }
        Ok((writes, ended))
    }
}
