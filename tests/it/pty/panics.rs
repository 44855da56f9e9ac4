//! A panic in a console on a real terminal. The shipped binary has no way to ask for one, so this test binary starts
//! itself again and plays the console.

use std::{env, io::Read, thread};

use groupdesk::{
    config::{Environment, UiSettings},
    operations::Clock,
    tui::{
        TuiOptions, prepare,
        runtime::runner::Runner,
        state::message::{Msg, Ticket},
        terminal::{Screen, install_panic_hook},
        theme::Theme,
    },
};

use super::{PATIENCE, assert_given_back, assert_taken};
use crate::support::pty::{Program, Session};

/// Which thread is to panic; only a process started by these tests has it.
const WHERE: &str = "GROUPDESK_TEST_PANIC";
const SECRET: &str = "3fa9c1d290b1e772c04d51aa3fa9c1d2";

/// Not a story of its own: what the started process does.
#[test]
fn player() {
    let Ok(place) = env::var(WHERE) else { return };
    install_panic_hook();
    let screen = Screen::enter(false).expect("a terminal");
    let start = TuiOptions {
        operations: Vec::new(),
        current: 0,
        operator: "ana".into(),
        config_file: None,
        ascii: false,
        comfort: UiSettings::default(),
        environment: Environment::of_process(),
        connector: None,
        keys: groupdesk::tui::keymap::Keymap::default(),
        greeting: Vec::new(),
        is_thrown_away: false,
    };
    let now = Clock::System.now();
    let (app, works) = prepare(start, Theme::default(), (80, 24), now);
    let mut runner = Runner::new(app, screen, works, Clock::System);
    runner.draw().expect("drawn");
    wait_for_key();
    if place == "console" {
        bang();
    }
    assert!(thread::spawn(bang).join().is_err());
    runner.draw().expect("drawn");
    wait_for_key();
    runner.take(Msg::Lost(Ticket(7)));
    runner.draw().expect("drawn");
    wait_for_key();
}

fn bang() {
    panic!("a cable came loose near {SECRET}");
}

fn wait_for_key() {
    std::io::stdin().read_exact(&mut [0]).expect("a key");
}

fn play(place: &str) -> Session {
    let mut session = Program::player("pty::panics::player")
        .env(WHERE, place)
        .start();
    session.wait_for("No profile is configured yet", PATIENCE);
    assert_taken(&mut session);
    session
}

#[test]
fn a_panic_of_the_console_gives_the_terminal_back_and_says_where() {
    let mut session = play("console");
    session.send("x");
    let screen = session.wait_for("groupdesk stopped by an error of its own: ", PATIENCE);
    assert!(!screen.contains("No profile is configured"), "{screen}");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(101));
    assert_given_back(&mut session);
    let screen = session.screen();
    assert!(screen.contains("a cable came loose"), "{screen}");
    assert!(screen.contains("panics.rs:"), "{screen}");
    session.assert_never_written(&SECRET[..8]);
}

#[test]
fn a_panic_elsewhere_leaves_the_screen_alone_and_becomes_a_message() {
    let mut session = play("elsewhere");
    let before = session.raw_output().len();
    session.send("x");
    // The frame after the panic differs in nothing; the one after the next key has the message.
    session.send("x");
    let screen = session.wait_for("a cable came loose", PATIENCE);
    assert!(screen.contains("No profile is configured"), "{screen}");
    assert_taken(&mut session);
    let since = String::from_utf8_lossy(&session.raw_output()[before..]).into_owned();
    assert!(!since.contains("[?1049"), "the screen was left: {since:?}");
    session.assert_never_written(&SECRET[..8]);
    session.send("x");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    assert_given_back(&mut session);
}
