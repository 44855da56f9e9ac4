//! The journal of mutations.

macro_rules! columns {
    () => {
        "id, user_group_id, operation, state, rotation_id, by, profile, started_at, sent_at, boot_clock, ending, note, \
         changes"
    };
}

macro_rules! holds {
    () => {
        "state IN ('intended', 'sent', 'unknown')"
    };
}

macro_rules! is_open {
    () => {
        "state IN ('intended', 'sent', 'unknown', 'open')"
    };
}

/// Also one of a place that became this one.
pub(in crate::directory) const HOLDER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM mutations WHERE place = $1 AND user_group_id = $2 AND ",
    holds!(),
    " ORDER BY id DESC LIMIT 1"
);

/// Nothing is returned where another one holds the group.
pub(in crate::directory) const BEGIN: &str = "\
INSERT INTO mutations (place, user_group_id, operation, state, rotation_id, by, profile, key, reason, started_at, \
 boot_clock, changes) \
VALUES ($1, $2, $3, 'intended', $4, $5, $6, $7, $8, $9, $10, $11) \
ON CONFLICT DO NOTHING RETURNING id";

pub(in crate::directory) const ONE: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM mutations WHERE place = $1 AND id = $2"
);

/// Those of rotations stand in their own journal.
pub(in crate::directory) const OPEN: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM mutations WHERE place = $1 AND rotation_id IS NULL AND ",
    is_open!(),
    " ORDER BY id DESC"
);

pub(in crate::directory) const OPEN_OF_GROUP: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM mutations WHERE place = $1 AND user_group_id = $2 AND rotation_id IS NULL AND ",
    is_open!(),
    " ORDER BY id DESC"
);

/// Compare and set: changes nothing where the state is not the expected one.
pub(in crate::directory) const STEP: &str = "\
UPDATE mutations SET state = $1, sent_at = COALESCE(sent_at, $2), boot_clock = COALESCE($3, boot_clock), \
 ended_at = COALESCE(ended_at, $4), ending = COALESCE($5, ending), note = COALESCE($6, note), \
 changes = COALESCE($7, changes) \
WHERE place = $8 AND id = $9 AND state = $10";

/// The outcome of something that was sent counts: readings that left before it say nothing any more.
pub(in crate::directory) const COUNT_RECORDED: &str = "\
UPDATE mutations SET recorded = (SELECT COALESCE(MAX(other.recorded), 0) + 1 FROM mutations other \
 WHERE other.place = mutations.place AND other.user_group_id = mutations.user_group_id) WHERE id = $1";

pub(in crate::directory) const RECORDED: &str = "\
SELECT COALESCE(MAX(recorded), 0) FROM mutations WHERE place = $1 AND user_group_id = $2";

/// A rotation takes its claim along.
pub(in crate::directory) const FOLLOW_ROTATION: &str = "\
UPDATE mutations SET state = $1, sent_at = COALESCE(sent_at, $2), boot_clock = COALESCE($3, boot_clock), \
 ended_at = COALESCE(ended_at, $4), ending = COALESCE($5, ending) WHERE rotation_id = $6";

/// The open states, as the index `mutations_open` lists them.
#[cfg(test)]
pub(in crate::directory) const IS_OPEN: &str = is_open!();
/// Those that hold the group, as the index `mutations_one_per_group` lists them.
#[cfg(test)]
pub(in crate::directory) const HOLDS: &str = holds!();
