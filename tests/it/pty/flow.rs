//! The main task from end to end: edit a group in testing, rotate one in production, find both in the history, quit.

use super::{
    PATIENCE, assert_given_back, assert_taken,
    place::{FIRST, Place, processes_of_session},
};
use crate::support::pty::Session;

/// 64 lower-case hex digits, if there are any.
fn token(text: &str) -> Option<&str> {
    text.split(|c: char| !(c.is_ascii_digit() || ('a'..='f').contains(&c)))
        .find(|run| run.len() == 64)
}

/// Filters the list down to one group.
fn filter(session: &mut Session, id: &str) {
    session.send(format!("/{id}\r"));
    session.wait_for("1 of ", PATIENCE);
}

#[test]
fn a_group_is_edited_and_another_rotated() {
    let place = Place::new();
    let mut session = place.groupdesk(&["demo"]).size(40, 120).start();
    let screen = session.wait_for(FIRST, PATIENCE);
    assert!(screen.starts_with(" TESTING "), "{screen}");
    assert_taken(&mut session);
    assert!(place.has_demo_folder());

    edit(&mut session);
    let (before, after) = rotate(&mut session);

    session.send("\x1b");
    session.wait_for("1 of ", PATIENCE);
    session.send("2");
    let arrow = format!("{before} → {after}");
    let history = session.wait_for(&arrow, PATIENCE);
    assert!(history.contains("confirmed"), "{history}");

    session.send("q");
    session.wait_for_no("History", PATIENCE);
    session.send("q");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    assert_given_back(&mut session);
    assert!(!place.has_demo_folder(), "the demo's folder was left");
    assert_eq!(processes_of_session(session.pid()), [""; 0]);
}

/// Changes one row of the mapping and one of the properties.
fn edit(session: &mut Session) {
    filter(session, "acme-eu");
    session.send("\r");
    session.wait_for("read at", PATIENCE);
    session.send("e");
    session.wait_for("nothing changed", PATIENCE);
    session.send("\tl\r\x15999\r");
    session.wait_for("was 213", PATIENCE);
    session.send("\t\x1b[B\x1b[B\x1b[B\x1b[B\x1b[F\x7f\x7f\x7f\x7f121,");
    session.wait_for("\"seats\": 121,", PATIENCE);
    session.wait_for("2 changes", PATIENCE);
    session.send("\x13");
    let review = session.wait_for(": unchanged since you started", PATIENCE);
    assert!(review.contains("213 → 999"), "{review}");
    session.send("\t\r");
    let result = session.wait_for("UPDATED", PATIENCE);
    for returned in ["40 → 999", "seats: 121", "Testing", "••••••••"] {
        assert!(result.contains(returned), "{returned} is not in\n{result}");
    }
    assert_eq!(token(&result), None);
    session.send("\r");
    session.wait_for("1 of ", PATIENCE);
}

/// Rotates in production. Returns both fingerprints.
fn rotate(session: &mut Session) -> (String, String) {
    session.send("P");
    session.wait_for("Profiles", PATIENCE);
    session.send("k\r");
    let list = session.wait_for_start(" PRODUCTION ", PATIENCE);
    assert!(list.starts_with(" PRODUCTION "), "{list}");
    filter(session, "acme-eu");
    session.send("t");
    session.wait_for("T rotates it", PATIENCE);
    session.send("T");
    let check = session.wait_for("nothing is sent yet", PATIENCE);
    assert!(check.contains("type the id"), "{check}");
    session.send("acme-e\r");
    session.wait_for("that is not the id", PATIENCE);
    session.send("u\r");
    let masked = session.wait_for("confirmation   confirmed", PATIENCE);
    assert!(masked.contains("••••••••"), "{masked}");
    assert!(masked.contains("Customer"), "{masked}");
    assert_eq!(token(&masked), None);

    session.send("v");
    let revealed = session.wait_for("hidden again in", PATIENCE);
    let token = token(&revealed).expect("a token").to_owned();
    let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
    assert_eq!(raw.matches(&token).count(), 1, "shown once, when asked");
    session.send("v");
    session.wait_for_no(&token, PATIENCE);

    let told = "acme-eu rotated, token ";
    let (_, rest) = masked.split_once(told).expect("a message");
    let mut words = rest.split_whitespace();
    let before = words.next().expect("a fingerprint").to_owned();
    let after = words.nth(2).expect("a fingerprint").to_owned();
    assert_ne!(before, after);
    assert_eq!((before.len(), after.len()), (8, 8));
    (before, after)
}
