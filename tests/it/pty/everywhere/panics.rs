//! Panics while drawing, while handling a key, and in a job. The shipped binary cannot be made to panic in the first two,
//! so the test binary starts itself again and plays the console.

use std::{env, io};

use crossterm::event::Event;
use futures_util::StreamExt;
use groupdesk::{
    config::{Environment, UiSettings},
    domain::token::Token,
    operations::Clock,
    tui::{
        TuiOptions,
        keymap::Keymap,
        prepare,
        runtime::runner::{Runner, Screen},
        state::message::Msg,
        terminal::{self, Input, InputEvent},
        theme::Theme,
    },
};

use super::{super::prelude::*, PATIENCE, Scene, assert_soon, wait_for_end};
use crate::console::a_world;

/// Where to panic; set only for processes started by these tests.
const WHERE: &str = "GROUPDESK_TEST_BANG";
/// The keys to press before.
const KEYS: &str = "GROUPDESK_TEST_KEYS";
const SECRET: &str = "canary3fa9c1d290b1e772c04d51aa3fa9c1d2";

/// The terminal's screen, which panics when told to.
struct FailingScreen {
    screen: terminal::Screen,
    /// Draws until then.
    is_lit: bool,
}

impl Screen for FailingScreen {
    fn draw(&mut self, render: terminal::Render<'_>) -> io::Result<()> {
        let is_lit = self.is_lit;
        self.screen.draw(&mut |buffer| {
            let cursor = render(buffer);
            assert!(!is_lit, "no room for {SECRET}");
            cursor
        })
    }

    fn copy(&mut self, text: &Token) -> io::Result<()> {
        self.screen.copy(text.expose())
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.screen.suspend()
    }

    fn give_away(&mut self) -> io::Result<()> {
        self.screen.give_away()
    }

    fn take_back(&mut self) -> io::Result<Option<(u16, u16)>> {
        self.screen.take_back().map(|()| None)
    }

    fn continued(&mut self) -> io::Result<()> {
        self.screen.continued()
    }

    fn redraw(&mut self) {
        self.screen.redraw();
    }
}

/// Not a test of its own: what the started process does.
#[tokio::test(flavor = "multi_thread")]
async fn player() {
    let Ok(place) = env::var(WHERE) else { return };
    let world = a_world().await;
    groupdesk::cli::process::panic_report::install();
    let screen = terminal::Screen::enter(true).expect("a terminal");
    let mut input = Input::open().expect("a keyboard");
    let start = TuiOptions {
        operations: vec![world.operations(Side::Testing)],
        current: 0,
        selection: None,
        operator: "ana".into(),
        config_file: None,
        ascii: false,
        ui: UiSettings::default(),
        environment: Environment::of_process(),
        connector: None,
        keys: Keymap::default(),
        greeting: Vec::new(),
        is_ephemeral: false,
    };
    let (app, works) = prepare(start, Theme::default(), (80, 24), Clock::System.now());
    let fused = FailingScreen {
        screen,
        is_lit: false,
    };
    let mut runner = Runner::new(app, fused, works, Clock::System);
    runner.settle().await.expect("drawn");
    for key in crate::support::console::parse(&env::var(KEYS).expect("keys")) {
        runner.take(Msg::Key(key));
        runner.settle().await.expect("drawn");
    }
    let Some(Ok(InputEvent::Event(Event::Key(key)))) = input.next().await else {
        return;
    };
    if place == "update" {
        // The bottom pane is always there, so that handling a key now panics.
        runner.app.stack.clear();
    }
    runner.screen.is_lit = true;
    runner.take(Msg::Key(key));
    runner.draw().expect("drawn");
}

fn play(place: &str, keys: &str) -> Session {
    let name = module_path!().split_once("::").map_or("", |(_, path)| path);
    let name = format!("{name}::player");
    let mut session = Program::player(&name)
        .env(WHERE, place)
        .env(KEYS, keys)
        .env("RUST_BACKTRACE", "full")
        .start();
    session.wait_for("? help", PATIENCE);
    assert_taken(&mut session);
    session
}

/// Places in which the console panics, each with an ordinary hint at the lower right.
const PLACES: [&str; 8] = ["", "<enter>", "t", "2", "3", "4", "m", "tT<esc>"];

#[test]
fn a_panic_of_the_console_restores_the_terminal_in_every_place() {
    let mut took = Vec::new();
    for place in ["draw", "update"] {
        for keys in long::spread(PLACES, 8) {
            let mut session = play(place, keys);
            session.send("j");
            let (status, time) = wait_for_end(&mut session, keys);
            // The exit code of the test harness, whose test has failed.
            assert_eq!(status.code(), Some(101), "{place} after {keys:?}");
            // The backtrace follows.
            let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
            assert!(raw.contains("groupdesk crashed (internal error)"), "{raw}");
            assert!(
                place != "draw" || raw.contains("panics.rs:"),
                "where? {raw}"
            );
            session.assert_never_written(&SECRET[..10]);
            took.push(time);
        }
    }
    println!("{} panics", took.len());
    assert_soon(&took);
}

#[test]
fn a_panic_in_a_job_is_a_message_and_the_console_continues() {
    let scene = Scene::new();
    let program = scene.console().env(
        "GROUPDESK_TEST_BREAK",
        format!("panic BeforeGet no answer for {SECRET}"),
    );
    let mut session = program.start();
    session.wait_for("10 groups", PATIENCE);
    let before = session.raw_output().len();
    session.type_until("\r", "no answer for", PATIENCE);
    assert_taken(&mut session);
    let since = String::from_utf8_lossy(&session.raw_output()[before..]).into_owned();
    assert!(!since.contains("[?1049"), "the screen was left: {since:?}");
    session.type_until("\x1b", "10 groups", PATIENCE);
    session.type_until("j", ">   Acme US", PATIENCE);
    session.signal(rustix::process::Signal::TERM);
    let (status, time) = wait_for_end(&mut session, "after a panic in a job");
    assert_eq!(status.code(), Some(130));
    session.assert_never_written(&SECRET[..10]);
    assert_soon(&[time]);
}
