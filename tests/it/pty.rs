//! The shipped program in a real terminal: what no other test can see, including the state of the terminal itself.

mod batch;
mod cost;
mod drafts;
mod editor;
mod end;
mod everywhere;
mod first_screen;
mod flow;
mod hanging;
mod idle;
mod in_flight;
mod key_command;
mod keyboard;
mod leaks;
mod looks;
mod mouse;
mod panics;
mod place;
mod plain;
mod prelude;
mod resize;
mod shells;
mod stalled;
mod suspend;
mod texts;

use std::time::Duration;

pub(crate) use idle::assert_comes_to_rest;
use suspend::children;

pub(crate) use place::{BackgroundDemo, TempHome, processes_of_session, wait_until};

use crate::support::pty::Session;

/// Only determines how long a failure takes; no successful wait is this long.
const PATIENCE: Duration = Duration::from_mins(1);

/// Checks that the terminal is as a shell left it: main screen, cursor, no bracketed paste, line editing and echo.
#[track_caller]
pub(crate) fn assert_given_back(session: &mut Session) {
    assert!(session.is_cooked(), "raw mode was left on");
    let state = session.terminal_state();
    assert!(!state.alternate_screen(), "the alternate screen was left");
    assert!(!state.bracketed_paste(), "bracketed paste was left on");
    assert!(!state.hide_cursor(), "the cursor was left hidden");
}

/// Checks that the terminal is in the state of a full-screen program.
#[track_caller]
pub(crate) fn assert_taken(session: &mut Session) {
    assert!(!session.is_cooked(), "no raw mode");
    let state = session.terminal_state();
    assert!(state.alternate_screen(), "not the alternate screen");
    assert!(state.bracketed_paste(), "no bracketed paste");
}

/// Quits from the list.
#[track_caller]
pub(crate) fn quit(session: &mut Session) {
    session.send("q");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    assert_given_back(session);
}
