//! Overload, callers that disconnect, a locked database, and the shutdown.

use std::time::Duration;

use groupdesk::service::{Limits, store::Options};
use rusqlite::Connection;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{
    service::{Caller, TestService},
    wait::eventually,
};

/// Holds the write lock, as another process could, until dropped.
struct Held(Connection);

impl Held {
    fn of(service: &TestService) -> Self {
        let connection = service.other_connection();
        connection
            .execute_batch("BEGIN IMMEDIATE")
            .expect("the lock");
        Self(connection)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.execute_batch("ROLLBACK");
    }
}

fn exists(service: &TestService, id: &str) -> bool {
    service
        .other_connection()
        .prepare("SELECT 1 FROM groups WHERE user_group_id = ?1")
        .and_then(|mut statement| statement.exists([id]))
        .expect("SQL")
}

/// Long enough for a test to do its part while the lock is held.
fn patient() -> Options {
    Options {
        busy_timeout: Duration::from_mins(1),
        ..Options::default()
    }
}

fn create(caller: &Caller, id: &str) -> tokio::task::JoinHandle<crate::support::service::Reply> {
    let (caller, body) = (caller.clone(), json!({ "user_group_id": id }));
    tokio::spawn(async move { caller.get(&body).await })
}

async fn raw_request(service: &TestService, caller: &Caller, id: &str) -> TcpStream {
    let mut stream = TcpStream::connect(service.running.address)
        .await
        .expect("connected");
    let body = json!({ "user_group_id": id }).to_string();
    let head = format!(
        "GET /api/user HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        caller.authorization,
        body.len(),
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_is_completed_when_its_caller_disconnects() {
    let service = TestService::start_with(patient(), Limits::default()).await;
    let held = Held::of(&service);
    let stream = raw_request(&service, &service.testing(), "orphan").await;
    eventually("the write is queued", || {
        service.store.pending_writes() == 1
    })
    .await;
    drop(stream);
    eventually("the request is forgotten", || {
        service.running.in_flight() == 0
    })
    .await;
    assert_eq!(service.store.pending_writes(), 1, "but not its write");
    drop(held);
    eventually("the group is there", || exists(&service, "orphan")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_revoked_while_its_request_waits_has_no_effect() {
    let service = TestService::start_with(patient(), Limits::default()).await;
    let other = service.other_connection();
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let call = create(&service.testing(), "late");
    eventually("it was let in", || service.store.pending_writes() == 1).await;
    other
        .execute_batch("UPDATE keys SET revoked_at = 1; COMMIT")
        .expect("revoked");
    let reply = call.await.expect("no panic");
    assert_eq!(reply.refused(), (401, "unauthorized".into()));
    assert!(!exists(&service, "late"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_over_the_limit_get_503_with_retry_after() {
    let limits = Limits {
        in_flight: 2,
        ..Limits::default()
    };
    let service = TestService::start_with(patient(), limits).await;
    let caller = service.testing();
    let held = Held::of(&service);
    let first = [create(&caller, "one"), create(&caller, "two")];
    eventually("two are under way", || service.running.in_flight() == 2).await;
    let refused = caller.get(&json!({"user_group_id": "three"})).await;
    assert_eq!(refused.refused(), (503, "overloaded".into()));
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(refused.headers["groupdesk-not-done"], "1");
    drop(held);
    for call in first {
        call.await.expect("no panic").ok();
    }
    caller.token_of("three").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_gets_503_too() {
    let options = Options {
        queue: 1,
        ..patient()
    };
    let service = TestService::start_with(options, Limits::default()).await;
    let caller = service.testing();
    let held = Held::of(&service);
    // One write is stuck in its transaction; the following ones fill the queue of one.
    let stuck = create(&caller, "stuck");
    eventually("it is stuck", || service.store.pending_writes() == 1).await;
    let crowd: Vec<_> = (0..5)
        .map(|n| create(&caller, &format!("crowd {n}")))
        .collect();
    let mut crowd = futures_util::future::select_all(crowd).await;
    let first = crowd.0.expect("no panic");
    assert_eq!(first.refused(), (503, "overloaded".into()));
    assert_eq!(first.headers["retry-after"], "1");
    drop(held);
    stuck.await.expect("no panic").ok();
    for call in crowd.2.drain(..) {
        let reply = call.await.expect("no panic");
        assert!(
            [200, 503].contains(&reply.status.as_u16()),
            "{}",
            reply.text
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_database_gets_503_and_nothing_is_done() {
    let options = Options {
        busy_timeout: Duration::from_millis(20),
        ..Options::default()
    };
    let service = TestService::start_with(options, Limits::default()).await;
    let held = Held::of(&service);
    let refused = service
        .testing()
        .get(&json!({"user_group_id": "acme"}))
        .await;
    assert_eq!(refused.refused(), (503, "overloaded".into()));
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(refused.headers["groupdesk-not-done"], "1");
    drop(held);
    assert!(!exists(&service, "acme"));
    service.testing().token_of("acme").await;
}

#[tokio::test]
async fn an_inner_failure_is_a_500_without_details() {
    let service = TestService::start().await;
    let caller = service.testing();
    caller.token_of("acme").await;
    let other = service.other_connection();
    other
        .execute_batch("UPDATE groups SET properties = 'broken'")
        .expect("broken");
    let body = json!({"user_group_id": "acme", "properties": {}});
    let reply = caller.get(&body).await;
    assert_eq!(reply.refused(), (500, "internal_error".into()));
    for detail in ["sql", "properties", "broken", "service.db"] {
        assert!(
            !reply.text.to_lowercase().contains(detail),
            "{}",
            reply.text
        );
    }
    other
        .execute_batch("DROP TABLE retired_tokens")
        .expect("dropped");
    let reply = caller.rotate("x").await;
    assert_eq!(reply.refused(), (500, "internal_error".into()));
    caller.token_of("another").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shutdown_finishes_requests_in_flight() {
    let service = TestService::start_with(patient(), Limits::default()).await;
    let caller = service.testing();
    // An idle connection must not delay the shutdown.
    caller.token_of("before").await;
    let held = Held::of(&service);
    let call = create(&caller, "last");
    eventually("it is in flight", || service.store.pending_writes() == 1).await;
    let address = service.running.address;
    let stop = tokio::spawn(service.running.stop());
    eventually("nothing new is accepted", || {
        std::net::TcpStream::connect(address).is_err()
    })
    .await;
    assert!(!stop.is_finished());
    drop(held);
    call.await.expect("no panic").ok();
    stop.await.expect("stopped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shutdown_does_not_wait_longer_than_its_grace_period() {
    let limits = Limits {
        grace: Duration::from_millis(20),
        ..Limits::default()
    };
    let service = TestService::start_with(patient(), limits).await;
    let held = Held::of(&service);
    let mut stream = raw_request(&service, &service.testing(), "late").await;
    eventually("it is in flight", || service.store.pending_writes() == 1).await;
    let TestService {
        store,
        running,
        database,
        folder: _folder,
        ..
    } = service;
    running.stop().await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    assert!(answer.is_empty(), "cut off, not answered");
    assert_eq!(store.pending_writes(), 1);
    drop(held);
    drop(store);
    let other = Connection::open(&database).expect("open");
    let groups: i64 = other
        .query_row(
            "SELECT count(*) FROM groups WHERE user_group_id = 'late'",
            [],
            |row| row.get(0),
        )
        .expect("a count");
    assert_eq!(groups, 1, "the write was done all the same");
}
