//! The corpus of unusual texts in the shipped console on a terminal: every byte it writes belongs to one of its own
//! sequences or to a harmless character.

use super::prelude::*;
use crate::support::texts::{CORPUS, a_world, is_dangerous};

const PATIENCE: Duration = Duration::from_mins(1);

/// Final bytes of the sequences that the console writes itself; none sets a title or uses the clipboard.
const OWN: &str = "HGCDABKXmJhlrMLST@P";

/// Returns the number of our own sequences. Panics at the first byte that belongs to none and is not a harmless
/// character.
#[track_caller]
fn own_sequences(raw: &str) -> usize {
    let mut count = 0;
    let mut rest = raw.chars();
    while let Some(c) = rest.next() {
        if c != '\u{1b}' {
            assert!(
                !is_dangerous(c) || "\r\n".contains(c),
                "{c:?} before {:?}",
                rest.as_str()
            );
            continue;
        }
        // The query for the background colour of the terminal.
        if let Some(behind) = rest.as_str().strip_prefix("]11;?\u{1b}\\") {
            rest = behind.chars();
            count += 1;
            continue;
        }
        assert_eq!(rest.next(), Some('['), "before {:?}", rest.as_str());
        let last = rest.find(|c| !"?;:0123456789".contains(*c));
        assert!(
            last.is_some_and(|c| OWN.contains(c)),
            "{last:?} before {:?}",
            rest.as_str()
        );
        count += 1;
    }
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn the_terminal_gets_no_raw_byte_of_any_text() {
    let world = a_world().await;
    let mut session = Program::groupdesk(&[])
        .env("HOME", world.folder().to_string_lossy())
        .env("GROUPDESK_CONFIG", world.config_file().to_string_lossy())
        .env(
            "GROUPDESK_DIRECTORY",
            world.directory_file().to_string_lossy(),
        )
        .cwd(world.folder())
        .size(60, 200)
        .start();
    session.wait_for("35 groups", PATIENCE);
    let mut count = 0;
    for number in long::spread(0..CORPUS.len(), 9) {
        session.send(format!("g{}", "j".repeat(number)));
        let name = format!("{number:02}N[");
        for (keys, there) in [
            ("\r", "read at"),
            ("e", "Edit "),
            ("\t\t", "━━ Properties"),
            ("\x1b", "t token  r refresh"),
            ("2", "History"),
            ("\x1b", "t token  r refresh"),
            ("4", "Requests"),
            ("\x1b", "t token  r refresh"),
            ("t", "T rotates it"),
            ("\x1b", "t token  r refresh"),
            ("\x1b", "35 groups"),
        ] {
            session.type_until(keys, there, PATIENCE);
            session.wait_for(&name, PATIENCE);
            count += 1;
        }
    }
    session.send("\x03\x03");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    let raw = String::from_utf8(session.raw_output().to_vec()).expect("UTF-8");
    let sequences = own_sequences(&raw);
    println!(
        "{count} places, {sequences} sequences in {} bytes",
        raw.len()
    );
    assert!(count >= 11 * 4 && sequences > count);
}

#[test]
#[should_panic(expected = "before")]
fn a_title_would_be_noticed() {
    own_sequences("\u{1b}[2Jx\u{1b}]0;owned\u{7}");
}
