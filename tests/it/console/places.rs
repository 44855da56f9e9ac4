//! Every place (focus) in every window and on every terminal: it fits, it says where one is, and it cuts no key.

use groupdesk::{domain::text::is_hidden, tui::keymap::Key};

use super::prelude::*;

/// From the smallest to the largest, and one that is too small.
pub(crate) const SIZES: [(u16, u16); 8] = [
    (40, 8),
    (40, 10),
    (60, 15),
    (80, 24),
    (100, 30),
    WIDE,
    LARGEST,
    (39, 7),
];

const WIDE: (u16, u16) = (160, 50);
const LARGEST: (u16, u16) = (500, 200);

/// What must hold for every screen.
#[track_caller]
pub(crate) fn assert_screen(console: &Console, place: &str) {
    let buffer = console.buffer();
    let installation = &console.runner.app.context;
    let screen = console.screen();
    let at = format!("{place} at {:?}:\n{screen}", installation.size);
    for cell in buffer.content() {
        let symbol = cell.symbol();
        let is_ascii = matches!(symbol.as_bytes(), [b' '..=b'~']);
        assert!(
            is_ascii || !symbol.chars().any(is_hidden),
            "{symbol:?} in {at}"
        );
        if !installation.theme.colour {
            assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset), "{at}");
        }
    }
    let lines: Vec<&str> = screen.lines().collect();
    if installation.size.0 < 40 || installation.size.1 < 8 {
        let word = installation
            .profile()
            .expect("one is chosen")
            .environment_word();
        assert!(screen.starts_with(&format!(" {word} ")), "{at}");
        assert!(screen.contains("needs 40x8"), "{at}");
        assert_eq!(screen.trim().lines().count(), 1, "{at}");
        return;
    }
    for line in &lines {
        assert!(width(line) <= usize::from(installation.size.0), "{at}");
    }
    let word = installation
        .profile()
        .expect("one is chosen")
        .environment_word();
    assert!(lines[0].starts_with(&format!(" {word} ")), "{at}");
    assert!(lines[1].starts_with(" Groups"), "{at}");
    let top = console.runner.app.top();
    let word = |action, usual| match top.disabled(action, installation) {
        Some(_) => None,
        None => top.hint(action, installation).or(Some(usual)),
    };
    footer(lines[lines.len() - 1], top.focus(), &word, &at);
}

/// From this length of a footer on, the first key and the way out fit.
const ROOMY: usize = 60;

/// The footer must have whole hints of the keys of this place, in order, at last the way out, with the help at the end;
/// `word` is `None` for other lines.
fn footer(
    line: &str,
    focus: Focus,
    word: &dyn Fn(Action, &'static str) -> Option<&'static str>,
    at: &str,
) {
    let help = if focus.takes_text() {
        "F1 help"
    } else {
        "? help"
    };
    let hints = line
        .strip_suffix(help)
        .unwrap_or_else(|| panic!("no {help:?} in {at}"));
    let mut rest = hints.trim();
    let (mut is_full, mut is_first) = (false, true);
    for binding in keymap::bindings(focus).filter(|binding| !binding.hint.is_empty()) {
        let word = word(binding.action, binding.hint);
        let Some(word) = word.filter(|word| !word.is_empty()) else {
            continue;
        };
        let key = Key::named(binding.keys[0]).expect("a key");
        let hint = format!("{} {word}", Key::shown(key));
        let is_way_out = binding.action == Action::Back;
        // Where it is short of room, the way out leaves its explanation.
        let short = hint.split(" (").next().filter(|_| is_way_out);
        let short = short.and_then(|short| rest.strip_prefix(short));
        match rest.strip_prefix(&hint).or(short) {
            Some(left) if is_way_out || !is_full => rest = left.trim_start(),
            // From here on there is no room, except for the way out.
            _ => is_full = true,
        }
        let is_kept = is_way_out || std::mem::take(&mut is_first);
        let is_there = !is_kept || hints.len() < ROOMY || hints.contains(&hint);
        assert!(is_there, "{hint:?} is not in {at}");
    }
    assert_eq!(rest, "", "{at}");
}

#[rustfmt::skip] // A table: one case per line.
const THEMES: [Theme; 3] = [
    Theme { colour: true, ascii: false, palette: Palette::NAMED },
    Theme { colour: false, ascii: false, palette: Palette::NAMED },
    Theme { colour: true, ascii: true, palette: Palette::NAMED },
];

#[tokio::test(flavor = "multi_thread")]
async fn every_place_fits_every_window_and_every_terminal_and_shows_no_secret_unasked() {
    let world = a_world().await;
    for side in [Side::Testing, Side::Production] {
        for (number, (script, _)) in places().enumerate() {
            if side == Side::Production && script.starts_with('P') {
                continue;
            }
            let mut console = open(&world, side, USUAL).await;
            console.keys(script).await;
            let debug = format!("{:?}", console.runner.app);
            let secrets = world.secrets();
            assert!(!secrets.iter().any(|one| is_in(&debug, one)), "{script}");
            // In production only the words are others.
            if side == Side::Production && !number.is_multiple_of(4) && !long::all() {
                console.resize(WIDE);
                assert_screen(&console, script);
                assert_hides(&console, &secrets, script);
                continue;
            }
            for theme in THEMES {
                console.on(theme);
                // Every size with the first one; with the others, in which only signs and colours differ, these.
                let is_first = theme == THEMES[0] || long::all();
                let some = [SIZES[0], USUAL, WIDE];
                for size in SIZES
                    .into_iter()
                    .filter(|size| is_first || some.contains(size))
                {
                    console.resize(size);
                    assert_screen(&console, script);
                    if size == WIDE {
                        assert_hides(&console, &secrets, script);
                    }
                    if theme.ascii {
                        let screen = console.screen();
                        assert!(screen.is_ascii(), "{script} at {size:?}:\n{screen}");
                    }
                }
            }
            // And back: nothing of a small window stays.
            console.resize(USUAL);
            assert_screen(&console, script);
        }
    }
    world.scan_installations(&world.secrets());
}

/// No secret is shown, nor a part of one, at the edge of a window or a field.
#[track_caller]
fn assert_hides(console: &Console, secrets: &[String], script: &str) {
    let screen = console.screen();
    for secret in secrets {
        for part in [&secret[..20], &secret[secret.len() - 20..]] {
            assert!(!is_in(&screen, part), "{script}:\n{screen}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_profile_the_console_says_how_to_connect_and_offers_the_demo() {
    let mut console = open_with(Vec::new()).await;
    console
        .shows("No profile is configured yet")
        .shows("/home/ana/.config/groupdesk/config.toml")
        .shows("d demo");
    for size in SIZES {
        console.resize(size);
    }
    console.resize(USUAL);
    console
        .keys("P")
        .await
        .shows("Not available: no profile is configured yet");
    console.tick(NOW + jiff::SignedDuration::from_secs(1));
    console
        .keys("2o1re<tab>x")
        .await
        .shows("No profile is configured yet");
    assert_eq!(console.runner.reason(), None);
    console.keys("d").await;
    assert_eq!(console.runner.reason(), Some(ExitReason::Demo));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_path_to_a_place_is_named() {
    let world = a_world().await;
    let mut console = open(&world, Side::Production, USUAL).await;
    for (key, way) in [
        ("<enter>", " Groups › Acme Europe"),
        ("e", " Groups › Acme Europe › Edit acme-eu"),
        (
            "<end> 2<ctrl-s>",
            " Groups › Acme Europe › Edit acme-eu › Review",
        ),
        ("?", " Groups › Acme Europe › Edit acme-eu › Review › Help"),
        ("<esc><esc><esc>2", " Groups › Acme Europe › History"),
        ("<esc>t", " Groups › Acme Europe › Token of acme-eu"),
        ("T", " Groups › Acme Europe › Rotate acme-eu"),
        ("<esc>1", " Groups  "),
    ] {
        console.keys(key).await;
        let screen = console.screen();
        let line = screen.lines().nth(1).expect("a second line");
        assert!(
            format!("{line}  ").starts_with(way),
            "{way:?} is not {line:?}"
        );
    }
}

/// The window may be resized at any moment: nothing panics, and at the end the screen is that of a new console.
#[tokio::test(flavor = "multi_thread")]
async fn fast_resizing_breaks_no_place() {
    let world = a_world().await;
    for (script, _) in long::spread(places(), 3) {
        let mut console = open(&world, Side::Testing, USUAL).await;
        console.keys(script).await;
        let before = console.screen();
        // Every small size in both directions, and a random walk through the large ones.
        let small =
            (1..=48).flat_map(|width| [(width, 9), (41, 1 + width / 2), (width, 49 - width)]);
        // The large ones cost most of the time.
        let steps = if long::all() { 25 } else { 8 };
        let large = (0..steps).map(|step: u16| (1 + step * 97 % 500, 1 + step * 61 % 200));
        for size in small.chain(large) {
            console.resize(size);
            // In a window of a few columns even the text "needs 40x8" is cut.
            if size.0 >= 40 {
                assert_screen(&console, script);
            }
        }
        console.resize(USUAL);
        assert_eq!(console.screen(), before, "{script}");
    }
}

/// What is not seen is not confirmed: a window that is too small takes no key and no paste.
#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_is_too_small_confirms_nothing() {
    let world = a_world().await;
    let mut console = open(&world, Side::Testing, USUAL).await;
    console.keys("tT").await;
    let token = || world.stored(Side::Testing, "acme-eu").token;
    let before = token();
    console.resize((39, 24)).keys("y").await;
    console.resize((80, 7)).keys("y<enter>").await;
    for size in [(15, 4), (20, 2)] {
        console.resize(size).shows("needs 40x8");
    }
    console.resize(USUAL).shows("too small to show it");
    assert_eq!(token(), before);
    // The check is still there, and a key that is seen acts.
    console.keys("y").await;
    console.shows("ROTATED");
    assert_ne!(token(), before);
}
