//! The packed copy of a group, written with it. Triggers empty the copy of whatever is written
//! (assets/migrations/directory), so that no writer can leave a wrong one; the group's own row is what is true.

use rusqlite::{Connection, params};

use super::fault::Fault;
use crate::{
    directory::PlaceId,
    domain::known::KnownGroup,
    search::{pack, title_key},
};

/// In place of the copy that the trigger has emptied; the index is only touched where the title is another one.
const REPLACE: &str = "\
UPDATE packed_groups SET packed = $1 WHERE place = $2 AND user_group_id = $3 AND title = $4";

const PUT: &str = "\
INSERT INTO packed_groups (place, user_group_id, title, packed) VALUES ($1, $2, $3, $4) \
ON CONFLICT (place, user_group_id) DO UPDATE SET title = excluded.title, packed = excluded.packed";

/// Writes the copy of a group, in the transaction that wrote the group.
pub(super) fn write(tx: &Connection, place: PlaceId, group: &KnownGroup) -> Result<(), Fault> {
    let (id, title, packed) = (group.id.as_str(), title_key(group), pack(group));
    let replaced = tx
        .prepare_cached(REPLACE)?
        .execute(params![packed, place.0, id, title])?;
    if replaced == 0 {
        tx.prepare_cached(PUT)?
            .execute(params![place.0, id, title, packed])?;
    }
    Ok(())
}
