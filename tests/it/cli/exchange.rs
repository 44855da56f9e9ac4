//! Files of groups against adversity: a profile that forbids, a service that fails in the middle, signals, and the
//! check before anything is sent.

mod files;
mod terminal;

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{
    guards::methods,
    program::{Background, Home, has},
};
use crate::support::{
    faults::{Fault, Faults, http, json as answer},
    proxy::Gate,
    wait::received,
};

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
    let last: Value = serde_json::from_str(ran.lines().last().expect("a sum")).expect("JSON");
    let counts = last.as_object().expect("an object").iter();
    let counts: u64 = counts
        .filter(|(key, _)| *key != "rows")
        .filter_map(|(_, value)| value.as_u64())
        .sum();
    assert_eq!(Some(counts), last["rows"].as_u64(), "{last}");
    last
}

const CREATE: &str = "--create --yes --json --concurrency 1";

fn import(file: &str, more: &str) -> String {
    format!("import {file} {more}")
}

/// What each guard refuses: `operations::limits`.
#[tokio::test]
async fn guards_of_a_profile_hold_for_files_too() {
    let service = Faults::always(Fault::Close).await;
    let home = Home::of(&service);
    let config = home.config();
    let file = ids(&home, 3);
    #[rustfmt::skip] // A table: the guards, and what each refuses.
    let table = [
        ("create", "forbid = true", [true, false, true]),
        ("bulk", "max = 2", [true, true, true]),
        ("bulk", "max = 3", [false, false, false]),
    ];
    for (operation, rule, refused) in table {
        let guard = format!("{{ operation = \"{operation}\", {rule}, reason = \"the freeze\" }}");
        home.write("config.toml", &format!("{config}guard = [{guard}]\n"));
        let commands = [
            "import FILE --create --yes",
            "import FILE --update --yes",
            "apply FILE --yes",
        ];
        for (command, refused) in commands.into_iter().zip(refused) {
            let before = service.connections();
            let ran = home.run(&command.replace("FILE", &file)).await;
            let told = ran.err.contains("the freeze; nothing was sent");
            assert_eq!(told, refused, "{guard} {ran:?}");
            if refused {
                assert_eq!(ran.code, 3, "{guard} {ran:?}");
                assert_eq!(service.connections(), before, "{guard} {command}");
            }
        }
    }
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
    let clock = home.clock();
    home.connect(&service.base_url(), "key");
    let file = ids(&home, 8);
    let ran = home.exits(7, &import(&file, CREATE)).await;
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
    let again = home.run(&import(&file, CREATE)).await;
    assert_eq!((sent, again.code), (12, 0), "{}{}", again.out, again.err);
    let last = sum(&again.out);
    has!(last, {"done_before": 2, "existed": 4, "created": 2});
}

#[tokio::test]
async fn a_second_interrupt_ends_at_once() {
    let service = Faults::start(vec![made("g1", true), Fault::Hang]).await;
    let home = Home::of(&service);
    let file = ids(&home, 3);
    let mut running = Background::start(home.command(&import(&file, CREATE)));
    running.line().await;
    received(&service, 2).await;
    running.signal(Signal::INT);
    running.says("finishing running requests").await;
    running.signal(Signal::INT);
    assert_eq!(running.code().await, Some(130));
}

#[tokio::test]
async fn starting_over_is_confirmed_before_the_journal_is_dropped() {
    let script = vec![made("g1", true), Fault::Close, Fault::Close, Fault::Close];
    let service = Faults::start(script).await;
    let home = Home::of(&service);
    let file = ids(&home, 4);
    home.exits(7, &import(&file, CREATE)).await;
    let restart = import(&file, "--create --restart");
    let (shown, code) = super::prompts::answer_with_line(&home, &restart, "no\n");
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("import 4 in live"), "{shown}");
    let ran = home.run(&import(&file, CREATE)).await;
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
    let home = Home::of(&service);
    let run = import(&ids(&home, 2), CREATE);
    home.exits(6, &run).await;
    // Nobody has resolved the alarm yet.
    home.exits(3, &run).await;
    assert_eq!(methods(&service).len(), 2, "nothing was sent");
    let looked = "environment acknowledge live --reason 'a proxy' --yes";
    home.exits(0, looked).await;
    let again = home.exits(0, &run).await;
    has!(sum(&again.out), {"done_before": 1, "existed": 1});
    assert_eq!(methods(&service).len(), 3);
}

#[tokio::test]
async fn an_interrupt_after_the_last_row_changes_nothing() {
    let Fault::Answer(bytes) = made("g1", true) else {
        panic!("an answer");
    };
    let gate = Gate::new();
    let service = Faults::start(vec![Fault::AnswerBehind(gate.clone(), bytes)]).await;
    let home = Home::of(&service);
    let file = ids(&home, 1);
    let mut running = Background::start(home.command(&import(&file, CREATE)));
    received(&service, 1).await;
    running.signal(Signal::INT);
    running.says("finishing running requests").await;
    gate.open();
    assert!(running.line().await.contains("\"created\""));
    let last = sum(&running.line().await);
    has!(last, {"created": 1, "stopped": null});
    assert_eq!(running.code().await, Some(0));
}
