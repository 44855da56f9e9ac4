//! The main task from end to end: edit a group in testing, rotate one in production, find both in the history, quit.

use super::prelude::*;
use crate::support::canary::base64;

/// 64 lower-case hex digits, if there are any.
fn token(text: &str) -> Option<&str> {
    text.split(|c: char| !(c.is_ascii_digit() || ('a'..='f').contains(&c)))
        .find(|run| run.len() == 64)
}

/// Filters the list down to one group.
fn filter(session: &mut Session, id: &str) {
    session.type_until(format!("/{id}\r"), "1 of ", PATIENCE);
}

#[test]
fn a_group_is_edited_and_another_rotated() {
    let place = TempHome::new();
    let mut session = place.groupdesk(&["demo"]).size(40, 120).start();
    let screen = session.wait_for(FIRST, PATIENCE);
    assert!(screen.starts_with(" TESTING "), "{screen}");
    assert_taken(&mut session);
    assert!(place.has_demo_folder());
    // Copying goes through the terminal, which never confirms it. The ID in base64 is all that is sent.
    session.type_until("y", "> user group ID", PATIENCE);
    session.type_until("\r", "User group ID sent to your terminal", PATIENCE);
    session.wait_for("it does not confirm", PATIENCE);
    let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
    assert_eq!(raw.matches("\x1b]52;c;YWNtZS1ldQ==").count(), 1);

    edit(&mut session);
    let (before, after) = rotate(&mut session);

    session.type_until("\x1b", "1 of ", PATIENCE);
    session.send("2");
    let arrow = format!("{before} → {after}");
    let history = session.wait_for(&arrow, PATIENCE);
    assert!(history.contains("confirmed"), "{history}");

    session.send("q");
    session.wait_for_no("History", PATIENCE);
    quit(&mut session);
    assert!(!place.has_demo_folder(), "the demo's folder was left");
    assert_eq!(processes_of_session(session.pid()), [""; 0]);
}

/// Changes one row of the mapping and one of the properties.
fn edit(session: &mut Session) {
    filter(session, "acme-eu");
    session.type_until("\r", "read at", PATIENCE);
    session.type_until("e", "nothing changed", PATIENCE);
    session.type_until("\tl\r\x15999\r", "was 213", PATIENCE);
    let seats = "\t\x1b[B\x1b[B\x1b[B\x1b[B\x1b[F\x7f\x7f\x7f\x7f121,";
    session.type_until(seats, "\"seats\": 121,", PATIENCE);
    session.wait_for("2 changes", PATIENCE);
    let review = session.type_until("\x13", ": unchanged since you started", PATIENCE);
    assert!(review.contains("213 → 999"), "{review}");
    let result = session.type_until("y", "UPDATED", PATIENCE);
    for returned in ["40 → 999", "seats: 121", "Testing", "fingerprint "] {
        assert!(result.contains(returned), "{returned} is not in\n{result}");
    }
    assert_eq!(token(&result), None);
    session.type_until("\r", "t token  r refresh", PATIENCE);
    session.type_until("\x1b", "1 of ", PATIENCE);
}

/// Rotates in production. Returns both fingerprints.
fn rotate(session: &mut Session) -> (String, String) {
    session.type_until("P", "Profiles", PATIENCE);
    session.send("k\r");
    session.wait_for_start(" PRODUCTION ", PATIENCE);
    filter(session, "acme-eu");
    session.type_until("t", "T rotates it", PATIENCE);
    let check = session.type_until("T", "nothing is sent yet", PATIENCE);
    assert!(check.contains("Type acme-eu then Enter"), "{check}");
    session.type_until("acme-e\r", "Text differs; nothing was sent", PATIENCE);
    let masked = session.type_until("u\r", "confirmation   confirmed", PATIENCE);
    assert!(masked.contains("••••••••"), "{masked}");
    assert!(masked.contains("Customer"), "{masked}");
    assert_eq!(token(&masked), None);

    session.type_until("y", "Token sent to your terminal", PATIENCE);
    let revealed = session.type_until("v", "hidden again in", PATIENCE);
    let token = token(&revealed).expect("a token").to_owned();
    let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
    assert_eq!(raw.matches(&token).count(), 1, "shown once, when asked");
    let copied = format!("\x1b]52;c;{}", base64(token.as_bytes(), false));
    assert_eq!(
        raw.matches(&copied).count(),
        1,
        "copied without being shown"
    );
    session.send("v");
    session.wait_for_no(&token, PATIENCE);

    let told = "acme-eu rotated, fingerprint ";
    let (_, rest) = masked.split_once(told).expect("a message");
    let mut words = rest.split_whitespace();
    let before = words.next().expect("a fingerprint").to_owned();
    let after = words.nth(2).expect("a fingerprint").to_owned();
    assert_ne!(before, after);
    assert_eq!((before.len(), after.len()), (8, 8));
    (before, after)
}
