//! The first start on a fresh machine: no profile, and the demo one key away.

use std::{fs, os::unix::fs::PermissionsExt};

use super::{
    PATIENCE, assert_taken,
    place::{FIRST, TempHome},
    quit,
};
use crate::support::assertions::{assert_has, assert_lacks};

#[test]
fn the_first_screen_says_how_to_connect_and_quits() {
    let place = TempHome::new();
    let mut session = place.groupdesk(&[]).size(24, 120).start();
    let screen = session.wait_for("No profile is configured yet", PATIENCE);
    let file = place.below("config/groupdesk/config.toml");
    assert!(screen.contains(&*file.to_string_lossy()), "{screen}");
    assert!(screen.contains("GROUPDESK_BASE_URL"), "{screen}");
    quit(&mut session);
}

#[test]
fn one_key_starts_the_demo_in_the_same_terminal() {
    let place = TempHome::new();
    let mut session = place.groupdesk(&[]).start();
    session.wait_for("No profile is configured yet", PATIENCE);
    let screen = session.type_until("d", FIRST, PATIENCE);
    assert!(screen.contains("Demo on this machine"), "{screen}");
    assert_taken(&mut session);
    session.type_until("jj\r", "Groups › Brasserie", PATIENCE);
    session.wait_for("read at", PATIENCE);
    session.type_until("q", "10 groups", PATIENCE);
    quit(&mut session);
    assert!(!place.has_demo_folder());
}

/// The number of groups in a service's database.
fn groups(database: &std::path::Path) -> i64 {
    let open =
        rusqlite::Connection::open_with_flags(database, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY);
    let count = "SELECT count(*) FROM groups";
    let connection = open.expect("readable");
    connection
        .query_row(count, [], |row| row.get(0))
        .expect("a number")
}

#[test]
fn the_first_start_ends_on_the_list_and_creates_nothing() {
    let place = TempHome::new();
    let database = place.below("service/service.db");
    let named = database.to_string_lossy().into_owned();
    let keys = [
        "serve",
        "--database",
        &named,
        "keys",
        "create",
        "--environment",
        "live",
        "--tag",
        "Customer",
    ];
    let made = std::process::Command::new(env!("CARGO_BIN_EXE_groupdesk"))
        .args(keys)
        .env("HOME", place.below("home"))
        .output()
        .expect("it runs");
    let key = String::from_utf8(made.stdout)
        .expect("a key")
        .trim()
        .to_owned();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--database", &named];
    let mut service = place.groupdesk(&serve).size(24, 200).start();
    let screen = service.wait_for("/api/user", PATIENCE);
    let url = screen
        .split_whitespace()
        .find(|word| word.starts_with("http://"));
    let url = url
        .and_then(|url| url.strip_suffix("/api/user"))
        .expect("an address");

    let mut session = place.groupdesk(&[]).env("EU_KEY", key.as_str()).start();
    session.wait_for("connect to a service", PATIENCE);
    session.type_until("\r", "profile name", PATIENCE);
    session.send("eu-live\t");
    session.paste(url);
    session.wait_for(url, PATIENCE);
    // Customer is one to the right of "not said".
    session.type_until("\t\t \t\tEU_KEY", "EU_KEY", PATIENCE);
    session.wait_for("[Customer]", PATIENCE);
    let screen = session.type_until("\x13", "w writes it", PATIENCE);
    assert!(screen.contains("the API key is accepted"), "{screen}");
    session.send("w");
    session.wait_for_start(" PRODUCTION ", PATIENCE);
    session.wait_for("0 groups", PATIENCE);

    let file = place.below("config/groupdesk/config.toml");
    let text = fs::read_to_string(&file).expect("written");
    assert_has(&text, "[profiles.eu-live]");
    assert_lacks(&text, &key);
    let mode =
        |path: &std::path::Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(file.parent().expect("a folder")), 0o700);
    assert_eq!(groups(&database), 0, "nothing was created");
    assert!(
        !session
            .raw_output()
            .windows(key.len())
            .any(|part| part == key.as_bytes())
    );
    quit(&mut session);
    // The next start opens the profile at once.
    let mut again = place.groupdesk(&[]).env("EU_KEY", key.as_str()).start();
    again.wait_for_start(" PRODUCTION ", PATIENCE);
    again.send("q");
    assert_eq!(again.exit_status(PATIENCE).code(), Some(0));
}

#[test]
fn keys_with_two_meanings_are_refused_with_their_lines() {
    let place = TempHome::new();
    let folder = place.below("config/groupdesk");
    std::fs::create_dir(&folder).expect("a folder");
    let text = "[keys]\nedit = [\"&\"]\nsort = [\"&\"]\n";
    std::fs::write(folder.join("config.toml"), text).expect("written");
    let mut session = place.groupdesk(&[]).size(24, 250).start();
    let screen = session.wait_for("choose another key for one of them", PATIENCE);
    assert!(screen.contains("config.toml:3:1: the key &"), "{screen}");
    assert!(
        screen.contains("edit (line 2) and sort (line 3)"),
        "{screen}"
    );
    assert_eq!(session.exit_status(PATIENCE).code(), Some(2));
}
