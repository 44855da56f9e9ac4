//! Batches with the shipped binary: its output, its exit codes, and what a kill or a signal leaves to `batches resume`.

use std::{
    os::unix::fs::MetadataExt,
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use groupdesk::{
    directory::{BatchOptions, NewBatch},
    domain::batch::BatchKind,
};
use jiff::Timestamp;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::process::{Child, Command};

use super::{Scene, assert_sent_once};
use crate::support::{
    assertions::assert_has,
    bare::args,
    bare::{GROUPDESK, bare},
    faults::http,
    proxy::{Gate, ProxyFault, Then},
    stall::fill,
    stderr::says,
    world::{Side, id},
};

const DEADLINE: Duration = Duration::from_mins(1);
impl Scene {
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        self.program(&[&["rotate"], arguments].concat())
    }

    /// The program with an installation behind the proxy.
    pub(super) fn program(&self, arguments: &[&str]) -> Command {
        let config = self.world.folder().join("meddled.toml");
        let text = std::fs::read_to_string(self.world.config_file()).expect("readable");
        let (from, to) = (self.world.base_url(), self.proxy.base_url());
        self.world.at(&to);
        let text = text.replace(from, &to);
        std::fs::write(&config, text).expect("written");
        let mut command = bare(GROUPDESK, self.world.folder());
        command
            .args(arguments)
            .env("GROUPDESK_CONFIG", config)
            .env("GROUPDESK_DIRECTORY", self.world.directory_file());
        command
    }

    /// `groupdesk batches` with these arguments.
    pub(super) async fn batches(&self, arguments: &[&str]) -> (i32, Vec<Value>, String) {
        let program = self.program(&[&["batches"], arguments].concat()).spawn();
        read(wait(program.expect("it starts")).await)
    }

    pub(super) async fn rotate(&self, arguments: &[&str]) -> (i32, Vec<Value>, String) {
        read(wait(self.command(arguments).spawn().expect("it starts")).await)
    }
}

pub(super) async fn wait(child: Child) -> Output {
    let output = tokio::time::timeout(DEADLINE, child.wait_with_output()).await;
    output.expect("it ends in time").expect("it ran")
}

/// Exit code, lines of JSON, and standard error.
pub(super) fn read(output: Output) -> (i32, Vec<Value>, String) {
    let err = String::from_utf8(output.stderr).expect("UTF-8");
    let out = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = out.lines().map(|line| {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{err}"))
    });
    (output.status.code().unwrap_or(-1), lines.collect(), err)
}

pub(super) fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().expect("it runs") as i32).expect("a process id")
}

pub(super) fn assert_adds_up(summary: &Value) {
    let count = |key: &str| summary[key].as_u64().expect("a count");
    let parts = [
        "confirmed",
        "rotated",
        "not_applied",
        "unknown",
        "conflict",
        "abandoned",
        "not_started",
    ];
    let sum: u64 = parts.into_iter().map(count).sum();
    assert_eq!(sum, count("planned"), "{summary}");
}

#[tokio::test]
async fn each_rotation_prints_a_line_and_its_token_is_in_the_file() {
    let scene = Scene::new(6).await;
    let arguments = args("--filter g0 --yes --json --token-out new.jsonl");
    let (code, lines, err) = scene.rotate(&arguments).await;
    assert_eq!(code, 0, "{err}");
    let (summary, items) = lines.split_last().expect("a summary");
    assert_eq!(items.len(), 6);
    assert!(items.iter().all(|item| item["outcome"] == "confirmed"));
    assert_eq!(
        (&summary["planned"], &summary["confirmed"]),
        (&6.into(), &6.into())
    );
    assert_adds_up(summary);

    let file = scene.world.folder().join("new.jsonl");
    assert_eq!(file.metadata().expect("it is there").mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&file).expect("readable");
    let kept: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(kept.len(), 6);
    for line in kept {
        let group = line["user_group_id"].as_str().expect("an ID");
        let stored = scene
            .world
            .stored(crate::support::world::Side::Testing, group);
        assert_eq!(line["token"], stored.token);
        let item = items.iter().find(|item| item["user_group_id"] == group);
        assert_eq!(line["fingerprint"], item.expect("its line")["fingerprint"]);
    }
    let (code, _, err) = scene.rotate(&["--filter", "g0", "--yes"]).await;
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("rotated less than 24 h ago"), "{err}");
    assert_sent_once(&scene.proxy);
}

#[tokio::test]
async fn nothing_is_sent_without_the_exact_words() {
    let scene = Scene::new(2).await;
    for (arguments, code) in [
        (&["g000", "g001"][..], 3),
        (&["g000", "g001", "--yes", "--read-only"], 3),
        (&["g000", "g001", "--yes", "--reveal"], 2),
        (&["nobody", "no-one", "--yes"], 2),
        (&["--from", "missing.txt", "--yes"], 2),
        (&["g000", "g001", "--yes", "--token-out", "config.toml"], 2),
    ] {
        let (got, _, err) = scene.rotate(arguments).await;
        assert_eq!(got, code, "{arguments:?}: {err}");
        assert!(!err.contains("panicked"), "{err}");
    }
    for (arguments, code) in [
        (&["resume", "--yes"][..], 3),
        (&["resume", "77", "--yes"], 2),
    ] {
        let (got, _, err) = scene.batches(arguments).await;
        assert_eq!(got, code, "{arguments:?}: {err}");
    }
    assert_eq!(scene.proxy.methods(), [""; 0]);
    let folder = tempfile::tempdir().expect("a folder");
    let named = folder.path().join("ids.txt");
    std::fs::write(&named, "g000\ng001\nnobody\n").expect("written");
    let named = named.display().to_string();
    let arguments = ["--from", &named, "--dry-run", "--json"];
    let output = wait(scene.command(&arguments).spawn().expect("it starts")).await;
    assert_eq!(output.status.code(), Some(6), "as the run would end");
    let plan: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(plan["ready"], serde_json::json!(["g000", "g001"]));
    assert_eq!(plan["skipped"][0]["why"], "not in the directory");
    let sent = scene.proxy.methods();
    assert_eq!(sent, ["GET", "GET"], "only known IDs are read");
    let lost = ProxyFault::swallowed(Then::Drop);
    for (groups, fault, code) in [
        (["g000", "g001"], ProxyFault::passed(), 0),
        (["nobody", "no-one"], ProxyFault::passed(), 2),
        (["g000", "g001"], lost, 6),
    ] {
        scene.proxy.next("GET", fault);
        let arguments = [&groups[..], &["--dry-run"]].concat();
        let output = wait(scene.command(&arguments).spawn().expect("it starts")).await;
        assert_eq!(output.status.code(), Some(code), "{groups:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_run_by_another_process_is_joined_only_on_request() {
    let scene = Scene::new(3).await;
    let batch = scene.begin().await;
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let run = scene.run(batch, super::one_at_a_time()).await;
    gate.reached().await;
    let number = batch.0.to_string();
    let ask = async |arguments: &[&str]| {
        let child = scene.program(&[&["batches"], arguments].concat()).spawn();
        let output = wait(child.expect("it starts")).await;
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        let code = output.status.code().expect("an exit code");
        (code, text(output.stdout), text(output.stderr))
    };
    let (code, listed, err) = ask(&["list", "--json"]).await;
    assert_eq!(code, 0, "{err}");
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed[0]["run_by"], scene.ana.operator());
    assert_eq!(listed[0]["run_state"], "running");
    assert_eq!(listed[0]["stopped"], Value::Null);
    let (_, shown, _) = ask(&["list"]).await;
    assert_has(&shown, &format!("running: {}, since", scene.ana.operator()));

    let sent = scene.proxy.count("POST");
    let (code, _, err) = ask(&["resume", &number, "--yes"]).await;
    assert_eq!(code, 3, "{err}");
    assert_has(&err, "is running: ");
    let to_join = format!("To join it: groupdesk batches resume {number} --join");
    assert_has(&err, &to_join);
    assert_eq!(scene.proxy.count("POST"), sent, "nothing was sent");

    // Both work on it, and the run that was held up finishes its own item.
    let (code, _, err) = ask(&["resume", &number, "--join", "--yes", "--json"]).await;
    assert!(
        err.contains("joins a run of another process: running: "),
        "{code}: {err}"
    );
    gate.open();
    let (_, report) = super::watch(run).await;
    assert_eq!(report.counts.confirmed, 3, "{report:?}");
    assert_sent_once(&scene.proxy);
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_batches_are_listed_with_a_command_for_their_own_profile() {
    let scene = Scene::new(1).await;
    scene.begin().await;
    let there = scene.world.place(Side::Production);
    let other = NewBatch {
        options: BatchOptions::default(),
        by: "li@desk7".into(),
        reason: None,
        at: Timestamp::now(),
        noted: 0,
        kind: BatchKind::Rotate,
        items: vec![(id("g000"), None)],
    };
    let begun = scene.world.directory().begin_batch(there, other).await;
    begun.expect("durable");
    let next = async |arguments: &[&str]| {
        let child = scene.program(arguments).spawn();
        let output = wait(child.expect("it starts")).await;
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let concerns = found.as_array().cloned().unwrap_or_default();
        let batches = concerns
            .iter()
            .filter(|one| one["what"] == "batch unfinished");
        let next = batches.map(|one| one["next"].as_str().unwrap_or_default().to_owned());
        next.collect::<Vec<_>>()
    };
    // Whichever profile asks, the default one needs no option.
    let (testing, production) = (
        "groupdesk batches resume 1",
        "groupdesk -P production batches resume 2",
    );
    for (named, other, their) in [
        ("testing", testing, production),
        ("production", production, testing),
    ] {
        let named = ["-P", named, "attention", "--all", "--json"];
        assert_eq!(next(&named).await, [other, their]);
    }
    let usual = next(&["attention", "--all", "--json"]).await;
    assert_eq!(usual, [testing, production]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_filter_result_succeeds_and_unknown_ids_fail() {
    let scene = Scene::new(2).await;
    let (code, lines, said) = scene.rotate(&args("--filter nobody --yes --json")).await;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("nothing to rotate"), "{said}");
    let [sum] = &lines[..] else {
        panic!("{lines:?}")
    };
    assert_eq!(sum["planned"], 0);
    assert_eq!(sum["batch"], Value::Null);
    let (code, _, said) = scene.rotate(&args("nobody-a nobody-b --yes --json")).await;
    assert_eq!(code, 2, "{said}");
}

#[tokio::test]
async fn a_filter_takes_the_tests_of_the_console_and_matches_words_exactly() {
    let scene = Scene::new(3).await;
    let update = args("update g001 --map 40=213 --mapping - --yes");
    let mut command = scene.program(&update);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let stdin = child.stdin.take().expect("standard input");
    tokio::io::AsyncWriteExt::write_all(&mut { stdin }, b"{}")
        .await
        .expect("it reads");
    assert!(wait(child).await.status.success());
    for (filter, ready) in [
        ("g0", &["g000", "g001", "g002"][..]),
        ("map:213", &["g001"]),
        ("map:40=213 g001", &["g001"]),
        ("map:40=213 g002", &[]),
        ("tag:testing", &["g001"]),
        ("tag:? \"g00\"", &["g000", "g002"]),
        ("state:open", &[]),
        // Its letters are in every group, but not next to each other.
        ("g02", &[]),
    ] {
        let arguments = ["--filter", filter, "--dry-run", "--json"];
        let output = wait(scene.command(&arguments).spawn().expect("it starts")).await;
        let plan: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(plan["ready"], serde_json::json!(ready), "{filter}");
    }
    for wrong in ["map:", "state:closed", "tga:testing"] {
        let (code, _, err) = scene.rotate(&["--filter", wrong, "--yes"]).await;
        assert_eq!(code, 2, "{wrong}: {err}");
        assert!(err.contains("nothing was sent"), "{wrong}: {err}");
    }
    assert_eq!(scene.proxy.count("POST"), 0);
}

#[tokio::test]
async fn a_list_with_a_wrong_id_is_partly_done() {
    let scene = Scene::new(2).await;
    std::fs::write(scene.world.folder().join("ids"), "g000\n\nnobody\ng001\n").expect("written");
    let (code, lines, err) = scene.rotate(&["--from", "ids", "--yes", "--json"]).await;
    assert_eq!(code, 6, "{err}");
    let summary = lines.last().expect("a summary");
    assert_eq!(summary["confirmed"], 2);
    assert_eq!(summary["skipped"][0]["user_group_id"], "nobody");
}

#[tokio::test]
async fn a_signal_finishes_requests_in_flight_and_resume_does_the_rest() {
    for signal in [Signal::HUP, Signal::TERM, Signal::INT] {
        let scene = Scene::new(5).await;
        let gate = Gate::new();
        scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
        let mut command =
            scene.command(&["--filter", "g", "--yes", "--json", "--concurrency", "1"]);
        command.stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        gate.reached().await;
        kill_process(pid(&child), signal).expect("it runs");
        says(&mut child, "finishing running requests").await;
        // Twice, as a session that ends does; only a second Ctrl-C ends the process.
        if signal != Signal::INT {
            kill_process(pid(&child), signal).expect("it runs");
        }
        gate.open();
        let (code, lines, _) = read(wait(child).await);
        assert_eq!(code, 130);
        let summary = lines.last().expect("a summary");
        assert_eq!(summary["confirmed"], 1, "{summary}");
        assert_eq!(summary["not_started"], 4, "{summary}");
        assert_adds_up(summary);

        let (code, lines, err) = scene.batches(&["resume", "--yes", "--json"]).await;
        assert_eq!(code, 0, "{err}");
        assert_eq!(lines.last().expect("a summary")["confirmed"], 5);
        assert_eq!(scene.proxy.count("POST"), 5);
        assert_sent_once(&scene.proxy);
    }
}

#[tokio::test]
async fn a_run_killed_before_an_answer_arrives_is_resumed() {
    let scene = Scene::new(6).await;
    for _ in 0..2 {
        scene.proxy.next("POST", ProxyFault::passed());
    }
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let arguments = ["--filter", "g", "--yes", "--json", "--concurrency", "1"];
    let child = scene.command(&arguments).spawn().expect("it starts");
    gate.reached().await;
    kill_process(pid(&child), Signal::KILL).expect("it runs");
    let (_, lines, _) = read(wait(child).await);
    assert!(lines.len() <= 2, "no summary: {lines:?}");
    gate.open();

    let (code, lines, err) = scene.batches(&["resume", "--yes", "--json"]).await;
    let summary = lines.last().expect("a summary");
    assert_adds_up(summary);
    // A get settles the one that was sent only after the settle window; it is not sent again.
    assert_eq!(code, 7, "{err}");
    assert_eq!(
        (&summary["confirmed"], &summary["unknown"]),
        (&5.into(), &1.into())
    );
    assert_eq!(scene.proxy.count("POST"), 6);
    assert_sent_once(&scene.proxy);
}

#[tokio::test]
async fn requests_in_flight_are_waited_for_only_so_long() {
    let scene = Scene::new(3).await;
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed());
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let mut command = scene.command(&["--filter", "g", "--yes", "--concurrency", "1"]);
    command.env("GROUPDESK_TEST_FINISHING_MS", "50");
    let child = command.spawn().expect("it starts");
    gate.reached().await;
    kill_process(pid(&child), Signal::TERM).expect("it runs");
    let (code, _, err) = read(wait(child).await);
    assert_eq!(code, 130, "{err}");
    assert!(
        err.contains("finishing running requests, at most 0.05 s"),
        "{err}"
    );
    assert_has(&err, "To resume: groupdesk batches resume 1");
    gate.open();
    let counts = scene.ana.batches().await.expect("readable")[0].counts;
    let parts = (counts.confirmed, counts.unknown, counts.not_started);
    assert_eq!(parts, (1, 1, 1), "{err}");
    assert_eq!(scene.proxy.count("POST"), 2);
}

#[tokio::test]
async fn without_a_terminal_every_group_is_a_plain_line() {
    let scene = Scene::new(3).await;
    let refused = ProxyFault::swallowed(Then::Instead(http("403 Forbidden", &[], "{}")));
    scene.proxy.next("POST", ProxyFault::passed());
    scene.proxy.next("POST", refused);
    let (code, out, err) = scene
        .rotate(&args("--filter g --yes --concurrency 1"))
        .await;
    assert_eq!((code, out.len()), (6, 0), "{err}");
    for words in ["g000 confirmed ", "g001 refused ", "g002 confirmed "] {
        let lines = err.lines().filter(|line| line.starts_with(words));
        assert_eq!(lines.count(), 1, "{words}: {err}");
    }
    assert!(!err.contains(['\r', '\u{1b}']), "{err:?}");
    assert!(err.contains("1 not applied, 2 confirmed"), "{err}");
}

/// Pipes that nobody reads for a while.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_does_not_read_delays_nothing() {
    const GROUPS: usize = 50;
    let scene = Scene::new(GROUPS).await;
    let gate = Gate::new();
    for _ in 0..4 {
        scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    }
    let arguments = ["--filter", "g", "--yes", "--json"];
    let mut command = scene.command(&arguments);
    // Otherwise only root may open its pipes.
    let child = command.env("GROUPDESK_DEBUGGABLE", "1").spawn();
    let child = child.expect("it starts");
    for _ in 0..4 {
        gate.reached().await;
    }
    for end in ["1", "2"] {
        let pipe = format!("/proc/{}/fd/{end}", pid(&child));
        fill(Path::new(&pipe), b'\n', || true);
    }
    (0..4).for_each(|_| gate.open());
    let over = async {
        while scene.ana.batches().await.expect("readable")[0]
            .ended_at
            .is_none()
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(DEADLINE, over)
        .await
        .expect("the run ends");
    assert_eq!(scene.proxy.count("POST"), GROUPS);
    assert_sent_once(&scene.proxy);
    let mut output = wait(child).await;
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
    output.stdout = lines.join("\n").into();
    let (code, lines, err) = read(output);
    assert_eq!((code, lines.len()), (0, GROUPS + 1), "{err}");
    assert_eq!(lines[GROUPS]["confirmed"], GROUPS);
}
