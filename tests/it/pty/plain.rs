//! The plain mode of the console: lines in the order of events, and nothing is drawn over.

use super::{assert_comes_to_rest, prelude::*};

/// The lines written after an offset in the output.
fn lines_from(session: &mut Session, from: usize) -> Vec<String> {
    let text = String::from_utf8_lossy(&session.raw_output()[from..]).into_owned();
    text.split("\r\n").map(str::to_owned).collect()
}

/// Types, waits for a line that begins so, and returns the lines up to it.
#[track_caller]
fn say(session: &mut Session, keys: &str, beginning: &str) -> Vec<String> {
    let from = session.raw_output().len();
    session.send(keys);
    wait_until(beginning, || {
        let lines = lines_from(session, from);
        lines.iter().any(|line| line.starts_with(beginning))
    });
    lines_from(session, from)
}

/// Waits for the list and for the demo's own messages, which may come after it.
fn wait_for_the_list(session: &mut Session) {
    wait_until("the list", || {
        let lines = lines_from(session, 0);
        let has = |beginning| lines.iter().any(|line| line.starts_with(beginning));
        has("10 groups") && has("info: Demo on this machine")
    });
}

#[test]
fn a_name_is_edited_with_the_output_of_the_plain_mode() {
    let place = TempHome::new();
    // The size does not matter: the terminal is narrower than the lines.
    let mut session = place
        .groupdesk(&["--plain", "demo"])
        .size(10, 40)
        .env("TERM", "dumb")
        .start();
    wait_for_the_list(&mut session);
    let lines = lines_from(&mut session, 0);
    assert!(lines[0].contains("TESTING  127.0.0.1"), "{lines:?}");
    assert_eq!(lines[1], "# Groups");
    assert!(lines.iter().any(|line| line.starts_with("> Acme Europe")));

    let lines = say(&mut session, "j", "> Acme US (test)  acme-us");
    assert!(
        lines[0].starts_with("> Acme US (test)  acme-us"),
        "{lines:?}"
    );
    let lines = say(&mut session, "e", "> name  Acme US (test)");
    assert_eq!(lines[0], "# Groups › Edit acme-us");
    let lines = say(&mut session, "x", "1 change");
    let is_read = lines[0].starts_with("> ") && lines[0].contains("name  Acme US (test)x");
    assert!(is_read, "{lines:?}");
    let lines = say(&mut session, "\x13", "saved values  read at");
    assert_eq!(lines[0], "# Groups › Edit acme-us › Review");
    assert!(
        lines
            .iter()
            .any(|line| line == "~ name  Acme US (test) -> Acme US (test)x"),
        "{lines:?}"
    );
    let lines = say(&mut session, "y", "done: acme-us updated");
    assert!(
        lines.iter().any(|line| line.starts_with("result  UPDATED")),
        "{lines:?}"
    );
    session.send("qq");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    assert_given_back(&mut session);

    let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
    let modes = raw.replace("\x1b[?2004h", "").replace("\x1b[?2004l", "");
    assert!(!modes.contains('\x1b'), "{modes:?}");
    assert!(
        modes.is_ascii()
            || modes
                .chars()
                .all(|c| !('\u{2500}'..='\u{257f}').contains(&c))
    );
    // A lone carriage return would write over the line.
    assert!(!modes.replace("\r\n", "").contains('\r'));
}

#[test]
fn nothing_is_written_twice_or_while_idle() {
    let place = TempHome::new();
    let mut session = place.groupdesk(&["demo", "--plain"]).start();
    wait_for_the_list(&mut session);
    // At the top of the list there is nowhere to go.
    let from = session.raw_output().len();
    session.send("kkkj");
    wait_until("the second row", || {
        lines_from(&mut session, from)
            .iter()
            .any(|line| line.starts_with("Token"))
    });
    let lines = lines_from(&mut session, from);
    assert!(lines[0].starts_with("> Acme US"), "{lines:?}");
    assert_comes_to_rest(&mut session, "plain mode");
    let lines = lines_from(&mut session, from);
    let written = lines.iter().filter(|line| line.starts_with("> "));
    assert_eq!(written.count(), 1, "{lines:?}");
    // Ctrl-Z suspends it like the other mode.
    session.send("\x1aj");
    wait_until("the third row", || {
        lines_from(&mut session, from)
            .iter()
            .any(|line| line.starts_with("> Brasserie"))
    });
    session.send("q");
    session.exit_status(PATIENCE);
    assert_given_back(&mut session);
}
