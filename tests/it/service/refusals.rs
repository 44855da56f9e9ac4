//! Everything that is refused before the rules apply, and that nothing makes the service panic.

use std::convert::Infallible;

use futures_util::stream;
use http_body_util::StreamBody;
use hyper::body::{Bytes, Frame};
use proptest::prelude::*;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::service::{Caller, Reply, TestService};

/// A request of spaces whose length is not announced.
fn unannounced(caller: &Caller, method: Method, length: usize) -> reqwest::RequestBuilder {
    let chunk = Bytes::from(vec![b' '; 1 << 16]);
    let frames = (0..length >> 16).map(move |_| Ok::<_, Infallible>(Frame::data(chunk.clone())));
    let body = reqwest::Body::wrap(StreamBody::new(stream::iter(frames)));
    // Without the header, the client leaves a body of unknown length out of a GET.
    caller
        .request(method, body)
        .header("transfer-encoding", "chunked")
}

#[tokio::test]
async fn every_answer_is_json_that_is_not_stored() {
    let service = TestService::start().await;
    let caller = service.testing();
    let replies = [
        caller.get(&json!({"user_group_id": "acme"})).await,
        caller.get(&json!({})).await,
        caller.send(Method::DELETE, "").await,
        Reply::of(caller.http.get(format!("{}/nowhere", service.base_url()))).await,
    ];
    for reply in replies {
        assert_eq!(reply.headers["content-type"], "application/json");
        assert_eq!(reply.headers["cache-control"], "no-store");
        assert!(reply.json()["success"].is_i64());
    }
}

#[tokio::test]
async fn other_paths_are_404_and_other_methods_405() {
    let service = TestService::start().await;
    let caller = service.testing();
    for path in [
        "",
        "/",
        "/api",
        "/api/user/",
        "/api/users",
        "/API/USER",
        "//api/user",
        "/api/user/x",
        "/openapi",
        "/metrics",
        "/ready",
    ] {
        let mut other = caller.clone();
        other.url = format!("{}{path}", service.base_url());
        let reply = other.get(&json!({"user_group_id": "acme"})).await;
        assert_eq!(reply.refused(), (404, "not_found".into()), "{path}");
    }
    for method in ["DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let reply = caller.send(method.clone(), "").await;
        assert_eq!(
            reply.refused(),
            (405, "method_not_allowed".into()),
            "{method}"
        );
        assert_eq!(reply.headers["allow"], "GET, POST, PUT");
    }
    let head = caller.send(Method::HEAD, "").await;
    assert_eq!(head.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(head.headers["allow"], "GET, POST, PUT");
}

#[tokio::test]
async fn the_caller_is_checked_before_the_request() {
    let service = TestService::start().await;
    let mut caller = service.testing();
    caller.authorization = "Token wrong".into();
    for body in [String::new(), "{".into(), " ".repeat((1 << 20) + 1)] {
        assert_eq!(caller.send(Method::GET, body).await.refused().0, 401);
    }
    let no_type = caller.http.put(&caller.url).body("{");
    assert_eq!(Reply::of(no_type).await.refused().0, 401);
}

#[tokio::test]
async fn a_body_may_have_one_mebibyte_and_no_more() {
    let service = TestService::start().await;
    let caller = service.testing();
    let padded = |length: usize| {
        let mut body = br#"{"user_group_id":"acme"}"#.to_vec();
        body.resize(length, b' ');
        body
    };
    caller.send(Method::GET, padded(1 << 20)).await.ok();
    let too_large = (413, "body_too_large".to_owned());
    for method in [Method::GET, Method::PUT, Method::POST] {
        let body = padded((1 << 20) + 1);
        assert_eq!(caller.send(method.clone(), body).await.refused(), too_large);
        let reply = Reply::of(unannounced(&caller, method, 4 << 20)).await;
        assert_eq!(reply.refused(), too_large);
    }
    // The refusal is about the size: one mebibyte of spaces is read, and refused for being empty.
    let reply = Reply::of(unannounced(&caller, Method::GET, 1 << 20)).await;
    assert!(reply.text.contains("the body is empty"), "{}", reply.text);
}

#[tokio::test]
async fn only_json_is_read() {
    let service = TestService::start().await;
    let caller = service.testing();
    let request = |media_type: Option<&str>| {
        let request = caller.http.get(&caller.url);
        let request = request.header("authorization", &caller.authorization);
        let request = request.body(r#"{"user_group_id":"acme"}"#);
        match media_type {
            Some(value) => request.header("content-type", value),
            None => request,
        }
    };
    let unsupported = (415, "unsupported_media_type".to_owned());
    for media_type in [
        None,
        Some("text/plain"),
        Some("application/json; charset=utf-16"),
    ] {
        let reply = Reply::of(request(media_type)).await;
        assert_eq!(reply.refused(), unsupported, "{media_type:?}");
    }
    let coded = request(Some("application/json")).header("content-encoding", "gzip");
    assert_eq!(Reply::of(coded).await.refused(), unsupported);
    for media_type in ["application/json", "application/json; charset=utf-8"] {
        Reply::of(request(Some(media_type))).await.ok();
    }
}

#[tokio::test]
async fn a_bad_body_is_a_400_that_says_what_and_never_quotes_it() {
    let service = TestService::start().await;
    let caller = service.testing();
    let deep = format!(
        r#"{{"user_group_id":"a","properties":{}1{}}}"#,
        r#"{"canary":"#.repeat(80),
        "}".repeat(80)
    );
    let cases: &[(&[u8], &str, &str)] = &[
        (b"", "malformed_json", "the body is empty"),
        (b"{\"user_group_id\":\n \"canary\",}", "malformed_json", "line 2, column 11"),
        (b"{\"user_group_id\":\"canary\",\"user_group_id\":\"b\"}", "malformed_json", "user_group_id: duplicate key"),
        (b"{\"user_group_id\":\"a\",\"properties\":{\"x\":{\"canary\":1,\"canary\":2}}}", "malformed_json", "in properties: duplicate key"),
        (b"{\"user_group_id\":\"canary\\u0000\"}", "malformed_json", "in user_group_id: NUL"),
        (b"{\"user_group_id\":\"a\",\"properties\":{\"canary\\u0000\":1}}", "malformed_json", "in properties: NUL"),
        (b"{\"user_group_id\":\"a\",\"name\":\"canary\\ud800\"}", "malformed_json", "in name: this is half"),
        (b"{\"user_group_id\":\"canary\xff\"}", "malformed_json", "column 25 in user_group_id: it is not valid UTF-8"),
        (b"{\"user_group_id\":\"a\",\"properties\":{\"$serde_json::private::Number\":\"canary\"}}", "malformed_json", "in properties: this key is reserved"),
        (deep.as_bytes(), "malformed_json", "in properties: it is nested deeper"),
        (b"[\"canary\"]", "invalid_request", "the body must be a JSON object"),
        (b"{\"user_group_id\":{\"canary\":1}}", "invalid_request", "user_group_id must be a string, not an object"),
        (b"{\"user_group_id\":\"a\",\"mapping\":{\"canary\":1}}", "invalid_request", "entry 1 of mapping must be a string"),
        (b"{\"name\":\"canary\"}", "invalid_request", "user_group_id is missing"),
    ];
    for method in [Method::GET, Method::PUT] {
        for (body, code, message) in cases {
            let reply = caller.send(method.clone(), body.to_vec()).await;
            assert_eq!(reply.refused(), (400, (*code).to_owned()), "{}", reply.text);
            assert!(
                reply.text.contains(message),
                "{} lacks {message}",
                reply.text
            );
            assert!(!reply.text.contains("canary"), "{}", reply.text);
        }
    }
    for body in [
        "",
        "{}",
        r#"{"current_token":1}"#,
        r#"{"current_token":""}"#,
        "[]",
    ] {
        assert_eq!(caller.send(Method::POST, body).await.refused().0, 400);
    }
    assert_eq!(service.stored("SELECT count(*) FROM groups"), "0");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map(any::<String>(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Bodies that are nearly valid.
fn near_body() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![
        "name",
        "user_group_id",
        "mapping",
        "properties",
        "current_token",
        ".*"
    ];
    let near = proptest::collection::hash_map(field, any_json(), 0..6)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
        .boxed();
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..100),
        any_json().prop_map(|value| value.to_string().into_bytes()),
        near.clone()
            .prop_map(|value| value.to_string().into_bytes()),
        (near, any_json()).prop_map(|(mut body, properties)| {
            body["user_group_id"] = json!("some id");
            body["properties"] = json!({ "x": properties });
            body.to_string().into_bytes()
        }),
    ]
}

#[test]
fn whatever_is_sent_the_answer_is_a_success_or_a_refusal() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let service = runtime.block_on(TestService::start());
    let caller = service.testing();
    let method = prop_oneof![Just(Method::GET), Just(Method::PUT), Just(Method::POST)];
    proptest!(ProptestConfig::with_cases(200), |(method in method, body in near_body())| {
        let reply = runtime.block_on(caller.send(method, body));
        let success = &reply.json()["success"];
        match reply.status.as_u16() {
            200 => prop_assert_eq!(success, 1),
            400 | 404 => prop_assert_eq!(success, 0),
            other => prop_assert!(false, "{} {}", other, reply.text),
        }
    });
    // Stopped inside its runtime, because its tasks belong to it.
    runtime.block_on(service.running.stop());
}
