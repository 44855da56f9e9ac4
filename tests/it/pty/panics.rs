//! A panic in a console on a real terminal: this test binary starts itself again and plays the console, or the binary
//! breaks at a place that only a build for tests has.

use std::{env, io::Read, thread};

use groupdesk::{
    config::{Environment, UiSettings},
    operations::Clock,
    tui::{
        TuiOptions, prepare,
        runtime::runner::Runner,
        state::message::{Msg, Ticket},
        terminal::Screen,
        theme::Theme,
    },
};

use super::{PATIENCE, Place, assert_given_back, assert_taken};
use crate::support::pty::{Program, Session};

/// Which thread is to panic; only a process started by these tests has it.
const WHERE: &str = "GROUPDESK_TEST_PANIC";
const SECRET: &str = "3fa9c1d290b1e772c04d51aa3fa9c1d2";

/// Not a story of its own: what the started process does.
#[test]
fn player() {
    let Ok(place) = env::var(WHERE) else { return };
    groupdesk::cli::process::panic_report::install();
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

/// Runs the binary, which breaks at a place and gives the terminal back; what it said after that.
fn broken(variables: &[(&str, &str)], arguments: &[&str], how: &str, code: i32) -> String {
    let place = Place::new();
    let mut program = place.groupdesk(arguments).size(24, 120);
    for (name, value) in variables {
        program = program.env(name, *value);
    }
    let message = "a cable came loose near";
    let mut session = program
        .env("GROUPDESK_TEST_BREAK", format!("{how} {message} {SECRET}"))
        .start();
    assert_eq!(session.exit_status(PATIENCE).code(), Some(code));
    assert_given_back(&mut session);
    session.assert_never_written(&SECRET[..8]);
    let screen = session.screen();
    assert!(screen.contains(message), "{screen}");
    assert!(screen.contains("What was being done:"), "{screen}");
    assert!(screen.contains("Nothing was sent."), "{screen}");
    let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
    raw.rsplit("?1049l").next().unwrap_or_default().to_owned()
}

#[test]
fn a_console_that_breaks_says_what_was_being_done_on_the_terminal_of_before() {
    for (how, code, words) in [
        (
            "panic console",
            101,
            "groupdesk stopped by an error of its own: ",
        ),
        ("error console", 2, "the terminal of the console failed"),
    ] {
        for (arguments, command) in [
            (&[][..], "groupdesk, the console"),
            (&["demo"], "groupdesk demo"),
        ] {
            let said = broken(&[("NO_COLOR", "1")], arguments, how, code);
            for words in [words, command] {
                assert!(said.contains(words), "{how}: {said}");
            }
        }
    }
}

/// The sequences of colours and of attributes.
fn is_painted(said: &str) -> bool {
    let mut sequences = said.split("\x1b[").skip(1);
    sequences.any(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
            .starts_with('m')
    })
}

#[test]
fn an_error_of_its_own_is_in_colour_only_where_colours_are_wanted() {
    for (how, code) in [("panic start", 101), ("error start", 2)] {
        assert!(is_painted(&broken(&[], &["list"], how, code)), "{how}");
        for (variables, arguments) in [
            (&[("NO_COLOR", "1")][..], &["list"][..]),
            (&[("TERM", "dumb")], &["list"]),
            (&[], &["--plain"]),
        ] {
            let said = broken(variables, arguments, how, code);
            assert!(!said.contains('\x1b'), "{how}: {variables:?} {said:?}");
        }
    }
    // The console that was asked to be plain by its configuration has no argument that says so.
    for (how, code) in [("panic console", 101), ("error console", 2)] {
        let place = Place::new();
        let config = place.below("config.toml");
        std::fs::write(&config, "plain = true\n").expect("written");
        let config = config.to_string_lossy().into_owned();
        let said = broken(&[("GROUPDESK_CONFIG", &config)], &[], how, code);
        assert!(!is_painted(&said), "{how}: {said:?}");
    }
}
