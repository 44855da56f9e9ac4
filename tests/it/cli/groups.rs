//! Every command in the demo's world, for programs and for people.

use serde_json::json;

use super::program::{Home, each, has};

#[tokio::test]
async fn list_and_show_print_what_is_known() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let globex = home
        .json(0, "show globex-retail --profile production")
        .await;
    assert_eq!(globex["environment_tag"], "Customer");
    assert_eq!(globex["mapping"]["40"], "501");
    assert_eq!(globex["fingerprint"].as_str().map(str::len), Some(8));
    let big = globex["properties"]["erp_customer"].to_string();
    assert_eq!(big, "123456789012345678901234567890");
    let initech = home.json(0, "show initech").await;
    has!(initech, {"mapping": null, "last_rotated": null});

    let human = home.exits(0, "list -P production").await;
    human.warns("").shows("388d").shows("東京商事");
    let human = home.run("show initech").await;
    human.shows("the service does not return it");
}

#[tokio::test]
async fn a_note_is_replaced_only_if_it_is_the_expected_one() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    home.exits(0, "note acme-eu first").await;
    let refused = home.exits(2, "note acme-eu second --if-note ''").await;
    refused.says("Note not saved: it was changed by");
    refused.says("\"first\"");
    let written = home.exits(0, "note acme-eu second --if-note first").await;
    written.prints("second\n").says("was: first (");
    home.exits(2, "note acme-eu --remove --if-note first").await;
    home.exits(2, "note acme-eu --if-note second").await;
}

#[tokio::test]
async fn a_group_is_created_once_and_then_exists() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let big = "--property big=123456789012345678901234567890";
    let fields = format!("--name Umbra --map 40=213 --map 7=x --property tier=\"gold\" {big}");
    let created = home.json(0, &format!("create umbra {fields} --yes")).await;
    has!(created, {"outcome": "created", "mapping": {"40": "213", "7": "x"}});
    let properties = r#"{"tier":"gold","big":123456789012345678901234567890}"#;
    assert_eq!(created["properties"].to_string(), properties);
    let aged = home.run("list --columns id,age").await;
    let row = aged.out.lines().find(|line| line.starts_with("umbra"));
    assert!(row.is_some_and(|row| !row.ends_with('-')), "{}", aged.out);
    let told = home.run("create umbra --name Other --yes").await;
    told.says("`groupdesk edit umbra");
    let again = home.json(0, "create umbra --name Other --yes").await;
    has!(again, {"outcome": "existed", "name": "Umbra"});
    assert_eq!(again["warnings"].as_array().map(Vec::len), Some(1));

    home.write("mapping.json", r#"{"1": "2"}"#);
    let create = "create from-files --mapping mapping.json --properties - --yes --json";
    let ran = home.exits_with(0, create, r#"{"a": [1]}"#).await;
    ran.says("TESTING testing http://127.0.0.1:");
    has!(ran.json(), {"mapping": {"1": "2"}, "properties": {"a": [1]}});
}

#[tokio::test]
async fn an_update_sends_the_whole_group_and_reads_it_back() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let update = "update acme-eu --map 40=999 --unmap 7 --property seats=121 --remove-property sso";
    let dry = home.json(0, &format!("{update} --dry-run")).await;
    let wanted = json!({"40": "999", "134": "386", "212": "77"});
    has!(dry["request"], {"user_group_id": "acme-eu", "mapping": wanted});
    assert_eq!(dry["changes"]["mapping"]["7"], json!(["acme_orders", null]));
    let unchanged = home.json(0, "show acme-eu").await;
    assert_eq!(unchanged["mapping"]["7"], "acme_orders");

    let human = home.exits(0, &format!("{update} --yes")).await;
    assert!(human.out.starts_with("updated\n"), "{}", human.out);
    let got = home.json(0, "get acme-eu").await;
    has!(got, {"outcome": "found", "mapping": wanted});
    assert_eq!(got["properties"]["seats"], 121);
    assert!(got["properties"].get("sso").is_none());

    let before = home.json(0, "history").await;
    let same = home.exits(0, "update acme-eu --map 40=999 --yes").await;
    same.says("no changes; no update was sent");
    assert_eq!(home.json(0, "history").await, before);
}

#[tokio::test]
async fn a_rotation_is_confirmed_and_reported() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let before = home.json(0, "show acme-us -P production").await;
    let rotate = "rotate acme-us -P production --reason leaked --yes";
    let rotated = home.json(0, rotate).await;
    let old = &before["fingerprint"];
    has!(rotated, {"outcome": "confirmed", "previous_fingerprint": old, "environment_tag": "Customer"});
    assert_ne!(rotated["fingerprint"], *old);

    let history = home.json(0, "history acme-us -P production").await;
    let (newest, new) = (&history[0], &rotated["fingerprint"]);
    has!(newest, {"operation": "rotate", "outcome": "confirmed", "fingerprint": new});
    has!(newest, {"reason": "leaked", "profile": "production"});
    assert!(each(&history, "by")[0].starts_with("ana@"), "{newest}");
    let one = home.json(0, "history --limit 1 -P production").await;
    assert_eq!(each(&one, "operation").len(), 1);
    let human = home.run("history -P production").await;
    human.shows("leaked").shows(" -> ");
}
