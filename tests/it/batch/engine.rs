//! The batch engine: reasons, stopping, pausing, waiting, resuming and retrying.

use super::*;

fn answer(status: &str, header: &str) -> ProxyFault {
    let body = json!({"success": 0}).to_string();
    let bytes = http(status, &["Content-Type: application/json", header], body);
    ProxyFault::swallowed(Then::Instead(bytes))
}

#[tokio::test]
async fn batches_are_listed_by_place_not_by_profile() {
    let scene = Scene::new(1).await;
    let batch = scene.begin().await;
    let second = scene.world.installation(Side::Testing);
    let second = second.through(scene.proxy.base_url());
    let second = second.with(|profile| profile.name = "second".into());
    let second = second.unbound();
    // Its first use binds the profile to the same place.
    let known = UnknownIdPolicy::KnownOnly;
    second.look_up(&id("g000"), known).await.expect("read");
    let all = [scene.ana.clone(), second];
    for here in 0..2 {
        let found = Operations::batches_of_all(&all, here).await;
        let found = found.expect("readable").into_iter();
        let found: Vec<_> = found.map(|(at, one)| (at, one.id)).collect();
        assert_eq!(found, [(here, batch)]);
    }
}

#[tokio::test]
async fn all_groups_are_rotated_and_confirmed() {
    let scene = Scene::new(9).await;
    let before = scene.world.secrets();
    let batch = scene.begin().await;
    let (ended, report) = watch(scene.run(batch, RunLimits::default()).await).await;
    assert_eq!(ended.len(), 9);
    assert_eq!(report.halt, None);
    let all = Counts {
        confirmed: 9,
        ..Counts::default()
    };
    assert_eq!(report.counts, all);
    assert_eq!(ended.last().expect("one").counts, all);
    scene.check(&report).await;
    assert_eq!(scene.proxy.count("POST"), 9);
    let found = scene.ana.batch(batch).await.expect("readable");
    assert!(found.ended_at.is_some());
    assert_eq!(found.reason.as_deref(), Some("a leak"));
    scene.world.scan_installations(&before);
    scene.world.scan_installations(&scene.world.secrets());

    // Nothing is left: a second run sends nothing.
    let (ended, again) = watch(scene.run(batch, RunLimits::default()).await).await;
    assert_eq!((ended.len(), again.counts), (0, all));
    assert_eq!(scene.proxy.count("POST"), 9);
    assert_eq!(scene.proxy.count("GET"), 18);
}

#[tokio::test]
async fn the_check_names_groups_left_out_and_why() {
    let scene = Scene::new(4).await;
    scene.rotate_now("g000").await.expect("rotated");
    scene.proxy.next("POST", ProxyFault::applied(Then::Drop));
    scene.next("GET", [ProxyFault::passed(), lost()]);
    scene.rotate_now("g001").await.expect_err("unknown");
    let few = scene.world.installation(Side::Testing);
    let few = few.with(|profile| profile.max_bulk = 1).operations();
    let ids = ["g000", "g001", "g002", "g003", "nobody"].map(id);
    let plan = few.plan_batch(&ids, false).await.expect("readable");
    assert_eq!(plan.ready, [id("g002")]);
    let [recent, rest @ ..] = plan.skipped.as_slice() else {
        panic!("{:?}", plan.skipped)
    };
    assert_is!(
        recent.1,
        Skip::RotatedRecently(_) | Skip::Open(State::Rotated)
    );
    let expected = [
        (id("g001"), Skip::Open(State::Unknown)),
        (id("g003"), Skip::Beyond(1)),
        (id("nobody"), Skip::NotKnown),
    ];
    assert_eq!(rest, expected);
}

#[tokio::test]
async fn failures_in_a_row_stop_the_run_and_failed_groups_can_be_retried() {
    let scene = Scene::new(5).await;
    scene.next(
        "POST",
        [answered("403 Forbidden"), answered("403 Forbidden")],
    );
    let batch = scene.begin().await;
    let pace = RunLimits {
        stop_after: 2,
        ..one_at_a_time()
    };
    let (_, report) = watch(scene.run(batch, pace).await).await;
    assert_eq!(report.halt, Some(Halt::Failures(2)));
    let counts = report.counts;
    assert_eq!((counts.not_applied, counts.not_started), (2, 3));
    scene.check(&report).await;
    let found = scene.ana.batch(batch).await.expect("readable");
    assert_eq!(found.ended_at, None, "something is left");
    let (_, report) = watch(scene.run(batch, pace).await).await;
    assert_eq!((report.counts.not_applied, report.counts.confirmed), (2, 3));
    let failed = scene.ana.groups_to_retry(batch).await.expect("readable");
    assert_eq!(failed, [id("g000"), id("g001")]);
    let plan = scene.ana.plan_batch(&failed, false).await;
    let plan = plan.expect("readable");
    let retry = scene.ana.begin(&plan).await.expect("durable");
    let (_, report) = watch(scene.run(retry, pace).await).await;
    assert_eq!(report.counts.confirmed, 2);
    assert_eq!(scene.proxy.count("POST"), 7);
}

#[tokio::test]
async fn a_refused_key_stops_the_run_at_once_and_leaves_all_groups_to_resume() {
    let scene = Scene::new(4).await;
    scene.proxy.next("GET", answered("401 Unauthorized"));
    let batch = scene.begin().await;
    let (_, report) = scene.finish(batch).await;
    assert_is!(report.halt, Some(Halt::Cannot(_)));
    assert_eq!(report.counts.not_started, 4, "{report:?}");
    assert_eq!(scene.proxy.methods(), ["GET"]);
    let (_, report) = scene.finish(batch).await;
    assert_eq!(report.counts.confirmed, 4);
}

#[tokio::test]
async fn a_vanished_group_is_a_conflict_and_nothing_is_sent_for_it() {
    let scene = Scene::new(2).await;
    scene.world.vanish(Side::Testing, "g000");
    let batch = scene.begin().await;
    let (ended, report) = scene.finish(batch).await;
    assert_eq!(ended[0].outcome, Ending::CreatedByGet.as_str());
    assert_eq!(report.halt, Some(Halt::Conflict(id("g000"))));
    assert_eq!(scene.proxy.count("POST"), 0);
    scene.check(&report).await;
}

#[tokio::test]
async fn a_pause_lets_requests_in_flight_end_and_starts_nothing() {
    let scene = Scene::new(3).await;
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let batch = scene.begin().await;
    let mut run = scene.run(batch, one_at_a_time()).await;
    gate.reached().await;
    run.control.pause();
    gate.open();
    let first = loop {
        if let BatchEvent::Ended(ended) = run.progress.recv().await.expect("news") {
            break ended;
        }
    };
    assert_eq!(first.status, ItemStatus::Confirmed);
    let quiet = tokio::time::timeout(std::time::Duration::from_millis(100), run.progress.recv());
    assert!(quiet.await.is_err(), "nothing is started");
    assert_eq!(scene.proxy.count("POST"), 1);
    run.control.resume();
    let (ended, report) = watch(run).await;
    assert_eq!((ended.len(), report.counts.confirmed), (2, 3));
    scene.check(&report).await;
}

#[tokio::test]
async fn a_stop_finishes_requests_in_flight_and_resuming_does_the_rest() {
    let scene = Scene::new(5).await;
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let batch = scene.begin().await;
    let run = scene.run(batch, one_at_a_time()).await;
    gate.reached().await;
    run.control.stop(StopCause::TerminalLost);
    run.control.resume();
    gate.open();
    let (_, report) = watch(run).await;
    assert_eq!(report.halt, Some(Halt::Asked(StopCause::TerminalLost)));
    assert_eq!((report.counts.confirmed, report.counts.not_started), (1, 4));
    scene.check(&report).await;
    let (_, report) = watch(scene.run(batch, RunLimits::default()).await).await;
    assert_eq!((report.counts.confirmed, report.halt.clone()), (5, None));
    assert_eq!(scene.proxy.count("POST"), 5);
    scene.check(&report).await;
}

#[tokio::test]
async fn a_busy_service_is_waited_for_before_a_rotation_is_sent() {
    let scene = Scene::new(3).await;
    let busy = ["429 Too Many Requests", "503 Service Unavailable"];
    scene.next("GET", busy.map(|status| answer(status, "Retry-After: 0")));
    let batch = scene.begin().await;
    let mut run = scene.run(batch, one_at_a_time()).await;
    let mut held = 0;
    let report = loop {
        match run.progress.recv().await.expect("news") {
            BatchEvent::Throttled(_) => held += 1,
            BatchEvent::Finished(report) => break report,
            _ => {}
        }
    };
    assert_eq!((held, report.counts.confirmed), (2, 3));
    scene.check(&report).await;
}

#[tokio::test]
async fn an_answered_429_to_a_rotation_is_settled_and_not_sent_again() {
    let scene = Scene::new(2).await;
    let busy = answer("429 Too Many Requests", "Retry-After: 0");
    scene.proxy.next("POST", busy);
    let batch = scene.begin().await;
    let (ended, report) = scene.finish(batch).await;
    assert_eq!(ended[0].status, ItemStatus::NotApplied);
    assert_eq!((report.counts.not_applied, report.counts.confirmed), (1, 1));
    assert_eq!(scene.proxy.count("POST"), 2);
    scene.check(&report).await;
}

/// What an earlier run left open says nothing about the service now.
#[tokio::test]
async fn open_rotations_do_not_keep_a_resumed_run_from_the_rest() {
    let scene = Scene::new(5).await;
    scene.next("POST", [lost(), lost(), lost()]);
    let batch = scene.begin().await;
    let (_, report) = scene.finish(batch).await;
    assert_eq!(report.halt, Some(Halt::Failures(3)));
    assert_eq!((report.counts.unknown, report.counts.not_started), (3, 2));
    let (_, report) = scene.finish(batch).await;
    assert_eq!(report.halt, None);
    assert_eq!((report.counts.unknown, report.counts.confirmed), (3, 2));
    let later = scene.after_the_window().operations();
    let (_, report) = finish_by(&later, batch).await;
    assert_eq!((report.halt.as_ref(), report.counts.not_applied), (None, 3));
    scene.check(&report).await;
}

/// Keeps one token, then has no room.
struct Small(Mutex<usize>);

impl TokenSink for Small {
    fn keep(&self, done: &Done) -> std::io::Result<()> {
        assert_eq!(done.ending, Ending::Rotated);
        let mut room = self.0.lock().expect("no panic");
        *room = room
            .checked_sub(1)
            .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::StorageFull))?;
        Ok(())
    }
}

#[tokio::test]
async fn a_token_that_cannot_be_stored_stops_the_run_and_is_still_confirmed() {
    let scene = Scene::new(4).await;
    let batch = scene.begin().await;
    let keep = Arc::new(Small(Mutex::new(1)));
    let run = scene
        .ana
        .run_batch(batch, one_at_a_time(), Some(keep))
        .await;
    let (_, report) = watch(run.expect("it begins")).await;
    assert_is!(report.halt, Some(Halt::Cannot(_)), "{report:?}");
    assert_eq!((report.counts.confirmed, report.counts.not_started), (2, 2));
    scene.check(&report).await;
}

/// The second run reads a group while the first finds that it cannot be rotated.
#[tokio::test]
async fn a_second_run_continues_when_the_first_one_ended_its_group() {
    let scene = Scene::new(2).await;
    let batch = scene.begin().await;
    // The read of the slow run is held up; that of the fast one is refused.
    let gate = Gate::new();
    let held = ProxyFault::passed().behind(&gate);
    scene.next("GET", [held, answered("400 Bad Request")]);
    let slow = scene.run(batch, one_at_a_time()).await;
    gate.reached().await;
    let (of_fast, fast) = scene.finish(batch).await;
    gate.open();
    let (of_slow, slow) = watch(slow).await;
    let halts = (&slow.halt, &fast.halt);
    assert_eq!(halts, (&None, &None), "{of_slow:?} {of_fast:?}");
    let told: Vec<_> = of_slow.iter().map(|ended| ended.status).collect();
    assert_eq!(told, [ItemStatus::NotApplied, ItemStatus::Confirmed]);
    assert_eq!(scene.proxy.count("POST"), 1, "{:?}", scene.proxy.methods());
}
