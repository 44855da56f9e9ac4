//! Backups of the database of a running service, and the check of its contents.

use std::os::unix::fs::PermissionsExt;

use secrecy::SecretString;
use serde_json::{Value, json};

use crate::{
    cli::program::{Background, Home, has, mode, set_mode},
    support::{assertions::assert_has, service::Caller},
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
    let key = home.key("--environment live --tag Customer").await;
    let (serving, url) = home.serve().await;
    let token = caller(&url, &key).token_of("acme").await;
    let copy = home.at("copy.db");
    let database = home.database();
    let backup = format!("serve backup {copy} --database {database}");
    let made = home.json(0, &backup).await;
    has!(made, {"groups": 1, "keys": 1});
    let metadata = std::fs::metadata(&copy).expect("there");
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    assert_eq!(made["bytes"], json!(metadata.len()));
    assert!(!home.path("copy.db.part").exists());

    let before = std::fs::read(&copy).expect("there");
    home.exits(2, &backup).await.says("already exists");
    assert_eq!(std::fs::read(&copy).expect("there"), before);
    assert!(!home.path("copy.db.part").exists());

    // Later changes are not in the copy.
    let later = caller(&url, &key).token_of("later").await;
    drop(serving);
    let mut copied =
        Background::start(home.command(&format!("serve --listen 127.0.0.1:0 --database {copy}")));
    let line = copied.line().await;
    let url = line
        .trim_start_matches("listening on ")
        .trim_end_matches("/api/user");
    assert_eq!(caller(url, &key).token_of("acme").await, token);
    assert_ne!(caller(url, &key).token_of("later").await, later);
    assert_eq!(wrong(&check(&home, 0, &copy).await), Vec::<&str>::new());
}

/// Files that are none or no database: `cli::failed_checks`.
#[tokio::test]
async fn the_name_of_a_copy_is_a_path_and_no_address() {
    let home = Home::new();
    home.key("--environment live").await;
    let on = format!("--database {}", home.database());
    let nowhere = format!("serve backup no/folder/copy.db {on}");
    home.exits(2, &nowhere).await.says("does not exist");
    for (copy, code) in [("file:x.db", 2), ("./file:x.db", 0)] {
        home.exits(code, &format!("serve backup {copy} {on}")).await;
        assert_eq!(home.path("file:x.db").exists(), code == 0, "{copy}");
        assert!(!home.path("x.db").exists() && !home.path("x.db.part").exists());
    }
}

#[tokio::test]
async fn every_problem_is_named_and_nothing_is_changed() {
    let home = Home::new();
    let database = home.database();
    let key = home.key("--environment live --tag Customer").await;
    home.key("--environment trial").await;
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
    set_mode(&database, 0o644);
    assert_eq!(wrong(&check(&home, 2, &database).await), ["files"]);
    assert_eq!(mode(&database), 0o644, "it only looks");
    let human = home
        .exits(2, &format!("serve check --database {database}"))
        .await;
    assert_has(&human.out, "WRONG");
    assert_has(&human.out, "chmod 600");
}

/// Bytes that were damaged on the disk.
#[tokio::test]
async fn a_damaged_page_is_found() {
    let home = Home::new();
    let database = home.database();
    let key = home.key("--environment live").await;
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
    let ran = home
        .exits(2, &format!("serve check --database {database}"))
        .await;
    let said = ran.all();
    assert!(
        said.contains("backup") || said.contains("malformed"),
        "{said}"
    );
    let copy = home.at("copy.db");
    home.exits(2, &format!("serve backup {copy} --database {database}"))
        .await;
    assert!(
        !home.path("copy.db").exists(),
        "no backup of a damaged database"
    );
}
