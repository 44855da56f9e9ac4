//! Overload, callers that disconnect, a locked database, and the shutdown.

use std::time::Duration;

use groupdesk::service::{Limits, store::Options};
use rusqlite::Connection;
use serde_json::json;
use tokio::net::TcpStream;

use crate::support::{
    service::{Caller, Reply, TestService},
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

fn create(caller: &Caller, id: &str) -> tokio::task::JoinHandle<Reply> {
    let (caller, body) = (caller.clone(), json!({ "user_group_id": id }));
    tokio::spawn(async move { caller.get(&body).await })
}

/// With a lock that is waited for long enough for a test to do its part.
async fn start(change: impl FnOnce(&mut Options, &mut Limits)) -> TestService {
    let mut options = Options {
        busy_timeout: Duration::from_mins(1),
        ..Options::default()
    };
    let mut limits = Limits::default();
    change(&mut options, &mut limits);
    TestService::start_with(options, limits).await
}

/// One change waits for the lock.
async fn one_waits(service: &TestService) {
    eventually("a change waits", || service.store.pending_writes() == 1).await;
}

pub(super) fn assert_overloaded(reply: &Reply) {
    assert_eq!(reply.refused(), (503, "overloaded".into()));
    assert_eq!(reply.headers["retry-after"], "1");
    assert_eq!(reply.headers["groupdesk-not-done"], "1");
}

async fn raw_request(service: &TestService, id: &str) -> TcpStream {
    let body = json!({ "user_group_id": id }).to_string();
    let (key, length) = (service.testing().authorization, body.len());
    let request = format!(
        "GET /api/user HTTP/1.1\r\nHost: x\r\nAuthorization: {key}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    super::slow::connect(service, &request).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_is_completed_when_its_caller_disconnects() {
    let service = start(|_, _| ()).await;
    let held = Held::of(&service);
    let stream = raw_request(&service, "orphan").await;
    one_waits(&service).await;
    drop(stream);
    let is_forgotten = || service.running.in_flight() == 0;
    eventually("the request is forgotten", is_forgotten).await;
    assert_eq!(service.store.pending_writes(), 1, "but not its write");
    drop(held);
    eventually("the group is there", || exists(&service, "orphan")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_revoked_while_its_request_waits_has_no_effect() {
    let service = start(|_, _| ()).await;
    let other = service.other_connection();
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let call = create(&service.testing(), "late");
    one_waits(&service).await;
    let revoke = "UPDATE keys SET revoked_at = 1; COMMIT";
    other.execute_batch(revoke).expect("revoked");
    let reply = call.await.expect("no panic");
    assert_eq!(reply.refused(), (401, "unauthorized".into()));
    assert!(!exists(&service, "late"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_over_the_limit_get_503_with_retry_after() {
    let service = start(|_, limits| limits.in_flight = 2).await;
    let caller = service.testing();
    let held = Held::of(&service);
    let first = [create(&caller, "one"), create(&caller, "two")];
    eventually("two are under way", || service.running.in_flight() == 2).await;
    let refused = caller.get(&json!({"user_group_id": "three"})).await;
    assert_overloaded(&refused);
    drop(held);
    for call in first {
        call.await.expect("no panic").ok();
    }
    caller.token_of("three").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_queue_gets_503_too() {
    let service = start(|options, _| options.queue = 1).await;
    let caller = service.testing();
    let held = Held::of(&service);
    // One write is stuck in its transaction; the following ones fill the queue of one.
    let stuck = create(&caller, "stuck");
    one_waits(&service).await;
    let crowd = (0..5).map(|n| create(&caller, &format!("crowd {n}")));
    let (first, _, others) = futures_util::future::select_all(crowd).await;
    assert_overloaded(&first.expect("no panic"));
    drop(held);
    stuck.await.expect("no panic").ok();
    for call in others {
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
    let service = start(|options, _| options.busy_timeout = Duration::from_millis(20)).await;
    let held = Held::of(&service);
    let caller = service.testing();
    let refused = caller.get(&json!({"user_group_id": "acme"})).await;
    assert_overloaded(&refused);
    drop(held);
    assert!(!exists(&service, "acme"));
    caller.token_of("acme").await;
}

#[tokio::test]
async fn an_inner_failure_is_a_500_without_details() {
    let service = TestService::start().await;
    let caller = service.testing();
    caller.token_of("acme").await;
    let other = service.other_connection();
    let breaks = "UPDATE groups SET properties = 'broken'; DROP TABLE retired_tokens";
    other.execute_batch(breaks).expect("broken");
    let body = json!({"user_group_id": "acme", "properties": {}});
    for reply in [caller.get(&body).await, caller.rotate("x").await] {
        assert_eq!(reply.refused(), (500, "internal_error".into()));
        let text = reply.text.to_lowercase();
        for detail in ["sql", "properties", "broken", "service.db"] {
            assert!(!text.contains(detail), "{text}");
        }
    }
    caller.token_of("another").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shutdown_finishes_requests_in_flight() {
    let service = start(|_, _| ()).await;
    let caller = service.testing();
    // An idle connection must not delay the shutdown.
    caller.token_of("before").await;
    let held = Held::of(&service);
    let call = create(&caller, "last");
    one_waits(&service).await;
    let address = service.running.address;
    let stop = tokio::spawn(service.running.stop());
    let is_closed = || std::net::TcpStream::connect(address).is_err();
    eventually("nothing new is accepted", is_closed).await;
    assert!(!stop.is_finished());
    drop(held);
    call.await.expect("no panic").ok();
    stop.await.expect("stopped");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shutdown_does_not_wait_longer_than_its_grace_period() {
    let service = start(|_, limits| limits.grace = Duration::from_millis(20)).await;
    let held = Held::of(&service);
    let mut stream = raw_request(&service, "late").await;
    one_waits(&service).await;
    service.running.stop().await;
    assert_eq!(
        super::slow::rest(&mut stream).await,
        "",
        "cut off, not answered"
    );
    assert_eq!(service.store.pending_writes(), 1);
    drop((held, service.store));
    let other = Connection::open(&service.database).expect("open");
    let text = "SELECT count(*) FROM groups WHERE user_group_id = 'late'";
    let groups = other.query_row(text, [], |row| row.get::<_, i64>(0));
    // The write was done all the same.
    assert_eq!(groups.expect("a count"), 1);
    drop(service.folder);
}
