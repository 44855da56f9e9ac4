//! Limits for callers: keys that expire and their last use, rate limits, and allowed `Host` names.

use std::time::Duration;

use futures_util::future::join_all;
use jiff::Timestamp;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::{
    cli::program::{DEADLINE, Home},
    support::service::{Caller, Reply},
};

fn caller(url: &str, key: &str) -> Caller {
    Caller::new(url, &SecretString::from(key.trim().to_owned()))
}

async fn keys(home: &Home) -> Vec<Value> {
    let database = home.database();
    let list = format!("serve keys list --database {database}");
    home.json(0, &list)
        .await
        .as_array()
        .expect("an array")
        .clone()
}

fn time(value: &Value) -> Timestamp {
    value.as_str().expect("a time").parse().expect("a time")
}

#[tokio::test]
async fn a_key_expires_on_time_and_its_last_use_is_recorded() {
    let home = Home::new();
    let long = home.key("--environment live --expires 90d").await;
    let soon = Timestamp::now() + jiff::SignedDuration::from_secs(1);
    let short = home
        .key(&format!("--environment live --expires {soon}"))
        .await;
    home.key("--environment live --expires 2126-01-31 --name reports")
        .await;
    let listed = keys(&home).await;
    let ends = time(&listed[0]["expires_at"]);
    let lasts = ends.duration_since(time(&listed[0]["created_at"]));
    assert_eq!(lasts, jiff::SignedDuration::from_hours(90 * 24));
    assert_eq!(listed[2]["expires_at"], "2126-01-31T00:00:00Z");
    assert!(listed.iter().all(|key| key["last_used_at"].is_null()));

    let (_serving, url) = home.serve().await;
    let short = caller(&url, &short);
    let ended = async {
        loop {
            let reply = short.get(&json!({"user_group_id": "acme"})).await;
            if reply.status != 200 {
                break reply.refused();
            }
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(DEADLINE, ended).await;
    // As any other that is not valid.
    assert_eq!(ended.expect("in time"), (401, "unauthorized".into()));
    caller(&url, &long).token_of("acme").await;
    let listed = keys(&home).await;
    assert!(time(&listed[0]["last_used_at"]) >= time(&listed[0]["created_at"]));
    assert!(listed[2]["last_used_at"].is_null());
    assert_eq!(
        (&listed[0]["name"], &listed[2]["name"]),
        (&Value::Null, &json!("reports"))
    );
    let human = home
        .run(&["serve", "keys", "list", "--database", &home.database()])
        .await;
    human.shows("2126-01-31").shows("never").shows("reports");
    // A column without a value is not empty.
    let first = human.out.lines().nth(1).unwrap_or_default();
    assert!(first.trim_end().ends_with(" -"), "{}", human.out);
}

/// The clock of the process that creates keys and serves is two hours ahead of the storage's.
#[tokio::test]
async fn keys_end_by_the_clock_of_the_storage() {
    let mut home = Home::new();
    let first = home.key("--environment live --expires 1h").await;
    home.clock().forward(2 * HOUR);
    home.key("--environment live --expires 1h").await;
    let (_serving, url) = home.serve().await;
    caller(&url, &first).token_of("acme").await;
    assert_begin_and_end_now(&keys(&home).await);
}

pub(super) const HOUR: Duration = Duration::from_hours(1);

/// None of these keys, which are to last an hour, was created later than now, or lasts longer than that.
pub(super) fn assert_begin_and_end_now(keys: &[Value]) {
    assert_eq!(keys.len(), 2);
    for key in keys {
        assert!(time(&key["created_at"]) <= Timestamp::now(), "{key}");
        assert!(time(&key["expires_at"]) <= Timestamp::now() + HOUR, "{key}");
    }
}

#[tokio::test]
async fn an_environment_is_not_taken_for_one_that_looks_the_same() {
    let home = Home::new();
    home.key("--environment live").await;
    let on = format!("--database {}", home.database());
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, &format!("serve keys create {on} --environment Live"), "did you mean \"live\"?"),
        (2, &format!("serve keys create {on} --environment 'live '"), "space at the edge"),
        (2, &format!("serve keys create {on} --environment 'l\u{200b}ive'"), "invisible"),
        (0, &format!("serve keys create {on} --environment eu"), "for the new environment eu"),
        (0, &format!("serve keys create {on} --environment eu"), "for environment eu"),
    ]).await;
}

#[tokio::test]
async fn a_key_that_would_already_be_expired_is_refused() {
    let home = Home::new();
    let create = format!(
        "serve keys create --environment live --database {}",
        home.database()
    );
    let name = "invalid name of the key";
    #[rustfmt::skip] // A table: one command a line.
    home.each(&[
        (2, &format!("{create} --expires 0d"), "give a time in the future"),
        // A time without a time zone would be cut to its day, and few mean five seconds.
        (2, &format!("{create} --expires 2027-01-31T12:00"), "in UTC: 90d, 2027-01-31"),
        (2, &format!("{create} --expires 1y"), "write 365d"),
        (2, &format!("{create} --expires 5s"), "in h, d or w"),
        (2, &format!("{create} --expires 2027-02-30"), "90d, 2027-01-31"),
        (2, &format!("{create} --name ''"), name),
        (2, &format!("{create} --name 'two\nlines'"), name),
        (2, &format!("{create} --name {}", "x".repeat(101)), name),
    ]).await;
    assert!(!std::path::Path::new(&home.database()).exists());
}

#[tokio::test]
async fn a_key_over_its_rate_limit_is_told_how_long_to_wait() {
    let home = Home::new();
    let busy = home.key("--environment live").await;
    let other = home.key("--environment live").await;
    let (_serving, url) = home.serve_with("--rate-limit 1").await;
    let busy = caller(&url, &busy);
    let refused = async {
        loop {
            let body = json!({"user_group_id": "acme"});
            let replies = join_all((0..4).map(|_| busy.get(&body))).await;
            if let Some(refused) = replies.into_iter().find(|reply| reply.status != 200) {
                break refused;
            }
        }
    };
    let refused = tokio::time::timeout(DEADLINE, refused)
        .await
        .expect("in time");
    assert_eq!(refused.refused(), (429, "rate_limited".into()));
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(refused.headers["groupdesk-not-done"], "1");
    assert!(refused.text.contains("wait 1 s"), "{}", refused.text);
    caller(&url, &other).token_of("acme").await;
}

#[tokio::test]
async fn only_allowed_hosts_are_answered_if_some_are_configured() {
    let home = Home::new();
    let key = home.key("--environment live").await;
    let hosts = ["--host", "Api.example.com", "--host", "[::1]"];
    for (more, answers) in [(&hosts[..], false), (&[], true)] {
        let (_serving, url) = home.serve_with(more).await;
        let caller = caller(&url, &key);
        let of = |host: &str| {
            let body = r#"{"user_group_id":"acme"}"#;
            Reply::of(
                caller
                    .request(reqwest::Method::GET, body)
                    .header("host", host),
            )
        };
        of("api.EXAMPLE.com:8474").await.ok();
        of("[::1]").await.ok();
        let by_address = caller.get(&json!({"user_group_id": "acme"})).await;
        let elsewhere = of("elsewhere.example").await;
        if answers {
            by_address.ok();
            elsewhere.ok();
        } else {
            for refused in [by_address, elsewhere] {
                assert_eq!(refused.refused(), (400, "unknown_host".into()));
                assert!(refused.text.contains("--host"), "{}", refused.text);
            }
        }
    }
}
