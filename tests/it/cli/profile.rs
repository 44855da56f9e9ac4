//! `profile`: adding, listing, showing, checking and removing profiles, and keys in the keyring.

use std::fs;

use serde_json::{Value, json};

use super::{
    doctor::{finding, says},
    guards::{group, knowing_acme, methods},
    program::{Home, each, has, set_mode},
};
use crate::support::{
    assertions::{assert_has, in_one_line},
    faults::{Fault, Faults, http},
};

const KEY: &str = "canary-api-key-5up3r53cr3t";

/// An installation without any profile, whose key is in a file.
fn fresh() -> (Home, String) {
    let home = Home::new();
    let file = home.write("eu.key", KEY);
    set_mode(&file, 0o600);
    (home, file)
}

fn config(home: &Home) -> Option<String> {
    fs::read_to_string(home.path(".config/groupdesk/config.toml")).ok()
}

#[tokio::test]
async fn a_profile_is_tested_and_written_and_works() {
    let (home, _) = fresh();
    let (_serving, url) = home.serve().await;
    let key = home.key("--environment t --tag Testing").await;
    let file = home.write("eu.key", &key);
    let add =
        format!("profile add eu --base-url {url} --environment Testing --api-key-file {file}");
    let planned = home.json(0, &format!("{add} --dry-run")).await;
    assert_eq!(planned["written"], false);
    assert_eq!(planned["check"]["finding"], "accepted", "{planned}");
    assert_eq!(config(&home), None, "a dry run writes nothing");

    let ran = home.exits(0, &add).await;
    ran.says("the API key is accepted").hides(&key);
    let text = config(&home).expect("written");
    assert!(text.ends_with(ran.out.trim_start()), "{text}\n{}", ran.out);
    assert!(!text.contains(&key), "{text}");
    let listed = home.json(0, "profile list").await;
    has!(listed[0], {"profile": "eu", "default": true, "production": false});
    assert_eq!(home.json(0, "profile check").await["finding"], "accepted");
    // Testing it created nothing.
    assert_eq!(home.json(0, "list").await, json!([]));
    let made = home.json(0, "create acme --yes").await;
    assert_eq!(made["outcome"], "created");
    home.exits(2, &add)
        .await
        .says("profile \"eu\" already exists");
    // Nothing without --yes.
    home.exits(3, "profile remove eu").await;
    assert_eq!(config(&home).expect("there"), text);
    home.exits(0, "profile remove eu --yes").await;
    assert_eq!(config(&home).expect("there").trim(), "");
    home.exits(0, &add).await;
    let known = home.json(0, "list").await;
    assert_eq!(each(&known, "user_group_id"), ["acme"], "never forgotten");
}

#[tokio::test]
async fn a_failed_check_is_explained_and_nothing_is_written() {
    let (home, file) = fresh();
    let html = ["Content-Type: text/html"];
    let page = http("200 OK", &html, "<html>log in</html>");
    let slash = http("308 Permanent Redirect", &["Location: /api/user/"], "");
    #[rustfmt::skip] // A table: one case per line.
    let cases = [
        (says("401 Unauthorized", "unauthorized"), "key_refused"),
        (says("404 Not Found", "not_found"), "not_found"),
        (Fault::Answer(slash), "slash"),
        (Fault::Answer(page), "web_page"),
        (says("503 Service Unavailable", "overloaded"), "service_failed"),
        (Fault::Close, "no_answer"),
        (group("token-0", &Value::Null), "strange"),
    ];
    let add = |url: &str| format!("profile add eu --base-url {url} --api-key-file {file}");
    for (fault, finding) in cases {
        let service = Faults::always(fault).await;
        let told = home.json(1, &add(&service.base_url())).await;
        assert_eq!(told["check"]["finding"], finding, "{told}");
        assert_eq!(told["written"], false);
        assert!(!told.to_string().contains(KEY), "{told}");
        assert_eq!(config(&home), None, "{finding}");
        // The only request names no group, so that no service can take it for a create or a rotation.
        assert_eq!(methods(&service), ["PUT"], "{finding}");
        assert_eq!(service.requests()[0].body(), b"{}");
    }
    let told = home.json(1, &add("http://127.0.0.1:1")).await;
    assert_eq!(told["check"]["finding"], "not_reached");
    let keyless = "profile add eu --base-url http://127.0.0.1:1 --api-key-env NOT_SET";
    let told = home.json(1, keyless).await;
    assert!(
        told["check"]["text"].to_string().contains("NOT_SET"),
        "{told}"
    );
    assert_eq!(config(&home), None);
    // With --no-check it is written anyway.
    let unchecked = "profile add eu --base-url https://a.example --api-key-env NOT_SET --no-check";
    home.exits(0, unchecked).await;
    assert!(config(&home).expect("written").contains("NOT_SET"));
    let line = "profile add us --base-url https://a.example --no-check --api-key-command pass -- --show -q us";
    home.exits(0, line).await;
    let argv = r#"["pass", "--show", "-q", "us"]"#;
    assert!(config(&home).expect("written").contains(argv));
}

#[tokio::test]
async fn a_profile_that_contradicts_another_one_of_its_environment_is_not_written() {
    let (home, _serving) = Home::served().await;
    home.exits(0, "create acme --yes").await;
    let (before, url) = (home.config(), home.url());
    let line = format!(
        "profile add z --base-url {url} --environment Testing --api-key-env LIVE_KEY --yes"
    );
    let ran = home.exits(2, &line).await;
    assert_has(
        &in_one_line(&ran.err),
        "have different `environment` settings",
    );
    assert_eq!(home.config(), before);
    // Written by hand, doctor tells it, also before anything is sent for it.
    home.add_config(&format!(
        "[profiles.z]\nbase_url = \"{url}\"\nenvironment = \"Testing\"\napi_key = {{ env = \"LIVE_KEY\" }}\n"
    ));
    let report = home.json(2, "doctor -P z").await;
    assert_eq!(finding(&report, "both bound to environment").0, "problem");
    let report = home.json(0, "doctor -P live").await;
    assert_eq!(finding(&report, "the same URL and API key").0, "warning");
}

/// It may ask, for a passphrase.
#[tokio::test]
async fn the_key_command_of_a_new_profile_runs_once() {
    let (home, _) = fresh();
    let (_serving, url) = home.serve().await;
    let key = home.key("--environment t --tag Testing").await;
    let script = home.write("key.sh", &format!("echo run >> \"$0.runs\"; echo {key}"));
    let add = format!(
        "profile add eu --base-url {url} --environment Testing --api-key-command sh {script}"
    );
    home.exits(0, &add).await.says("the API key is accepted");
    let runs = std::fs::read_to_string(format!("{script}.runs")).expect("it ran");
    assert_eq!(runs, "run\n");
}

#[tokio::test]
async fn a_read_only_key_is_recognized() {
    let (home, file) = fresh();
    let service = Faults::always(says("403 Forbidden", "read_only_key")).await;
    let url = service.base_url();
    let told = home
        .json(
            0,
            &format!("profile add eu --base-url {url} --api-key-file {file}"),
        )
        .await;
    assert_eq!(told["check"]["finding"], "may_not_change", "{told}");
    assert_eq!(told["written"], true);
    // So that nobody is offered what the service would refuse.
    let lines = told["lines"].as_str().expect("lines");
    assert!(lines.contains("\nread_only = true\n"), "{lines}");
    assert!(config(&home).expect("written").ends_with(lines));
    let shown = home.json(0, "profile show eu").await;
    assert_eq!(shown["read_only"], true, "{shown}");
}

#[tokio::test]
async fn a_wrong_path_is_reported_before_a_missing_group() {
    let mut home = Home::new();
    let (_serving, url) = home.serve().await;
    let key = home.key("--environment t --tag Customer").await;
    home.connect(&url, &key);
    let file = home.path("config.toml");
    let text = fs::read_to_string(&file).expect("written");
    fs::write(&file, format!("{text}path = \"/api/users\"\n")).expect("written");
    home.exits(1, "get acme --exists")
        .await
        .says("check the profile's `path` and `base_url`");
}

#[tokio::test]
async fn bad_arguments_are_refused_before_anything_is_sent_or_asked() {
    let (home, file) = fresh();
    let add = "profile add eu --base-url https://a.example --api-key-env";
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, "profile add eu", "--base-url and one of --api-key-env"),
        (2, "profile add eu --base-url api.example.com --api-key-env K", "must begin with https://"),
        (2, "profile add eu --base-url http://10.0.0.1 --api-key-env K", "unprotected"),
        (2, "profile add '' --base-url https://a.example --api-key-env K", "is empty"),
        (2, &format!("{add} 'a b'"), "api_key.env must be the name"),
        (2, &format!("{add} K --api-key-file {file}"), "cannot be combined"),
        (2, "profile remove eu --yes", "profile \"eu\" not found"),
        (2, "profile key eu", "profile \"eu\" not found"),
        (2, "profile behaviour eu", "profile \"eu\" not found"),
    ]).await;
    assert_eq!(config(&home), None);
}

#[tokio::test]
async fn a_key_goes_to_the_keyring_or_the_error_says_why_not() {
    let (home, _) = fresh();
    let service = Faults::always(says("400 Bad Request", "invalid_request")).await;
    let url = service.base_url();
    let entry = format!("groupdesk-cli-test-{}", std::process::id());
    let add = format!("profile add eu --base-url {url} --api-key-keyring={entry}");
    let ran = home.run_with(&add, KEY).await;
    ran.hides(KEY);
    if ran.code == 0 {
        let text = config(&home).expect("written");
        assert!(text.contains("keyring = ") && !text.contains(KEY), "{text}");
        assert_eq!(home.json(0, "profile check").await["finding"], "accepted");
        home.exits(0, "profile key eu --forget").await;
        home.exits(4, "profile check")
            .await
            .says("groupdesk profile key");
        home.exits_with(0, "profile key eu", KEY).await;
        home.exits(0, "profile key eu --forget").await;
    } else {
        assert_eq!(ran.code, 2, "{}", ran.err);
        ran.says("the key was not stored")
            .says("use another source");
        assert_eq!(config(&home), None, "no profile without its key");
    }
}

#[tokio::test]
async fn a_profile_without_an_api_key_reads_the_directory_and_sends_nothing() {
    let (home, service) = knowing_acme(Vec::new()).await;
    let config = home.config();
    let lines = config.lines().filter(|line| !line.starts_with("api_key"));
    home.write("config.toml", &lines.collect::<Vec<_>>().join("\n"));
    let seen = home.json(0, "list").await;
    assert_eq!(each(&seen, "user_group_id"), ["acme"]);
    for line in ["show acme", "history acme", "config validate"] {
        home.exits(0, line).await;
    }
    for line in [
        "get acme",
        "rotate acme --yes",
        "update acme --name X --yes",
    ] {
        let ran = home.run(line).await;
        ran.says("no API key from the profile: add api_key");
        assert_ne!(ran.code, 0, "{line}");
    }
    assert_eq!(service.requests().len(), 1, "nothing was sent");
}
