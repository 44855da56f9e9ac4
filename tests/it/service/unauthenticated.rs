//! Callers without a valid key whose bodies never end: they are refused at once, and block nobody.

use std::time::Duration;

use groupdesk::service::Limits;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use super::slow::{DEADLINE, assert_served, connect, crowd, rest, with, without_body};
use crate::support::service::TestService;

const NO_KEY: &str = "PUT /api/user HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n{";

/// More connections than a small service has.
const CROWD: usize = 40;

async fn small() -> TestService {
    with(Limits {
        in_flight: 4,
        connections: 32,
        ..Limits::default()
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn valid_callers_are_served_while_bodies_without_a_key_trickle_in() {
    let service = small().await;
    let kept = service.testing();
    kept.token_of("kept").await;
    let mut strangers = crowd(&service, CROWD, NO_KEY).await;
    for number in 0..CROWD {
        for stranger in &mut strangers {
            // Some are closed by now.
            drop(stranger.write_all(b" ").await);
        }
        assert_served(&service, &format!("new {number}")).await;
        kept.token_of("kept").await;
    }
    for mut stranger in strangers {
        let said = rest(&mut stranger).await;
        assert!(
            said.is_empty() || said.starts_with("HTTP/1.1 401"),
            "{said}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_key_is_refused_before_the_body_and_occupies_nothing() {
    let service = small().await;
    let mut strangers = Vec::new();
    let refused = async {
        for _ in 0..CROWD {
            let mut stranger = connect(&service, &without_body("Token wrong")).await;
            let mut line = [0; 27];
            stranger.read_exact(&mut line).await.expect("an answer");
            assert_eq!(&line, b"HTTP/1.1 401 Unauthorized\r\n");
            strangers.push(stranger);
        }
    };
    // None waits for the body of the one before it, which would take seconds each.
    timeout(2 * DEADLINE, refused).await.expect("at once");
    assert_served(&service, "beside them").await;
    assert_eq!(service.running.in_flight(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_with_wrong_keys_leave_room_for_those_with_right_ones() {
    let service = with(Limits {
        in_flight: 2,
        ..Limits::default()
    })
    .await;
    let caller = service.testing();
    let mut wrong = caller.clone();
    wrong.authorization = "Token wrong".into();
    let body = json!({"user_group_id": "acme"});
    let crowd = async {
        for _ in 0..20 {
            let calls = (0..20).map(|_| wrong.get(&body));
            for reply in futures_util::future::join_all(calls).await {
                // While another key is being looked up there may be no room for this one.
                let code = reply.refused().1;
                assert!(code == "unauthorized" || code == "overloaded", "{code}");
            }
        }
    };
    let served = async {
        for _ in 0..100 {
            caller.token_of("acme").await;
        }
    };
    tokio::join!(crowd, served);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_reaches_a_caller_that_is_still_sending() {
    let service = TestService::start().await;
    let head = NO_KEY.replace("99999999", &(8 << 20).to_string());
    let mut stream = connect(&service, &head).await;
    let more = vec![b' '; (8 << 20) - 1];
    stream.write_all(&more).await.expect("it is read");
    let said = rest(&mut stream).await;
    assert!(said.starts_with("HTTP/1.1 401"), "{said}");
    assert!(
        said.contains("connection: close") && said.ends_with('}'),
        "{said}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_body_of_a_refused_caller_is_read_up_to_a_time_and_a_size() {
    let service = with(Limits {
        body_time: Duration::from_millis(200),
        ..Limits::default()
    })
    .await;
    let mut slow = connect(&service, NO_KEY).await;
    let trickled = async { while slow.write_all(b" ").await.is_ok() {} };
    timeout(DEADLINE, trickled).await.expect("it is ended");

    let service = TestService::start().await;
    let mut large = connect(&service, NO_KEY).await;
    let chunk = vec![b' '; 1 << 20];
    let mut sent = 0;
    while sent < 64 && large.write_all(&chunk).await.is_ok() {
        sent += 1;
    }
    assert!((16..64).contains(&sent), "{sent} MiB");
}
