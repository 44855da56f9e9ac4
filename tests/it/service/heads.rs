//! Request lines and headers that are wrong, too many or too large: each is refused in JSON.

use serde_json::Value;

use super::slow::{assert_served, connect, rest};
use crate::support::{assertions::assert_has, service::TestService};

/// Status and JSON of the answer, read until the service closes.
async fn answer(service: &TestService, request: &str) -> (u16, Value) {
    let mut stream = connect(service, request).await;
    let said = rest(&mut stream).await;
    let (head, body) = said.split_once("\r\n\r\n").expect("a head");
    let length = format!("\r\ncontent-length: {}", body.len());
    assert!(head.contains(&length), "{head}");
    assert_has(
        head,
        "\r\ncontent-type: application/json\r\ncache-control: no-store",
    );
    let status = head[9..12].parse().expect("a status");
    (status, serde_json::from_str(body).expect("JSON"))
}

/// The code of a refusal with this status.
async fn refused(service: &TestService, status: u16, request: &str) -> String {
    let (got, body) = answer(service, request).await;
    let start = &request[..request.len().min(80)];
    assert_eq!(got, status, "{start:?} {body}");
    assert_eq!(body["success"], 0);
    assert!(body["error"]["message"].is_string(), "{body}");
    body["error"]["code"].as_str().expect("a code").to_owned()
}

/// A valid request that closes its connection, with these headers before the others.
fn good(service: &TestService, headers: &str) -> String {
    let body = r#"{"user_group_id":"acme"}"#;
    let key = service.testing().authorization;
    format!(
        "GET /api/user HTTP/1.1\r\n{headers}Authorization: {key}\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn an_unreadable_request_is_a_400_in_json() {
    let service = TestService::start().await;
    for request in [
        "\0\0\0\0\r\n\r\n",
        "GET\r\n\r\n",
        "GET /api/user\r\n\r\n",
        "GET /api/user HTTP/9.9\r\n\r\n",
        "GET /api/user HTTP/1.1\r\nHost: x\r\na b\r\n\r\n",
        "PUT /api/user HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
        "PUT /api/user HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ] {
        let code = refused(&service, 400, request).await;
        assert_eq!(code, "malformed_request", "{request:?}");
    }
    // Also after an answer on the same connection.
    let body = r#"{"user_group_id":"acme"}"#;
    let first = good(&service, "Host: x\r\n").replace("Connection: close\r\n", "");
    let mut stream = connect(&service, &format!("{first}GET\r\n\r\n")).await;
    let said = rest(&mut stream).await;
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert_has(&said, "HTTP/1.1 400");
    assert_has(&said, "malformed_request");
    assert!(!said.contains(body));
    assert_served(&service, "after them").await;
}

#[tokio::test]
async fn there_is_exactly_one_host() {
    let service = TestService::start().await;
    let address = format!("Host: {}\r\n", service.running.address);
    for host in [
        &address,
        "Host: api.example.com\r\n",
        "host:  [::1]:80 \r\n",
    ] {
        let (status, body) = answer(&service, &good(&service, host)).await;
        assert_eq!(status, 200, "{host} {body}");
    }
    for host in [
        "",
        "Host:\r\n",
        "Host: x\r\nHost: x\r\n",
        "Host: \u{e9}\r\n",
    ] {
        let request = good(&service, host);
        assert_eq!(refused(&service, 400, &request).await, "malformed_request");
        // Checked first: also without a key and with nothing at the path.
        let other = request.replace("/api/user", "/").replace("Token ", "No ");
        assert_eq!(refused(&service, 400, &other).await, "malformed_request");
        let older = request.replace("HTTP/1.1", "HTTP/1.0");
        assert_eq!(refused(&service, 400, &older).await, "malformed_request");
    }
}

#[tokio::test]
async fn the_head_may_have_32_kib_and_a_hundred_headers() {
    let service = TestService::start().await;
    let plain = good(&service, "Host: x\r\nX: \r\n");
    let head = plain.find("\r\n\r\n").expect("an end") + 4;
    let padded = |length: usize| {
        let x = "x".repeat(length - head);
        plain.replace("X: ", &format!("X: {x}"))
    };
    let more = |count: usize| format!("Host: x\r\n{}", "X: x\r\n".repeat(count - 5));
    let many = |count| good(&service, &more(count));
    for request in [padded(32 << 10), many(100)] {
        let (status, body) = answer(&service, &request).await;
        assert_eq!(status, 200, "{body}");
    }
    for request in [padded((32 << 10) + 1), padded(1 << 20), many(101)] {
        assert_eq!(refused(&service, 431, &request).await, "head_too_large");
    }
    // An endless head is refused when it is too large.
    let endless = format!("GET /api/user HTTP/1.1\r\nX: {}", "x".repeat(32 << 10));
    assert_eq!(refused(&service, 431, &endless).await, "head_too_large");
}
