//! A service that is unreachable, and one that never answers: the console works all the same.

use std::{fs, net::TcpListener, time::Duration};

use super::{
    PATIENCE,
    place::{BackgroundDemo, FIRST, TempHome},
    quit,
};
use crate::support::{faults::closed_port, pty::Session};

/// A console with a history, whose testing profile has one address and whose production profile another.
fn console(place: &TempHome, held: &BackgroundDemo, testing: &str, production: &str) -> Session {
    let config = format!(
        "default_profile = \"testing\"\n\n\
         [profiles.production]\nbase_url = \"http://{production}\"\napi_key = {{ env = \"KEY_2\" }}\n\
         environment = \"Customer\"\nproduction = true\ntimeout = \"10m\"\n\n\
         [profiles.testing]\nbase_url = \"http://{testing}\"\napi_key = {{ env = \"KEY\" }}\n\
         environment = \"Testing\"\nproduction = false\ntimeout = \"10m\"\n"
    );
    let file = place.below("config/dead.toml");
    fs::write(&file, config).expect("written");
    let (at, also_at) = (format!("http://{testing}"), format!("http://{production}"));
    held.is_also_at(&at, "no-such-key", "testing", "Testing");
    held.is_also_at(&also_at, "no-such-key-2", "production", "Customer");
    let mut session = place
        .groupdesk(&[])
        .env("GROUPDESK_CONFIG", file.to_string_lossy())
        .env("GROUPDESK_DIRECTORY", held.directory.as_str())
        .env("KEY", "no-such-key")
        .env("KEY_2", "no-such-key-2")
        .size(24, 120)
        .start();
    session.wait_for(FIRST, PATIENCE);
    session
}

/// Keys work although a request is under way.
fn assert_keys_work(session: &mut Session) {
    session.type_until("?", "› Help", PATIENCE);
    session.send("\x1b");
    session.wait_for_no("› Help", PATIENCE);
}

#[test]
fn the_console_works_with_a_closed_port_and_a_silent_service() {
    let place = TempHome::new();
    let held = place.hold();
    let (_closed, testing) = closed_port();
    let silent = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let production = silent.local_addr().expect("an address").to_string();
    let testing = testing.to_string();
    let mut session = console(&place, &held, &testing, &production);

    session.send("\r");
    // The sign of an error; the same letter is a key in the footer.
    let screen = session.wait_for("refused the connection", PATIENCE);
    assert!(
        screen
            .lines()
            .any(|line| line.starts_with(" x \"acme-eu\" NOT read")),
        "{screen}"
    );
    assert!(
        screen.contains("acme_orders"),
        "known values stay: {screen}"
    );
    assert_keys_work(&mut session);
    session.type_until("\x1b", "10 groups", PATIENCE);

    session.type_until("P", "Profiles", PATIENCE);
    session.send("k\r");
    session.wait_for_start(" PRODUCTION ", PATIENCE);
    session.wait_for("13 groups", PATIENCE);
    session.type_until("\r", "reading it from the service", PATIENCE);
    assert_keys_work(&mut session);
    let screen = session.screen();
    assert!(screen.contains("reading it from the service"), "{screen}");
    // Once the page says that it waits, Esc first cancels the read.
    session.send("\x1b");
    let screen = session.wait_until("Esc did something", PATIENCE, |screen| {
        let screen = screen.contents();
        screen.contains("13 groups") || screen.contains("Cancelled: read acme-eu")
    });
    // An Esc too many would make one key of it and the next letter.
    if !screen.contains("13 groups") {
        session.type_until("\x1b", "13 groups", PATIENCE);
    }
    session.type_until("t", "read acme-eu", PATIENCE);
    assert_keys_work(&mut session);
    session.type_until("P", "Profiles", PATIENCE);
    session.send("j\r");
    session.wait_for_start(" TESTING ", PATIENCE);
    quit(&mut session);
}

/// How many bytes a console may write per second while it waits.
const BYTES_A_SECOND: usize = 80;

#[test]
fn a_hanging_request_counts_seconds_and_can_be_left() {
    let place = TempHome::new();
    let held = place.hold();
    let silent = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = silent.local_addr().expect("an address").to_string();
    let mut session = console(&place, &held, &address, &address);
    session.type_until("\r", "s of 600s  Esc cancels", PATIENCE);
    let seconds = 3;
    let written = session.output_during(Duration::from_secs(seconds)).len();
    let most = BYTES_A_SECOND * seconds as usize;
    println!("{written} bytes in {seconds} s");
    assert!((1..=most).contains(&written), "{written} bytes");
    let screen = session.type_until("\x1b", "Cancelled: read acme-eu", PATIENCE);
    assert!(!screen.contains("of 600s"), "{screen}");
    // From the start away from the hanging service, in four keys with the one above.
    session.type_until("P", "Profiles", PATIENCE);
    session.send("\x1b[A\r");
    session.wait_for_start(" PRODUCTION ", PATIENCE);
    quit(&mut session);
}
