//! The programs that play in a terminal: the shipped binary, and this one, started again, for what that has no way to ask
//! for.

use super::{Program, Session};

impl Program {
    /// The binary that is being tested.
    pub(crate) fn groupdesk(arguments: &[&str]) -> Self {
        Self::new(env!("CARGO_BIN_EXE_groupdesk"), arguments)
    }

    /// The test binary, which plays the test of this path.
    pub(crate) fn player(test: &str) -> Self {
        let itself = std::env::current_exe().expect("a path");
        Self::new(itself, &["--exact", test, "--nocapture"])
    }
}

impl Session {
    /// Nothing of it was ever written to the terminal.
    #[track_caller]
    pub(crate) fn assert_never_written(&mut self, secret: &str) {
        let raw = String::from_utf8_lossy(self.raw_output()).into_owned();
        assert!(!raw.contains(secret), "{raw}");
    }
}
