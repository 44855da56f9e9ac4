//! The packed copy of a group, written together with the group. Triggers (assets/migrations/directory) empty the copy
//! on every write of the group, so that no writer can leave a wrong one; the group's own row is authoritative.

use rusqlite::params;

use super::fault::Fault;
use crate::{
    database::Tx,
    directory::PlaceId,
    domain::known::KnownGroup,
    search::{pack, title_key},
};

/// Updates the copy that the trigger has emptied; the index is only touched if the title has changed.
const REPLACE: &str = "\
UPDATE packed_groups SET packed = $1 WHERE place = $2 AND user_group_id = $3 AND title = $4";

const PUT: &str = "\
INSERT INTO packed_groups (packed, place, user_group_id, title) VALUES ($1, $2, $3, $4) \
ON CONFLICT (place, user_group_id) DO UPDATE SET title = excluded.title, packed = excluded.packed";

/// Writes the copy of a group, in the transaction that wrote the group and after it: memory used for the group has been
/// released by then, so that the copy of the largest group adds nothing to the peak. A server keeps no copies.
pub(super) fn keep(tx: &Tx<'_>, place: PlaceId, group: &KnownGroup) -> Result<(), Fault> {
    let Some(file) = tx.sqlite() else {
        return Ok(());
    };
    let (id, title, packed) = (group.id.as_str(), title_key(group), pack(group));
    let values = params![packed, place.0, id, title];
    if file.prepare_cached(REPLACE)?.execute(values)? == 0 {
        file.prepare_cached(PUT)?.execute(values)?;
    }
    Ok(())
}
