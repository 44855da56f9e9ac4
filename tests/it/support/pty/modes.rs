//! The settings of the terminal.

use pty_process::blocking;
use rustix::termios::{LocalModes, tcgetattr};

use super::Session;

impl Session {
    /// Whether the terminal edits and echoes lines, as under a shell. A full-screen program turns both off.
    pub(crate) fn is_cooked(&self) -> bool {
        let modes = tcgetattr(&*self.line().terminal).expect("the modes of the terminal");
        let cooked = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        modes.local_modes.contains(cooked)
    }

    /// All settings of the terminal, as text.
    pub(crate) fn settings(&self) -> String {
        settings(&self.line().terminal)
    }

    /// The settings before the program started.
    pub(crate) fn settings_before(&self) -> String {
        self.before.clone()
    }
}

pub(super) fn settings(terminal: &blocking::Pty) -> String {
    format!(
        "{:?}",
        tcgetattr(terminal).expect("the modes of the terminal")
    )
}
