//! A group whose answer could not be read is refused before anything is sent: exit 2, and what to do.

use serde_json::{Value, json};

use super::program::Home;
use crate::support::assertions::assert_lacks;

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
    let before = home.json(0, "history").await;
    let stored = home.json(0, "show acme-eu").await;
    for (name, properties, words) in too_much() {
        let file = home.write(name, &properties.to_string());
        for arguments in [
            &["create", "new-1", "--properties", &file, "--yes"][..],
            &["create", "new-1", "--properties", &file, "--dry-run"],
            &["update", "acme-eu", "--properties", &file, "--yes"],
            &["update", "acme-eu", "--properties", &file, "--dry-run"],
        ] {
            let ran = home.exits(2, arguments).await;
            ran.says(words);
            ran.says(NOT_SENT);
            assert_lacks(&ran.err, "xxx");
        }
        let json = home
            .json(2, &format!("create new-1 --properties {file} --yes"))
            .await;
        assert!(json["outcome"].is_null(), "{json}");
    }
    assert_eq!(home.json(0, "history").await, before);
    assert_eq!(home.json(0, "show acme-eu").await, stored);
    home.exits(3, "show new-1").await;
}
