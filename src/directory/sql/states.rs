//! The sets of states that several requests ask for, each spelled once.

/// Open rotations, as in the index `rotations_open`.
macro_rules! open_states {
    () => {
        "state IN ('intended', 'sent', 'rotated', 'unknown')"
    };
}

/// Conflicts that are neither abandoned nor followed by a rotation that ended with a newer token.
macro_rules! conflicts {
    () => {
        "state = 'conflict' AND NOT EXISTS (SELECT 1 FROM rotations later WHERE later.place = rotations.place \
         AND later.user_group_id = rotations.user_group_id AND later.id > rotations.id \
         AND later.state IN ('confirmed', 'recovered', 'superseded'))"
    };
}

/// What holds its group, a rotation or another mutation, as in the index `mutations_one_per_group`.
macro_rules! holds {
    () => {
        "state IN ('intended', 'sent', 'unknown')"
    };
}

/// Open mutations, as in the index `mutations_open`.
macro_rules! is_open {
    () => {
        "state IN ('intended', 'sent', 'unknown', 'open')"
    };
}

/// Who stated the fact `sole_writer` of a directory that was restored or copied: `RESTORED` in `domain::facts`.
macro_rules! restored {
    () => {
        "'a restored or copied directory'"
    };
}

pub(super) use {conflicts, holds, is_open, open_states, restored};

#[cfg(test)]
mod tests {
    use crate::{directory::tables::MIGRATIONS, domain::facts::RESTORED};

    #[test]
    fn a_restored_directory_is_named_alike_everywhere() {
        assert_eq!(restored!(), format!("'{RESTORED}'"));
        assert!(MIGRATIONS[0].text.contains(restored!()));
    }
}
