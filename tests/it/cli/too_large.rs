//! A group whose answer could not be read is refused before anything is sent: exit 2, and what to do.

use serde_json::{Value, json};

use super::program::Home;
use crate::support::assertions::assert_has;

const NOT_SENT: &str = "nothing of it was sent";

/// Properties that are too large, and the words of the refusal.
fn too_much() -> Vec<(&'static str, Value, &'static str)> {
    let values: Vec<_> = (0..5_000).collect();
    let deep = (0..120).fold(json!(1), |inner, _| json!([inner]));
    vec![
        (
            "text.json",
            json!({"a": "x".repeat(1_100_000)}),
            "bytes of JSON",
        ),
        ("values.json", json!({"a": values}), "values"),
        ("deep.json", json!({"a": deep}), "levels"),
    ]
}

#[tokio::test]
async fn no_create_and_no_update_is_sent() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let before = home.json(0, &["history"]).await;
    let stored = home.json(0, &["show", "acme-eu"]).await;
    for (name, properties, words) in too_much() {
        let file = home.write(name, &properties.to_string());
        for arguments in [
            &["create", "new-1", "--properties", &file, "--yes"][..],
            &["create", "new-1", "--properties", &file, "--dry-run"],
            &["update", "acme-eu", "--properties", &file, "--yes"],
            &["update", "acme-eu", "--properties", &file, "--dry-run"],
        ] {
            let ran = home.run(arguments).await;
            assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
            assert!(ran.err.contains(words), "{arguments:?}: {}", ran.err);
            assert!(ran.err.contains(NOT_SENT), "{arguments:?}: {}", ran.err);
            assert!(!ran.err.contains("xxx"), "no part is quoted");
        }
        let json = home
            .json(2, &["create", "new-1", "--properties", &file, "--yes"])
            .await;
        assert!(json["outcome"].is_null(), "{json}");
    }
    assert_eq!(home.json(0, &["history"]).await, before);
    assert_eq!(home.json(0, &["show", "acme-eu"]).await, stored);
    assert_eq!(home.run(&["show", "new-1"]).await.code, 3);
}

#[tokio::test]
async fn values_laid_over_a_large_group_count_with_it() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let large = json!({"a": "x".repeat(700_000)}).to_string();
    let large = home.write("large.json", &large);
    let ran = home
        .run(&["update", "acme-eu", "--properties", &large, "--yes"])
        .await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let rows = json!({"40": "y".repeat(400_000)});
    let mapping = home.write("rows.json", &rows.to_string());
    let row = json!({"user_group_id": "acme-eu", "mapping": rows});
    let row = home.write("row.jsonl", &row.to_string());
    let before = home.json(0, &["history"]).await;
    let ran = home
        .run(&["update", "acme-eu", "--mapping", &mapping, "--yes"])
        .await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains(NOT_SENT), "{}", ran.err);
    // For a row that is small enough by itself, the error is about the resulting group.
    let ran = home.run(&["apply", &row, "--yes"]).await;
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains(NOT_SENT), "{}{}", ran.out, ran.err);
    assert_eq!(home.json(0, &["history"]).await, before);
}

#[tokio::test]
async fn a_row_of_a_file_is_named() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let before = home.json(0, &["history"]).await;
    for (name, properties, words) in too_much() {
        let row = json!({"user_group_id": "acme-eu", "properties": properties});
        let text = format!("{{\"user_group_id\":\"new-1\"}}\n{row}\n");
        let file = home.write(&format!("{name}l"), &text);
        for arguments in [
            &["apply", &file, "--yes"][..],
            &["import", &file],
            &["import", &file, "--create", "--update", "--yes"],
        ] {
            let ran = home.run(arguments).await;
            assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
            assert_has(&ran.err, "row 2, line 2: properties: ");
            assert!(ran.err.contains(words), "{}", ran.err);
            assert!(ran.err.contains("nothing was done"), "{}", ran.err);
        }
    }
    assert_eq!(home.json(0, &["history"]).await, before);
    assert_eq!(home.run(&["show", "new-1"]).await.code, 3);
}
