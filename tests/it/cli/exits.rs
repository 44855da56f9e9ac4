//! The exit codes: each is reached by several commands, the same with `--json`, and they are produced in one place.

use std::{fs, path::Path, process::Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::{
    guards::{group, knowing_acme},
    handoff::scene,
    program::{Background, Home},
};
use crate::{
    house::citations::below,
    support::{
        assertions::assert_has,
        faults::{Fault, Faults, closed_port, http, json as answer},
        wait::eventually,
    },
};

/// Runs each command with `--json`, and checks that a failure reports its code.
async fn all_end_with(home: &Home, code: i32, commands: &str) {
    for line in commands.split(';') {
        let ran = home.exits(code, &format!("{line} --json")).await;
        let failure: Option<Value> = serde_json::from_str(&ran.out).ok();
        if let Some(exit) = failure.as_ref().and_then(|failure| failure.get("exit")) {
            assert_eq!(*exit, code, "{line}");
        }
        // doctor prints its report as a result, not as an error.
        if code > 1 && line != "doctor" {
            assert!(!ran.err.is_empty(), "{line}: it says nothing");
        }
    }
}

#[tokio::test]
async fn success_bad_usage_and_guards() {
    let (home, _held) = Home::in_demo().await;
    home.write("rows.csv", "user_group_id,name\nrow-1,Row\n");
    home.write("wrong.csv", "user_group_id,name\n,nobody\n");
    let revoke = format!("serve keys revoke 7 --database {}", home.database());
    #[rustfmt::skip] // A table: the commands with one code a line.
    let table = [
        (0, "list;get acme-eu;import rows.csv;rotate acme-eu --dry-run;help"),
        (2, "lst;import wrong.csv;export --output missing/file;rotate nobody nobody-2 --yes;rotations check 99;demo"),
        (3, "show nobody;create new-1;update acme-eu --name x;rotate acme-eu;rotate acme-eu acme-us"),
        (3, "batches resume --yes;import rows.csv --create;apply rows.csv;profile remove testing"),
        (3, "create new-1 --yes --read-only"),
    ];
    for (code, commands) in table {
        all_end_with(&home, code, commands).await;
    }
    all_end_with(&home, 2, &revoke).await;
}

#[tokio::test]
async fn refused_wrong_key_and_unreachable() {
    let words = json!({"success": 0, "error": {"message": "no"}});
    let page = || Fault::Answer(http("200 OK", &["Content-Type: text/html"], "<html>"));
    let refuse = || answer("422 Unprocessable Entity", &words);
    let old = || group("token-0", &Value::Null);
    let pages = std::iter::repeat_with(page).take(4);
    let script = [refuse(), old(), old(), refuse()].into_iter().chain(pages);
    let (home, _service) = knowing_acme(script.collect()).await;
    all_end_with(
        &home,
        1,
        "get acme;update acme --name x --yes;get acme;profile check",
    )
    .await;
    home.exits_with(1, "whose", &"0".repeat(64))
        .await
        .prints("");
    home.exits_with(2, "whose", "of nobody").await.prints("");

    let mut home = Home::new();
    let service = Faults::always(answer("401 Unauthorized", &words)).await;
    home.connect(&service.base_url(), "wrong");
    home.write("rows.csv", "user_group_id,name\nrow-1,Row\n");
    let some = "get acme --exists;create acme --yes;rotate acme --exists --yes";
    let all = format!("{some};import rows.csv --create --yes;profile check;doctor");
    all_end_with(&home, 4, &all).await;
    home.set("LIVE_KEY", "");
    all_end_with(&home, 4, some).await;
    // No plan that cannot be carried out.
    home.exits(4, "apply rows.csv --yes").await.prints("");
    let (_closed, address) = closed_port();
    home.connect(&format!("http://{address}"), "key");
    all_end_with(&home, 5, &all).await;
}

#[tokio::test]
async fn profiles_that_are_not_bound_are_not_thereby_the_same_environment() {
    let mut home = Home::new();
    let (_closed, address) = closed_port();
    home.connect(&format!("http://{address}"), "key");
    let second = home
        .config()
        .replace("[profiles.live]", "[profiles.second]");
    home.add_config(&second);
    let copied = home.exits(3, "copy acme --to second --yes -P live").await;
    copied.says("\"acme\" is not in the directory");
}

#[tokio::test]
async fn partly_done_and_unknown() {
    let (home, _serving) = scene("exit 3").await;
    for id in ["other", "third"] {
        home.exits(0, &format!("create {id} --yes")).await;
    }
    home.write("rows.csv", "user_group_id,name\nother,O\nnobody,N\n");
    home.write("ids.txt", "third\nnobody\n");
    all_end_with(&home, 6, "rotate acme --yes;rotations handoff 1").await;
    all_end_with(&home, 2, "rotations handoff 99").await;
    all_end_with(
        &home,
        6,
        "rotate --from ids.txt --yes;import rows.csv --update --yes",
    )
    .await;

    let old = || group("token-0", &Value::Null);
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (vec![old(), Fault::Close, old()], "rotate acme --yes;rotations check"),
        (vec![old(), old(), Fault::Close, old()], "update acme --name x --yes"),
        (vec![Fault::Close], "create new-1 --yes"),
        (vec![Fault::Close], "import rows.csv --create --yes"),
    ];
    for (script, commands) in table {
        let (home, _service) = knowing_acme(script).await;
        home.write("rows.csv", "user_group_id,name\nrow-1,Row\n");
        all_end_with(&home, 7, commands).await;
    }
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
            let proposed = home.run("rotations check").await;
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
    let words = [
        "process::exit(",
        "ExitCode::from",
        "ExitCode::SUCCESS",
        "ExitCode::FAILURE",
        "for ExitCode",
    ];
    let mut makers = below("src", &["rs"]);
    makers.retain(|file| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = fs::read_to_string(file).expect("UTF-8");
        words.iter().any(|word| text.contains(word))
    });
    assert_eq!(makers, ["src/cli/process/exit.rs"]);
}
