//! Batches with the shipped binary, continued: which groups are selected, how fast, what stops a run, and where the new
//! tokens go.

use super::*;
use std::io::Write;
use tokio::io::AsyncWriteExt;

const DAY: Duration = Duration::from_hours(24);

#[tokio::test]
async fn the_ids_may_come_from_standard_input() {
    let scene = Scene::new(3).await;
    let with_input = async |line: &str, text: &[u8]| {
        let mut command = scene.command(&args(line));
        let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
        let mut input = child.stdin.take().expect("piped");
        // It may end without reading.
        let _ = input.write_all(text).await;
        drop(input);
        read(wait(child).await)
    };
    let (code, lines, err) = with_input("--from - --yes --json", b"g002\n\ng000\n").await;
    assert_eq!(code, 0, "{err}");
    let summary = lines.last().expect("a summary");
    assert_eq!(
        (&summary["planned"], &summary["confirmed"]),
        (&json!(2), &json!(2))
    );
    // They are not taken as an answer to the question.
    let (code, _, err) = with_input("--from -", b"g001\nrotate 1 in testing\n").await;
    assert_eq!(code, 3, "{err}");
    assert_eq!(scene.proxy.count("POST"), 2);
}

#[tokio::test]
async fn older_than_selects_older_tokens_and_those_of_unknown_age() {
    let scene = Scene::new(4).await;
    for (group, days) in [("g000", 100), ("g001", 80), ("g002", 91)] {
        rotate_days_ago(&scene, group, days).await;
    }
    let (code, plan, err) = scene
        .rotate(&args("--older-than 90d --dry-run --json"))
        .await;
    assert_eq!(code, 0, "{err}");
    assert_eq!(plan[0]["ready"], json!(["g000", "g002", "g003"]));
    assert_eq!(plan[0]["skipped"], json!([]));
    assert_eq!(scene.proxy.count("POST"), 0);
}

/// Rotates a group this many days ago.
async fn rotate_days_ago(scene: &Scene, group: &str, days: u32) {
    let installation = scene.world.installation(Side::Testing);
    let then = installation.at(Timestamp::now() - days * DAY).operations();
    let known = UnknownIdPolicy::KnownOnly;
    let rotated = then.rotate(&id(group), None, known).await;
    then.confirm(rotated.expect("rotated")).await;
}

#[tokio::test]
async fn a_scheduled_run_takes_the_oldest_groups_and_excludes_other_runs() {
    let scene = Scene::new(5).await;
    let ages = [
        ("g000", 95),
        ("g001", 80),
        ("g002", 300),
        ("g003", 200),
        ("g004", 400),
    ];
    for (group, days) in ages {
        rotate_days_ago(&scene, group, days).await;
    }
    // The oldest one cannot be rotated now, because the outcome of its last rotation is unknown.
    scene.proxy.next("POST", answered("500 Oops"));
    assert!(scene.rotate_now("g004").await.is_err());
    let timer = args("--older-than 90d --limit 2 --yes -o jsonl");
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let running = scene.command(&timer).spawn().expect("it starts");
    gate.reached().await;
    let (code, lines, err) = scene.rotate(&timer).await;
    assert_eq!(code, 3, "{err}");
    assert_has(lines[0]["error"].as_str().expect("why"), "is running: ana");
    assert!(scene.ana.batches().await.expect("read").len() == 1);
    gate.open();
    let (code, lines, err) = read(wait(running).await);
    assert_eq!(code, 0, "{err}");
    let (sum, items) = lines.split_last().expect("a sum");
    let mut groups: Vec<_> = items.iter().map(|item| &item["user_group_id"]).collect();
    groups.sort_by_key(ToString::to_string);
    assert_eq!(groups, [&json!("g002"), &json!("g003")]);
    assert_eq!(sum["confirmed"], 2);
    let skipped = sum["skipped"].as_array().expect("an array");
    assert_eq!(
        (skipped.len(), &skipped[0]["user_group_id"]),
        (1, &json!("g004"))
    );
    // A killed run blocks nobody.
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let mut killed = scene.command(&timer).spawn().expect("it starts");
    gate.reached().await;
    killed.kill().await.expect("killed");
    gate.open();
    let (_, lines, err) = scene.rotate(&timer).await;
    let sum = lines.last().expect("a sum");
    assert!(
        sum["planned"].is_number() || sum["error"].is_string(),
        "{err}"
    );
    assert_lacks(&err, "is running");
    assert_sent_once(&scene.proxy);
}

#[tokio::test]
async fn a_scheduled_run_that_was_taken_over_starts_nothing_more() {
    let scene = Scene::new(3).await;
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    // The second rotation would come after a minute; the next heartbeat shows that the run has lost its place.
    let timer = args("--older-than 90d --limit 3 --concurrency 1 --rate 1/m --yes -o jsonl");
    let running = scene.command(&timer).spawn().expect("it starts");
    gate.reached().await;
    // Another machine has heard nothing from it for an hour.
    let li = scene.world.installation(Side::Testing).by("li@desk7");
    let li = li.at(Timestamp::now() + Duration::from_hours(1));
    let taken = li.operations().begin_scheduled_run().await.expect("asked");
    assert!(taken.is_ok(), "no heartbeat");
    gate.open();
    let (code, lines, err) = read(wait(running).await);
    assert_eq!(code, 130, "{err}");
    let sum = lines.last().expect("a sum");
    assert_eq!(
        (&sum["confirmed"], &sum["not_started"]),
        (&json!(1), &json!(2))
    );
    assert_has(&err, "another scheduled run took over");
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
async fn a_retry_is_proposed_only_for_what_it_would_take() {
    let scene = Scene::new(2).await;
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let all = args("--filter g --yes --concurrency 1");
    let running = scene.command(&all).spawn().expect("it starts");
    gate.reached().await;
    let taken = scene.rotate_now("g001").await.expect("rotated");
    scene.ana.confirm(taken).await;
    gate.open();
    let (code, _, err) = read(wait(running).await);
    assert_eq!(code, 6, "{err}");
    assert_lacks(&err, "batches retry");
    assert_has(&err, "nothing to retry in batch 1: 1 rotated by ana");
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
    scene.next("POST", [ProxyFault::passed(), answered("403 Forbidden")]);
    let asked = args("--filter g --yes --concurrency 1 --rate 20/s --token-out first");
    let (code, _, err) = scene.rotate(&asked).await;
    assert_eq!(code, 6, "{err}");
    let again = "groupdesk batches retry 1 --token-out FILE";
    assert_has(&err, again);
    let (code, _, err) = scene.batches(&args("retry 1 --yes")).await;
    assert_eq!(code, 2, "{err}");
    assert_has(&err, "nothing was sent");
    assert_has(&err, again);
    assert_eq!(scene.proxy.count("POST"), 3);
    let retry = args("retry 1 --yes --json --token-out second");
    let (code, lines, err) = scene.batches(&retry).await;
    assert_eq!(code, 0, "{err}");
    let [item, summary] = &lines[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(
        (&item["batch"], &item["user_group_id"]),
        (&json!(2), &json!("g001"))
    );
    assert_adds_up(summary);
    let tokens = std::fs::read_to_string(scene.world.folder().join("second"));
    assert_has(&tokens.expect("written"), "g001");
    let kept = scene.ana.batch_options(BatchId(2)).await.expect("readable");
    let options = (kept.concurrency, kept.rate, kept.token_out);
    assert_eq!(options, (Some(1), Some(20.0), true));
    // Whether there is anything to confirm comes before who confirms it.
    let (code, _, err) = scene.batches(&["resume", "1"]).await;
    assert_eq!(code, 0, "{err}");
    assert_has(&err, "batch 1 is already finished; nothing was sent");
    let (_, _, err) = scene.batches(&["resume", "99"]).await;
    assert_has(&err, "batch 99 not found");
}

#[tokio::test]
async fn a_conflict_or_too_many_failures_stop_the_run() {
    let scene = Scene::new(3).await;
    scene.proxy.next("POST", answered("403 Forbidden"));
    let line = args("--filter g --yes --max-failures 1 --concurrency 1");
    let (code, _, err) = scene.rotate(&line).await;
    assert_eq!(code, 6, "{err}");
    let told = err.matches("stopped at a failure").count();
    assert_eq!(told, 1, "the reason is printed once: {err}");
    let scene = Scene::new(3).await;
    let other = |answer: &mut Value| answer["user_group"]["provided_id"] = "another".into();
    scene.next("POST", [ProxyFault::passed(), ProxyFault::change(other)]);
    let line = args("--filter g --yes --json --concurrency 1");
    let (code, lines, err) = scene.rotate(&line).await;
    assert_eq!(code, 7, "{err}");
    let summary = lines.last().expect("a summary");
    let counts = ["confirmed", "conflict", "not_started"].map(|key| &summary[key]);
    assert_eq!(counts, [&json!(1); 3], "{summary}");
    assert_has(summary["stopped"].as_str().expect("why"), "g001");
    assert_adds_up(summary);
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
    for rotate in ["rotate --filter g --yes --json", "rotate g000 --yes --json"] {
        let scene = Scene::new(1).await;
        let begun = scene.world.folder().join("begun");
        // It ends with the process that runs it.
        let script = format!(
            ": > {}; while kill -0 $PPID; do sleep 0.1; done 2>&-",
            begun.display()
        );
        let mut command = with_handoff(&scene, &args(rotate), &script);
        let child = command.spawn().expect("it starts");
        let pid = pid(&child);
        let ended = tokio::spawn(wait(child));
        eventually("the command runs", || begun.exists()).await;
        assert_eq!(hand_offs_due(&scene).await, 0, "its process is at work");
        kill_process(pid, Signal::KILL).expect("it runs");
        ended.await.expect("no panic");
        let due = usize::from(cfg!(target_os = "linux"));
        assert_eq!(hand_offs_due(&scene).await, due, "{rotate}");
    }
}

#[tokio::test]
async fn every_new_token_is_handed_off_and_failures_are_reported() {
    let scene = Scene::new(3).await;
    let folder = scene.world.folder().join("taken");
    std::fs::create_dir(&folder).expect("a folder");
    let take = format!("cat > {}/$$", folder.display());
    let fails = format!("read line; case $line in *g001*) exit 3;; esac; echo \"$line\" | {take}");
    let rotate = args("rotate --filter g --yes --json");
    let child = with_handoff(&scene, &rotate, &fails).spawn();
    let (code, lines, err) = read(wait(child.expect("it starts")).await);
    assert_eq!(code, 6, "{err}");
    let summary = lines.last().expect("a summary");
    let counts = (&summary["confirmed"], &summary["not_handed_off"]);
    assert_eq!(counts, (&json!(3), &json!(1)));
    assert_adds_up(summary);
    let states = lines.iter().filter_map(|line| line["handoff"].as_str());
    assert_eq!(states.filter(|state| *state == "failed").count(), 1);
    assert_has(&err, "1 new token has not been handed off");
    assert_has(&err, "groupdesk rotations handoff");
    for (line, said) in [
        ("batches", "done: 1 not handed off"),
        ("batches show 1", "3 confirmed of 3; 1 not handed off"),
        ("batches show 1", "the hand-off failed"),
        ("batches show 1 --json", "\"not_handed_off\": 1"),
        ("batches show 1 --json", "\"handoff\": \"failed\""),
        ("batches show 1 --json", "\"at\": \"2"),
        ("batches show 1 --json", "\"previous_fingerprint\": \""),
    ] {
        assert_has(&run(scene.program(&args(line))).await.1, said);
    }
    let again = args("rotations handoff --failed --json");
    let (code, said) = run(with_handoff(&scene, &again, &take)).await;
    assert_eq!(code, 0, "{said}");
    let taken = std::fs::read_dir(&folder).expect("readable").map(|entry| {
        let text = std::fs::read(entry.expect("an entry").path()).expect("readable");
        let message: Value = serde_json::from_slice(&text).expect("JSON");
        let text = |key: &str| message[key].as_str().expect("a text").to_owned();
        (text("user_group_id"), text("token"))
    });
    let taken: BTreeSet<_> = taken.collect();
    let stored = |group: &String| {
        let token = scene.world.stored(Side::Testing, group).token;
        (group.clone(), token)
    };
    let stored: BTreeSet<_> = scene.groups.iter().map(stored).collect();
    assert_eq!(taken, stored);
    assert_sent_once(&scene.proxy);
}

/// Nothing is rotated whose token would not be delivered either.
#[tokio::test]
async fn hand_offs_that_fail_in_a_row_stop_the_run() {
    let scene = Scene::new(4).await;
    let rotate = args("rotate --filter g --yes --json --concurrency 1 --max-failures 2");
    let child = with_handoff(&scene, &rotate, "cat > /dev/null; exit 3").spawn();
    let (code, lines, err) = read(wait(child.expect("it starts")).await);
    assert_eq!(code, 6, "{err}");
    let summary = lines.last().expect("a summary");
    let counts = ["confirmed", "not_handed_off", "not_started"].map(|count| &summary[count]);
    assert_eq!(counts, [2, 2, 2].map(|count| json!(count)).each_ref());
    assert_adds_up(summary);
}

/// Only a lower bound: a busy machine is never too fast.
#[tokio::test]
async fn no_more_rotations_start_than_the_rate_allows() {
    let scene = Scene::new(4).await;
    let begun = std::time::Instant::now();
    let (code, _, err) = scene.rotate(&args("--filter g --yes --rate 10/s")).await;
    assert_eq!(code, 0, "{err}");
    assert!(begun.elapsed() >= Duration::from_millis(300), "{err}");
    assert_eq!(scene.proxy.count("POST"), 4);
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
