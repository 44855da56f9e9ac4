//! Turns off the echo of the terminal. It is off before the prompt appears, so that text pasted at once is not shown,
//! and restored however the question ends.

use std::io::{self, IsTerminal};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// While this lives, standard input is not echoed.
pub(crate) struct NoEcho(Option<Termios>);

impl NoEcho {
    /// Does nothing if standard input is not a terminal.
    pub(crate) fn new() -> io::Result<Self> {
        let stdin = io::stdin();
        if !stdin.is_terminal() {
            return Ok(Self(None));
        }
        let before = tcgetattr(&stdin)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        quiet
            .local_modes
            .insert(LocalModes::ECHONL | LocalModes::ICANON);
        tcsetattr(&stdin, OptionalActions::Now, &quiet)?;
        Ok(Self(Some(before)))
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.0.is_some()
    }
}

impl Drop for NoEcho {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // A terminal that is gone needs no echo.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}
