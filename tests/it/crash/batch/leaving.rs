//! A second signal while requests in flight are being finished ("14" of docs/design/rotation.md), to the shipped
//! program: it ends at once, and the next run knows what it had sent.

use super::*;

const DEADLINE: Duration = Duration::from_mins(1);
const TIMEOUT: Duration = Duration::from_secs(20);

/// The states of the items, in order; opens the directory only for this, because another process may use it.
async fn states(scene: &Scene<'_>) -> Vec<Option<State>> {
    let directory = Directory::open(&scene.directory).expect("a directory");
    let profile = Side::Testing.name();
    let batches = directory
        .batches(place(&directory, profile))
        .await
        .expect("readable");
    let items = directory
        .batch_items(place(&directory, profile), batches[0].id)
        .await;
    let items = items.expect("readable");
    items.iter().map(|item| item.state).collect()
}

async fn end_with_second_signal(stage: &Stage, fault: Fault) {
    let scene = stage.scene().await;
    let groups: Vec<_> = ["a", "b", "c"].map(|name| scene.and(name)).into();
    let before = tokens(&scene, &groups);
    let directory = Directory::open(&scene.directory).expect("a directory");
    let known = hand_off_operations(scene.order(Task::Rotate), Vec::new(), &directory);
    for group in &groups {
        let met = known.look_up(&id(group), UnknownIdPolicy::Exists).await;
        met.expect("it is known now");
    }
    drop((known, directory));

    let (held, applied) = (Gate::new(), Gate::new());
    let second = &groups[1];
    let mut at_proxy = fault.proxy_fault(second, &before[second]).held(&held);
    if fault.is_applied() {
        at_proxy = at_proxy.behind(&applied);
    }
    scene.proxy.next("POST", ProxyFault::passed());
    scene.proxy.next("POST", at_proxy);
    let sink = scene.sink().command();
    let mut arguments = vec!["rotate"];
    arguments.extend(groups.iter().map(String::as_str));
    arguments.extend(["--yes", "--concurrency", "1"]);
    let mut program = groupdesk(&scene, &arguments, TIMEOUT, &sink);
    let program = program.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut program = program.spawn().expect("it starts");
    held.reached().await;
    let pid = Pid::from_raw(program.id().expect("it runs") as i32).expect("a process id");
    kill_process(pid, Signal::INT).expect("it runs");
    says(&mut program, "finishing running requests").await;
    kill_process(pid, Signal::INT).expect("it runs");
    let ended = tokio::time::timeout(DEADLINE, program.wait_with_output()).await;
    let ended = ended.expect("it leaves").expect("it ran");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{fault:?}: {err}");
    assert!(err.contains("batches resume 1"), "{fault:?}: {err}");
    let left = [Some(State::Confirmed), Some(State::Sent), None];
    assert_eq!(states(&scene).await, left, "{fault:?}");
    held.open();
    if fault.is_applied() {
        applied.reached().await;
        applied.open();
    }

    // At once: the rest is done, and the rotation that was sent is left alone.
    let resume = ["batches", "resume", "--yes"];
    let resumed = groupdesk(&scene, &resume, TIMEOUT, &sink).output().await;
    let resumed = resumed.expect("it runs");
    assert_eq!(resumed.status.code(), Some(7), "{fault:?}: {resumed:?}");
    let left = [
        Some(State::Confirmed),
        Some(State::Sent),
        Some(State::Confirmed),
    ];
    assert_eq!(states(&scene).await, left, "{fault:?}");
    assert_eq!(scene.proxy.count("POST"), GROUPS, "{fault:?}");
    // After the settle window a read decides.
    let later = Order {
        noon: Timestamp::now().as_second(),
        handoff: sink,
        ..scene.order(Task::Resume(vec![2 * HORIZON]))
    };
    let mut look = Watcher::new(&scene);
    look.watch(&later).await;
    assert_eq!(look.wrong, [""; 0], "{fault:?}");

    let now = tokens(&scene, &groups);
    let mut secrets: Vec<_> = before.values().chain(now.values()).cloned().collect();
    secrets.extend(scene.secrets());
    assert_eq!(file_with_secret(&scene.folder, &secrets), None, "{fault:?}");
    assert_eq!(scene.proxy.count("POST"), GROUPS, "{fault:?}");
    let directory = Directory::open(&scene.directory).expect("a directory");
    let mut wrong = sent_twice_or_without_intent(&scene, &directory, &before).await;
    // It never got the answer, so nothing contradicts the service.
    wrong.extend(disagreements(false, &directory, &before, &now).await);
    wrong.extend(handed_off(&scene, &directory, &now).await);
    assert_eq!(wrong, [""; 0], "{fault:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_at_once_and_nothing_is_sent_twice() {
    let stage = Stage::new().await;
    let faults = match std::env::var("GROUPDESK_CRASH") {
        Ok(_) => Fault::ALL.to_vec(),
        Err(_) => vec![Fault::Good, Fault::HalfBody, Fault::ServerError],
    };
    for fault in faults {
        end_with_second_signal(&stage, fault).await;
    }
}
