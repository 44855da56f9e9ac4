//! Limited terminals, and none at all.

use super::prelude::*;

/// The parameters of every SGR sequence in the output.
fn styles(raw: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(raw);
    text.split("\x1b[")
        .skip(1)
        .filter_map(|rest| {
            let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
            rest[end..].starts_with('m').then(|| rest[..end].to_owned())
        })
        .collect()
}

/// Opens lists, forms, a review and messages.
fn walk(session: &mut Session) {
    session.wait_for("10 groups", PATIENCE);
    session.type_until("e\tl\r\x15999\r", "was 213", PATIENCE);
    session.type_until("\x13", "saved values   read at", PATIENCE);
    session.type_until("y", "UPDATED", PATIENCE);
    session.type_until("\r", "10 groups", PATIENCE);
    session.type_until("2", " History ", PATIENCE);
    session.type_until("qt", "T rotates it", PATIENCE);
    session.type_until("T", "y rotates", PATIENCE);
    session.type_until("y", "confirmation   confirmed", PATIENCE);
    session.type_until("v", "hidden again in", PATIENCE);
    session.type_until("q?", "Keys: Groups", PATIENCE);
}

#[test]
fn no_color_writes_no_colour() {
    let place = TempHome::new();
    let mut session = place.groupdesk(&["demo"]).env("NO_COLOR", "1").start();
    session.wait_for(FIRST, PATIENCE);
    let row = (0..24).find(|row| {
        let cell = session.terminal_state().cell(*row, 0);
        cell.is_some_and(|cell| cell.contents() == ">")
    });
    let cell = session.terminal_state().cell(row.expect("a cursor"), 4);
    assert!(
        cell.expect("a cell").inverse(),
        "the cursor's row is marked"
    );
    walk(&mut session);
    for style in styles(session.raw_output()) {
        for part in style.split([';', ':']) {
            // Reset, bold, underlined, reverse and their ends; 39, 49 and 59 are the terminal's default colours.
            let allowed = ["", "0", "1", "4", "7", "22", "24", "27", "39", "49", "59"];
            assert!(allowed.contains(&part), "ESC[{style}m");
        }
    }
}

/// The output without names and properties of groups, which are not ours.
fn drawn(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw).into_owned();
    text.chars()
        .filter(|c| !c.is_ascii() && !c.is_alphabetic())
        .collect()
}

#[test]
fn ascii_frames_are_ascii() {
    for (flag, locale) in [(true, "C.UTF-8"), (false, "C")] {
        let place = TempHome::new();
        let arguments: &[&str] = if flag {
            &["--ascii", "demo"]
        } else {
            &["demo"]
        };
        let mut session = place.groupdesk(arguments).env("LANG", locale).start();
        let screen = session.wait_for(FIRST, PATIENCE);
        assert!(screen.contains("== Groups ="), "{screen}");
        walk(&mut session);
        assert_eq!(drawn(session.raw_output()), "");
    }
    let place = TempHome::new();
    let mut usual = place.demo();
    assert!(drawn(usual.raw_output()).contains('━'));
    let is_coloured = |style: &String| {
        let mut parts = style.split(';');
        parts.any(|part| part.starts_with('3') && part != "39")
    };
    assert!(styles(usual.raw_output()).iter().any(is_coloured));
}

#[test]
fn without_a_terminal_the_console_says_so() {
    for command in ["groupdesk", "groupdesk demo"] {
        for (wrong, word) in [
            (format!("TERM=dumb {command}"), "TERM"),
            (format!("{command} | cat; exit"), "needs a terminal"),
            (format!("{command} > out"), "needs a terminal"),
            (format!("{command} < /dev/null"), "needs a terminal"),
        ] {
            let place = TempHome::new();
            let script = format!("({wrong}); echo \"code $?.\"");
            let mut session = place.shell(&script).size(24, 300).start();
            let screen = session.wait_for("code ", PATIENCE);
            assert!(screen.contains(word), "{wrong}\n{screen}");
            assert!(screen.contains("groupdesk --help"), "{wrong}\n{screen}");
            let is_piped = wrong.contains('|');
            assert!(is_piped || screen.contains("code 2."), "{wrong}\n{screen}");
            assert_given_back(&mut session);
            assert!(!place.has_demo_folder());
            let written = std::fs::read(place.below("home/out")).unwrap_or_default();
            assert_eq!(written, b"", "{wrong}");
        }
    }
}
