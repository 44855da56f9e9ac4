//! `profile`: adding, listing, showing, checking and removing profiles, and keys in the keyring.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};

use super::{
    guards::{group, knowing_acme, methods},
    program::Home,
};
use crate::support::faults::{Fault, Faults, http, json as answer};
use crate::support::{assertions::assert_has, bare::args};

const KEY: &str = "canary-api-key-5up3r53cr3t";

fn says_no(status: &str, code: &str) -> Fault {
    answer(
        status,
        &json!({"success": 0, "error": {"code": code, "message": "no"}}),
    )
}

/// An installation without any profile, whose key is in a file.
fn fresh() -> (Home, String) {
    let home = Home::new();
    let file = home.write("eu.key", KEY);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("set");
    (home, file)
}

fn config(home: &Home) -> Option<String> {
    fs::read_to_string(home.path(".config/groupdesk/config.toml")).ok()
}

#[tokio::test]
async fn a_profile_is_tested_and_written_and_works() {
    let (home, _) = fresh();
    let (_serving, url) = home.serve().await;
    let database = home.database();
    let key = home
        .run(&[
            "serve",
            "keys",
            "create",
            "--environment",
            "t",
            "--tag",
            "Testing",
            "--database",
            &database,
        ])
        .await;
    let file = home.write("eu.key", &key.out);
    let add = [
        "profile",
        "add",
        "eu",
        "--base-url",
        &url,
        "--environment",
        "Testing",
        "--api-key-file",
        &file,
    ];

    let dry: Vec<_> = add.iter().copied().chain(["--dry-run"]).collect();
    let planned = home.json(0, &dry).await;
    assert_eq!(planned["written"], false);
    assert_eq!(planned["check"]["finding"], "accepted", "{planned}");
    assert_eq!(config(&home), None, "a dry run writes nothing");

    let ran = home.run(&add).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("the API key is accepted"), "{}", ran.err);
    let text = config(&home).expect("written");
    assert!(text.ends_with(ran.out.trim_start()), "{text}\n{}", ran.out);
    assert!(!text.contains(key.out.trim()), "{text}");
    let listed = home.json(0, &["profile", "list"]).await;
    assert_eq!(listed[0]["profile"], "eu");
    assert_eq!(listed[0]["default"], true);
    assert_eq!(listed[0]["production"], false);
    assert_eq!(
        home.json(0, &["profile", "check"]).await["finding"],
        "accepted"
    );
    assert_eq!(
        home.json(0, &["list"]).await,
        json!([]),
        "testing created nothing"
    );
    let made = home.json(0, &["create", "acme", "--yes"]).await;
    assert_eq!(made["outcome"], "created");

    let again = home.run(&add).await;
    assert_eq!(again.code, 2);
    assert_has(&again.err, "profile \"eu\" already exists");
    assert_eq!(config(&home).expect("there"), text);

    let asked = home.run(&["profile", "remove", "eu"]).await;
    assert_eq!(asked.code, 3, "{}", asked.err);
    assert_eq!(config(&home).expect("there"), text, "nothing without --yes");
    assert_eq!(
        home.run(&["profile", "remove", "eu", "--yes"]).await.code,
        0
    );
    assert_eq!(config(&home).expect("there").trim(), "");
    assert_eq!(home.run(&add).await.code, 0);
    let known = home.json(0, &["list"]).await;
    assert_eq!(
        known[0]["user_group_id"], "acme",
        "the directory never forgot it"
    );
}

#[tokio::test]
async fn a_failed_check_is_explained_and_nothing_is_written() {
    let (home, file) = fresh();
    let page = http(
        "200 OK",
        &["Content-Type: text/html"],
        "<html>log in</html>",
    );
    let slash = http("308 Permanent Redirect", &["Location: /api/user/"], "");
    #[rustfmt::skip] // A table: one case per line.
    let cases = [
        (says_no("401 Unauthorized", "unauthorized"), "key_refused"),
        (says_no("404 Not Found", "not_found"), "not_found"),
        (Fault::Answer(slash), "slash"),
        (Fault::Answer(page), "web_page"),
        (says_no("503 Service Unavailable", "overloaded"), "service_failed"),
        (Fault::Close, "no_answer"),
        (group("token-0", &Value::Null), "strange"),
    ];
    for (fault, finding) in cases {
        let service = Faults::always(fault).await;
        let url = service.base_url();
        let add = [
            "profile",
            "add",
            "eu",
            "--base-url",
            &url,
            "--api-key-file",
            &file,
        ];
        let told = home.json(1, &add).await;
        assert_eq!(told["check"]["finding"], finding, "{told}");
        assert_eq!(told["written"], false);
        assert!(!told.to_string().contains(KEY), "{told}");
        assert_eq!(config(&home), None, "{finding}");
        // The only request names no group, so that no service can take it for a create or a rotation.
        let requests = service.requests();
        assert_eq!(methods(&service), ["PUT"], "{finding}");
        assert_eq!(requests[0].body(), b"{}");
    }
    let nobody = [
        "profile",
        "add",
        "eu",
        "--base-url",
        "http://127.0.0.1:1",
        "--api-key-file",
        &file,
    ];
    assert_eq!(
        home.json(1, &nobody).await["check"]["finding"],
        "not_reached"
    );
    let keyless = args("profile add eu --base-url http://127.0.0.1:1 --api-key-env NOT_SET");
    let told = home.json(1, &keyless).await;
    assert!(
        told["check"]["text"]
            .as_str()
            .is_some_and(|text| text.contains("NOT_SET")),
        "{told}"
    );
    assert_eq!(config(&home), None);
    // With --no-check it is written anyway.
    let unchecked = home
        .run(&args(
            "profile add eu --base-url https://api.example.com --api-key-env NOT_SET --no-check",
        ))
        .await;
    assert_eq!(unchecked.code, 0, "{}", unchecked.err);
    assert!(config(&home).expect("written").contains("NOT_SET"));
}

#[tokio::test]
async fn a_read_only_key_is_recognized() {
    let (home, file) = fresh();
    let service = Faults::always(says_no("403 Forbidden", "read_only_key")).await;
    let url = service.base_url();
    let told = home
        .json(
            0,
            &[
                "profile",
                "add",
                "eu",
                "--base-url",
                &url,
                "--api-key-file",
                &file,
            ],
        )
        .await;
    assert_eq!(told["check"]["finding"], "may_not_change", "{told}");
    assert_eq!(told["written"], true);
    // So that nobody is offered what the service would refuse.
    let lines = told["lines"].as_str().expect("lines");
    assert!(lines.contains("\nread_only = true\n"), "{lines}");
    assert!(config(&home).expect("written").ends_with(lines));
    let shown = home.json(0, &["profile", "show", "eu"]).await;
    assert_eq!(shown["read_only"], true, "{shown}");
}

#[tokio::test]
async fn a_wrong_path_is_reported_before_a_missing_group() {
    let mut home = Home::new();
    let (_serving, url) = home.serve().await;
    let key = home.key(&["--environment", "t", "--tag", "Customer"]).await;
    home.connect(&url, &key);
    let file = home.path("config.toml");
    let text = fs::read_to_string(&file).expect("written");
    fs::write(&file, format!("{text}path = \"/api/users\"\n")).expect("written");
    let ran = home.run(&["get", "acme", "--exists"]).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_has(&ran.err, "check the profile's `path` and `base_url`");
}

#[tokio::test]
async fn bad_arguments_are_refused_before_anything_is_sent_or_asked() {
    let (home, file) = fresh();
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&["profile", "add", "eu"][..], "--base-url and one of --api-key-env"),
        (&["profile", "add", "eu", "--base-url", "api.example.com", "--api-key-env", "K"], "must begin with https://"),
        (&["profile", "add", "eu", "--base-url", "http://10.0.0.1", "--api-key-env", "K"], "unprotected"),
        (&["profile", "add", "", "--base-url", "https://a.example", "--api-key-env", "K"], "is empty"),
        (&["profile", "add", "eu", "--base-url", "https://a.example", "--api-key-env", "a b"], "api_key.env must be the name"),
        (&["profile", "add", "eu", "--base-url", "https://a.example", "--api-key-env", "K", "--api-key-file", &file], "cannot be used with"),
        (&["profile", "remove", "eu", "--yes"], "profile \"eu\" not found"),
        (&["profile", "key", "eu"], "profile \"eu\" not found"),
    ];
    for (arguments, words) in table {
        let ran = home.run(arguments).await;
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{arguments:?}: {}", ran.err);
    }
    assert_eq!(config(&home), None);
}

#[tokio::test]
async fn a_key_goes_to_the_keyring_or_the_error_says_why_not() {
    let (home, _) = fresh();
    let service = Faults::always(says_no("400 Bad Request", "invalid_request")).await;
    let url = service.base_url();
    let entry = format!(
        "--api-key-keyring=groupdesk-cli-test-{}",
        std::process::id()
    );
    let add = ["profile", "add", "eu", "--base-url", &url, &entry];
    let ran = home.run_with(&add, KEY).await;
    if ran.code == 0 {
        let text = config(&home).expect("written");
        assert!(text.contains("keyring = ") && !text.contains(KEY), "{text}");
        assert_eq!(
            home.json(0, &["profile", "check"]).await["finding"],
            "accepted"
        );
        assert_eq!(
            home.run(&["profile", "key", "eu", "--forget"]).await.code,
            0
        );
        let missing = home.run(&["profile", "check"]).await;
        assert_eq!(missing.code, 4, "{}", missing.err);
        assert_has(&missing.err, "groupdesk profile key");
        assert_eq!(home.run_with(&["profile", "key", "eu"], KEY).await.code, 0);
        assert_eq!(
            home.run(&["profile", "key", "eu", "--forget"]).await.code,
            0
        );
    } else {
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert_has(&ran.err, "the key was not stored");
        assert_has(&ran.err, "use another source");
        assert_eq!(config(&home), None, "no profile without its key");
    }
    assert!(!ran.err.contains(KEY) && !ran.out.contains(KEY));
}

#[tokio::test]
async fn a_profile_without_an_api_key_reads_the_directory_and_sends_nothing() {
    let (home, service) = knowing_acme(Vec::new()).await;
    let config = fs::read_to_string(home.path("config.toml")).expect("written");
    let lines = config.lines().filter(|line| !line.starts_with("api_key"));
    let bare: Vec<_> = lines.collect();
    home.write("config.toml", &bare.join("\n"));
    let seen = home.json(0, &["list"]).await;
    assert_eq!(seen[0]["user_group_id"], json!("acme"));
    for command in ["show acme", "history acme", "config validate"] {
        let ran = home.run(&args(command)).await;
        assert_eq!(ran.code, 0, "{command}: {}", ran.err);
    }
    for command in [
        "get acme",
        "rotate acme --yes",
        "update acme --name X --yes",
    ] {
        let ran = home.run(&args(command)).await;
        assert_has(&ran.err, "no API key from the profile: add api_key");
        assert_ne!(ran.code, 0, "{command}");
    }
    assert_eq!(service.requests().len(), 1, "nothing was sent");
}
