//! API keys, environments, and what a key may do.

use groupdesk::service::store::StoreError;
use secrecy::ExposeSecret;
use serde_json::json;

use crate::support::service::{Caller, PRODUCTION, Reply, TestService};

#[tokio::test]
async fn no_key_a_wrong_key_and_a_revoked_key_get_the_identical_answer() {
    let service = TestService::start().await;
    let made = service.store.create_key("testing", None, false);
    let (info, key) = made.expect("a key");
    let revoked = Caller::new(&service.base_url(), &key);
    revoked.token_of("acme").await;
    service.store.revoke_key(info.id).expect("revoked");
    let good = service.testing();
    let with = |authorization: Option<&str>| {
        let request = good.http.get(&good.url);
        let request = request.header("content-type", "application/json");
        let request = request.body(r#"{"user_group_id":"acme"}"#);
        match authorization {
            Some(value) => request.header("authorization", value),
            None => request,
        }
    };
    let bare = good.authorization.trim_start_matches("Token ");
    let wrong = format!("Token {}", "0".repeat(64));
    let (bearer, longer) = (format!("Bearer {bare}"), format!("Token {bare}0"));
    let others = [
        "",
        "Token",
        "Token ",
        bare,
        &bearer,
        &longer,
        &wrong,
        &revoked.authorization,
    ];
    let mut answers = Vec::new();
    for authorization in [None].into_iter().chain(others.map(Some)) {
        let mut reply = Reply::of(with(authorization)).await;
        let refused = (401, "unauthorized".into());
        assert_eq!(reply.refused(), refused, "{authorization:?}");
        reply.headers.remove("date");
        answers.push((reply.headers, reply.text));
    }
    let is_one = answers.windows(2).all(|pair| pair[0] == pair[1]);
    assert!(is_one, "{answers:?}");
    for scheme in ["Token", "token", "TOKEN"] {
        let request = with(Some(&format!("{scheme} {bare}")));
        Reply::of(request).await.ok();
    }
}

#[tokio::test]
async fn a_read_only_key_may_only_get_existing_groups() {
    let service = TestService::start().await;
    let reader = service.caller(PRODUCTION, None, true);
    let production = service.production();
    let token = production.token_of("acme").await;
    assert_eq!(reader.token_of("acme").await, token);
    let new = json!({"user_group_id": "new"});
    let named = json!({"user_group_id": "acme", "name": "x"});
    for reply in [
        reader.get(&new).await,
        reader.put(&named).await,
        reader.rotate(&token).await,
    ] {
        assert_eq!(reply.refused(), (403, "read_only_key".into()));
    }
    assert_eq!(production.token_of("acme").await, token);
    assert_eq!(production.get(&new).await.ok()["new_user_group"], true);
}

#[tokio::test]
async fn revoking_through_another_store_takes_effect_at_once() {
    let service = TestService::start().await;
    let caller = service.testing();
    caller.token_of("acme").await;
    let other = service.other_store();
    let mut keys = other.list_keys().expect("keys").into_iter();
    let testing = keys
        .find(|key| key.environment == "testing")
        .expect("a key");
    let revoked = other.revoke_key(testing.id).expect("revoked");
    assert!(revoked.revoked_at.is_some());
    let refused = caller.get(&json!({"user_group_id": "acme"})).await;
    assert_eq!(refused.refused().0, 401);
    service.production().token_of("acme").await;
    // Revoking it again changes nothing.
    assert_eq!(other.revoke_key(testing.id), Ok(revoked));
    assert_eq!(other.revoke_key(4711), Err(StoreError::UnknownKey(4711)));
    // And a key created there works here.
    let (_, key) = other.create_key("testing", None, false).expect("a key");
    let caller = Caller::new(&service.base_url(), &key);
    caller.token_of("acme").await;
}

#[tokio::test]
async fn an_environment_has_at_most_one_tag() {
    let service = TestService::start().await;
    let store = &service.store;
    let tag = |environment, tag| {
        let made = store.create_key(environment, tag, false);
        made.map(|(info, _)| info.tag)
    };
    let testing = Some("Testing".to_owned());
    for (given, found) in [
        (None, None),
        (Some("Testing"), testing.clone()),
        (Some("Testing"), testing.clone()),
        (None, testing),
    ] {
        assert_eq!(tag("plain", given), Ok(found));
    }
    let keys = store.list_keys().expect("keys").len();
    let refused = tag("plain", Some("Customer")).expect_err("another tag");
    let refused = refused.to_string();
    assert!(refused.contains("already tagged Testing"), "{refused}");
    let refused = |name, given| tag(name, given).expect_err("refused").to_string();
    let why = refused("plain", Some("testing"));
    assert_eq!(why, "the tag must be Customer or Testing");
    for name in ["", "a\nb", &"x".repeat(101)] {
        let why = refused(name, None);
        assert!(why.starts_with("the environment name must have"), "{why}");
    }
    assert_eq!(store.list_keys().expect("keys").len(), keys);
}

#[tokio::test]
async fn the_database_never_holds_a_key() {
    let service = TestService::start().await;
    service.testing().token_of("acme").await;
    let bytes = service.everything();
    assert!(bytes.windows(4).any(|window| window == b"acme"));
    for key in [&service.production_key, &service.testing_key] {
        let key = key.expose_secret().as_bytes();
        assert!(!bytes.windows(key.len()).any(|window| window == key));
    }
    let listed = format!("{:?}", service.store.list_keys());
    assert!(!listed.contains(service.testing_key.expose_secret()));
}
