//! Every command in the demo's world, for programs and for people.

use serde_json::{Value, json};

use super::program::Home;
use crate::support::{assertions::assert_has, bare::args};

const FIELDS: [&str; 10] = [
    "user_group_id",
    "name",
    "team_id",
    "environment_tag",
    "fingerprint",
    "mapping",
    "properties",
    "last_rotated",
    "last_seen",
    "environment",
];

fn keys(object: &Value) -> Vec<&str> {
    object
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

fn with(more: &[&'static str]) -> Vec<&'static str> {
    FIELDS.iter().chain(more).copied().collect()
}

#[tokio::test]
async fn list_and_show_print_what_is_known() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let list = home.json(0, &["list"]).await;
    let groups = list.as_array().expect("an array");
    assert!(groups.len() >= 8);
    for group in groups {
        assert_eq!(keys(group), FIELDS);
    }
    let initech = groups
        .iter()
        .find(|group| group["user_group_id"] == "initech")
        .expect("initech");
    assert_eq!(
        (&initech["mapping"], &initech["last_rotated"]),
        (&Value::Null, &Value::Null)
    );

    let globex = home
        .json(0, &args("show globex-retail --profile production"))
        .await;
    assert_eq!(globex["environment_tag"], "Customer");
    assert_eq!(globex["mapping"]["40"], "501");
    assert_eq!(globex["fingerprint"].as_str().map(str::len), Some(8));
    assert_eq!(
        globex["properties"]["erp_customer"].to_string(),
        "123456789012345678901234567890"
    );
    let rotated: jiff::Timestamp = globex["last_rotated"]
        .as_str()
        .expect("a time")
        .parse()
        .expect("RFC 3339");
    assert_eq!(
        jiff::Timestamp::now().duration_since(rotated).as_hours() / 24,
        388
    );

    let human = home.run(&["list", "-P", "production"]).await;
    assert_eq!((human.code, human.err.as_str()), (0, ""));
    assert_has(&human.out, "388d");
    assert_has(&human.out, "東京商事");
    let human = home.run(&["show", "initech"]).await;
    assert_has(&human.out, "the service does not return it");
}

#[tokio::test]
async fn a_note_is_replaced_only_if_it_is_the_expected_one() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    home.json(0, &["note", "acme-eu", "first"]).await;
    let refused = home
        .run(&["note", "acme-eu", "second", "--if-note", ""])
        .await;
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert_has(&refused.err, "Note not saved: it was changed by");
    assert_has(&refused.err, "\"first\"");
    let second = ["note", "acme-eu", "second", "--if-note", "first"];
    let written = home.run(&second).await;
    assert_eq!((written.code, written.out.trim()), (0, "second"));
    assert!(written.err.contains("was: first ("), "{}", written.err);
    let removed = ["note", "acme-eu", "--remove", "--if-note", "first"];
    assert_eq!(home.run(&removed).await.code, 2);
    let alone = home.run(&["note", "acme-eu", "--if-note", "second"]).await;
    assert_eq!(alone.code, 2, "{}", alone.err);
}

#[tokio::test]
async fn a_group_is_created_once_and_then_exists() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let create = [
        "create",
        "umbra-labs",
        "--name",
        "Umbra Labs",
        "--map",
        "40=213",
        "--map",
        "7=x",
        "--property",
        "tier=\"gold\"",
        "--property",
        "big=123456789012345678901234567890",
        "--yes",
    ];
    let created = home.json(0, &create).await;
    assert_eq!(keys(&created), with(&["outcome", "warnings"]));
    assert_eq!(created["outcome"], "created");
    assert_eq!(created["mapping"], json!({"40": "213", "7": "x"}));
    assert_eq!(
        created["properties"].to_string(),
        r#"{"tier":"gold","big":123456789012345678901234567890}"#
    );

    let aged = home.run(&args("list --columns id,age")).await;
    let row = aged.out.lines().find(|line| line.starts_with("umbra-labs"));
    assert!(row.is_some_and(|row| !row.ends_with('-')), "{}", aged.out);
    let told = home
        .run(&args("create umbra-labs --name Other --yes"))
        .await;
    assert!(
        told.err.contains("`groupdesk edit umbra-labs"),
        "{}",
        told.err
    );
    let again = home
        .json(0, &args("create umbra-labs --name Other --yes"))
        .await;
    assert_eq!(
        (&again["outcome"], &again["name"]),
        (&json!("existed"), &json!("Umbra Labs"))
    );
    assert_eq!(
        again["warnings"].as_array().map(Vec::len),
        Some(1),
        "{again}"
    );

    let from_files = home.write("mapping.json", r#"{"1": "2"}"#);
    let ran = home
        .run_with(
            &[
                "create",
                "from-files",
                "--mapping",
                &from_files,
                "--properties",
                "-",
                "--yes",
                "--json",
            ],
            r#"{"a": [1]}"#,
        )
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.starts_with("TESTING testing http://127.0.0.1:"),
        "{}",
        ran.err
    );
    let made: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        (&made["mapping"], &made["properties"]),
        (&json!({"1": "2"}), &json!({"a": [1]}))
    );
}

#[tokio::test]
async fn an_update_sends_the_whole_group_and_reads_it_back() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let update =
        args("update acme-eu --map 40=999 --unmap 7 --property seats=121 --remove-property sso");
    let dry = home.json(0, &[&update[..], &["--dry-run"]].concat()).await;
    assert_eq!(dry["request"]["user_group_id"], "acme-eu");
    assert_eq!(
        dry["request"]["mapping"],
        json!({"40": "999", "134": "386", "212": "77"})
    );
    assert_eq!(dry["changes"]["mapping"]["7"], json!(["acme_orders", null]));
    let unchanged = home.json(0, &["show", "acme-eu"]).await;
    assert_eq!(unchanged["mapping"]["7"], "acme_orders");

    let human = home.run(&[&update[..], &["--yes"]].concat()).await;
    assert_eq!(human.code, 0, "{}", human.err);
    assert!(human.out.starts_with("updated\n"), "{}", human.out);
    let got = home.json(0, &["get", "acme-eu"]).await;
    assert_eq!(got["outcome"], "found");
    assert_eq!(
        got["mapping"],
        json!({"40": "999", "134": "386", "212": "77"})
    );
    assert_eq!(got["properties"]["seats"], 121);
    assert!(got["properties"].get("sso").is_none());

    let before = home.json(0, &["history"]).await;
    let same = home.run(&args("update acme-eu --map 40=999 --yes")).await;
    assert_eq!(same.code, 0);
    assert!(
        same.err.contains("no changes; no update was sent"),
        "{}",
        same.err
    );
    assert_eq!(home.json(0, &["history"]).await, before);
}

#[tokio::test]
async fn unknown_fields_are_left_out_not_replaced() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let dry = home
        .json(
            0,
            &["update", "initech", "--name", "Initech 2", "--dry-run"],
        )
        .await;
    assert!(dry["request"].get("mapping").is_none(), "{dry}");
    let human = home
        .run(&["update", "initech", "--name", "Initech 2", "--yes"])
        .await;
    assert!(human.err.contains("properties: not sent"), "{}", human.err);
    let guarded = home.run(&args("update initech --map 40=1 --yes")).await;
    assert_eq!(guarded.code, 3);
    assert!(guarded.err.contains("--mapping FILE"), "{}", guarded.err);
    let whole = home.write("m.json", r#"{"40": "1"}"#);
    let updated = home
        .json(0, &["update", "initech", "--mapping", &whole, "--yes"])
        .await;
    assert_eq!(updated["mapping"], json!({"40": "1"}));
}

#[tokio::test]
async fn a_rotation_is_confirmed_and_reported() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let before = home.json(0, &["show", "acme-us", "-P", "production"]).await;
    let rotate = args("rotate acme-us -P production --reason leaked --yes");
    let rotated = home.json(0, &rotate).await;
    assert_eq!(
        keys(&rotated),
        with(&["outcome", "previous_fingerprint", "handoff", "warnings"])
    );
    assert_eq!(rotated["outcome"], "confirmed");
    assert_eq!(rotated["previous_fingerprint"], before["fingerprint"]);
    assert_ne!(rotated["fingerprint"], before["fingerprint"]);
    assert_eq!(rotated["environment_tag"], "Customer");

    let history = home.json(0, &args("history acme-us -P production")).await;
    let newest = &history[0];
    assert_eq!(
        keys(newest),
        [
            "number",
            "at",
            "by",
            "profile",
            "user_group_id",
            "operation",
            "outcome",
            "previous_fingerprint",
            "fingerprint",
            "reason",
            "changes",
            "note",
            "environment"
        ]
    );
    assert_eq!(
        (&newest["operation"], &newest["outcome"]),
        (&json!("rotate"), &json!("confirmed"))
    );
    assert_eq!(
        (&newest["reason"], &newest["profile"]),
        (&json!("leaked"), &json!("production"))
    );
    assert_eq!(newest["fingerprint"], rotated["fingerprint"]);
    assert!(
        newest["by"]
            .as_str()
            .is_some_and(|by| by.starts_with("ana@"))
    );
    let numbers: Vec<_> = history
        .as_array()
        .expect("lines")
        .iter()
        .map(|line| line["number"].as_i64())
        .collect();
    assert!(numbers.is_sorted_by(|a, b| a > b), "{numbers:?}");
    let one = home.json(0, &args("history --limit 1 -P production")).await;
    assert_eq!(one.as_array().map(Vec::len), Some(1));
    let human = home.run(&["history", "-P", "production"]).await;
    assert!(
        human.out.contains("leaked") && human.out.contains(" -> "),
        "{}",
        human.out
    );
}

#[tokio::test]
async fn a_reader_that_closes_early_is_no_error() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = home.command(&["list", "--json"]);
    let ran = command.stdout(writer).output().await.expect("it runs");
    assert_eq!(ran.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "");
}
