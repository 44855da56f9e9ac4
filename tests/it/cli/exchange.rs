//! Files of groups against adversity: a profile that forbids, a service that fails in the middle, signals, and the
//! check before anything is sent.

mod files;
mod terminal;

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::{
    guards::methods,
    program::{Background, Home},
};
use crate::support::{
    clock::TestClock,
    faults::{Fault, Faults, http, json as answer},
    proxy::Gate,
    wait::received,
};

fn objects(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("one object per line"))
        .collect()
}

/// The answer of a successful create or get of this id.
fn made(id: &str, is_new: bool) -> Fault {
    answer(
        "200 OK",
        &json!({"success": 1, "new_user_group": is_new, "user_group":
            {"team_id": 7, "token": format!("token-of-{id}"), "name": id, "provided_id": id, "properties": null}}),
    )
}

/// A busy service: this status with a Retry-After.
fn busy(status: &str, after: &str) -> Fault {
    let headers = ["Content-Type: application/json", after];
    let body = json!({"success": 0, "error": {"code": "busy", "message": "later"}});
    Fault::Answer(http(status, &headers, body.to_string()))
}

fn ids(home: &Home, count: usize) -> String {
    let rows: Vec<_> = (1..=count).map(|row| format!("g{row}")).collect();
    home.write("ids.csv", &format!("user_group_id\n{}\n", rows.join("\n")))
}

/// The last line, after checking that its counts add up to its rows.
fn sum(ran: &str) -> Value {
    let last = objects(ran).pop().expect("a sum");
    let counts = last.as_object().expect("an object").iter();
    let counts: u64 = counts
        .filter(|(key, _)| *key != "rows")
        .filter_map(|(_, value)| value.as_u64())
        .sum();
    assert_eq!(Some(counts), last["rows"].as_u64(), "{last}");
    last
}

const CREATE: [&str; 5] = ["--create", "--yes", "--json", "--concurrency", "1"];

fn import<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["import", file], more].concat()
}

#[tokio::test]
async fn guards_of_a_profile_hold_for_files_too() {
    let service = Faults::always(Fault::Close).await;
    let mut home = Home::new();
    home.connect(&service.base_url(), "key");
    let config = std::fs::read_to_string(home.path("config.toml")).expect("written");
    let file = ids(&home, 3);
    for (operation, rule, refused) in [
        ("create", "forbid = true", [true, false, true]),
        ("update", "forbid = true", [false, true, true]),
        ("bulk", "forbid = true", [true, true, true]),
        ("bulk", "max = 2", [true, true, true]),
        ("bulk", "max = 3", [false, false, false]),
        ("rotate", "forbid = true", [false, false, false]),
    ] {
        let guard = format!("{{ operation = \"{operation}\", {rule}, reason = \"the freeze\" }}");
        home.write("config.toml", &format!("{config}guard = [{guard}]\n"));
        for (command, refused) in [
            &["import", &file, "--create", "--yes"][..],
            &["import", &file, "--update", "--yes"],
            &["apply", &file, "--yes"],
        ]
        .into_iter()
        .zip(refused)
        {
            let before = service.connections();
            let ran = home.run(command).await;
            let told = ran.err.contains("the freeze; nothing was sent");
            assert_eq!(told, refused, "{guard} {command:?}: {}", ran.err);
            if refused {
                assert_eq!(ran.code, 3, "{guard} {command:?}: {}", ran.err);
                assert_eq!(service.connections(), before, "{guard} {command:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_busy_service_is_retried_and_no_row_is_lost() {
    // A create that was put off changed nothing: it is sent again, and its row is counted once.
    let script = vec![
        busy("429 Too Many Requests", "Retry-After: 1"),
        made("g1", true),
        busy("429 Too Many Requests", "Retry-After: 0"),
        made("g2", false),
    ];
    let service = Faults::start(script).await;
    let mut home = Home::new();
    home.connect(&service.base_url(), "key");
    let file = ids(&home, 2);
    let begun = Instant::now();
    let ran = home.run(&import(&file, &CREATE)).await;
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(
        begun.elapsed().as_millis() >= 1000,
        "it waits as long as Retry-After says"
    );
    assert!(ran.err.contains("asks to wait 1 s"), "{}", ran.err);
    let last = sum(&ran.out);
    assert_eq!((&last["created"], &last["existed"]), (&json!(1), &json!(1)));
    assert_eq!(service.requests().len(), 4);
}

#[tokio::test]
async fn failures_in_the_middle_are_counted_and_a_second_run_goes_on() {
    // A create that may have arrived is repeated twice.
    let thrice = |fault: fn() -> Fault| std::iter::repeat_with(fault).take(3);
    let mut script = vec![made("g1", true)];
    script.extend(thrice(|| busy("503 Service Unavailable", "X-A: b")));
    script.push(made("g3", true));
    script.push(answer(
        "422 Unprocessable Entity",
        &json!({"success": 0, "error": {"message": "no"}}),
    ));
    script.extend(thrice(|| Fault::Close));
    script.extend(thrice(|| busy("500 Oh", "X-A: b")));
    let service = Faults::start(script).await;
    let mut home = Home::new();
    let clock = TestClock::new(home.folder.path());
    let (name, value) = clock.variable();
    home.set(name, value);
    home.connect(&service.base_url(), "key");
    let file = ids(&home, 8);
    let ran = home.run(&import(&file, &CREATE)).await;
    assert_eq!(ran.code, 7, "{}{}", ran.out, ran.err);
    let last = sum(&ran.out);
    let counts = ["created", "failed", "unknown", "not_started", "done_before"];
    let counts = counts.map(|name| last[name].as_u64().expect("a number"));
    assert_eq!(counts, [2, 1, 3, 2, 0], "{last}");
    assert_eq!(last["stopped"], "stopped after 3 failures in a row");

    // Sends only what is not done. An unknown row may still take effect for a while.
    service.all_over().await;
    clock.forward(Duration::from_mins(2));
    let sent = service.requests().len();
    let script: Vec<_> = [2, 4, 5, 6, 7, 8]
        .map(|row| made(&format!("g{row}"), row > 6))
        .into();
    let next = Faults::start(script).await;
    home.connect(&next.base_url(), "key");
    let again = home.run(&import(&file, &CREATE)).await;
    assert_eq!((sent, again.code), (12, 0), "{}{}", again.out, again.err);
    let last = sum(&again.out);
    assert_eq!(
        (&last["done_before"], &last["existed"], &last["created"]),
        (&json!(2), &json!(4), &json!(2))
    );
}

#[tokio::test]
async fn the_rate_limit_is_kept() {
    let script: Vec<_> = (1..=4).map(|row| made(&format!("g{row}"), true)).collect();
    let service = Faults::start(script).await;
    let mut home = Home::new();
    home.connect(&service.base_url(), "key");
    let file = ids(&home, 4);
    let begun = Instant::now();
    let ran = home
        .run(&import(&file, &["--create", "--yes", "--rate", "10/s"]))
        .await;
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(begun.elapsed().as_millis() >= 300, "three pauses of 100 ms");
    let wrong = home
        .run(&import(&file, &["--create", "--rate", "5/h"]))
        .await;
    assert_eq!(wrong.code, 2, "{}", wrong.err);
}

#[tokio::test]
async fn a_signal_finishes_requests_in_flight_and_leaves_the_rest() {
    // In parallel, because each case waits for its time limit.
    join_all(
        [Signal::INT, Signal::TERM, Signal::HUP].map(async |signal| {
            // After the first row the service hangs.
            let script = vec![made("g1", true), Fault::Hang];
            let service = Faults::start(script).await;
            let mut home = Home::new();
            home.connect(&service.base_url(), "key");
            let file = ids(&home, 5);
            let mut running = Background::start(home.command(&import(&file, &CREATE)));
            let first = running.line().await;
            assert!(first.contains("\"created\""), "{first}");
            received(&service, 2).await;
            running.signal(signal);
            running.says("finishing running requests").await;
            if signal != Signal::INT {
                // A session that ends sends SIGHUP more than once.
                running.signal(signal);
            }
            // The request in flight runs into the time limit of the profile: its outcome is unknown.
            let second = running.line().await;
            assert!(second.contains("\"unknown\""), "{second}");
            let last = sum(&running.line().await);
            assert_eq!(
                (&last["created"], &last["unknown"], &last["not_started"]),
                (&json!(1), &json!(1), &json!(3))
            );
            assert_eq!(running.code().await, Some(7));
            assert_eq!(methods(&service).len(), 2, "nothing new was started");
        }),
    )
    .await;
}

#[tokio::test]
async fn a_second_interrupt_ends_at_once() {
    let service = Faults::start(vec![made("g1", true), Fault::Hang]).await;
    let mut home = Home::new();
    home.connect(&service.base_url(), "key");
    let file = ids(&home, 3);
    let mut running = Background::start(home.command(&import(&file, &CREATE)));
    running.line().await;
    received(&service, 2).await;
    running.signal(Signal::INT);
    running.says("finishing running requests").await;
    running.signal(Signal::INT);
    assert_eq!(running.code().await, Some(130));
}

#[tokio::test]
async fn waiting_for_rows_can_be_interrupted() {
    let mut home = Home::new();
    home.connect("http://127.0.0.1:9", "key");
    let mut command = home.command(&["import", "-", "--create", "--yes"]);
    command.stdin(std::process::Stdio::piped());
    let mut waiting = Background::start(command);
    let mut open = waiting.child.stdin.take().expect("standard input");
    // More than a pipe holds: some of it was read.
    let lines = "\n".repeat(256 * 1024);
    open.write_all(lines.as_bytes()).await.expect("read");
    waiting.signal(Signal::INT);
    assert_eq!(waiting.code().await, Some(130));
}

#[tokio::test]
async fn the_check_shows_what_would_be_sent_before_asking() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let file = home.write(
        "g.jsonl",
        "{\"user_group_id\":\"new-1\"}\n{\"user_group_id\":\"acme-eu\",\"name\":\"Other\"}\n{\"user_group_id\":\"acme-us\"}\n",
    );
    let before = home.json(0, &["history"]).await;
    // What was not asked for is neither in the plan nor in the request.
    let dry = home
        .run(&["import", &file, "--create", "--dry-run", "--json"])
        .await;
    assert_eq!(dry.code, 0, "{}", dry.err);
    let lines = objects(&dry.out);
    let told: Vec<_> = lines
        .iter()
        .map(|line| (line["plan"].as_str(), line["request"].is_null()))
        .collect();
    assert_eq!(
        told[..3],
        [
            (Some("create"), false),
            (Some("exists"), true),
            (Some("unchanged"), true)
        ]
    );
    let last = sum(&dry.out);
    assert_eq!(
        (&last["create"], &last["update"], &last["exists"]),
        (&json!(1), &json!(0), &json!(1))
    );
    let dry = home.run(&["import", &file, "--update", "--dry-run"]).await;
    assert!(
        dry.out
            .contains("update 1, without difference 1, not known 1, according to the directory"),
        "{}",
        dry.out
    );
    assert_eq!(home.json(0, &["history"]).await, before, "nothing was sent");

    let ran = home
        .run(&["import", &file, "--create", "--update", "--yes"])
        .await;
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    for words in [
        "3 rows, according to the directory: create 1, update 1, without difference 1",
        "  create new-1",
        "  update acme-eu",
    ] {
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
}

#[tokio::test]
async fn starting_over_is_confirmed_before_the_journal_is_dropped() {
    let script = vec![made("g1", true), Fault::Close, Fault::Close, Fault::Close];
    let service = Faults::start(script).await;
    let mut home = Home::new();
    home.connect(&service.base_url(), "key");
    let file = ids(&home, 4);
    assert_eq!(home.run(&import(&file, &CREATE)).await.code, 7);
    let (shown, code) = super::prompts::answer_with_line(
        &home,
        &["import", &file, "--create", "--restart"],
        "no\n",
    );
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("import 4 in live"), "{shown}");
    let ran = home.run(&import(&file, &CREATE)).await;
    assert_eq!(sum(&ran.out)["done_before"], 1, "{}", ran.out);
}

#[tokio::test]
async fn only_a_row_that_ended_with_an_alarm_is_sent_again() {
    let alarming = answer(
        "200 OK",
        &json!({"success": 1, "new_user_group": true, "user_group": {"team_id": 7, "token": "t", "name": "g2",
            "provided_id": "g2", "properties": null, "api_environment_tag": "Testing"}}),
    );
    let service = Faults::start(vec![made("g1", true), alarming, made("g2", false)]).await;
    let mut home = Home::new();
    home.connect(&service.base_url(), "key");
    let file = ids(&home, 2);
    let ran = home.run(&import(&file, &CREATE)).await;
    assert_eq!(ran.code, 6, "{}{}", ran.out, ran.err);
    // Nobody has resolved the alarm yet.
    let held = home.run(&import(&file, &CREATE)).await;
    assert_eq!(held.code, 3, "{}{}", held.out, held.err);
    assert_eq!(methods(&service).len(), 2, "nothing was sent");
    let looked = [
        "environment",
        "acknowledge",
        "live",
        "--reason",
        "a proxy",
        "--yes",
    ];
    let looked = home.run(&looked).await;
    assert_eq!(looked.code, 0, "{}{}", looked.out, looked.err);
    let again = home.run(&import(&file, &CREATE)).await;
    assert_eq!(again.code, 0, "{}{}", again.out, again.err);
    let sum = objects(&again.out).pop().expect("a sum");
    assert_eq!(
        (&sum["done_before"], &sum["existed"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(methods(&service).len(), 3);
}

#[tokio::test]
async fn an_interrupt_after_the_last_row_changes_nothing() {
    let Fault::Answer(bytes) = made("g1", true) else {
        panic!("an answer");
    };
    let gate = Gate::new();
    let service = Faults::start(vec![Fault::AnswerBehind(gate.clone(), bytes)]).await;
    let mut home = Home::new();
    home.connect(&service.base_url(), "key");
    let file = ids(&home, 1);
    let mut running = Background::start(home.command(&import(&file, &CREATE)));
    received(&service, 1).await;
    running.signal(Signal::INT);
    running.says("finishing running requests").await;
    gate.open();
    assert!(running.line().await.contains("\"created\""));
    let last = sum(&running.line().await);
    assert_eq!(
        (&last["created"], &last["stopped"]),
        (&json!(1), &json!(null))
    );
    assert_eq!(running.code().await, Some(0));
}
