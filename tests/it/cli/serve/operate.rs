//! What an operator sees: metrics, liveness and readiness, an access log line per request, and a shutdown that a load
//! balancer notices.

use std::time::Duration;

use reqwest::StatusCode;
use rustix::process::Signal;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    cli::program::{Background, DEADLINE, Home, has},
    support::{
        assertions::assert_lacks,
        service::{Caller, plain_client},
    },
};

/// A service with a listener for operators.
struct Operated {
    serving: Background,
    url: String,
    operators: String,
}

impl Operated {
    async fn start(home: &Home, more: &[&str]) -> Self {
        let mut all = vec!["--metrics", "127.0.0.1:0"];
        all.extend(more);
        let (mut serving, url) = home.serve_with(&all).await;
        let said = serving.says("/metrics").await;
        let (_, operators) = said.split_once("metrics on ").expect("an address");
        let operators = operators.strip_suffix("/metrics").expect("its path");
        Self {
            serving,
            url,
            operators: operators.to_owned(),
        }
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        let answer = plain_client()
            .get(format!("{}{path}", self.operators))
            .send();
        let answer = answer.await.expect("an answer");
        (answer.status(), answer.text().await.expect("text"))
    }

    async fn metrics(&self) -> String {
        let (status, text) = self.get("/metrics").await;
        assert_eq!(status, StatusCode::OK);
        text
    }

    /// Repeats the request until it has this status; returns the body.
    async fn answers(&self, path: &str, wanted: StatusCode) -> String {
        let asking = async {
            loop {
                let (status, text) = self.get(path).await;
                if status == wanted {
                    return text;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(DEADLINE, asking)
            .await
            .expect("in time")
    }
}

#[tokio::test]
async fn every_request_is_counted_and_logged_without_secrets() {
    for with_ids in [false, true] {
        let home = Home::new();
        let key = home.key("--environment live --name 'reports \"eu\"'").await;
        let more = ["--access-log", "--log-ids"];
        let mut operated = Operated::start(&home, &more[..=usize::from(with_ids)]).await;
        let caller = Caller::new(&operated.url, &SecretString::from(key.trim().to_owned()));
        let token = caller.token_of("canary-group").await;
        let body = json!({"user_group_id": "canary-group", "name": "canary-name"});
        caller.put(&body).await.ok();
        let rotated = caller.rotate(&token).await.ok();
        let new = rotated["user_group"]["token"].as_str().expect("a token");
        assert_eq!(caller.rotate(&token).await.refused().0, 409);
        let mut stranger = caller.clone();
        stranger.authorization = "Token canary-key".into();
        assert_eq!(stranger.get(&body).await.refused().0, 401);
        let elsewhere = format!("{}/canary-path", operated.url);
        let elsewhere = plain_client().get(elsewhere).send().await;
        assert_eq!(elsewhere.expect("an answer").status(), 404);
        let host = operated.url.trim_start_matches("http://").to_owned();
        let mut stream = TcpStream::connect(&host).await.expect("it listens");
        stream
            .write_all(b"GET / HTTP/1.1\r\ncanary head\r\n\r\n")
            .await
            .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");

        let wanted = [
            ("get_or_create", "ok", 200, Some(1)),
            ("update", "ok", 200, Some(1)),
            ("rotate", "ok", 200, Some(1)),
            ("rotate", "token_retired", 409, Some(1)),
            ("get_or_create", "unauthorized", 401, None),
            ("other", "not_found", 404, None),
            ("unreadable", "malformed_request", 400, None),
        ];
        let mut written = String::new();
        for (at, (operation, verdict, status, key)) in wanted.into_iter().enumerate() {
            let line = operated.serving.line().await;
            let found: Value = serde_json::from_str(&line).expect("JSON");
            has!(found, {"operation": operation, "result": verdict, "status": status, "key": key});
            let name = key.map(|_| "reports \"eu\"");
            assert_eq!(found["key_name"], json!(name), "{line}");
            assert!(
                found["duration_ms"]
                    .as_f64()
                    .is_some_and(|took| took >= 0.0)
            );
            let time: jiff::Timestamp = found["time"]
                .as_str()
                .expect("a time")
                .parse()
                .expect("one");
            assert!(time.as_second() > 1_700_000_000);
            let id = (with_ids && at < 3).then_some("canary-group");
            assert_eq!(found["user_group_id"], json!(id), "{line}");
            written += &line;
        }
        let counted = operated.metrics().await;
        for (operation, verdict, ..) in wanted {
            let sample = format!(
                "groupdesk_service_requests_total{{operation=\"{operation}\",result=\"{verdict}\"}} 1\n"
            );
            assert!(counted.contains(&sample), "{sample}{counted}");
        }
        for sample in [
            "groupdesk_service_request_duration_seconds_bucket{le=\"+Inf\",operation=\"rotate\"} 2\n",
            "groupdesk_service_request_duration_seconds_count{operation=\"rotate\"} 2\n",
            "groupdesk_service_key_requests_total{key=\"1\",name=\"reports \\\"eu\\\"\"} 4\n",
            "groupdesk_service_ready 1\n",
            "groupdesk_service_requests_in_flight 0\n",
            "groupdesk_service_storage_writes_waiting 0\n",
            "groupdesk_service_storage_failures_total 0\n",
            "groupdesk_service_access_log_lost_lines_total 0\n",
        ] {
            assert!(counted.contains(sample), "{sample}{counted}");
        }
        assert!(counted.ends_with("# EOF\n"), "{counted}");
        let everything = format!("{written}{counted}");
        let bare = everything.replace("canary-group", "");
        for secret in ["canary", key.trim(), &token, new] {
            assert!(!bare.contains(secret), "{secret:?} in {bare}");
        }
        assert_eq!(with_ids, everything.contains("canary-group"));
        assert!(!counted.contains("canary-group"));
    }
}

#[tokio::test]
async fn the_service_is_ready_as_long_as_its_storage_takes_writes() {
    let home = Home::new();
    let operated = Operated::start(&home, &[]).await;
    assert_eq!(operated.get("/live").await.0, StatusCode::OK);
    assert_eq!(operated.get("/ready").await.0, StatusCode::OK);
    assert_eq!(operated.get("/").await.0, StatusCode::NOT_FOUND);
    let post = plain_client().post(format!("{}/ready", operated.operators));
    let post = post.send().await.expect("an answer").status();
    assert_eq!(post, StatusCode::METHOD_NOT_ALLOWED);
    let other = rusqlite::Connection::open(home.database()).expect("open");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let said = operated
        .answers("/ready", StatusCode::SERVICE_UNAVAILABLE)
        .await;
    assert!(said.contains("storage"), "{said}");
    assert_eq!(operated.get("/live").await.0, StatusCode::OK);
    assert!(
        operated
            .metrics()
            .await
            .contains("groupdesk_service_ready 0\n")
    );
    other.execute_batch("ROLLBACK").expect("released");
    operated.answers("/ready", StatusCode::OK).await;
}

#[tokio::test]
async fn after_sigterm_the_service_is_not_ready_and_answers_until_its_deadline() {
    let home = Home::new();
    let key = home.key("--environment live").await;
    let mut operated = Operated::start(&home, &["--drain", "10m"]).await;
    let caller = Caller::new(&operated.url, &SecretString::from(key.trim().to_owned()));
    let before = caller.get(&json!({"user_group_id": "acme"})).await;
    assert!(!before.headers.contains_key("connection"));
    operated.serving.signal(Signal::TERM);
    operated.serving.says("still served for 600 s").await;
    let said = operated
        .answers("/ready", StatusCode::SERVICE_UNAVAILABLE)
        .await;
    assert!(said.contains("shutting down"), "{said}");
    assert_eq!(operated.get("/live").await.0, StatusCode::OK);
    let after = caller.get(&json!({"user_group_id": "acme"})).await;
    after.ok();
    assert_eq!(after.headers["connection"], "close");
    operated.serving.signal(Signal::INT);
    // No advice for a client.
    operated.serving.says("interrupted\n").await;
    assert_eq!(operated.serving.code().await, Some(130));

    let mut short = Operated::start(&home, &["--drain", "1ms"]).await;
    short.serving.signal(Signal::TERM);
    short.serving.says("finishing running requests").await;
    assert_eq!(short.serving.code().await, Some(0));

    let mut person = Operated::start(&home, &["--drain", "10m"]).await;
    person.serving.signal(Signal::INT);
    assert_eq!(
        person.serving.code().await,
        Some(0),
        "a person waits for nothing"
    );
}

#[tokio::test]
async fn wrong_options_start_nothing() {
    let home = Home::new();
    let database = home.database();
    let other = tokio::net::TcpListener::bind("127.0.0.1:0").await;
    let other = other.expect("a port");
    let taken = other.local_addr().expect("an address").to_string();
    for (arguments, says) in [
        (&["--log-ids"][..], "--access-log"),
        (&["--drain", "11m"], "too long"),
        (&["--drain", "soon"], "duration"),
        (&["--metrics", ":9090"], "--metrics"),
        (&["--metrics", &taken], "--metrics"),
        (&["--rate-limit", "0"], "--rate-limit"),
        (&["--host", "api.example.com:80"], "without a port"),
        (&["--host", "*"], "without a port or *"),
    ] {
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--database", &database];
        all.extend(arguments);
        let ran = home.exits(2, &all).await;
        ran.says(says);
        assert_lacks(&ran.out, "listening");
    }
}
