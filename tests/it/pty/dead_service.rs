//! A service that never answers: the console works all the same.

use std::net::TcpListener;

use super::prelude::*;

/// How many bytes a console may write per second while it waits.
const BYTES_A_SECOND: usize = 80;

#[test]
fn a_hanging_request_counts_seconds_and_can_be_left() {
    let place = TempHome::new();
    let held = place.hold();
    let silent = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = silent.local_addr().expect("an address");
    let config = format!(
        "default_profile = \"testing\"\n\n\
         [profiles.testing]\nbase_url = \"http://{address}\"\napi_key = {{ env = \"KEY\" }}\n\
         environment = \"Testing\"\nproduction = false\ntimeout = \"10m\"\n"
    );
    let file = place.below("config/dead.toml");
    fs::write(&file, config).expect("written");
    held.is_also_at(
        &format!("http://{address}"),
        "no-such-key",
        "testing",
        "Testing",
    );
    let mut session = held
        .console(place.groupdesk(&[]))
        .env("GROUPDESK_CONFIG", file.to_string_lossy())
        .env("KEY", "no-such-key")
        .size(24, 120)
        .start();
    session.wait_for(FIRST, PATIENCE);
    session.type_until("\r", "s of 600s  Esc cancels", PATIENCE);
    let seconds = 3;
    let written = session.output_during(Duration::from_secs(seconds)).len();
    let most = BYTES_A_SECOND * seconds as usize;
    println!("{written} bytes in {seconds} s");
    assert!((1..=most).contains(&written), "{written} bytes");
    let screen = session.type_until("\x1b", "Cancelled: read acme-eu", PATIENCE);
    assert!(!screen.contains("of 600s"), "{screen}");
    session.type_until("\x1b", "10 groups", PATIENCE);
    quit(&mut session);
}
