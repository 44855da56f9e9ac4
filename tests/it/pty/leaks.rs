//! Every place of the console in a real terminal, with a service that repeats key and token: no part of them is written
//! to the terminal or the disk, or stays on the screen, however the console ends.

use super::prelude::*;
use crate::support::{
    canary::{ALL, Canary, KEY, NEW_TOKEN, TOKEN, base64},
    parrot::{USUAL, always, good, parrots},
    wait::wait_until,
    watched::Home,
};

const PATIENCE: Duration = Duration::from_mins(1);
const ESC: &str = "\u{1b}";

/// A key and the words that show that it has led somewhere; then Esc leads back.
const PLACES: [(&str, &str); 10] = [
    ("?", "› Help"),
    (":", "› Palette"),
    ("P", "› Profiles"),
    ("2", "› History"),
    ("3", "› Rotations"),
    ("4", "› Requests"),
    ("m", "› Messages"),
    ("y", "› Copy"),
    ("x", "› Compare acme"),
    ("o", "› Open"),
];

struct Scene {
    home: Home,
    needles: Canary,
}

impl Scene {
    async fn new() -> Self {
        let home = Home::new();
        home.make_known("live", || good(TOKEN, KEY)).await;
        home.make_known("filed", || good(TOKEN, KEY)).await;
        Self {
            home,
            needles: Canary::of(&ALL),
        }
    }

    /// A console with a service that follows this script.
    async fn console(&self, script: Vec<Fault>) -> (Session, Faults) {
        let service = Faults::start(script).await;
        self.home.connect(&service.base_url());
        let program = Program::groupdesk(&[])
            .cwd(&self.home.path(""))
            .size(40, 120);
        let variables = self.home.variables().into_iter();
        let program = variables.fold(program, |program, (name, value)| program.env(name, value));
        let mut session = program.start();
        session.wait_for(" 1 group ", PATIENCE);
        (session, service)
    }

    #[track_caller]
    fn assert_clean(&self, what: &str, session: &mut Session) {
        self.needles.assert_not_in(what, session.raw_output());
    }

    /// Opens a place and goes back.
    fn visit(&self, session: &mut Session, keys: &str, words: &str) {
        session.type_until(keys, words, PATIENCE);
        self.assert_clean(words, session);
        session.send(ESC);
        session.wait_for_no(words, PATIENCE);
    }

    /// Ends the console, and checks everything that is left.
    fn end(&self, mut session: Session, signal: Option<Signal>) {
        match signal {
            Some(signal) => session.signal(signal),
            // Back to the list, and quit.
            None => session.send("\u{3}\u{3}"),
        }
        session.exit_status(PATIENCE);
        self.assert_clean("after the end", &mut session);
        let searched = self.home.search(&self.needles, "a file", &[]);
        assert!(searched >= 3, "{searched} files");
    }
}

/// Back to the list from any depth: two Esc that arrive together would count as one.
fn back(session: &mut Session) {
    for _ in 0..40 {
        session.send(ESC);
        let end = Instant::now() + Duration::from_millis(500);
        while Instant::now() < end {
            if !session.screen().contains("Groups ›") {
                return;
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
    panic!("Esc leads nowhere: {}", session.screen());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_place_of_the_console_shows_a_secret_unasked() {
    let scene = Scene::new().await;
    let (mut session, service) = scene.console(always(good(TOKEN, KEY))).await;
    let mut places = 0;
    for (keys, words) in PLACES {
        scene.visit(&mut session, keys, words);
        places += 1;
    }
    // A pasted token, known and unknown.
    for pasted in [TOKEN, NEW_TOKEN] {
        session.type_until("W", "› Whose token", PATIENCE);
        session.paste(pasted);
        session.send("\r");
        session.wait_until("an answer", PATIENCE, |screen| {
            let text = screen.contents();
            text.contains("acme ") || text.contains("not known") || text.contains("no group")
        });
        scene.assert_clean("whose", &mut session);
        session.send(ESC);
        session.wait_for_no("› Whose token", PATIENCE);
        places += 1;
    }
    // The group, its form, the editor, the review and the request in all its forms.
    scene.visit(&mut session, "\r", "Groups › Acme");
    session.type_until("e", "› Edit acme", PATIENCE);
    session.type_until("x", "1 change", PATIENCE);
    session.send("\x1bOS");
    wait_until("the editor", || scene.home.times_seen("editor") > 0);
    session.wait_for("› Edit acme", PATIENCE);
    session.wait_for("editor", PATIENCE);
    session.type_until("\u{13}", "› Review", PATIENCE);
    session.type_until("v", "\"user_group_id\"", PATIENCE);
    session.type_until("v", "curl", PATIENCE);
    scene.assert_clean("the request", &mut session);
    session.send(ESC);
    session.wait_for_no("› Review", PATIENCE);
    scene.assert_clean("the form", &mut session);
    session.send(ESC);
    session.wait_for_no("› Edit", PATIENCE);
    places += 4;
    // The page of the token, and a rotation that returns the old one.
    session.type_until("t", "› Token of acme", PATIENCE);
    session.wait_for("T rotates it", PATIENCE);
    scene.assert_clean("the token's place", &mut session);
    session.type_until("T", "› Rotate acme", PATIENCE);
    session.wait_for("ROTATE NOW", PATIENCE);
    session.send("y");
    wait_until("the rotation", || {
        service
            .requests()
            .iter()
            .any(|request| request.head().starts_with("POST"))
    });
    session.wait_for("NOT rotated", PATIENCE);
    scene.assert_clean("the rotation", &mut session);
    places += 2;
    session.send(ESC);
    session.wait_for_no("› Token", PATIENCE);
    // All messages and requests about it, in full.
    for (keys, words) in [("4", "› Requests"), ("m", "› Messages")] {
        session.type_until(keys, words, PATIENCE);
        session.send("\r");
        scene.assert_clean(words, &mut session);
        back(&mut session);
        places += 1;
    }
    println!("{places} places, {} requests", service.requests().len());
    assert!(places >= 20);
    scene.end(session, None);
    assert!(scene.home.times_seen("editor") > 0);
}

/// Every failure, from the list to the messages, and every way to end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_failure_puts_a_secret_on_the_screen_or_the_disk() {
    let scene = Scene::new().await;
    let ends = [
        None,
        Some(Signal::TERM),
        Some(Signal::HUP),
        Some(Signal::KILL),
        Some(Signal::ABORT),
    ];
    let cases = long::spread(parrots(USUAL, TOKEN, NEW_TOKEN).into_iter().enumerate(), 4);
    println!("{} consoles with failures", cases.len());
    for (at, (name, fault)) in cases {
        let (mut session, service) = scene.console(always(fault)).await;
        // The read for a group, for a form and for a token fails in different ways.
        let requests = || service.connections().max(service.requests().len());
        session.type_until("\r", "› Acme", PATIENCE);
        wait_until(name, || requests() > 0);
        scene.assert_clean(name, &mut session);
        session.send(ESC);
        session.wait_for_no("› Acme", PATIENCE);
        for (keys, words) in [("e", "› Edit acme"), ("t", "› Token of acme")] {
            scene.visit(&mut session, keys, words);
        }
        for (keys, words) in [("4", "› Requests"), ("m", "› Messages"), ("2", "› History")] {
            session.type_until(keys, words, PATIENCE);
            scene.assert_clean(&format!("{name}: {words}"), &mut session);
            session.send("\r");
            back(&mut session);
        }
        scene.assert_clean(name, &mut session);
        scene.end(session, ends[at % ends.len()]);
    }
}

/// When asked for, the token is shown only on the alternate screen, so that the terminal keeps nothing of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revealed_token_is_not_in_the_scrollback() {
    let scene = Scene::new().await;
    for end in [None, Some(Signal::TERM), Some(Signal::HUP)] {
        let (mut session, _service) = scene.console(always(good(TOKEN, KEY))).await;
        session.type_until("t", "T rotates it", PATIENCE);
        session.type_until("v", TOKEN, PATIENCE);
        session.send("v");
        session.wait_for_no(TOKEN, PATIENCE);
        session.type_until("v", TOKEN, PATIENCE);
        let arguments = std::fs::read(format!("/proc/{}/cmdline", session.pid()));
        scene
            .needles
            .assert_not_in("the arguments", arguments.expect("it runs"));
        match end {
            Some(signal) => session.signal(signal),
            None => session.send("\u{3}\u{3}"),
        }
        session.exit_status(PATIENCE);
        let raw = session.raw_output();
        let shown = String::from_utf8_lossy(raw).matches(TOKEN).count();
        assert_eq!(shown, 2, "only when asked");
        let mut terminal = vt100::Parser::new(
            40.try_into().expect("rows"),
            120.try_into().expect("columns"),
            10_000,
        );
        terminal.process(raw);
        terminal.screen_mut().set_scrollback(usize::MAX);
        let above = terminal.screen().contents();
        terminal.screen_mut().set_scrollback(0);
        let left = above + &terminal.screen().contents();
        assert!(!terminal.screen().alternate_screen());
        scene.needles.assert_not_in("the scrollback", &left);
        // A title would keep it, too.
        for title in titles(raw) {
            scene.needles.assert_not_in("the title", &title);
        }
        scene.home.search(&scene.needles, "a file", &[]);
        assert!(
            !raw.windows(20)
                .any(|window| window == &base64(TOKEN.as_bytes(), false).as_bytes()[..20])
        );
    }
}

/// The texts between `ESC ]` and its terminator.
fn titles(raw: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(raw).into_owned();
    let titles = text.split("\u{1b}]").skip(1);
    titles
        .map(|rest| {
            let end = rest.find(['\u{7}', '\u{1b}']).unwrap_or(rest.len());
            rest.as_bytes()[..end].to_vec()
        })
        .collect()
}
