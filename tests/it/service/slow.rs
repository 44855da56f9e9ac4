//! Slow or idle callers: they are disconnected, and callers with requests are served or told when to come back.

use std::time::Duration;

use groupdesk::service::{Limits, store::Options};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::support::{
    service::{Caller, TestService},
    wait::eventually,
};

pub(super) const DEADLINE: Duration = Duration::from_secs(20);

pub(super) async fn with(limits: Limits) -> TestService {
    TestService::start_with(Options::default(), limits).await
}

pub(super) async fn connect(service: &TestService, first: &str) -> TcpStream {
    let stream = TcpStream::connect(service.running.address).await;
    let mut stream = stream.expect("it listens");
    stream.write_all(first.as_bytes()).await.expect("sent");
    stream
}

/// So many connections that begin in this way.
pub(super) async fn crowd(service: &TestService, count: usize, first: &str) -> Vec<TcpStream> {
    let all = (0..count).map(|_| connect(service, first));
    futures_util::future::join_all(all).await
}

/// While so many bodies do not arrive, a caller is told to come back; afterwards it is served.
async fn is_told_to_come_back(service: &TestService, count: usize) {
    let caller = service.testing();
    let busy = crowd(service, count, &without_body(&caller.authorization)).await;
    eventually("all are under way", || service.running.in_flight() == count).await;
    let refused = caller.get(&json!({"user_group_id": "acme"})).await;
    super::pressure::assert_overloaded(&refused);
    drop(busy);
    eventually("they are gone", || service.running.in_flight() == 0).await;
    assert_served(service, "acme").await;
}

/// A request whose body does not arrive.
pub(super) fn without_body(authorization: &str) -> String {
    format!(
        "PUT /api/user HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\nContent-Type: application/json\r\n\
         Content-Length: 99\r\n\r\n{{"
    )
}

/// Everything received until the service closes.
pub(super) async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A reset is an end, too.
    let read = timeout(DEADLINE, stream.read_to_end(&mut bytes)).await;
    drop(read.expect("the service closes in time"));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A caller with a new connection gets an answer in time, and keeps the connection.
pub(super) async fn assert_served(service: &TestService, id: &str) -> Caller {
    let fresh = Caller::new(&service.base_url(), &service.testing_key);
    let token = timeout(DEADLINE, fresh.token_of(id)).await;
    assert_eq!(token.expect("an answer in time").len(), 64);
    fresh
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_heads_are_disconnected_and_delay_nobody() {
    let limits = Limits {
        // Also the time for the head of the caller beside them.
        head_time: Duration::from_secs(2),
        ..Limits::default()
    };
    let service = with(limits).await;
    let dripping = crowd(&service, 50, "GET /api/user HTTP/1.1\r\nX: ").await;
    assert_served(&service, "beside them").await;
    for mut stream in dripping {
        // One more byte does not buy more time.
        drop(stream.write_all(b"a").await);
        let said = rest(&mut stream).await;
        assert!(
            said.is_empty() || said.starts_with("HTTP/1.1 408"),
            "{said}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_without_end_is_refused() {
    let service = TestService::start().await;
    let mut stream = connect(&service, "GET /api/user HTTP/1.1\r\n").await;
    let line = format!("X-More: {}\r\n", "a".repeat(1_000));
    let mut sent = 0;
    while sent < 64 << 20 && stream.write_all(line.as_bytes()).await.is_ok() {
        sent += line.len();
    }
    assert!(sent < 64 << 20, "it was never refused");
    assert_served(&service, "after it").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_bodies_are_disconnected() {
    let limits = Limits {
        in_flight: 8,
        body_time: Duration::from_millis(300),
        ..Limits::default()
    };
    let service = with(limits).await;
    let key = service.testing().authorization;
    for mut stream in crowd(&service, 8, &without_body(&key)).await {
        let said = rest(&mut stream).await;
        for words in ["HTTP/1.1 408", "request_timeout", "connection: close"] {
            assert!(said.contains(words), "{said}");
        }
    }
    assert_served(&service, "acme").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_every_slot_or_connection_is_busy_a_caller_is_told_to_come_back() {
    let slots = Limits {
        in_flight: 8,
        body_time: 2 * DEADLINE,
        ..Limits::default()
    };
    is_told_to_come_back(&with(slots).await, 8).await;
    let connections = Limits {
        connections: 2,
        ..Limits::default()
    };
    is_told_to_come_back(&with(connections).await, 2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_connection_idle_for_longest_makes_room() {
    let limits = Limits {
        connections: 4,
        ..Limits::default()
    };
    let service = with(limits).await;
    let kept = service.testing();
    kept.token_of("kept").await;
    let mut idle = Vec::new();
    for first in ["", "GET", "GET /api/user HTTP/1.1\r\nHost: x\r\n"] {
        idle.push(connect(&service, first).await);
    }
    // Each of these needs a connection, and all are taken by callers that do nothing.
    let mut served = Vec::new();
    for number in 0..8 {
        served.push(assert_served(&service, &format!("new {number}")).await);
    }
    for stream in &mut idle {
        let said = rest(stream).await;
        assert_eq!(said, "", "nothing was asked, nothing is answered");
    }
    // A caller whose idle connection was closed is served on another connection.
    kept.token_of("kept").await;
}
