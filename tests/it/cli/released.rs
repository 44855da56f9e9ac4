//! A directory and the storage of a service as groupdesk 0.2.0 left them: made by its program (661a746e), which was killed
//! in the middle of a batch, kept as SQL. In `live` the answers to a rotation of `globex` and to an update of `initech` were
//! lost, and the batch had rotated `acme`, sent the rotation of `umbrella`, and not begun `hooli`. Addresses and the boot of the
//! machine were replaced.

use std::{fs, path::Path};

use rusqlite::Connection;

use super::program::{Background, Home, each};
use crate::support::assertions::assert_has;

const DIRECTORY: &str = include_str!("released/directory_0.2.0.sql");
const SERVICE: &str = include_str!("released/service_0.2.0.sql");

const LIVE: &str = "88ecc4e0e6556ba5ae4d8b487d9e2aa357062a35c00952d42d963d0bc5c19c11";
const TESTING: &str = "75e7aba46ad3afcf6ca52d10393a50ab6a92aa5cad5bd4a20c350caf8c11265f";
const READ_ONLY: &str = "3e3e6ceca916e245ac2f8a0f73b427cf5d5c792a9eaa3e79ebedd37062d81d20";

fn restore(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    let raw = Connection::open(file).expect("a connection");
    raw.execute_batch("PRAGMA foreign_keys = OFF").expect("set");
    raw.execute_batch(text).expect("the SQL of that version");
    raw.execute_batch("PRAGMA journal_mode = WAL").expect("set");
}

fn version(file: &Path) -> i64 {
    let raw = Connection::open(file).expect("a connection");
    raw.query_row("PRAGMA user_version", [], |row| row.get(0))
        .expect("SQL")
}

/// The service on the old storage, and a home with the old directory.
async fn restored() -> (Home, Background) {
    let mut home = Home::new();
    restore(Path::new(&home.database()), SERVICE);
    assert_eq!(version(Path::new(&home.database())), 1);
    let (serving, url) = home.serve().await;
    let config = home.write(
        "config.toml",
        &format!(
            "operator = \"ana\"\n\
             [profiles.live]\nbase_url = \"{url}\"\napi_key = {{ env = \"LIVE_KEY\" }}\nenvironment = \"Customer\"\n\
             [profiles.testing]\nbase_url = \"{url}\"\napi_key = {{ env = \"TESTING_KEY\" }}\n"
        ),
    );
    home.set("GROUPDESK_CONFIG", config);
    home.set("LIVE_KEY", LIVE);
    home.set("TESTING_KEY", TESTING);
    let text = DIRECTORY.replace("http://127.0.0.1:SERVICE", &url);
    let directory = home.path("directory.db");
    restore(&directory, &text);
    home.set("GROUPDESK_DIRECTORY", directory.display().to_string());
    (home, serving)
}

#[tokio::test]
async fn what_the_release_before_left_is_migrated_and_all_of_it_is_found() {
    let (home, _serving) = restored().await;
    let groups = home.json(0, "-P live list --sort id").await;
    let all = ["acme", "globex", "hooli", "initech", "umbrella"];
    assert_eq!(each(&groups, "user_group_id"), all);
    assert_eq!(groups[0]["mapping"]["9"], "1");
    let by_name = home.json(0, "-P live list --sort name").await;
    assert_eq!(each(&by_name, "user_group_id"), all, "titles were written");
    let other = home.json(0, "-P testing list").await;
    assert_eq!(each(&other, "name"), ["Acme test"]);
    let history = home.json(0, "-P live history").await;
    let endings = [
        "confirmed",
        "rotated",
        "unknown",
        "unknown",
        "confirmed",
        "rotated",
        "updated",
        "created",
        "created",
        "created",
        "created",
        "created",
    ];
    assert_eq!(each(&history, "outcome"), endings);
    let rotations = home.json(0, "-P live rotations").await;
    let states = ["sent", "confirmed", "unknown", "confirmed"];
    assert_eq!(each(&rotations, "state"), states);
    let facts = home.run("profile facts live").await;
    assert_has(&facts.out, "sole writer");
    let directory = home.path("directory.db");
    assert!(version(&directory) > 8);
    let kept = groupdesk::directory::backup_of(&directory, 8);
    assert_eq!(version(&kept), 8, "the way back");
}

#[tokio::test]
async fn what_the_release_before_left_open_is_settled_with_its_service() {
    let (home, _serving) = restored().await;
    // The token is not guessed again: the group is locked by its open rotation.
    let rotated = home.run("-P live rotate globex --yes").await;
    assert_ne!(rotated.code, 0, "{}", rotated.out);
    let checked = home.exits(0, "-P live rotations check").await;
    checked.says("of \"initech\" by ").says(": updated");
    let rotations = home.json(0, "-P live rotations").await;
    let found = ["recovered", "confirmed", "recovered", "confirmed"];
    assert_eq!(each(&rotations, "state"), found);
    let got = home.json(0, "-P live get initech").await;
    assert_eq!(got["name"], "Initech 2", "the update took effect");
    home.exits(0, "-P live batches resume 1 --yes").await;
    let rotations = home.json(0, "-P live rotations").await;
    assert_eq!(each(&rotations, "user_group_id")[0], "hooli");
    assert_eq!(each(&rotations, "state")[0], "confirmed");
    assert_eq!(each(&rotations, "state")[1..], found);
    let other = home.json(0, "-P testing get acme").await;
    assert_eq!(other["name"], "Acme test");
    let mut home = home;
    home.set("LIVE_KEY", READ_ONLY);
    let refused = home.run("-P live create new --yes").await;
    assert_ne!(refused.code, 0, "a key that may only read");
}
