//! `--quiet` keeps errors, alarms and questions, and what a question is about; `--no-input` never asks.

use serde_json::Value;

use super::{
    guards::{group, knowing_acme},
    handoff::scene,
    program::Home,
    prompts::{answer_with_line, unasked},
};
use crate::support::{assertions::assert_has, faults::Fault};

#[tokio::test]
async fn a_quiet_success_prints_only_the_result() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let rows = home.write(
        "rows.csv",
        "user_group_id,name\nacme-eu,Acme 2\nrow-1,Row\n",
    );
    let token_file = home.path("acme.token").display().to_string();
    let out = home.path("out.jsonl").display().to_string();
    let database = home.database();
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&["list"][..], true),
        (&["list", "-P", "production"], true),
        (&["show", "initech"], true),
        (&["get", "acme-eu"], true),
        (&["get", "acme-us", "--exists", "--token-out", &token_file], true),
        (&["create", "new-1", "--name", "New", "--yes"], true),
        (&["create", "new-1", "--name", "Other", "--yes"], true),
        (&["create", "new-2", "--dry-run"], true),
        (&["update", "initech", "--name", "Initech 2", "--yes"], true),
        (&["update", "initech", "--name", "Initech 2", "--yes"], true),
        (&["rotate", "acme-eu", "--yes"], true),
        (&["rotate", "acme-us", "--yes", "--reveal"], true),
        (&["rotate", "wayfarer", "parcel-one", "--yes"], false),
        (&["rotations"], true),
        (&["rotations", "--open"], false),
        (&["rotations", "check"], false),
        (&["rotations", "handoff"], false),
        (&["history", "--limit", "3"], true),
        (&["import", &rows], true),
        (&["import", &rows, "--create", "--update", "--yes"], true),
        (&["apply", &rows, "--yes"], true),
        (&["export"], true),
        (&["export", "--output", &out], false),
        (&["profile", "list"], true),
        (&["profile", "show"], true),
        (&["profile", "check"], true),
        (&["profile", "remove", "testing", "--dry-run"], true),
        (&["serve", "keys", "list", "--database", &database], false),
        (&["serve", "keys", "create", "--environment", "x", "--database", &database], true),
        (&["doctor"], true),
        (&["completions", "bash"], true),
        (&["man"], true),
        (&["help", "json"], true),
    ];
    for (arguments, prints) in table {
        let ran = home.run(&[arguments, &["--quiet"]].concat()).await;
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{arguments:?}");
        assert_eq!(!ran.out.is_empty(), prints, "{arguments:?}: {}", ran.out);
    }
    let token = std::fs::read_to_string(&token_file).expect("written");
    let ran = home.run_with(&["whose", "-q"], &token).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let ran = home.run_with(&["whose", "-q"], &"0".repeat(64)).await;
    assert_eq!((ran.code, ran.err.as_str(), ran.out.as_str()), (1, "", ""));
}

#[tokio::test]
async fn the_environment_line_is_printed_unless_quiet() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    for mutation in [
        &["create", "new-9", "--yes"][..],
        &["update", "acme-eu", "--name", "A", "--yes"],
        &["rotate", "acme-eu", "--yes"],
        &["rotate", "wayfarer", "parcel-one", "--yes"],
        &["rotate", "acme-us", "--dry-run"],
    ] {
        let ran = home.run(mutation).await;
        assert_eq!(ran.code, 0, "{mutation:?}: {}", ran.err);
        assert!(
            ran.err.starts_with("TESTING testing http://"),
            "{mutation:?}: {}",
            ran.err
        );
    }
}

#[tokio::test]
async fn errors_and_alarms_are_printed_even_if_quiet() {
    let home = Home::new();
    let ran = home.run(&["list", "-q"]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.starts_with("error: "), "{}", ran.err);

    let wrong = serde_json::json!({"api_environment_tag": "Testing"});
    let (home, _service) = knowing_acme(vec![group("token-0", &wrong)]).await;
    let ran = home.run(&["get", "acme", "-q"]).await;
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.contains("Testing"), "{}", ran.err);

    let old = || group("token-0", &Value::Null);
    let (home, _service) = knowing_acme(vec![old(), Fault::Close, old()]).await;
    let ran = home.run(&["rotate", "acme", "--yes", "-q"]).await;
    assert_eq!(ran.code, 7, "{}", ran.err);
    assert!(ran.err.starts_with("error: "), "{}", ran.err);
    let ran = home.run(&["rotations", "check", "-q"]).await;
    assert_eq!(ran.code, 7, "{}", ran.err);
    assert_has(&ran.err, "rotation 1 of \"acme\" is still unknown");

    let (home, _serving) = scene("exit 3").await;
    let ran = home.run(&["rotate", "acme", "--yes", "-q"]).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(
        ran.err.starts_with("x HAND-OFF FAILED (exit 3)"),
        "{}",
        ran.err
    );
    home.json(0, &["create", "other", "--yes"]).await;
    let ids = home.write("ids.txt", "other\nnobody\n");
    let ran = home.run(&["rotate", "--from", &ids, "--yes", "-q"]).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.err.contains("not been handed off"), "{}", ran.err);
    let wrong = home.write("wrong.csv", "user_group_id\n\"\"\n");
    let ran = home.run(&["import", &wrong, "-q"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.starts_with("x row 1, line 2: "), "{}", ran.err);
}

/// A person who is asked sees what the question is about, even with --quiet.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_shows_what_it_is_about_even_if_quiet() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let rows = home.write("rows.csv", "user_group_id,name\nnew-5,New\n");
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (&["rotate", "acme-eu", "-P", "production", "-q"][..], &["PRODUCTION production http://", "Rotate the token of"][..]),
        (&["update", "acme-eu", "--map", "40=5", "-q"], &["TESTING testing http://", "~ mapping 40: 213 -> 5", "[y/N]"]),
        (&["create", "acme-eu2", "--name", "x", "-q"], &["TESTING testing http://", "similar known IDs: \"acme-eu\"", "+ name: x"]),
        (&["rotate", "wayfarer", "acme-us", "-q"], &["TESTING testing", "2 ready, 0 skipped", "rotate acme-us"]),
        (&["import", &rows, "--create", "-q"], &["TESTING testing", "import 1 in testing"]),
        (&["apply", &rows, "-q"], &["TESTING testing", "create 1, update 0"]),
    ];
    for (arguments, about) in table {
        let (shown, code) = answer_with_line(&home, arguments, "no\n");
        assert_eq!(code, Some(3), "{arguments:?}: {shown}");
        let mut from = 0;
        for words in about {
            let at = shown[from..].find(words);
            from += at.unwrap_or_else(|| panic!("{arguments:?}: {words}: {shown}"));
        }
    }
}

/// On a terminal, where it could ask.
#[tokio::test(flavor = "multi_thread")]
async fn without_input_nothing_is_asked_and_nothing_sent() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let rows = home.write("rows.csv", "user_group_id,name\nnew-5,New\n");
    let before = home.json(0, &["history"]).await;
    for (arguments, code) in [
        (&["create", "new-5"][..], 3),
        (&["update", "acme-eu", "--name", "x"], 3),
        (&["rotate", "acme-eu"], 3),
        (&["rotate", "acme-eu", "acme-us"], 3),
        (&["rotate", "--token-stdin"], 3),
        (&["whose"], 3),
        (&["import", &rows, "--create"], 3),
        (&["apply", &rows], 3),
        (&["profile", "add", "eu"], 2),
        (&["profile", "remove", "testing"], 3),
    ] {
        let (shown, ended) = unasked(&home, &[arguments, &["--no-input"]].concat());
        assert_eq!(ended, Some(code), "{arguments:?}: {shown}");
        for question in ["[y/N]", "to confirm:", "not shown"] {
            assert!(!shown.contains(question), "{arguments:?}: {shown}");
        }
        assert!(shown.contains("error: "), "{arguments:?}: {shown}");
    }
    let ring = "[profiles.ring]\nbase_url = \"https://eu.example.com\"\napi_key = { keyring = \"ring\" }\n";
    let file = home.write("ring.toml", ring);
    let key = ["profile", "key", "ring", "--config", &file, "--no-input"];
    let (shown, ended) = unasked(&home, &key);
    assert_eq!(ended, Some(3), "{shown}");
    assert!(shown.contains("--no-input is set"), "{shown}");
    assert_eq!(home.json(0, &["history"]).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_rotation_is_not_abandoned_without_a_question() {
    let old = || group("token-0", &Value::Null);
    let (home, _service) = knowing_acme(vec![old(), Fault::Close, old()]).await;
    assert_eq!(home.run(&["rotate", "acme", "--yes"]).await.code, 7);
    let abandon = ["rotations", "abandon", "1", "--reason", "gone"];
    let (shown, code) = unasked(&home, &[&abandon[..], &["--no-input"]].concat());
    assert_eq!(code, Some(3), "{shown}");
    let (shown, code) = answer_with_line(&home, &abandon, "y\n");
    assert_eq!(code, Some(0), "{shown}");
}
