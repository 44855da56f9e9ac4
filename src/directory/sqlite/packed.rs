//! The packed copy of a group, written with it. Triggers empty the copy of whatever is written
//! (assets/migrations/directory), so that no writer can leave a wrong one; the group's own row is what is true.

use crate::{
    database::{Statements, values},
    directory::PlaceId,
    domain::known::KnownGroup,
    search::{pack, title_key},
};

/// In place of the copy that the trigger has emptied; the index is only touched where the title is another one.
const REPLACE: &str = "\
UPDATE packed_groups SET packed = $1 WHERE place = $2 AND user_group_id = $3 AND title = $4";

const PUT: &str = "\
INSERT INTO packed_groups (place, user_group_id, title, packed) VALUES ($1, $2, $3, $4) \
ON CONFLICT (place, user_group_id) DO UPDATE SET title = excluded.title, packed = excluded.packed \
WHERE packed_groups.title <> excluded.title";

/// Writes the copy of a group, in the transaction that wrote the group.
pub(super) fn write(writes: &mut Statements, place: PlaceId, group: &KnownGroup) {
    let (id, title, packed) = (group.id.as_str(), title_key(group), pack(group));
    writes.add_for_sqlite(REPLACE, values![packed.clone(), place.0, id, &title]);
    writes.add_for_sqlite(PUT, values![place.0, id, title, packed]);
}
