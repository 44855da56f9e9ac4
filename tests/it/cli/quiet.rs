//! `--quiet` keeps errors, alarms and questions, and what a question is about; `--no-input` never asks.

use serde_json::Value;

use super::{
    guards::{group, knowing_acme},
    handoff::scene,
    program::Home,
    prompts::{answer_with_line, unasked},
};
use crate::support::faults::Fault;

#[tokio::test]
async fn a_quiet_success_prints_only_the_result() {
    let (home, _held) = Home::in_demo().await;
    home.write(
        "rows.csv",
        "user_group_id,name\nacme-eu,Acme 2\nrow-1,Row\n",
    );
    let database = home.database();
    // What is told although it is quiet: the database is new.
    home.key("--environment live").await;
    #[rustfmt::skip] // A table: commands that print a result, and such that print none.
    let table = [
        (true, "list -P production;show initech;get acme-us --exists --token-out acme.token"),
        (true, "create new-1 --name New --yes;create new-1 --name Other --yes;create new-2 --dry-run"),
        (true, "update initech --name I2 --yes;update initech --name I2 --yes;rotate acme-us --yes --reveal"),
        (false, "rotate wayfarer parcel-one --yes;rotations --open;rotations check;rotations handoff"),
        (true, "rotations;history --limit 3;import rows.csv;import rows.csv --create --update --yes"),
        (true, "apply rows.csv --yes;profile show;profile check"),
        (false, "export --output out.jsonl"),
        (true, "profile remove testing --dry-run;serve keys create --environment x --database DATABASE;doctor;man"),
    ];
    for (prints, commands) in table {
        for line in commands.replace("DATABASE", &database).split(';') {
            let ran = home.exits(0, &format!("{line} --quiet")).await;
            ran.warns("");
            assert_eq!(!ran.out.is_empty(), prints, "{line}: {}", ran.out);
        }
    }
    let token = std::fs::read_to_string(home.path("acme.token")).expect("written");
    home.exits_with(0, "whose -q", &token).await.warns("");
    let ran = home.exits_with(1, "whose -q", &"0".repeat(64)).await;
    ran.warns("").prints("");
}

#[tokio::test]
async fn errors_and_alarms_are_printed_even_if_quiet() {
    let home = Home::new();
    let ran = home.exits(2, "list -q").await;
    assert!(ran.err.starts_with("error: "), "{}", ran.err);

    let wrong = serde_json::json!({"api_environment_tag": "Testing"});
    let (home, _service) = knowing_acme(vec![group("token-0", &wrong)]).await;
    home.exits(3, "get acme -q").await.says("Testing");

    let old = || group("token-0", &Value::Null);
    let (home, _service) = knowing_acme(vec![old(), Fault::Close, old()]).await;
    let ran = home.exits(7, "rotate acme --yes -q").await;
    assert!(ran.err.starts_with("error: "), "{}", ran.err);
    let ran = home.exits(7, "rotations check -q").await;
    ran.says("rotation 1 of \"acme\" is still unknown");

    let (home, _serving) = scene("exit 3").await;
    let ran = home.exits(6, "rotate acme --yes -q").await;
    ran.says("x HAND-OFF FAILED (exit 3)");
    home.exits(0, "create other --yes").await;
    home.write("ids.txt", "other\nnobody\n");
    let ran = home.exits(6, "rotate --from ids.txt --yes -q").await;
    ran.says("not been handed off");
    home.write("wrong.csv", "user_group_id\n\"\"\n");
    home.exits(2, "import wrong.csv -q")
        .await
        .says("x row 1, line 2: ");
}

/// A person who is asked sees what the question is about, even with --quiet.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_shows_what_it_is_about_even_if_quiet() {
    let (home, _held) = Home::in_demo().await;
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
    let (home, _held) = Home::in_demo().await;
    home.write("rows.csv", "user_group_id,name\nnew-5,New\n");
    let ring = "[profiles.ring]\nbase_url = \"https://eu.example.com\"\napi_key = { keyring = \"ring\" }\n";
    home.write("ring.toml", ring);
    let before = home.json(0, "history").await;
    for (line, code) in [
        ("create new-5", 3),
        ("rotate acme-eu acme-us", 3),
        ("rotate --token-stdin", 3),
        ("whose", 3),
        ("import rows.csv --create", 3),
        ("apply rows.csv", 3),
        ("profile add eu", 2),
        ("profile remove testing", 3),
        ("profile key ring --config ring.toml", 3),
    ] {
        let (shown, ended) = unasked(&home, &format!("{line} --no-input"));
        assert_eq!(ended, Some(code), "{line}: {shown}");
        for question in ["[y/N]", "to confirm:", "not shown"] {
            assert!(!shown.contains(question), "{line}: {shown}");
        }
        assert!(shown.contains("error: "), "{line}: {shown}");
    }
    assert_eq!(home.json(0, "history").await, before);
}
