//! The versions of the schema of a directory file, and how long to wait for its lock.

use std::{ops::RangeInclusive, time::Duration};

/// Those of releases up to 0.2.0; the index in the list is the `user_version` that a migration starts from.
pub(super) const RELEASED: [&str; 8] = [
    include_str!("../../../assets/migrations/directory/0001_begin.sql"),
    include_str!("../../../assets/migrations/directory/0002_batches_and_handoff.sql"),
    include_str!("../../../assets/migrations/directory/0003_boot_clock.sql"),
    include_str!("../../../assets/migrations/directory/0004_console.sql"),
    include_str!("../../../assets/migrations/directory/0005_drafts.sql"),
    include_str!("../../../assets/migrations/directory/0006_imports.sql"),
    include_str!("../../../assets/migrations/directory/0007_places.sql"),
    include_str!("../../../assets/migrations/directory/0008_mutations.sql"),
];

/// From the last of them to [`NEWEST`].
const LATEST: &str = include_str!("../../../assets/migrations/directory/0020_teams.sql");

/// Versions 9 to 19 are those of development versions.
pub(super) const NEWEST: i64 = 20;

/// The versions that are upgraded.
pub(super) const OLDER: RangeInclusive<i64> = 1..=RELEASED.len() as i64;

/// The migrations of a file of this version, 0 for a new one; none of the newest.
pub(super) fn migrations_from(version: i64) -> impl Iterator<Item = &'static str> {
    let all = (0..).zip(RELEASED).chain([(NEWEST - 1, LATEST)]);
    all.filter(move |(starts_from, _)| *starts_from >= version)
        .map(|(_, text)| text)
}

pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
