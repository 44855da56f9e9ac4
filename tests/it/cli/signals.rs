//! Ctrl-C on the command line: reads end at once; a change in flight is waited for, and a second Ctrl-C ends at once.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{
    guards::{group, knowing_acme, methods},
    program::{Background, Home, files},
};
use crate::support::{
    faults::{Fault, http},
    wait::{eventually, received},
};

#[tokio::test]
async fn a_read_ends_at_once() {
    for arguments in [
        &["get", "acme"][..],
        &["update", "acme", "--name", "New", "--yes"],
        &["update", "acme", "--name", "New", "--dry-run"],
    ] {
        let (home, service) = knowing_acme(vec![Fault::Hang]).await;
        let mut reading = Background::start(home.command(arguments));
        received(&service, 2).await;
        reading.signal(Signal::INT);
        assert_eq!(reading.code().await, Some(130), "{arguments:?}");
        assert_eq!(methods(&service), ["GET", "GET"], "{arguments:?}");
    }
}

#[tokio::test]
async fn a_change_in_flight_is_waited_for_until_a_second_signal() {
    let (home, service) = knowing_acme(vec![group("token-0", &Value::Null), Fault::Hang]).await;
    let mut rotating = Background::start(home.command("rotate acme --yes"));
    received(&service, 3).await;
    rotating.signal(Signal::INT);
    rotating.says("finishing running requests").await;
    rotating.signal(Signal::INT);
    assert_eq!(rotating.code().await, Some(130));
    assert_eq!(methods(&service), ["GET", "GET", "POST"]);
}

/// The read before the change is never answered.
#[tokio::test]
async fn a_change_that_is_not_sent_yet_is_not_sent_after_the_first_signal() {
    for (verb, not) in [("rotate", "rotated"), ("update", "updated")] {
        let reads = match verb {
            "rotate" => vec![Fault::Hang],
            _ => vec![group("token-0", &Value::Null), Fault::Hang],
        };
        let sent = reads.len() + 1;
        let (home, service) = knowing_acme(reads).await;
        let mut arguments = vec![verb, "acme", "--yes"];
        if verb == "update" {
            arguments.extend(["--name", "New"]);
        }
        let mut changing = Background::start(home.command(&arguments));
        received(&service, sent).await;
        changing.signal(Signal::INT);
        let text = format!("\"acme\" NOT {not}: it was cancelled before the change was sent");
        changing.says(&text).await;
        assert_eq!(changing.code().await, Some(130), "{verb}");
        assert!(methods(&service).iter().all(|sent| sent == "GET"), "{verb}");
    }
}

#[tokio::test]
async fn a_run_waiting_for_a_busy_service_can_be_interrupted() {
    for arguments in [
        &["get", "--refresh-all"][..],
        &["rotate", "--from", "rows.csv", "--yes"],
        &["import", "rows.csv", "--create", "--update", "--yes"],
    ] {
        let headers = ["Content-Type: application/json", "Retry-After: 60"];
        let body = json!({"success": 0, "error": {"code": "busy", "message": "later"}});
        let busy = http("429 Too Many Requests", &headers, body.to_string());
        let (home, service) = knowing_acme(vec![Fault::Answer(busy)]).await;
        let head = if arguments[0] == "import" {
            "user_group_id\n"
        } else {
            ""
        };
        home.write("rows.csv", &format!("{head}acme\n"));
        let mut running = Background::start(home.command(&[arguments, &["--json"]].concat()));
        running.says("asks to wait 60 s").await;
        running.signal(Signal::INT);
        let sum: Value = serde_json::from_str(&running.line().await).expect("JSON");
        assert_eq!(sum["not_started"], 1, "{arguments:?}: {sum}");
        assert!(sum["stopped"].is_string(), "{arguments:?}: {sum}");
        assert_eq!(running.code().await, Some(130), "{arguments:?}");
        assert_eq!(methods(&service), ["GET", "GET"], "{arguments:?}");
    }
}

#[tokio::test]
async fn a_demo_that_is_interrupted_while_it_is_made_leaves_nothing() {
    let home = Home::new();
    let mut made = Background::start(home.command("demo --hold --groups 200000"));
    let has_begun = || {
        let files = files(home.folder.path());
        files.iter().any(|file| file.ends_with("service.db"))
    };
    eventually("it begins", has_begun).await;
    made.signal(Signal::TERM);
    assert_eq!(made.code().await, Some(130));
    assert_eq!(
        fs::read_dir(home.folder.path()).expect("readable").count(),
        0
    );
}

#[tokio::test]
async fn the_demo_removes_its_folder() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let (home, mut held) = Home::in_demo().await;
        let demos = || {
            let entries = fs::read_dir(home.folder.path()).expect("readable");
            entries
                .filter(|entry| {
                    let name = entry.as_ref().expect("an entry").file_name();
                    name.to_string_lossy().starts_with("groupdesk-demo-")
                })
                .count()
        };
        assert_eq!(demos(), 1);
        held.signal(signal);
        assert_eq!(held.code().await, Some(0));
        assert_eq!(demos(), 0);
    }
}
