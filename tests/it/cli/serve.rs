//! `groupdesk serve` and its API keys: it says where it listens, ends when told to, and finishes requests in flight.

mod callers;
mod care;
mod operate;
mod packaged;
mod shared;
mod tls;

use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::program::{DEADLINE, Home};
use crate::support::assertions::{assert_has, assert_lacks};

#[tokio::test]
async fn keys_are_made_listed_and_revoked() {
    let mut home = Home::new();
    let database = home.database();
    let made = home
        .json(
            0,
            &[
                "serve",
                "keys",
                "create",
                "--environment",
                "live",
                "--tag",
                "Customer",
                "--database",
                &database,
            ],
        )
        .await;
    assert_eq!(
        (&made["id"], &made["tag"], &made["read_only"]),
        (&json!(1), &json!("Customer"), &json!(false))
    );
    let key = made["key"].as_str().expect("a key").to_owned();
    let reader = home.key(&["--environment", "live", "--read-only"]).await;
    assert_eq!(reader.lines().count(), 1);
    let mode = std::fs::metadata(&database)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);

    let (_serving, url) = home.serve().await;
    home.connect(&url, &key);
    assert_eq!(
        home.json(0, &["create", "acme", "--yes"]).await["outcome"],
        "created"
    );
    home.connect(&url, &reader);
    assert_eq!(home.json(0, &["get", "acme"]).await["outcome"], "found");
    assert_eq!(
        home.json(1, &["update", "acme", "--name", "x", "--yes"])
            .await["outcome"],
        "refused"
    );

    let revoked = home
        .json(
            0,
            &["serve", "keys", "revoke", "1", "--database", &database],
        )
        .await;
    assert!(revoked["revoked_at"].is_string());
    home.connect(&url, &key);
    assert_eq!(home.json(4, &["get", "acme"]).await["outcome"], "refused");
    let list = home
        .json(0, &["serve", "keys", "list", "--database", &database])
        .await;
    let list = list.as_array().expect("an array");
    assert_eq!(list.len(), 2);
    assert!(list.iter().all(|info| info.get("key").is_none()));
    assert_eq!(
        (&list[0]["revoked_at"], &list[1]["revoked_at"]),
        (&revoked["revoked_at"], &Value::Null)
    );
    let human = home
        .run(&["serve", "keys", "list", "--database", &database])
        .await;
    assert_has(&human.out, "read, write");
    assert_lacks(&human.out, &key);
}

#[tokio::test]
async fn requests_in_flight_are_finished_on_a_signal_to_stop() {
    for signal in [Signal::TERM, Signal::INT] {
        let home = Home::new();
        let key = home.key(&["--environment", "live"]).await;
        let (mut serving, url) = home.serve().await;
        let host = url.trim_start_matches("http://").to_owned();
        let mut stream = TcpStream::connect(&host).await.expect("it listens");
        let body = json!({"user_group_id": "acme"}).to_string();
        let (first, rest) = body.split_at(5);
        let head = format!(
            "GET /api/user HTTP/1.1\r\nHost: {host}\r\nAuthorization: Token {key}\r\nContent-Type: application/json\r\n\
             Expect: 100-continue\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.expect("written");
        // The service asks for the body: from here on the request is in flight.
        let mut interim = [0; 25];
        stream.read_exact(&mut interim).await.expect("100 Continue");
        assert!(
            interim.starts_with(b"HTTP/1.1 100"),
            "{}",
            String::from_utf8_lossy(&interim)
        );
        stream.write_all(first.as_bytes()).await.expect("written");
        serving.signal(signal);
        serving.says("finishing running requests").await;
        stream.write_all(rest.as_bytes()).await.expect("written");
        let mut answer = String::new();
        let read = tokio::time::timeout(DEADLINE, stream.read_to_string(&mut answer));
        read.await.expect("in time").expect("readable");
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains("\"new_user_group\":true"),
            "{answer}"
        );
        assert_eq!(serving.code().await, Some(0));
    }
}

#[tokio::test]
async fn the_service_states_its_facts_unless_told_not_to() {
    let home = Home::new();
    let key = home.key(&["--environment", "live"]).await;
    let database = home.database();
    for (more, stated) in [(None, true), (Some("--no-facts-header"), false)] {
        let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--database", &database];
        arguments.extend(more);
        let mut serving = super::program::Background::start(home.command(&arguments));
        let line = serving.line().await;
        let url = line.trim().strip_prefix("listening on ").expect("a URL");
        let request = crate::support::service::plain_client()
            .get(url)
            .header("authorization", format!("Token {}", key.trim()))
            .header("content-type", "application/json")
            .body(r#"{"user_group_id":"acme"}"#);
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers().contains_key("groupdesk-facts"), stated);
    }
}

#[tokio::test]
async fn a_public_address_needs_tls_or_an_option_and_a_taken_one_is_an_error() {
    let home = Home::new();
    let database = home.database();
    let public = ["serve", "--listen", "0.0.0.0:0", "--database", &database];
    let refused = home.run(&public).await;
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("add --insecure-http"),
        "{}",
        refused.err
    );
    assert!(!std::path::Path::new(&database).exists());
    let mut open = super::program::Background::start(home.command(&[
        "serve",
        "--listen",
        "0.0.0.0:0",
        "--insecure-http",
        "--database",
        &database,
    ]));
    assert!(
        open.line()
            .await
            .starts_with("listening on http://0.0.0.0:")
    );
    open.says("other machines can reach").await;
    let (_serving, url) = home.serve().await;
    let taken = url.trim_start_matches("http://");
    let ran = home
        .run(&["serve", "--listen", taken, "--database", &database])
        .await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--listen"), "{}", ran.err);
    let missing = home.write("note.txt", "no database");
    let ran = home.run(&["serve", "--database", &missing]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_eq!(
        std::fs::read_to_string(missing).expect("there"),
        "no database"
    );
}
