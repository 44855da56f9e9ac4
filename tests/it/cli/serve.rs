//! `groupdesk serve` and its API keys: it says where it listens.

mod callers;
mod care;
mod operate;
mod packaged;
mod shared;
mod tls;

use serde_json::Value;

use super::program::{Background, Home, each, has, mode};

#[tokio::test]
async fn keys_are_made_listed_and_revoked() {
    let mut home = Home::new();
    let on = format!("--database {}", home.database());
    let made = home
        .json(
            0,
            &format!("serve keys create --environment live --tag Customer {on}"),
        )
        .await;
    has!(made, {"id": 1, "tag": "Customer", "read_only": false});
    let key = made["key"].as_str().expect("a key");
    let reader = home.key("--environment live --read-only").await;
    assert_eq!(reader.lines().count(), 1);
    assert_eq!(mode(home.database()), 0o600);

    let (_serving, url) = home.serve().await;
    home.connect(&url, key);
    home.exits(0, "create acme --yes").await;
    home.connect(&url, &reader);
    home.exits(0, "get acme").await;
    home.exits(1, "update acme --name x --yes").await;
    let revoked = home.json(0, &format!("serve keys revoke 1 {on}")).await;
    assert!(revoked["revoked_at"].is_string());
    home.connect(&url, key);
    home.exits(4, "get acme").await;
    let missing = format!("serve keys revoke 7 {on}");
    let ran = home.exits(2, &missing).await;
    ran.says(&format!("For a list: groupdesk serve keys list {on}"));
    let list = home.json(0, &format!("serve keys list {on}")).await;
    assert_eq!(each(&list, "key"), ["null"; 2]);
    assert_eq!(list[0]["revoked_at"], revoked["revoked_at"]);
    assert_eq!(list[1]["revoked_at"], Value::Null);
    let human = home.run(&format!("serve keys list {on}")).await;
    human.shows("read, write").hides(key);
}

#[tokio::test]
async fn a_public_address_needs_tls_or_an_option_and_a_taken_one_is_an_error() {
    let home = Home::new();
    let on = format!("--database {}", home.database());
    let public = format!("serve --listen 0.0.0.0:0 {on}");
    home.exits(2, &public).await.says("add --insecure-http");
    assert!(!std::path::Path::new(&home.database()).exists());
    let mut open = Background::start(home.command(&format!("{public} --insecure-http")));
    let line = open.line().await;
    assert!(line.starts_with("listening on http://0.0.0.0:"), "{line}");
    open.says("other machines can reach").await;
    let (_serving, url) = home.serve().await;
    let taken = url.trim_start_matches("http://");
    home.exits(2, &format!("serve --listen {taken} {on}"))
        .await
        .says("--listen");
    home.write("note.txt", "no database");
    home.exits(2, "serve --database note.txt").await;
    let kept = std::fs::read_to_string(home.path("note.txt")).expect("there");
    assert_eq!(kept, "no database");
}
