//! What a key costs on the line: bytes are counted, not times, so that the same screen gives the same number.

use std::time::Duration;

use super::{
    PATIENCE,
    place::{FIRST, Place},
};
use crate::support::pty::Session;

/// Silence after which a frame is over; a frame is written at once.
const SILENCE: Duration = Duration::from_millis(300);

/// Bytes written after a key, until the screen shows a text and nothing more comes.
#[track_caller]
fn cost(session: &mut Session, key: &str, shows: &str) -> usize {
    while !session.output_during(SILENCE).is_empty() {}
    let before = session.raw_output().len();
    session.send(key);
    session.wait_for(shows, PATIENCE);
    while !session.output_during(SILENCE).is_empty() {}
    session.raw_output().len() - before
}

#[test]
fn a_cursor_move_and_a_letter_are_cheap() {
    let place = Place::new();
    let mut session = place.demo();
    for name in ["Acme US", "Brass", "Globex"] {
        let bytes = cost(&mut session, "j", &format!(">  {name}"));
        assert!((1..600).contains(&bytes), "{name}: {bytes} bytes");
    }
    session.send("d");
    session.wait_for_no("mapping~ ", PATIENCE);
    let bytes = cost(&mut session, "k", ">  Brass");
    assert!((1..=250).contains(&bytes), "no details: {bytes} bytes");
    session.send("e");
    session.wait_for("Edit brasserie-zoe", PATIENCE);
    let first = cost(&mut session, "q", "(test)q");
    let second = cost(&mut session, "w", "(test)qw");
    for bytes in [first, second] {
        assert!((1..200).contains(&bytes), "a letter: {bytes} bytes");
    }
}

#[test]
fn a_line_that_scrolls_moves_the_rows_in_the_terminal() {
    let place = Place::new();
    let arguments = ["demo", "--groups", "200"];
    let mut session = place.groupdesk(&arguments).start();
    session.wait_for("200 of 200", PATIENCE);
    session.send("d");
    session.wait_for(" 1/200 ", PATIENCE);
    // To the middle of the window, from where on the rows move.
    for row in 2..=30 {
        session.send("j");
        session.wait_for(&format!(" {row}/200 "), PATIENCE);
    }
    for row in 31..=34 {
        let bytes = cost(&mut session, "j", &format!(" {row}/200 "));
        assert!((1..=600).contains(&bytes), "row {row}: {bytes} bytes");
    }
}

/// An answer would have to be waited for; a terminal that does not know a question may print it.
#[test]
fn the_terminal_is_asked_nothing() {
    let place = Place::new();
    let mut session = place
        .groupdesk(&["demo"])
        .env("TERM", "xterm-kitty")
        .start();
    session.wait_for(FIRST, PATIENCE);
    let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
    for question in [
        "\x1b[c",
        "\x1b[0c",
        "\x1b[>c",
        "\x1b[6n",
        "\x1b[5n",
        "$p",
        "\x1b]10;?",
        "\x1b]11;?",
        "\x1b[?u",
        "\x1bP",
    ] {
        assert!(!raw.contains(question), "{question:?}");
    }
    assert!(raw.contains("\x1b[?2026h") && raw.contains("\x1b[?2026l"));
    let mut plain = place.demo();
    let raw = String::from_utf8_lossy(plain.raw_output()).into_owned();
    assert!(!raw.contains("2026"));
}
