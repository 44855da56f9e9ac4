//! The exit codes: each is reached by several commands, the same with `--json`, and they are produced in one place.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{
    guards::{group, knowing_acme},
    handoff::scene,
    program::{Background, Home},
};
use crate::support::{
    assertions::assert_has,
    faults::{Fault, Faults, closed_port, http, json as answer},
    wait::eventually,
};

/// Runs each command with `--json`, and checks that a failure reports its code.
async fn all_end_with(home: &Home, code: i32, commands: &[&[&str]]) {
    for arguments in commands {
        let ran = home.run(&[arguments, &["--json"][..]].concat()).await;
        assert_eq!(ran.code, code, "{arguments:?}: {}{}", ran.out, ran.err);
        let failure: Option<Value> = serde_json::from_str(&ran.out).ok();
        if let Some(exit) = failure.as_ref().and_then(|failure| failure.get("exit")) {
            assert_eq!(*exit, code, "{arguments:?}");
        }
        // doctor prints its report as a result, not as an error.
        if code > 1 && arguments[0] != "doctor" {
            assert!(!ran.err.is_empty(), "{arguments:?}: it says nothing");
        }
    }
}

#[tokio::test]
async fn success_bad_usage_and_guards() {
    let mut home = Home::new();
    let _held = home.start_demo().await;
    let rows = home.write("rows.csv", "user_group_id,name\nrow-1,Row\n");
    let wrong = home.write("wrong.csv", "user_group_id,name\n,nobody\n");
    let database = home.database();
    let revoke = ["serve", "keys", "revoke", "7", "--database", &database];
    all_end_with(
        &home,
        0,
        &[
            &["list"],
            &["get", "acme-eu"],
            &["history"],
            &["rotations"],
            &["export"],
            &["import", &rows],
            &["doctor"],
            &["rotate", "acme-eu", "--dry-run"],
            &["help"],
        ],
    )
    .await;
    all_end_with(
        &home,
        2,
        &[
            &["lst"],
            &["list", "-P", "tsting"],
            &["import", &wrong],
            &["apply", "missing.json", "--yes"],
            &["export", "--output", "missing/file"],
            &["update", "acme-eu", "--unmap", "nope", "--yes"],
            &["rotations", "check", "99"],
            &["profile", "show", "nobody"],
            &["man", &rows],
            &["help", "nothing"],
            &["rotate", "nobody", "nobody-2", "--yes"],
            &["rotate", "acme-eu", "—dry-run", "--yes"],
            &["demo"],
            &revoke,
        ],
    )
    .await;
    all_end_with(
        &home,
        3,
        &[
            &["show", "nobody"],
            &["get", "nobody"],
            &["create", "new-1"],
            &["update", "acme-eu", "--name", "x"],
            &["rotate", "acme-eu"],
            &["rotate", "acme-eu", "acme-us"],
            &["batches", "resume", "--yes"],
            &["import", &rows, "--create"],
            &["apply", &rows],
            &["profile", "remove", "testing"],
            &["create", "new-1", "--yes", "--read-only"],
        ],
    )
    .await;
}

#[tokio::test]
async fn refused_wrong_key_and_unreachable() {
    let words = json!({"success": 0, "error": {"message": "no"}});
    let page = || Fault::Answer(http("200 OK", &["Content-Type: text/html"], "<html>"));
    let refuse = || answer("422 Unprocessable Entity", &words);
    let old = || group("token-0", &Value::Null);
    let script = vec![
        refuse(),
        old(),
        old(),
        refuse(),
        page(),
        page(),
        page(),
        page(),
    ];
    let (home, _service) = knowing_acme(script).await;
    all_end_with(
        &home,
        1,
        &[
            &["get", "acme"],
            &["update", "acme", "--name", "x", "--yes"],
            &["get", "acme"],
            &["profile", "check"],
        ],
    )
    .await;
    let ran = home.run_with(&["whose"], &"0".repeat(64)).await;
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    let ran = home.run_with(&["whose"], "of nobody").await;
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));

    let mut home = Home::new();
    let no = answer("401 Unauthorized", &words);
    let service = Faults::always(no).await;
    home.connect(&service.base_url(), "wrong");
    let rows = home.write("rows.csv", "user_group_id,name\nrow-1,Row\n");
    let reach: [&[&str]; 6] = [
        &["get", "acme", "--exists"],
        &["create", "acme", "--yes"],
        &["rotate", "acme", "--exists", "--yes"],
        &["import", &rows, "--create", "--yes"],
        &["profile", "check"],
        &["doctor"],
    ];
    all_end_with(&home, 4, &reach).await;
    home.set("LIVE_KEY", "");
    all_end_with(&home, 4, &reach[..3]).await;

    let (_closed, address) = closed_port();
    home.connect(&format!("http://{address}"), "key");
    all_end_with(&home, 5, &reach).await;
}

#[tokio::test]
async fn partly_done_and_unknown() {
    let (home, _serving) = scene("exit 3").await;
    for id in ["other", "third"] {
        home.json(0, &["create", id, "--yes"]).await;
    }
    let rows = home.write("rows.csv", "user_group_id,name\nother,O\nnobody,N\n");
    let ids = home.write("ids.txt", "third\nnobody\n");
    all_end_with(
        &home,
        6,
        &[
            &["rotate", "acme", "--yes"],
            &["rotations", "handoff", "1"],
            &["rotations", "handoff", "99"],
            &["rotate", "--from", &ids, "--yes"],
            &["import", &rows, "--update", "--yes"],
        ],
    )
    .await;

    let old = || group("token-0", &Value::Null);
    let (home, _service) = knowing_acme(vec![old(), Fault::Close, old()]).await;
    all_end_with(
        &home,
        7,
        &[&["rotate", "acme", "--yes"], &["rotations", "check"]],
    )
    .await;
    let (home, _service) = knowing_acme(vec![old(), old(), Fault::Close, old()]).await;
    all_end_with(&home, 7, &[&["update", "acme", "--name", "x", "--yes"]]).await;
    let (home, _service) = knowing_acme(vec![Fault::Close]).await;
    all_end_with(&home, 7, &[&["create", "new-1", "--yes"]]).await;
    let (home, _service) = knowing_acme(vec![Fault::Close]).await;
    let rows = home.write("rows.csv", "user_group_id,name\nrow-1,Row\n");
    all_end_with(&home, 7, &[&["import", &rows, "--create", "--yes"]]).await;
}

#[tokio::test]
async fn a_read_that_is_lost_before_an_update_is_no_change() {
    let (home, _service) = knowing_acme(vec![Fault::Close]).await;
    let ran = home.run(&["update", "acme", "--name", "x", "--yes"]).await;
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(
        ran.err
            .contains("\"acme\" NOT updated: the read before it failed"),
        "{}",
        ran.err
    );
}

#[tokio::test]
async fn interrupted() {
    let mut home = Home::new();
    // A service that accepts connections and never answers.
    let service = Faults::always(Fault::Hang).await;
    home.connect(&service.base_url(), "key");
    for arguments in [
        &["get", "acme", "--exists", "--json"][..],
        &["profile", "check", "--json"],
        &["doctor", "--json"],
    ] {
        let before = service.connections();
        let mut running = Background::start(home.command(arguments));
        eventually("it comes", || service.connections() > before).await;
        running.signal(Signal::TERM);
        if arguments.contains(&"--exists") {
            // This get may create, so it is waited for like a change.
            running.says("finishing running requests").await;
            running.signal(Signal::TERM);
        }
        assert_eq!(running.code().await, Some(130), "{arguments:?}");
        let said: Value = serde_json::from_str(&running.line().await).expect("JSON");
        assert_eq!(said["exit"], 130, "{arguments:?}");
        if arguments.contains(&"--exists") {
            let error = said["error"].as_str().expect("a text");
            assert_has(error, "groupdesk rotations check");
            let proposed = home.run(&["rotations", "check"]).await;
            assert_ne!(proposed.code, 2, "{}", proposed.err);
        }
    }
    for arguments in [&["whose", "--json"][..], &["import", "-", "--json"]] {
        let mut command = home.command(arguments);
        command.stdin(Stdio::piped());
        let mut waiting = Background::start(command);
        let _open = waiting.child.stdin.take().expect("standard input");
        wait_for_signal_handlers(&waiting).await;
        waiting.signal(Signal::INT);
        assert_eq!(waiting.code().await, Some(130), "{arguments:?}");
    }
}

/// Waits until the process has installed its signal handlers.
async fn wait_for_signal_handlers(running: &Background) {
    let file = format!("/proc/{}/status", running.pid().as_raw_nonzero());
    let is_caught = || {
        let status = fs::read_to_string(&file).expect("it runs");
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.expect("a mask").trim(), 16).expect("hex");
        // SIGHUP, the first bit, is installed last.
        caught & 1 != 0
    };
    eventually("it listens", is_caught).await;
}

/// Exit codes are made from [`Exit`] alone, and only its own file turns it into a number.
#[test]
fn exit_codes_are_made_in_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut open = vec![root];
    let mut makers = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("UTF-8");
            let words = [
                "process::exit(",
                "ExitCode::from",
                "ExitCode::SUCCESS",
                "ExitCode::FAILURE",
                "for ExitCode",
            ];
            if words.iter().any(|word| text.contains(word)) {
                makers.push(path);
            }
        }
    }
    let makers: Vec<_> = makers
        .iter()
        .map(|path| path.ends_with("src/cli/process/exit.rs"))
        .collect();
    assert_eq!(makers, [true]);
}

#[tokio::test]
async fn what_an_earlier_version_had_is_answered_only_with_what_to_use_instead() {
    let home = Home::new();
    for (arguments, instead) in [
        (&["list", "--jq", ".x"][..], "groupdesk list --json | jq"),
        (
            &["rotate", "--retry-failed", "3"],
            "groupdesk batches retry",
        ),
        (&["profile", "edit", "live"], "groupdesk config edit"),
        (&["view", "list"], "--filter @NAME"),
    ] {
        let ran = home.run(arguments).await;
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        let second = ran.err.lines().nth(1).unwrap_or_default();
        assert!(
            second.starts_with("it was removed; "),
            "{arguments:?}: {}",
            ran.err
        );
        assert!(second.contains(instead), "{arguments:?}: {}", ran.err);
        for advice in ["tip:", "similar", "Usage:", "--help"] {
            assert!(!ran.err.contains(advice), "{arguments:?}: {}", ran.err);
        }
    }
}
