//! Backups of the database of a running service, and the check of its contents.

use std::os::unix::fs::PermissionsExt;

use secrecy::SecretString;
use serde_json::{Value, json};

use crate::support::{assertions::assert_has, bare::args};
use crate::{
    cli::program::{Background, Home},
    support::service::Caller,
};

fn caller(url: &str, key: &str) -> Caller {
    Caller::new(url, &SecretString::from(key.trim().to_owned()))
}

/// What `serve check` finds: the subject, whether it is well, and the text.
async fn check(home: &Home, code: i32, database: &str) -> Vec<(String, bool, String)> {
    let found = home
        .json(code, &["serve", "check", "--database", database])
        .await;
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let found = found.as_array().expect("an array").iter().map(|looked| {
        let ok = looked["ok"].as_bool().expect("yes or no");
        (text(&looked["about"]), ok, text(&looked["found"]))
    });
    found.collect()
}

fn wrong(found: &[(String, bool, String)]) -> Vec<&str> {
    let wrong = found.iter().filter(|(_, ok, _)| !ok);
    wrong.map(|(about, ..)| about.as_str()).collect()
}

#[tokio::test]
async fn a_backup_of_a_running_service_serves_the_same_groups() {
    let home = Home::new();
    let key = home.key(&args("--environment live --tag Customer")).await;
    let (serving, url) = home.serve().await;
    let token = caller(&url, &key).token_of("acme").await;
    let copy = home.path("copy.db").display().to_string();
    let database = home.database();
    let backup = ["serve", "backup", &copy, "--database", &database];
    let made = home.json(0, &backup).await;
    assert_eq!((&made["groups"], &made["keys"]), (&json!(1), &json!(1)));
    let metadata = std::fs::metadata(&copy).expect("there");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    assert_eq!(made["bytes"], json!(metadata.len()));
    assert!(!home.path("copy.db.part").exists());

    let before = std::fs::read(&copy).expect("there");
    let again = home.run(&backup).await;
    assert_eq!(again.code, 2);
    assert!(again.err.contains("already exists"), "{}", again.err);
    assert_eq!(std::fs::read(&copy).expect("there"), before);
    assert!(!home.path("copy.db.part").exists());

    // Later changes are not in the copy.
    let later = caller(&url, &key).token_of("later").await;
    drop(serving);
    let mut copied =
        Background::start(home.command(&["serve", "--listen", "127.0.0.1:0", "--database", &copy]));
    let line = copied.line().await;
    let url = line
        .trim_start_matches("listening on ")
        .trim_end_matches("/api/user");
    assert_eq!(caller(url, &key).token_of("acme").await, token);
    assert_ne!(caller(url, &key).token_of("later").await, later);
    assert_eq!(wrong(&check(&home, 0, &copy).await), Vec::<&str>::new());
}

#[tokio::test]
async fn other_files_are_neither_copied_nor_created() {
    let home = Home::new();
    let missing = home.path("missing.db").display().to_string();
    let text = home.write(
        "notes.txt",
        &"no database, and long enough to be looked at".repeat(99),
    );
    let folder = home.folder.path().display().to_string();
    let copy = home.path("copy.db").display().to_string();
    for (database, says) in [
        (&missing, "does not exist"),
        (&text, "not a database of the User Group Service"),
        (&folder, "not a regular file"),
    ] {
        for arguments in [&["backup", &copy][..], &["check"]] {
            let all = [&["serve"][..], arguments, &["--database", database]].concat();
            let ran = home.run(&all).await;
            assert_eq!(ran.code, 2, "{all:?}: {}", ran.err);
            assert_has(&ran.err, says);
            assert_has(&ran.err, database);
        }
        assert!(!home.path("missing.db").exists() && !home.path("copy.db").exists());
    }
    let nowhere = home.path("no/folder/copy.db").display().to_string();
    home.key(&["--environment", "live"]).await;
    let database = home.database();
    let ran = home
        .run(&["serve", "backup", &nowhere, "--database", &database])
        .await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("create the folder"), "{}", ran.err);
    for (copy, code) in [("file:x.db", 2), ("./file:x.db", 0)] {
        let ran = home
            .run(&["serve", "backup", copy, "--database", &database])
            .await;
        assert_eq!(ran.code, code, "{copy}: {}{}", ran.out, ran.err);
        assert_eq!(home.path("file:x.db").exists(), code == 0, "{copy}");
        assert!(!home.path("x.db").exists() && !home.path("x.db.part").exists());
    }
}

#[tokio::test]
async fn every_problem_is_named_and_nothing_is_changed() {
    let home = Home::new();
    let database = home.database();
    let key = home.key(&args("--environment live --tag Customer")).await;
    home.key(&["--environment", "trial"]).await;
    {
        let (_serving, url) = home.serve().await;
        caller(&url, &key).token_of("canary-id").await;
        assert_eq!(wrong(&check(&home, 0, &database).await), Vec::<&str>::new());
    }
    let open = || rusqlite::Connection::open(&database).expect("open");
    let token: String = open()
        .query_row("SELECT token FROM groups", [], |row| row.get(0))
        .expect("a token");
    for (about, damage) in [
        ("groups", "UPDATE groups SET mapping = '{\"1\": 2}'"),
        (
            "groups",
            "UPDATE groups SET mapping = '{}', properties = '['",
        ),
        (
            "environments",
            "UPDATE groups SET properties = '{}'; INSERT INTO groups (environment, user_group_id, name, mapping, \
             properties, token, created_at, updated_at) VALUES (2, 'canary-id', 'x', '{}', '{}', 'canary-token', 0, 0)",
        ),
        (
            "references",
            "PRAGMA foreign_keys = OFF; DELETE FROM groups WHERE environment = 2; UPDATE keys SET environment = 9 WHERE id = 2",
        ),
    ] {
        open().execute_batch(damage).expect("damaged");
        let found = check(&home, 2, &database).await;
        assert_eq!(wrong(&found), [about], "{found:?}");
        let said = format!("{found:?}");
        assert!(!said.contains("canary") && !said.contains(&token), "{said}");
    }
    open()
        .execute_batch("UPDATE keys SET environment = 2 WHERE id = 2")
        .expect("mended");
    assert_eq!(wrong(&check(&home, 0, &database).await), Vec::<&str>::new());
    std::fs::set_permissions(&database, std::fs::Permissions::from_mode(0o644)).expect("widened");
    assert_eq!(wrong(&check(&home, 2, &database).await), ["files"]);
    let mode = std::fs::metadata(&database)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644, "it only looks");
    let human = home.run(&["serve", "check", "--database", &database]).await;
    assert_eq!(human.code, 2);
    assert_has(&human.out, "WRONG");
    assert_has(&human.out, "chmod 600");
}

/// Bytes that were damaged on the disk.
#[tokio::test]
async fn a_damaged_page_is_found() {
    let home = Home::new();
    let database = home.database();
    let key = home.key(&["--environment", "live"]).await;
    {
        let (mut serving, url) = home.serve().await;
        let caller = caller(&url, &key);
        for n in 0..40 {
            let body =
                json!({"user_group_id": format!("g{n}"), "properties": {"x": "y".repeat(500)}});
            caller.get(&body).await.ok();
        }
        serving.signal(rustix::process::Signal::TERM);
        assert_eq!(serving.code().await, Some(0));
    }
    let mut bytes = std::fs::read(&database).expect("there");
    let half = bytes.len() / 2 / 4096 * 4096;
    bytes[half..half + 4096].fill(0x5a);
    std::fs::write(&database, &bytes).expect("damaged");
    let ran = home.run(&["serve", "check", "--database", &database]).await;
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    let said = format!("{}{}", ran.out, ran.err);
    assert!(
        said.contains("backup") || said.contains("malformed"),
        "{said}"
    );
    let copy = home.path("copy.db").display().to_string();
    let ran = home
        .run(&["serve", "backup", &copy, "--database", &database])
        .await;
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(
        !home.path("copy.db").exists(),
        "no backup of a damaged database"
    );
}
