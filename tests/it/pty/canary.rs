//! An API key and a token that must stand nowhere: not in what is written to the terminal, not in the arguments, not
//! in any file, even after the process was killed.

use std::{fs, path::Path};

use rustix::process::Signal;

use super::{PATIENCE, place::Place};
use crate::support::{pty::Session, world::files_below};

/// A service of its own, with its database where the console never looks.
struct Service {
    _session: Session,
    _folder: tempfile::TempDir,
    address: String,
    key: String,
}

fn service(place: &Place) -> Service {
    let folder = tempfile::tempdir().expect("a folder");
    let database = folder.path().join("service.db");
    let database = database.to_string_lossy();
    let mut keys = place
        .groupdesk(&[
            "serve",
            "keys",
            "create",
            "--environment",
            "testing",
            "--tag",
            "Testing",
            "--json",
            "--database",
            &database,
        ])
        .size(24, 400)
        .start();
    assert!(keys.exit_status(PATIENCE).success());
    let printed = keys.screen();
    let key = printed
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
        .max_by_key(|word| word.len())
        .expect("a key")
        .to_owned();
    assert!(key.len() >= 43, "256 bits: {printed}");
    let mut session = place
        .groupdesk(&["serve", "--listen", "127.0.0.1:0", "--database", &database])
        .size(24, 400)
        .start();
    let screen = session.wait_for("/api/user", PATIENCE);
    let (_, rest) = screen.split_once("http://").expect("an address");
    let (address, _) = rest.split_once('/').expect("a path");
    Service {
        address: address.to_owned(),
        key,
        _session: session,
        _folder: folder,
    }
}

/// Every file below a folder that holds a secret.
fn finds(folder: &Path, secret: &str) -> Vec<String> {
    let files = files_below(folder).expect("readable");
    let holds = |file: &&std::path::PathBuf| {
        let bytes = fs::read(file).unwrap_or_default();
        bytes
            .windows(secret.len())
            .any(|window| window == secret.as_bytes())
    };
    files
        .iter()
        .filter(holds)
        .map(|file| file.display().to_string())
        .collect()
}

/// Nothing but the key's own file holds the key, and nothing holds the token.
#[track_caller]
fn assert_nowhere(place: &Place, key_file: &Path, key: &str, token: &str) {
    assert_eq!(finds(place.all(), key), [key_file.display().to_string()]);
    assert_eq!(finds(place.all(), token), [""; 0]);
}

fn revealed(session: &mut Session) -> String {
    session.send("t");
    session.wait_for("T rotates it", PATIENCE);
    session.send("v");
    let screen = session.wait_for("hidden again in", PATIENCE);
    let words = screen.split(|c: char| !c.is_ascii_hexdigit());
    words
        .max_by_key(|word| word.len())
        .expect("a token")
        .to_owned()
}

#[test]
fn neither_key_nor_token_stands_anywhere() {
    let place = Place::new();
    let service = service(&place);
    let key = service.key.as_str();
    let folder = place.below("config/groupdesk");
    groupdesk::platform::private_files::private_folder(&folder).expect("a folder");
    let key_file = folder.join("key");
    groupdesk::platform::private_files::write_new_private(&key_file, key.as_bytes())
        .expect("written");
    let profile = |name: &str, source: &str| {
        format!(
            "[profiles.{name}]\nbase_url = \"http://{}\"\napi_key = {{ {source} }}\n\
             environment = \"Testing\"\nproduction = false\n\n",
            service.address
        )
    };
    let config = "default_profile = \"by-file\"\n\n".to_owned()
        + &profile("by-file", "file = \"key\"")
        + &profile("by-variable", "env = \"CANARY\"");
    fs::write(folder.join("config.toml"), config).expect("written");
    let console = |profile: &str| {
        let mut session = place
            .groupdesk(&["--profile", profile])
            .env("CANARY", key)
            .env("TZ", "UTC")
            .size(30, 120)
            .start();
        let screen = session.wait_for("  read ", PATIENCE);
        assert!(screen.contains(profile), "{screen}");
        session
    };

    // Two profiles of one address and key are one place.
    for (profile, id, count) in [
        ("by-file", "one", "1 group"),
        ("by-variable", "two", "2 groups"),
    ] {
        let mut session = console(profile);
        session.send(format!("o{id}\r"));
        session.wait_for(&format!("Create {id}"), PATIENCE);
        session.send("A group\x13");
        session.wait_for("[ Create ]", PATIENCE);
        session.send("\t\r");
        session.wait_for("CREATED", PATIENCE);
        session.send("\r");
        session.wait_for(count, PATIENCE);
        let token = revealed(&mut session);
        assert_eq!(token.len(), 64);
        session.send("v");
        session.wait_for_no(&token, PATIENCE);
        session.send("v");
        session.wait_for(&token, PATIENCE);

        let raw = String::from_utf8_lossy(session.raw_output()).into_owned();
        assert!(!raw.contains(key), "the key is on the terminal");
        assert_eq!(raw.matches(&token).count(), 2, "shown only when asked");
        let arguments = fs::read(format!("/proc/{}/cmdline", session.pid())).expect("it runs");
        let arguments = String::from_utf8_lossy(&arguments).into_owned();
        assert!(arguments.contains(profile), "{arguments}");
        assert!(!arguments.contains(key) && !arguments.contains(&token));
        assert_nowhere(&place, &key_file, key, &token);

        session.signal(Signal::KILL);
        session.exit_status(PATIENCE);
        assert_nowhere(&place, &key_file, key, &token);
    }
}
