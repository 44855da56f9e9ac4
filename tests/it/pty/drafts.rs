//! Typed text survives what ends the console: a kill, a signal. A plain `q`: `app::quitting`.

use rusqlite::Connection;

use super::prelude::*;

/// A console on the production profile of a demo, with one group on its list.
fn console(place: &TempHome, held: &BackgroundDemo) -> Session {
    let program = place.groupdesk(&["--profile", "production"]);
    let mut session = held.console(program).start();
    session.wait_for_start(" PRODUCTION ", PATIENCE);
    session.wait_for("acme-eu", PATIENCE);
    session
}

fn kept(held: &BackgroundDemo) -> Option<(String, String)> {
    let directory = Connection::open(&held.directory).expect("a database");
    let sql = "SELECT d.name, d.properties FROM drafts d JOIN places p ON p.number = d.place \
               WHERE p.name = 'production'";
    let row = directory.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
    row.ok()
}

/// Types a name, a cell and half of some JSON, and ends the console. The draft is offered by the next one with every
/// letter, and can be discarded.
fn assert_survives(end: impl FnOnce(&mut Session, &BackgroundDemo), code: Option<i32>) {
    let place = TempHome::new();
    let held = place.hold();
    let mut session = console(&place, &held);
    session.type_until("/acme-eu\r", "1 of ", PATIENCE);
    session.type_until("e", "Edit acme-eu", PATIENCE);
    session.type_until("\x15Half a name\tl\r\x15999\r", "was ", PATIENCE);
    session.type_until("\t{\"oops\": ", "{\"oops\": ", PATIENCE);
    end(&mut session, &held);
    assert_eq!(session.exit_status(PATIENCE).code(), code);

    let mut session = console(&place, &held);
    session.wait_for("1 unsent draft: acme-eu (", PATIENCE);
    // The filter of the first console is restored.
    let screen = session.wait_for("> d ", PATIENCE);
    assert!(screen.contains("acme-eu"), "{screen}");
    session.type_until("e", "Your unsent draft (", PATIENCE);
    let screen = session.wait_for("Half a name", PATIENCE);
    assert!(screen.contains("999"), "{screen}");
    assert!(screen.contains("{\"oops\": "), "{screen}");
    session.type_until("\x18", "y discards the draft", PATIENCE);
    session.type_until("y", "discarded; nothing was sent", PATIENCE);
    wait_until("it is forgotten", || kept(&held).is_none());
    session.type_until("e", "nothing changed", PATIENCE);
}

#[test]
fn a_draft_survives_a_kill() {
    let kill = |session: &mut Session, held: &BackgroundDemo| {
        // One or two keys may be lost; the test waits for the last one.
        wait_until("all of it is kept", || {
            kept(held)
                .is_some_and(|(name, json)| name == "Half a name" && json.contains("{\"oops\": "))
        });
        session.signal(Signal::KILL);
    };
    assert_survives(kill, None);
}

#[test]
fn a_draft_survives_a_signal_including_the_last_key() {
    let signal = |session: &mut Session, _: &BackgroundDemo| {
        session.signal(Signal::HUP);
        session.wait_for("1 unsent draft is kept", PATIENCE);
    };
    assert_survives(signal, Some(130));
}
