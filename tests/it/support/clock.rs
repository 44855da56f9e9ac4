//! The time of the programs that a test starts, and a clock that a test can move ahead for any number of installations
//! and programs.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use groupdesk::operations::Clock;

/// Environment variables that child processes inherit from the tests, so that both have the same day and time zone.
const TIME: [&str; 5] = [
    "TZ",
    "LD_PRELOAD",
    "FAKETIME",
    "FAKETIME_SHARED",
    "FAKETIME_DONT_FAKE_MONOTONIC",
];

/// The variables of `faketime` and the time zone, for programs that get no other variables.
pub(crate) fn outer() -> impl Iterator<Item = (&'static str, OsString)> {
    let is_preloaded = env::var("LD_PRELOAD").is_ok_and(|libraries| libraries.contains("faketime"));
    let names = TIME.iter().copied();
    names
        .filter(move |name| *name != "LD_PRELOAD" || is_preloaded)
        .filter_map(|name| Some((name, env::var_os(name)?)))
}

/// The system time plus an offset that only grows. Programs use it through [`TestClock::variable`], installations in
/// this process through [`TestClock::clock`].
pub(crate) struct TestClock {
    file: PathBuf,
    ahead: AtomicU64,
}

impl TestClock {
    /// A clock without an offset. Its file is created in this folder.
    pub(crate) fn new(folder: &Path) -> Self {
        let clock = Self {
            file: folder.join("clock"),
            ahead: AtomicU64::new(0),
        };
        clock.forward(Duration::ZERO);
        clock
    }

    /// Moves the clock ahead, for all its users at once.
    pub(crate) fn forward(&self, by: Duration) {
        let by = u64::try_from(by.as_millis()).expect("not that long");
        let ahead = self.ahead.fetch_add(by, Ordering::SeqCst) + by;
        // The file is replaced atomically, so that no reader sees it half written.
        let new = self.file.with_extension("new");
        fs::write(&new, ahead.to_string()).expect("written");
        fs::rename(new, &self.file).expect("replaced");
    }

    pub(crate) fn clock(&self) -> Clock {
        Clock::Ahead(Box::leak(self.file.clone().into_boxed_path()))
    }

    /// Name and value of the variable for a program's environment.
    pub(crate) fn variable(&self) -> (&'static str, String) {
        (
            groupdesk::operations::TEST_CLOCK,
            self.file.display().to_string(),
        )
    }
}
