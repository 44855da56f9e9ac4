//! The program that runs in a terminal: the shipped binary.

use super::{Program, Session};

impl Program {
    /// The binary under test.
    pub(crate) fn groupdesk(arguments: &[&str]) -> Self {
        Self::new(env!("CARGO_BIN_EXE_groupdesk"), arguments)
    }

    /// The test binary, running the test of this path.
    pub(crate) fn player(test: &str) -> Self {
        let itself = std::env::current_exe().expect("a path");
        Self::new(itself, &["--exact", test, "--nocapture"])
    }
}

impl Session {
    /// Asserts that the secret was never written to the terminal.
    #[track_caller]
    pub(crate) fn assert_never_written(&mut self, secret: &str) {
        let raw = String::from_utf8_lossy(self.raw_output()).into_owned();
        assert!(!raw.contains(secret), "{raw}");
    }
}
