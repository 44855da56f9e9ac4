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
    let paths =
        "|/|/api|/api/user/|/api/users|/API/USER|//api/user|/api/user/x|/openapi|/metrics|/ready";
    for path in paths.split('|') {
        let mut other = caller.clone();
        other.url = format!("{}{path}", service.base_url());
        let reply = other.get(&json!({"user_group_id": "acme"})).await;
        assert_eq!(reply.refused(), (404, "not_found".into()), "{path}");
    }
    for method in ["DELETE", "PATCH", "OPTIONS", "TRACE", "BREW", "HEAD"] {
        let of = Method::from_bytes(method.as_bytes()).expect("a method");
        let reply = caller.send(of, "").await;
        assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(reply.headers["allow"], "GET, POST, PUT");
        if method != "HEAD" {
            assert_eq!(reply.refused().1, "method_not_allowed");
        }
    }
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

/// Which media types are JSON: in `service::body`.
#[tokio::test]
async fn only_json_is_read() {
    let service = TestService::start().await;
    let caller = service.testing();
    let request = |headers: &[(&'static str, &str)]| {
        let request = caller.http.get(&caller.url);
        let request = request.header("authorization", &caller.authorization);
        let request = request.body(r#"{"user_group_id":"acme"}"#);
        headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        })
    };
    let json = ("content-type", "application/json");
    for headers in [
        &[][..],
        &[("content-type", "text/plain")],
        &[json, ("content-encoding", "gzip")],
    ] {
        let reply = Reply::of(request(headers)).await;
        let unsupported = (415, "unsupported_media_type".to_owned());
        assert_eq!(reply.refused(), unsupported, "{headers:?}");
    }
    Reply::of(request(&[json])).await.ok();
}

/// Each reason: in `service::json` and `service::request`.
#[tokio::test]
async fn a_bad_body_is_a_400_that_says_what_and_never_quotes_it() {
    let service = TestService::start().await;
    let caller = service.testing();
    let malformed = "malformed_json";
    for method in [Method::GET, Method::PUT] {
        for (body, code, message) in [
            ("", malformed, "the body is empty"),
            (
                "{\"user_group_id\":\n \"canary\",}",
                malformed,
                "line 2, column 11",
            ),
            (
                "{\"user_group_id\":\"canary\\u0000\"}",
                malformed,
                "in user_group_id: NUL",
            ),
            (
                "[\"canary\"]",
                "invalid_request",
                "the body must be a JSON object",
            ),
            (
                "{\"name\":\"canary\"}",
                "invalid_request",
                "user_group_id is missing",
            ),
        ] {
            let reply = caller.send(method.clone(), body).await;
            assert_eq!(reply.refused(), (400, code.to_owned()), "{}", reply.text);
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
        "{\"current_token\":1}",
        "{\"current_token\":\"\"}",
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
    let field = "name|user_group_id|mapping|properties|current_token|.*";
    let near = proptest::collection::hash_map(field, any_json(), 0..6)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
        .boxed();
    let named = (near.clone(), any_json()).prop_map(|(mut body, properties)| {
        body["user_group_id"] = json!("some id");
        body["properties"] = json!({ "x": properties });
        body
    });
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..100),
        any_json().prop_map(|value| value.to_string().into_bytes()),
        near.prop_map(|value| value.to_string().into_bytes()),
        named.prop_map(|value| value.to_string().into_bytes()),
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
