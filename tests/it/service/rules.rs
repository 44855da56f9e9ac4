//! The rules of the three operations (docs/design/service.md, "Rules of the service").

use std::collections::HashSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::service::TestService;

fn fields(group: &Value) -> String {
    let group = group.as_object().expect("an object");
    group
        .keys()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}

#[tokio::test]
async fn a_new_group_is_answered_as_documented() {
    let service = TestService::start().await;
    let caller = service.testing();
    let body = json!({"name": "Acme", "user_group_id": "acme", "mapping": {"7": "40"}, "properties": {"tier": "gold"}});
    let answer = caller.get(&body).await.ok();
    assert_eq!(answer["new_user_group"], true);
    let group = &answer["user_group"];
    assert_eq!(fields(group), "team_id token name provided_id properties");
    assert_eq!(group["name"], "Acme");
    assert_eq!(group["provided_id"], "acme");
    assert_eq!(group["properties"], json!({"tier": "gold"}));
    assert!(group["team_id"].is_i64());
    // Absent and null fields have defaults.
    let body = json!({"user_group_id": "bare", "name": null, "mapping": null, "properties": null, "later": [1]});
    let answer = caller.get(&body).await.ok();
    assert_eq!(answer["user_group"]["name"], "bare");
    assert_eq!(answer["user_group"]["properties"], Value::Null);
    let asked = json!({"user_group_id": "bare", "properties": {"x": 1}});
    let answer = caller.get(&asked).await.ok();
    assert_eq!(
        answer["user_group"]["properties"],
        json!({}),
        "the stored ones"
    );
}

#[tokio::test]
async fn an_existing_group_is_returned_unchanged() {
    let service = TestService::start().await;
    let caller = service.testing();
    let first = json!({"name": "Acme", "user_group_id": "acme", "properties": {"tier": "gold"}});
    let first = caller.get(&first).await.ok();
    let other = json!({"name": "Other", "user_group_id": "acme", "mapping": {"1": "2"}, "properties": {"x": 1}});
    let second = caller.get(&other).await.ok();
    assert_eq!(second["new_user_group"], false);
    assert_eq!(second["user_group"], first["user_group"]);
    let bare = caller.get(&json!({"user_group_id": "acme"})).await.ok();
    assert_eq!(bare["user_group"]["properties"], Value::Null);
    assert_eq!(bare["user_group"]["token"], first["user_group"]["token"]);
    assert_eq!(service.stored("SELECT mapping FROM groups"), "{}");
}

#[tokio::test]
async fn update_replaces_what_is_present_and_keeps_the_rest() {
    let service = TestService::start().await;
    let caller = service.testing();
    let body = json!({"name": "Acme", "user_group_id": "acme", "mapping": {"1": "2", "3": "4"}, "properties": {"a": 1, "b": 2}});
    let before = caller.get(&body).await.ok();
    let stored = || service.stored("SELECT name, mapping, properties FROM groups");
    let rows = json!({"user_group_id": "acme", "mapping": {"3": "5"}});
    let answer = caller.put(&rows).await.ok();
    let group = &answer["user_group"];
    let all = "team_id token name provided_id properties api_environment_tag";
    assert_eq!(fields(group), all);
    assert!(answer.get("new_user_group").is_none());
    assert_eq!(group["api_environment_tag"], "Testing");
    assert_eq!(group["properties"], Value::Null);
    assert_eq!(group["token"], before["user_group"]["token"]);
    assert_eq!(stored(), r#"Acme|{"3":"5"}|{"a":1,"b":2}"#);
    let properties = json!({"user_group_id": "acme", "properties": {"b": 3}, "name": null});
    let answer = caller.put(&properties).await.ok();
    assert_eq!(answer["user_group"]["properties"], json!({"b": 3}));
    assert_eq!(stored(), r#"Acme|{"3":"5"}|{"b":3}"#);
    let emptied = json!({"user_group_id": "acme", "name": "New", "mapping": {}, "properties": {}});
    let answer = caller.put(&emptied).await.ok();
    assert_eq!(answer["user_group"]["name"], "New");
    assert_eq!(stored(), "New|{}|{}");
}

#[tokio::test]
async fn a_rotated_token_dies_at_once_and_is_known_as_retired() {
    let service = TestService::start().await;
    let caller = service.testing();
    let old = caller.token_of("acme").await;
    let answer = caller.rotate(&old).await.ok();
    let group = &answer["user_group"];
    let all = "team_id token name provided_id api_environment_tag";
    assert_eq!(fields(group), all);
    assert_eq!(group["api_environment_tag"], "Testing");
    let new = group["token"].as_str().expect("a token").to_owned();
    assert_ne!(new, old);
    assert_eq!(caller.token_of("acme").await, new);
    for (token, refusal) in [
        (&old, (409, "token_retired")),
        (&"0".repeat(64), (404, "unknown_token")),
    ] {
        let refused = caller.rotate(token).await;
        assert_eq!(refused.refused(), (refusal.0, refusal.1.to_owned()));
        assert!(!refused.text.contains(token), "{}", refused.text);
    }
    caller.rotate(&new).await.ok();
    for token in [&old, &new] {
        assert_eq!(caller.rotate(token).await.refused().0, 409);
    }
}

#[tokio::test]
async fn an_untagged_environment_answers_null() {
    let service = TestService::start().await;
    let caller = service.caller("plain", None, false);
    let token = caller.token_of("solo").await;
    let named = json!({"user_group_id": "solo", "name": "Solo"});
    for reply in [caller.put(&named).await, caller.rotate(&token).await] {
        let answer = reply.ok();
        let tag = answer["user_group"].get("api_environment_tag");
        assert_eq!(tag, Some(&Value::Null));
    }
}

#[tokio::test]
async fn an_id_may_be_shared_only_by_one_customer_and_one_testing_environment() {
    let service = TestService::start().await;
    let plain = service.caller("plain", None, false);
    let second_testing = service.caller("testing-2", Some("Testing"), false);
    let (production, testing) = (service.production(), service.testing());
    for (id, may, may_not) in [
        ("shared", [&production, &testing], [&plain, &second_testing]),
        ("only-plain", [&plain, &plain], [&production, &testing]),
        ("second", [&second_testing, &production], [&testing, &plain]),
        // An existing group is not created, so the rule does not apply.
        ("shared", [&testing, &production], [&plain, &second_testing]),
    ] {
        for caller in may {
            caller.token_of(id).await;
        }
        for caller in may_not {
            let reply = caller.get(&json!({ "user_group_id": id })).await;
            let required = (409, "environment_tag_required".to_owned());
            assert_eq!(reply.refused(), required, "{id}");
        }
    }
}

#[tokio::test]
async fn numbers_text_and_order_are_returned_as_sent() {
    let service = TestService::start().await;
    let properties = r#"{"z":123456789012345678901234567890.10,"a":-0,"é😀":"\" \\ \n\t","n":{"y":[1,2.50],"x":null}}"#;
    let body = format!(r#"{{"user_group_id":"Größe 東京","properties":{properties}}}"#);
    for method in [Method::GET, Method::PUT, Method::GET] {
        let reply = service.testing().send(method, body.clone()).await;
        reply.ok();
        assert!(reply.text.contains(properties), "{}", reply.text);
        assert!(reply.text.contains("Größe 東京"));
    }
}

#[tokio::test]
async fn ids_are_compared_exactly() {
    let service = TestService::start().await;
    let ids = "acme|Acme| acme|acme |\u{e9}|e\u{301}|1|01".split('|');
    let mut tokens = HashSet::new();
    for id in ids {
        assert!(tokens.insert(service.testing().token_of(id).await), "{id}");
    }
}
