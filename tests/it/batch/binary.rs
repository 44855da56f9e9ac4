//! Batches with the shipped binary: its output, its exit codes, and what a kill or a signal leaves to `batches resume`.

use super::*;
use std::os::unix::fs::MetadataExt;

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

/// Exit code, what was printed as JSON, and standard error.
pub(super) fn read(output: Output) -> (i32, Vec<Value>, String) {
    let err = String::from_utf8(output.stderr).expect("UTF-8");
    let values = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    let values: Result<_, _> = values.collect();
    let values = values.unwrap_or_else(|error| panic!("{error}: {err}"));
    (output.status.code().unwrap_or(-1), values, err)
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
    assert_eq!(text.lines().count(), 6);
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let group = line["user_group_id"].as_str().expect("an ID");
        let stored = scene.world.stored(Side::Testing, group);
        assert_eq!(line["token"], stored.token);
        let item = items.iter().find(|item| item["user_group_id"] == group);
        assert_eq!(line["fingerprint"], item.expect("its line")["fingerprint"]);
    }
    let (code, _, err) = scene.rotate(&["--filter", "g0", "--yes"]).await;
    assert_eq!(code, 3, "{err}");
    assert_has(&err, "rotated less than 24 h ago");
    assert_sent_once(&scene.proxy);
}

#[tokio::test]
async fn nothing_is_sent_without_the_exact_words() {
    let scene = Scene::new(2).await;
    for (line, code) in [
        ("rotate g000 g001", 3),
        ("rotate g000 g001 --yes --read-only", 3),
        ("rotate g000 g001 --yes --reveal", 2),
        ("rotate nobody no-one --yes", 2),
        ("rotate --from missing.txt --yes", 2),
        ("rotate g000 g001 --yes --token-out config.toml", 2),
        // The words of a filter are not spread over an ID, and its terms are those of the console.
        ("rotate --filter g02 --yes", 0),
        ("rotate --filter state:closed --yes", 2),
        ("batches resume --yes", 3),
        ("batches resume 77 --yes", 2),
    ] {
        let (got, err) = run(scene.program(&args(line))).await;
        assert_eq!(got, code, "{line}: {err}");
    }
    assert_eq!(scene.proxy.methods(), [""; 0]);
    let named = scene.world.folder().join("ids.txt");
    std::fs::write(&named, "g000\ng001\nnobody\n").expect("written");
    let (code, plan, _) = scene.rotate(&args("--from ids.txt --dry-run --json")).await;
    assert_eq!(code, 6, "as the run would end");
    assert_eq!(plan[0]["ready"], serde_json::json!(["g000", "g001"]));
    assert_eq!(plan[0]["skipped"][0]["why"], "not in the directory");
    let sent = scene.proxy.methods();
    assert_eq!(sent, ["GET", "GET"], "only known IDs are read");
    for (groups, fault, code) in [
        ("g000 g001", ProxyFault::passed(), 0),
        ("nobody no-one", ProxyFault::passed(), 2),
        ("g000 g001", lost(), 6),
    ] {
        scene.proxy.next("GET", fault);
        let line = format!("rotate {groups} --dry-run");
        let (got, said) = run(scene.program(&args(&line))).await;
        assert_eq!(got, code, "{groups}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_run_by_another_process_is_joined_only_on_request() {
    let scene = Scene::new(3).await;
    let batch = scene.begin().await;
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let held = scene.run(batch, super::one_at_a_time()).await;
    gate.reached().await;
    let (code, listed, err) = scene.batches(&args("list --json")).await;
    assert_eq!(code, 0, "{err}");
    let listed = &listed[0][0];
    assert_eq!(listed["run_by"], scene.ana.operator());
    assert_eq!(listed["run_state"], "running");
    assert_eq!(listed["stopped"], Value::Null);
    let (_, shown) = run(scene.program(&["batches"])).await;
    assert_has(&shown, &format!("running: {}, since", scene.ana.operator()));
    let resume = format!("batches resume {}", batch.0);
    let (code, err) = run(scene.program(&args(&format!("{resume} --yes")))).await;
    assert_eq!(code, 3, "{err}");
    assert_has(&err, "is running: ");
    assert_has(&err, &format!("To join it: groupdesk {resume} --join"));
    assert_eq!(scene.proxy.count("POST"), 1, "nothing was sent");
    // Both work on it, and the run that was held up finishes its own item.
    let join = format!("{resume} --join --yes --json");
    let (_, err) = run(scene.program(&args(&join))).await;
    assert_has(&err, "joins a run of another process: running: ");
    gate.open();
    let (_, report) = super::watch(held).await;
    assert_eq!(report.counts.confirmed, 3, "{report:?}");
    assert_sent_once(&scene.proxy);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_filter_result_succeeds_and_unknown_ids_fail() {
    let scene = Scene::new(2).await;
    let (code, lines, said) = scene.rotate(&args("--filter nobody --yes --json")).await;
    assert_eq!(code, 0, "{said}");
    assert_has(&said, "no group matches; nothing was sent");
    let [sum] = &lines[..] else {
        panic!("{lines:?}")
    };
    assert_eq!((&sum["planned"], &sum["batch"]), (&0.into(), &Value::Null));
    let (code, _, said) = scene.rotate(&args("nobody-a nobody-b --yes --json")).await;
    assert_eq!(code, 2, "{said}");
}

#[tokio::test]
async fn a_signal_finishes_requests_in_flight_and_resume_does_the_rest() {
    for signal in [Signal::HUP, Signal::INT] {
        let scene = Scene::new(5).await;
        let gate = Gate::new();
        scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
        let mut command = scene.command(&args("--filter g --yes --json --concurrency 1"));
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
        let (code, lines, err) = scene.batches(&args("resume --yes --json")).await;
        assert_eq!(code, 0, "{err}");
        assert_eq!(lines.last().expect("a summary")["confirmed"], 5);
        assert_eq!(scene.proxy.count("POST"), 5);
        assert_sent_once(&scene.proxy);
    }
}

#[tokio::test]
async fn requests_in_flight_are_waited_for_only_so_long() {
    let scene = Scene::new(3).await;
    let gate = Gate::new();
    scene.next(
        "POST",
        [ProxyFault::passed(), ProxyFault::passed().behind(&gate)],
    );
    let mut command = scene.command(&args("--filter g --yes --concurrency 1"));
    command.env("GROUPDESK_TEST_FINISHING_MS", "50");
    let child = command.spawn().expect("it starts");
    gate.reached().await;
    kill_process(pid(&child), Signal::TERM).expect("it runs");
    let (code, _, err) = read(wait(child).await);
    assert_eq!(code, 130, "{err}");
    assert_has(&err, "finishing running requests, at most 0.05 s");
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
    scene.next("POST", [ProxyFault::passed(), answered("403 Forbidden")]);
    let arguments = args("--filter g --yes --concurrency 1");
    let (code, out, err) = scene.rotate(&arguments).await;
    assert_eq!((code, out.len()), (6, 0), "{err}");
    for words in ["g000 confirmed ", "g001 refused ", "g002 confirmed "] {
        let lines = err.lines().filter(|line| line.starts_with(words));
        assert_eq!(lines.count(), 1, "{words}: {err}");
    }
    assert!(!err.contains(['\r', '\u{1b}']), "{err:?}");
    assert_has(&err, "1 not applied, 2 confirmed");
}

/// Pipes that nobody reads for a while.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_does_not_read_delays_nothing() {
    const GROUPS: usize = 50;
    let scene = Scene::new(GROUPS).await;
    let gate = Gate::new();
    scene.next("POST", [(); 4].map(|()| ProxyFault::passed().behind(&gate)));
    let mut command = scene.command(&args("--filter g --yes --json"));
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
    let is_over = async || scene.ana.batches().await.expect("readable")[0].ended_at;
    let over = async {
        while is_over().await.is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let over = tokio::time::timeout(DEADLINE, over).await;
    over.expect("the run ends");
    assert_eq!(scene.proxy.count("POST"), GROUPS);
    assert_sent_once(&scene.proxy);
    let (code, lines, err) = read(wait(child).await);
    assert_eq!((code, lines.len()), (0, GROUPS + 1), "{err}");
    assert_eq!(lines[GROUPS]["confirmed"], GROUPS);
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_batches_are_listed_with_a_command_for_their_own_profile() {
    let scene = Scene::new(1).await;
    scene.begin().await;
    let there = scene.world.place(Side::Production);
    let other = groupdesk::directory::NewBatch {
        options: groupdesk::directory::BatchOptions::default(),
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
