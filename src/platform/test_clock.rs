//! How far tests have moved the clocks of this process ahead. Without the feature `failpoints` they cannot be moved.

use std::time::Duration;

/// Environment variable that names the file of [`ahead_by`] for a whole process.
#[cfg(feature = "failpoints")]
pub const TEST_CLOCK: &str = "GROUPDESK_TEST_CLOCK";

/// Added to every clock of this process.
#[cfg(feature = "failpoints")]
pub(crate) fn ahead() -> Duration {
    use std::{env, path::PathBuf, sync::OnceLock};
    static FILE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let file = FILE.get_or_init(|| env::var_os(TEST_CLOCK).map(PathBuf::from));
    file.as_deref().map_or(Duration::ZERO, ahead_by)
}

#[cfg(not(feature = "failpoints"))]
pub(crate) const fn ahead() -> Duration {
    Duration::ZERO
}

/// The milliseconds that the file contains now.
///
/// # Panics
/// Panics if it contains none.
#[cfg(feature = "failpoints")]
pub(crate) fn ahead_by(file: &std::path::Path) -> Duration {
    let text = std::fs::read_to_string(file).expect("the file of the test clock");
    Duration::from_millis(text.trim().parse().expect("milliseconds"))
}
