//! Many groups against a service that fails in every way, with the process killed five times and resumed: it ends, the
//! counts add up, and no token was sent twice. `GROUPDESK_CRASH=all` takes five hundred groups.

use super::*;
use std::io::Write;

const KILLS: usize = 5;
const AT_ONCE: usize = 8;
/// Ends a request that hangs.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Longer than the settle window with that timeout.
const LATER: Duration = Duration::from_secs(70);

/// The fault of the request with this number: of a hundred, two are answered 500 though applied, two hang (one of them
/// applied), two end in the middle of a body, and one is answered 429.
fn fault_of(number: usize) -> ProxyFault {
    let answer = |status, retry| {
        let body = json!({"success": 0}).to_string();
        let bytes = http(status, &["Content-Type: application/json", retry], body);
        Then::Instead(bytes)
    };
    match number % 100 {
        3 | 53 => ProxyFault::applied(answer("500 Internal Server Error", "X-Of: weather")),
        17 => ProxyFault::applied(Then::Hang),
        67 => ProxyFault::swallowed(Then::Hang),
        33 | 83 => ProxyFault::applied(Then::Half),
        91 => ProxyFault::swallowed(answer("429 Too Many Requests", "Retry-After: 0")),
        _ => ProxyFault::passed(),
    }
}

fn size() -> usize {
    match std::env::var("GROUPDESK_CRASH") {
        Ok(how) => {
            assert_eq!(how, "all", "the only value of GROUPDESK_CRASH is all");
            500
        }
        Err(_) => 100,
    }
}

/// With a timeout that soon ends a hanging request.
fn command(scene: &Scene, arguments: &[&str]) -> Command {
    let pace = [
        "--yes",
        "--json",
        "--concurrency",
        "8",
        "--max-failures",
        "0",
    ];
    let command = scene.program(&[arguments, &pace].concat());
    let config = scene.world.folder().join("meddled.toml");
    let file = OpenOptions::new().append(true).open(config);
    let settings = "timeout = \"1s\"\nconnect_timeout = \"1s\"\n";
    file.and_then(|mut file| file.write_all(settings.as_bytes()))
        .expect("written");
    command
}

/// The token of every group, as the service has it.
fn tokens(scene: &Scene) -> HashMap<String, String> {
    let token = |group: &String| scene.world.stored(Side::Testing, group).token;
    let groups = scene.groups.iter();
    groups.map(|group| (group.clone(), token(group))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_with_faults_is_killed_five_times_and_resumed() {
    let scene = Scene::new(size()).await;
    let before = tokens(&scene);
    let mut secrets = scene.world.secrets();
    let gates: Vec<_> = (0..KILLS).map(|_| Gate::new()).collect();
    let every = size() / 10;
    for number in 0..size() {
        // Early enough that this many are sent whatever a kill takes from the rest.
        let gate = (number > 0 && number % every == 0)
            .then(|| gates.get(number / every - 1))
            .flatten();
        let fault = gate.map_or_else(
            || fault_of(number),
            |gate| ProxyFault::passed().behind(gate),
        );
        scene.proxy.next("POST", fault);
    }
    for number in 0..3 * size() {
        scene.proxy.next("GET", fault_of(number));
    }

    let mut arguments = ["rotate", "--filter", "g"];
    for gate in &gates {
        let child = command(&scene, &arguments).spawn().expect("it starts");
        let pid = pid(&child);
        let ended = tokio::spawn(wait(child));
        gate.reached().await;
        kill_process(pid, Signal::KILL).expect("it runs");
        let (code, _, err) = read(ended.await.expect("no panic"));
        assert_eq!(code, -1, "{err}");
        let left = scene.ana.batches().await.expect("readable").remove(0);
        assert_eq!(
            left.last_run,
            Some(LastRun::Begun),
            "its end was not written"
        );
        let runner = left.runner.expect("the operator was told");
        assert!(
            !runner.is_alive() || cfg!(not(target_os = "linux")),
            "on its own machine it counts as gone: {runner:?}"
        );
        gate.open();
        arguments = ["batches", "resume", "1"];
    }
    let child = command(&scene, &arguments).spawn().expect("it starts");
    let (code, lines, err) = read(wait(child).await);
    assert!([6, 7].contains(&code), "{code}: {err}");
    let summary = lines.last().expect("a summary");
    assert_adds_up(summary);
    assert_eq!(summary["planned"], size());
    assert_eq!(summary["not_started"], 0, "{summary}");

    let report = settle(&scene).await;
    println!("{}; then {}", summary, report.counts);
    secrets.extend(scene.world.secrets());
    scene.world.scan_installations(&secrets);
    assert_agrees(&scene, &report, &before).await;
}

/// Settles what is open, by gets alone, once no late request can arrive any more. A run with the same faults leaves
/// open only what they hit, and one against a healthy service nothing.
async fn settle(scene: &Scene) -> Report {
    let sent = scene.proxy.count("POST");
    let batch = scene.ana.batches().await.expect("readable")[0].id;
    let pace = RunLimits {
        concurrency: AT_ONCE,
        ..RunLimits::default()
    };
    let installation = scene.world.installation(Side::Testing);
    let later = installation.at(Timestamp::now() + LATER);
    let in_weather = later.clone().through(scene.proxy.base_url());
    let in_weather = in_weather.timeout(TIMEOUT).operations();
    let ran = in_weather.run_through(batch, pace).await;
    let (ended, _) = ran.expect("it begins");
    let open = |one: &&Ended| matches!(one.status, ItemStatus::Unknown | ItemStatus::Rotated);
    for one in ended.iter().filter(open) {
        assert!(one.note.is_some(), "open, and nothing hit it: {one:?}");
    }
    let ran = later.operations().run_through(batch, pace).await;
    let (ended, report) = ran.expect("it begins");
    let left: Vec<_> = ended.iter().filter(open).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(report.counts.unknown + report.counts.rotated, 0);
    assert_eq!(scene.proxy.count("POST"), sent);
    report
}

/// Every item has ended, as the service says, and at most one rotation was sent for each token.
async fn assert_agrees(scene: &Scene, report: &Report, before: &HashMap<String, String>) {
    let counts = report.counts;
    assert_eq!(
        counts.confirmed + counts.not_applied,
        scene.groups.len(),
        "{counts}"
    );
    // Most requests are not disturbed.
    assert!(counts.confirmed > scene.groups.len() / 2, "{counts}");
    scene.check(report).await;
    assert_sent_once(&scene.proxy);
    let bodies = scene.proxy.bodies("POST");
    let of_old = |token: &str| before.values().any(|old| old == token);
    let is_old = |body: &serde_json::Value| body["current_token"].as_str().is_some_and(of_old);
    assert!(bodies.iter().all(is_old), "a group was sent a second one");

    let now = tokens(scene);
    let fingerprinter = scene.world.directory().fingerprinter();
    let stored = |id: &UserGroupId| &now[id.as_str()];
    for item in scene.items(report.batch).await {
        let token = stored(&item.user_group_id);
        let is_rotated = *token != before[item.user_group_id.as_str()];
        assert_eq!(
            is_rotated,
            item.status() == ItemStatus::Confirmed,
            "{item:?}"
        );
        if is_rotated {
            let fingerprint = fingerprinter.of(&Token::new(token.clone()));
            assert_eq!(item.fingerprint, Some(fingerprint), "{item:?}");
        }
    }
}
