//! Pasted text goes into the focused field, and nowhere else.

use super::{
    PATIENCE,
    place::{FIRST, TempHome},
};
use crate::support::pty::Session;

/// Text that would quit, rotate, confirm and leave if it were typed.
const HARMFUL: &str = "q\nTy\r\n\u{3}T\tacme-eu\ny\r\u{1b}q";

/// Opens the editor of the first group, with the cursor in its properties.
fn in_properties(session: &mut Session) {
    session.type_until("e", "Edit acme-eu", PATIENCE);
    session.type_until("\t\t", "━━ Properties", PATIENCE);
}

#[test]
fn without_a_field_a_paste_does_nothing() {
    let place = TempHome::new();
    let mut session = place.demo();
    session.paste(HARMFUL);
    let screen = session.wait_for("Not pasted: there is no field here", PATIENCE);
    assert!(screen.contains("10 groups"), "{screen}");
    session.send("2");
    let has_rows = |screen: &vt100::Screen| {
        let text = screen.contents();
        text.contains("› History") && text.lines().any(|line| line.starts_with('>'))
    };
    let history = session.wait_until("the history", PATIENCE, has_rows);
    let newest = history.lines().find(|line| line.starts_with('>'));
    let before = newest.expect("a past").to_owned();
    session.type_until("q", "10 groups", PATIENCE);
    session.type_until("t", "T rotates it", PATIENCE);
    session.type_until("T", "y rotates the token", PATIENCE);
    session.paste("y\ny\r");
    session.type_until("\x1b", "Nothing was sent", PATIENCE);
    session.send("2");
    let history = session.wait_until("the history", PATIENCE, has_rows);
    // Reading the group for its token is the only new entry.
    let rows = history.lines().skip_while(|line| !line.starts_with('>'));
    let came: Vec<&str> = rows
        .take_while(|line| {
            line.trim_start_matches(['>', ' ']) != before.trim_start_matches(['>', ' '])
        })
        .collect();
    assert!(
        came.len() < 3 && !came.iter().any(|row| row.contains("rotate")),
        "{history}"
    );
}

#[test]
fn the_filter_takes_a_paste_as_text() {
    let place = TempHome::new();
    let mut session = place.demo();
    session.type_until("/", "filter", PATIENCE);
    session.paste("q\nTy");
    session.wait_for("  0 of 10", PATIENCE);
    session.type_until("\x1b", "10 groups", PATIENCE);
    session.send("/");
    session.paste("acme\n");
    session.wait_for("2 of 10", PATIENCE);
    session.type_until("\r", "Enter open", PATIENCE);
}

#[test]
fn the_json_editor_takes_every_line_of_a_paste() {
    let place = TempHome::new();
    let mut session = place.demo();
    in_properties(&mut session);
    session.paste("{\"q\": [\n\"T\",\r\n\"y\"]}\n");
    let screen = session.wait_for("  4 {", PATIENCE);
    for line in ["1 {\"q\": [", "2 \"T\",", "3 \"y\"]}"] {
        assert!(screen.contains(line), "{line} is not in\n{screen}");
    }
    session.type_until("x", "  4 x{", PATIENCE);
}

#[test]
fn a_paste_of_a_megabyte_does_not_block_the_editor() {
    let place = TempHome::new();
    let mut session = place.demo();
    in_properties(&mut session);
    let row = format!("  \"key\": \"{}\",\n", "x".repeat(80));
    let rows = 1024 * 1024 / row.len();
    session.paste(&row.repeat(rows));
    session.wait_for(&format!("{} {{", rows + 1), PATIENCE);
    session.type_until("typed after it", "typed after it{", PATIENCE);
    session.type_until("\x1b", "Draft of acme-eu saved", PATIENCE);
    let screen = session.wait_for(FIRST, PATIENCE);
    assert!(screen.contains("10 groups"), "{screen}");
}
