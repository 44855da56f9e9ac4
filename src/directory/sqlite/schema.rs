//! The versions of the schema of a directory file, how long to wait for its lock, and the names of the files beside it.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// Only ever appended to; the index in the list is the `user_version` that a migration starts from.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("../../../assets/migrations/directory/0001_begin.sql"),
    include_str!("../../../assets/migrations/directory/0002_batches_and_handoff.sql"),
    include_str!("../../../assets/migrations/directory/0003_boot_clock.sql"),
    include_str!("../../../assets/migrations/directory/0004_console.sql"),
    include_str!("../../../assets/migrations/directory/0005_drafts.sql"),
    include_str!("../../../assets/migrations/directory/0006_imports.sql"),
    include_str!("../../../assets/migrations/directory/0007_places.sql"),
    include_str!("../../../assets/migrations/directory/0008_mutations.sql"),
    include_str!("../../../assets/migrations/directory/0009_annotations.sql"),
    include_str!("../../../assets/migrations/directory/0010_batches_of_edits.sql"),
    include_str!("../../../assets/migrations/directory/0011_changes.sql"),
    include_str!("../../../assets/migrations/directory/0012_packed_groups.sql"),
    include_str!("../../../assets/migrations/directory/0013_hidden_and_stopped.sql"),
    include_str!("../../../assets/migrations/directory/0014_rotations_of_group.sql"),
    include_str!("../../../assets/migrations/directory/0015_batch_runs.sql"),
    include_str!("../../../assets/migrations/directory/0016_scheduled_runs.sql"),
    include_str!("../../../assets/migrations/directory/0017_order.sql"),
    include_str!("../../../assets/migrations/directory/0018_titles.sql"),
];

/// From this version on groups have titles.
pub(super) const FIRST_WITH_TITLES: i64 = 18;

pub(super) const NEWEST: i64 = MIGRATIONS.len() as i64;

pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

pub(in crate::directory) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
