//! However the console ends, in whatever place, and whatever happens to its terminal: the terminal is restored, soon,
//! without a core dump and without a secret.

mod limits;
mod lines;
mod panics;
mod places;
mod signals;

use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

use super::{BackgroundDemo, TempHome, prelude::*};

/// Only determines how long a failure takes.
const PATIENCE: Duration = Duration::from_mins(1);
/// The time to end when nothing is in flight, beyond that of a start on the same machine.
const SOON: Duration = Duration::from_secs(2);

/// A world without a console, and the secrets that must never be on a terminal.
struct Scene {
    place: TempHome,
    held: BackgroundDemo,
    secrets: Vec<String>,
}

impl Scene {
    fn new() -> Self {
        let place = TempHome::new();
        let held = place.hold();
        let secrets = keys_below(&place);
        assert!(!secrets.is_empty(), "no key was found");
        Self {
            place,
            held,
            secrets,
        }
    }

    fn console(&self) -> Program {
        self.held.console(self.place.groupdesk(&[]))
    }

    /// The console inside a shell with job control.
    fn shell(&self, script: &str) -> Program {
        self.held.console(self.place.shell(script))
    }

    /// No part of a key was ever written to the terminal.
    #[track_caller]
    fn assert_no_secret(&self, session: &mut Session, at: &str) {
        let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
        for secret in &self.secrets {
            assert!(!raw.contains(&secret[..12]), "{at}: a key on the terminal");
        }
    }
}

/// The API keys of the demo: long words in its private files.
fn keys_below(place: &TempHome) -> Vec<String> {
    let files = crate::support::world::files_below(&place.below("tmp")).expect("readable");
    let small = files
        .iter()
        .filter(|file| fs::metadata(file).is_ok_and(|data| data.len() < 200));
    let texts = small.filter_map(|file| fs::read_to_string(file).ok());
    texts
        .map(|text| text.trim().to_owned())
        .filter(|text| text.len() >= 40)
        .collect()
}

/// Waits for the end, and checks that the terminal is as before. Returns how long that took.
#[track_caller]
fn wait_for_end(session: &mut Session, at: &str) -> (ExitStatus, Took) {
    let begin = Instant::now();
    let status = session.exit_status(PATIENCE);
    let took = Took::since(begin, session);
    assert!(
        !status.core_dumped() && status.signal().is_none(),
        "{at}: {status:?}"
    );
    assert_restored(session, at);
    (status, took)
}

/// All modes and all settings.
#[track_caller]
fn assert_restored(session: &mut Session, at: &str) {
    assert_given_back(session);
    assert_eq!(
        session.settings(),
        session.settings_before(),
        "{at}: the settings of the terminal"
    );
    let state = session.terminal_state();
    let mouse = state.mouse_protocol_mode();
    assert_eq!(mouse, vt100::MouseProtocolMode::None, "{at}");
    assert!(
        !state.application_cursor() && !state.application_keypad(),
        "{at}"
    );
}

/// How long an end took, and the start of the same console, which costs more: a busy machine slows both.
#[derive(Debug, Clone, Copy)]
struct Took {
    end: Duration,
    start: Duration,
}

impl Took {
    fn since(begin: Instant, session: &Session) -> Self {
        Self {
            end: begin.elapsed(),
            start: session.start_time(),
        }
    }

    fn is_soon(self) -> bool {
        self.end < SOON + 2 * self.start
    }
}

/// Most ends are soon.
#[track_caller]
fn assert_soon(took: &[Took]) {
    let soon = took.iter().filter(|took| took.is_soon()).count();
    println!("{soon} of {} ends were soon", took.len());
    assert!(2 * soon > took.len(), "{took:?}");
}
