//! Typed text survives whatever ends the console: a kill, a signal, a hangup, a plain `q`.

use rusqlite::Connection;
use rustix::process::Signal;

use super::{
    PATIENCE,
    place::{BackgroundDemo, TempHome, wait_until},
};
use crate::support::pty::Session;

/// A console on the production profile of a demo, with one group on its list.
fn console(place: &TempHome, held: &BackgroundDemo) -> Session {
    let mut session = place
        .groupdesk(&["--profile", "production"])
        .env("GROUPDESK_CONFIG", held.config.as_str())
        .env("GROUPDESK_DIRECTORY", held.directory.as_str())
        .start();
    session.wait_for_start(" PRODUCTION ", PATIENCE);
    session.wait_for("acme-eu", PATIENCE);
    session
}

/// Types a name, a cell and half of some JSON.
fn type_into_the_form(session: &mut Session) {
    session.type_until("/acme-eu\r", "1 of ", PATIENCE);
    session.type_until("e", "Edit acme-eu", PATIENCE);
    session.type_until("\x15Half a name\tl\r\x15999\r", "was ", PATIENCE);
    session.type_until("\t{\"oops\": ", "{\"oops\": ", PATIENCE);
}

pub(super) fn kept(held: &BackgroundDemo) -> Option<(String, String)> {
    let directory = Connection::open(&held.directory).expect("a database");
    let sql = "SELECT d.name, d.properties FROM drafts d JOIN places p ON p.number = d.place \
               WHERE p.name = 'production'";
    let row = directory.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
    row.ok()
}

/// The draft is offered and marked, and opens with every letter.
pub(super) fn assert_offered(place: &TempHome, held: &BackgroundDemo) -> Session {
    let mut session = console(place, held);
    session.wait_for("1 unsent draft: acme-eu (", PATIENCE);
    // The filter of the first console is restored.
    let screen = session.wait_for("> d ", PATIENCE);
    assert!(screen.contains("acme-eu"), "{screen}");
    session.type_until("e", "your unsent draft (", PATIENCE);
    let screen = session.wait_for("Half a name", PATIENCE);
    assert!(screen.contains("999"), "{screen}");
    assert!(screen.contains("{\"oops\": "), "{screen}");
    session
}

/// The draft is offered, and can be discarded.
fn assert_discardable(place: &TempHome, held: &BackgroundDemo) {
    let mut session = assert_offered(place, held);
    session.type_until("\x18", "y discards the draft", PATIENCE);
    session.type_until("y", "discarded; nothing was sent", PATIENCE);
    wait_until("it is forgotten", || kept(held).is_none());
    session.type_until("e", "nothing changed", PATIENCE);
}

/// Types into the form, and kills the console once all of it is saved.
pub(super) fn kill_over_a_draft(place: &TempHome, held: &BackgroundDemo) {
    let mut session = console(place, held);
    type_into_the_form(&mut session);
    // One or two keys may be lost; the test waits for the last one.
    wait_until("all of it is kept", || {
        kept(held).is_some_and(|(name, json)| name == "Half a name" && json.contains("{\"oops\": "))
    });
    session.signal(Signal::KILL);
    session.exit_status(PATIENCE);
}

#[test]
fn a_draft_survives_a_kill() {
    let place = TempHome::new();
    let held = place.hold();
    kill_over_a_draft(&place, &held);
    assert_discardable(&place, &held);
}

#[test]
fn a_draft_survives_a_signal_including_the_last_key() {
    let place = TempHome::new();
    let held = place.hold();
    let mut session = console(&place, &held);
    type_into_the_form(&mut session);
    session.signal(Signal::HUP);
    assert_eq!(session.exit_status(PATIENCE).code(), Some(130));
    assert!(session.screen().contains("1 unsent draft is kept"));
    assert_discardable(&place, &held);
}

#[test]
fn a_draft_survives_a_hangup() {
    let place = TempHome::new();
    let held = place.hold();
    let mut session = console(&place, &held);
    type_into_the_form(&mut session);
    session.hang_up();
    assert_eq!(session.exit_status(PATIENCE).code(), Some(130));
    assert_discardable(&place, &held);
}

#[test]
fn q_says_that_the_draft_is_saved() {
    let place = TempHome::new();
    let held = place.hold();
    let mut session = console(&place, &held);
    type_into_the_form(&mut session);
    session.type_until("\x1b", "Draft of acme-eu saved", PATIENCE);
    session.send("q");
    assert_eq!(session.exit_status(PATIENCE).code(), Some(0));
    assert!(session.screen().contains("1 unsent draft is kept"));
    assert_discardable(&place, &held);
}
