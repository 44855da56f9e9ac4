//! Batches with the shipped binary, continued: which groups are selected, how fast, what stops a run, and where the new
//! tokens go.

use std::{
    fs::OpenOptions,
    io::Write,
    process::Stdio,
    time::{Duration, Instant},
};

use groupdesk::{
    directory::BatchId,
    operations::{Operations, UnknownIdPolicy, attention::ConcernKind},
};
use jiff::Timestamp;
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, process::Command};

use super::{
    Scene, assert_sent_once,
    binary::{assert_adds_up, pid, read, wait},
};
use crate::support::{
    bare::args,
    faults::http,
    proxy::{Gate, ProxyFault, Then},
    wait::eventually,
    world::{Side, id},
};

const DAY: Duration = Duration::from_hours(24);

#[tokio::test]
async fn the_ids_may_come_from_standard_input() {
    let scene = Scene::new(3).await;
    let mut command = scene.command(&["--from", "-", "--yes", "--json"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(b"g002\n\ng000\n").await.expect("it reads");
    drop(input);
    let (code, lines, err) = read(wait(child).await);
    assert_eq!(code, 0, "{err}");
    let summary = lines.last().expect("a summary");
    assert_eq!(
        (&summary["planned"], &summary["confirmed"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(scene.proxy.count("POST"), 2);
    // They are not taken as an answer to the question.
    let mut command = scene.command(&["--from", "-"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("piped");
    let _ = input.write_all(b"g001\nrotate 1 in testing\n").await;
    drop(input);
    let (code, _, err) = read(wait(child).await);
    assert_eq!(code, 3, "{err}");
    assert_eq!(scene.proxy.count("POST"), 2);
}

#[tokio::test]
async fn older_than_selects_older_tokens_and_those_of_unknown_age() {
    let scene = Scene::new(4).await;
    for (group, days) in [("g000", 100), ("g001", 80), ("g002", 91)] {
        rotate_days_ago(&scene, group, days).await;
    }
    let arguments = ["--older-than", "90d", "--dry-run", "--json"];
    let output = wait(scene.command(&arguments).spawn().expect("it starts")).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let plan: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(plan["ready"], json!(["g000", "g002", "g003"]));
    assert_eq!(plan["skipped"], json!([]));
    assert_eq!(scene.proxy.count("POST"), 0);
}

/// Rotates a group this many days ago.
async fn rotate_days_ago(scene: &Scene, group: &str, days: u32) {
    let installation = scene.world.installation(Side::Testing);
    let then = installation.at(Timestamp::now() - days * DAY).operations();
    let rotated = then
        .rotate(&id(group), None, UnknownIdPolicy::KnownOnly)
        .await;
    then.confirm(rotated.expect("rotated")).await;
}

#[tokio::test]
async fn a_scheduled_run_takes_the_oldest_groups_and_excludes_other_runs() {
    let scene = Scene::new(5).await;
    for (group, days) in [("g000", 95), ("g001", 80), ("g002", 300), ("g003", 200)] {
        rotate_days_ago(&scene, group, days).await;
    }
    rotate_days_ago(&scene, "g004", 400).await;
    // The oldest one cannot be rotated now, because the outcome of its last rotation is unknown.
    let lost = ProxyFault::swallowed(Then::Instead(http("500 Oops", &[], "{}")));
    scene.proxy.next("POST", lost);
    let ana = scene.ana.clone();
    let open = ana
        .rotate(&id("g004"), None, UnknownIdPolicy::KnownOnly)
        .await;
    assert!(open.is_err());

    let timer = args("--older-than 90d --limit 2 --yes -o jsonl");
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let running = scene.command(&timer).spawn().expect("it starts");
    gate.reached().await;
    let (code, lines, err) = scene.rotate(&timer).await;
    assert_eq!(code, 3, "{err}");
    let told = lines[0]["error"].as_str().expect("why");
    assert!(told.contains("is running: ana"), "{told}");
    assert!(scene.ana.batches().await.expect("read").len() == 1);
    gate.open();
    let (code, lines, err) = read(wait(running).await);
    assert_eq!(code, 0, "{err}");
    let (sum, items) = lines.split_last().expect("a sum");
    let mut groups: Vec<_> = items.iter().map(|item| &item["user_group_id"]).collect();
    groups.sort_by_key(ToString::to_string);
    assert_eq!(groups, [&json!("g002"), &json!("g003")]);
    assert_eq!(sum["confirmed"], 2);
    assert_eq!(sum["skipped"][0]["user_group_id"], "g004");
    assert_eq!(sum["skipped"].as_array().map(Vec::len), Some(1), "{sum}");

    // A killed run blocks nobody.
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let mut killed = scene.command(&timer).spawn().expect("it starts");
    gate.reached().await;
    killed.kill().await.expect("killed");
    gate.open();
    let (_, lines, err) = scene.rotate(&timer).await;
    assert!(
        lines
            .last()
            .is_some_and(|sum| sum["planned"].is_number() || sum["error"].is_string()),
        "{err}"
    );
    assert!(!err.contains("is running"), "{err}");
    assert_sent_once(&scene.proxy);
}

#[tokio::test]
async fn a_scheduled_run_that_was_taken_over_starts_nothing_more() {
    let scene = Scene::new(3).await;
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    // The second rotation would come after a minute; the next heartbeat shows that the run has lost its place.
    let timer = "--older-than 90d --limit 3 --concurrency 1 --rate 1/m --yes -o jsonl";
    let words: Vec<_> = timer.split(' ').collect();
    let running = scene.command(&words).spawn().expect("it starts");
    gate.reached().await;
    // Another machine has heard nothing from it for an hour.
    let li = scene.world.installation(Side::Testing).by("li@desk7");
    let li = li
        .at(Timestamp::now() + Duration::from_hours(1))
        .operations();
    let taken = li.begin_scheduled_run().await.expect("asked");
    assert!(taken.is_ok(), "no heartbeat");
    gate.open();
    let (code, lines, err) = read(wait(running).await);
    assert_eq!(code, 130, "{err}");
    let sum = lines.last().expect("a sum");
    assert_eq!(
        (&sum["confirmed"], &sum["not_started"]),
        (&json!(1), &json!(2)),
        "{sum}"
    );
    assert!(err.contains("another scheduled run took over"), "{err}");
    assert_eq!(scene.proxy.count("POST"), 1);
}

#[tokio::test]
async fn the_systemd_unit_rotates_old_tokens() {
    let packaged = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/systemd");
        std::fs::read_to_string(format!("{folder}/{name}")).expect("there")
    };
    let unit = packaged("groupdesk-rotate.service");
    let setting = |name: &str| {
        let mut lines = unit.lines().filter_map(|line| line.strip_prefix(name));
        lines.next().unwrap_or_else(|| panic!("no {name}"))
    };
    let options = setting("Environment=\"OPTIONS=").trim_end_matches('"');
    let start = setting("ExecStart=/usr/bin/groupdesk ").replace("$OPTIONS", options);
    let scene = Scene::new(2).await;
    rotate_days_ago(&scene, "g000", 91).await;
    rotate_days_ago(&scene, "g001", 89).await;
    let words: Vec<_> = start.split(' ').collect();
    let child = scene.program(&words).spawn().expect("it starts");
    let (code, lines, err) = read(wait(child).await);
    assert_eq!(code, 0, "{err}");
    assert_eq!(
        (&lines[0]["user_group_id"], lines.len()),
        (&json!("g000"), 2)
    );
    assert!(packaged("groupdesk-rotate.timer").contains("\nOnCalendar="));
}

#[tokio::test]
async fn jsonl_has_one_line_per_group() {
    let scene = Scene::new(1).await;
    let (code, lines, err) = scene.rotate(&["g000", "--yes", "-o", "jsonl"]).await;
    assert_eq!((code, lines.len()), (0, 1), "{err}");
    assert_eq!(lines[0]["outcome"], "confirmed");
    let (code, _, err) = scene.rotate(&["g000", "--yes", "-o", "csv"]).await;
    assert_eq!(code, 2);
    assert!(err.contains("use --output json or jsonl"), "{err}");
}

#[tokio::test]
async fn items_not_applied_are_tried_again_as_a_new_batch() {
    let scene = Scene::new(3).await;
    let refused = ProxyFault::swallowed(Then::Instead(http("403 Forbidden", &[], "{}")));
    scene.proxy.next("POST", ProxyFault::passed());
    scene.proxy.next("POST", refused);
    let (code, lines, err) = scene
        .rotate(&args("--filter g --yes --json --concurrency 1"))
        .await;
    assert_eq!(code, 6, "{err}");
    assert_eq!(lines.last().expect("a summary")["not_applied"], 1);
    let (code, lines, err) = scene.batches(&args("retry 1 --yes --json")).await;
    assert_eq!(code, 0, "{err}");
    let [item, summary] = lines.as_slice() else {
        panic!("{lines:?}");
    };
    assert_eq!(
        (&item["batch"], &item["user_group_id"]),
        (&json!(2), &json!("g001"))
    );
    assert_eq!(summary["confirmed"], 1);
    assert_adds_up(summary);
    assert_eq!(scene.proxy.count("POST"), 4);
    let (code, _, err) = scene.batches(&["retry", "2", "--yes"]).await;
    assert_eq!(code, 3, "nothing failed in it: {err}");
}

#[tokio::test]
async fn a_retry_is_proposed_only_for_what_it_would_take() {
    let scene = Scene::new(2).await;
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let all = args("--filter g --yes --concurrency 1");
    let running = scene.command(&all).spawn().expect("it starts");
    gate.reached().await;
    let waiting = id("g001");
    let taken = scene
        .ana
        .rotate(&waiting, None, UnknownIdPolicy::KnownOnly)
        .await;
    scene.ana.confirm(taken.expect("rotated")).await;
    gate.open();
    let (code, _, err) = read(wait(running).await);
    assert_eq!(code, 6, "{err}");
    assert!(!err.contains("batches retry"), "{err}");
    assert!(
        err.contains("nothing to retry in batch 1: 1 rotated by ana"),
        "{err}"
    );
    let (code, _, err) = scene.batches(&["retry", "1", "--yes"]).await;
    assert_eq!(code, 3, "{err}");
    let mut batch = scene.ana.batch(BatchId(1)).await.expect("stored");
    assert_eq!(batch.counts.not_applied, 1);
    batch.no_retry = scene.ana.why_no_retry(&batch).await.expect("planned");
    assert!(!batch.can_be_retried());
}

#[tokio::test]
async fn a_retry_keeps_the_options_of_its_batch_and_rotates_nothing_into_nowhere() {
    let scene = Scene::new(3).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let refused = ProxyFault::swallowed(Then::Instead(http("403 Forbidden", &[], "{}")));
    scene.proxy.next("POST", ProxyFault::passed());
    scene.proxy.next("POST", refused);
    let first = file("first");
    let mut asked = args("--filter g --yes --concurrency 1 --rate 20/s");
    asked.extend(["--token-out", &first]);
    let (code, _, err) = scene.rotate(&asked).await;
    assert_eq!(code, 6, "{err}");
    let again = "groupdesk batches retry 1 --token-out FILE";
    assert!(err.contains(again), "{err}");
    let (code, _, err) = scene.batches(&args("retry 1 --yes")).await;
    assert_eq!(code, 2, "{err}");
    assert!(
        err.contains("nothing was sent") && err.contains(again),
        "{err}"
    );
    assert_eq!(scene.proxy.count("POST"), 3);
    let second = file("second");
    let (code, _, err) = scene
        .batches(&["retry", "1", "--yes", "--token-out", &second])
        .await;
    assert_eq!(code, 0, "{err}");
    let tokens = std::fs::read_to_string(&second).expect("written");
    assert!(tokens.contains("g001"), "the token of the retry is kept");
    let kept = scene.ana.batch_options(BatchId(2)).await.expect("readable");
    assert_eq!(kept.concurrency, Some(1));
    assert_eq!(kept.rate, Some(20.0));
    assert!(kept.token_out);
    // Whether there is anything to confirm comes before who confirms it.
    let (code, _, err) = scene.batches(&["resume", "1"]).await;
    assert_eq!(code, 0, "{err}");
    assert!(
        err.contains("batch 1 is already finished; nothing was sent"),
        "{err}"
    );
    let (_, _, err) = scene.batches(&["resume", "99"]).await;
    assert!(err.contains("batch 99 not found"), "{err}");
}

/// Only a lower bound: a busy machine is never too fast.
#[tokio::test]
async fn no_more_rotations_start_than_the_rate_allows() {
    let scene = Scene::new(4).await;
    let begun = Instant::now();
    let (code, _, err) = scene.rotate(&args("--filter g --yes --rate 10/s")).await;
    assert_eq!(code, 0, "{err}");
    assert!(begun.elapsed() >= Duration::from_millis(300), "{err}");
    assert_eq!(scene.proxy.count("POST"), 4);
}

#[tokio::test]
async fn a_conflict_stops_the_run_with_exit_7() {
    let scene = Scene::new(3).await;
    scene.proxy.next("POST", ProxyFault::passed());
    let other = |answer: &mut Value| answer["user_group"]["provided_id"] = "another".into();
    scene.proxy.next("POST", ProxyFault::change(other));
    let (code, lines, err) = scene
        .rotate(&args("--filter g --yes --json --concurrency 1"))
        .await;
    assert_eq!(code, 7, "{err}");
    let summary = lines.last().expect("a summary");
    let counts = ["confirmed", "conflict", "not_started"].map(|key| &summary[key]);
    assert_eq!(counts, [&json!(1); 3], "{summary}");
    assert!(
        summary["stopped"]
            .as_str()
            .is_some_and(|why| why.contains("g001")),
        "{summary}"
    );
    assert_adds_up(summary);
}

#[tokio::test]
async fn the_reason_of_a_stop_is_printed_once() {
    let scene = Scene::new(3).await;
    let refused = || ProxyFault::swallowed(Then::Instead(http("403 Forbidden", &[], "{}")));
    scene.proxy.next("POST", refused());
    let arguments = args("--filter g --yes --max-failures 1 --concurrency 1");
    let output = wait(scene.command(&arguments).spawn().expect("it starts")).await;
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    let err = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(err.matches("stopped at a failure").count(), 1, "{err}");
}

#[tokio::test]
async fn no_tokens_are_written_into_a_git_work_tree() {
    let scene = Scene::new(2).await;
    std::fs::create_dir(scene.world.folder().join(".git")).expect("made");
    let arguments = ["--filter", "g", "--yes", "--token-out", "new.jsonl"];
    let (code, _, err) = scene.rotate(&arguments).await;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("git work tree"), "{err}");
    assert!(!scene.world.folder().join("new.jsonl").exists());
    assert_eq!(scene.proxy.methods(), [""; 0]);
    assert!(scene.ana.batches().await.expect("readable").is_empty());
}

/// The command with a hand-off script of one shell line, which reads the token from standard input.
fn with_handoff(scene: &Scene, arguments: &[&str], script: &str) -> Command {
    let command = scene.program(arguments);
    let file = scene.world.folder().join("meddled.toml");
    let file = OpenOptions::new().append(true).open(file);
    let line = format!("handoff = {{ command = [\"/bin/sh\", \"-c\", {script:?}] }}\n");
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .expect("written");
    command
}

/// How many hand-offs need attention.
async fn hand_offs_due(scene: &Scene) -> usize {
    let found = Operations::attention(std::slice::from_ref(&scene.ana), 0, true).await;
    let concerns = found.expect("readable").concerns.into_iter();
    concerns
        .filter(|concern| matches!(concern.kind, ConcernKind::HandOff { .. }))
        .count()
}

#[tokio::test]
async fn the_hand_off_of_a_killed_process_needs_attention_at_once() {
    let scene = Scene::new(1).await;
    let begun = scene.world.folder().join("begun");
    // It ends with the process that runs it.
    let script = format!(
        ": > {}; while kill -0 $PPID; do sleep 0.1; done 2>&-",
        begun.display()
    );
    let rotate = ["rotate", "--filter", "g", "--yes", "--json"];
    let child = with_handoff(&scene, &rotate, &script);
    let child = { child }.spawn().expect("it starts");
    let pid = pid(&child);
    let ended = tokio::spawn(wait(child));
    eventually("the command runs", || begun.exists()).await;
    assert_eq!(hand_offs_due(&scene).await, 0, "its process is at work");
    kill_process(pid, Signal::KILL).expect("it runs");
    ended.await.expect("no panic");
    let due = usize::from(cfg!(target_os = "linux"));
    assert_eq!(hand_offs_due(&scene).await, due);
}

#[tokio::test]
async fn every_new_token_is_handed_off_and_failures_are_reported() {
    let scene = Scene::new(3).await;
    let folder = scene.world.folder().join("taken");
    std::fs::create_dir(&folder).expect("a folder");
    let take = format!("cat > {}/$$", folder.display());
    let fails = format!("read line; case $line in *g001*) exit 3;; esac; echo \"$line\" | {take}");
    let rotate = ["rotate", "--filter", "g", "--yes", "--json"];
    let child = with_handoff(&scene, &rotate, &fails)
        .spawn()
        .expect("it starts");
    let (code, lines, err) = read(wait(child).await);
    assert_eq!(code, 6, "{err}");
    let summary = lines.last().expect("a summary");
    assert_eq!(
        (&summary["confirmed"], &summary["not_handed_off"]),
        (&json!(3), &json!(1))
    );
    assert_adds_up(summary);
    assert!(err.contains("1 new token has not been handed off"), "{err}");
    assert!(err.contains("groupdesk rotations handoff"), "{err}");

    for (arguments, said) in [
        (&["batches"][..], "done: 1 not handed off"),
        (
            &["batches", "show", "1"],
            "3 confirmed of 3; 1 not handed off",
        ),
        (&["batches", "show", "1"], "the hand-off failed"),
        (&["batches", "show", "1", "--json"], "\"not_handed_off\": 1"),
    ] {
        let output = wait(scene.program(arguments).spawn().expect("it starts")).await;
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8(text).expect("UTF-8");
        assert!(text.contains(said), "{arguments:?}: {text}");
    }

    let again = ["rotations", "handoff", "--failed", "--json"];
    let child = with_handoff(&scene, &again, &take)
        .spawn()
        .expect("it starts");
    let output = wait(child).await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let mut taken: Vec<(String, String)> = std::fs::read_dir(&folder)
        .expect("readable")
        .map(|entry| {
            let text = std::fs::read(entry.expect("an entry").path()).expect("readable");
            let message: Value = serde_json::from_slice(&text).expect("JSON");
            let text = |key: &str| message[key].as_str().expect("a text").to_owned();
            (text("user_group_id"), text("token"))
        })
        .collect();
    taken.sort();
    let stored = |group: &String| {
        let token = scene.world.stored(Side::Testing, group).token;
        (group.clone(), token)
    };
    assert_eq!(taken, scene.groups.iter().map(stored).collect::<Vec<_>>());
    assert_sent_once(&scene.proxy);
}
