//! How a run settles rotations that were sent before, how often it reads for that, and what it reports.

use super::*;

/// One rotation whose request was lost, and the read after it.
async fn batch_with_one_unknown(scene: &Scene) -> groupdesk::directory::BatchId {
    scene.proxy.next("POST", lost());
    scene.next("GET", [ProxyFault::passed(), lost()]);
    let batch = scene.begin().await;
    let (_, report) = scene.finish(batch).await;
    assert_eq!(report.counts.unknown, 1);
    batch
}

#[tokio::test]
async fn before_the_horizon_one_read_is_enough_and_after_it_two() {
    let scene = Scene::new(1).await;
    let batch = batch_with_one_unknown(&scene).await;
    let before = scene.proxy.count("GET");
    let (ended, report) = scene.finish(batch).await;
    assert_eq!(report.counts.unknown, 1);
    assert_eq!(scene.proxy.count("GET") - before, 1);
    assert!(ended[0].settled, "{ended:?}");
    assert_eq!(ended[0].outcome, State::Unknown.as_str());
    // An old token that was not read before is read twice, and with a healthy service one run is enough for that.
    let scene = Scene::new(1).await;
    let batch = batch_with_one_unknown(&scene).await;
    let later = scene.after_the_window().operations();
    let (_, report) = finish_by(&later, batch).await;
    assert_eq!((report.counts.unknown, report.counts.not_applied), (0, 1));
    let sent = (scene.proxy.count("GET"), scene.proxy.count("POST"));
    assert_eq!(sent, (4, 1));
}

#[tokio::test]
async fn a_failed_settling_read_says_why_and_stops_nothing() {
    let scene = Scene::new(1).await;
    let batch = batch_with_one_unknown(&scene).await;
    let before = scene.proxy.count("GET");
    scene.proxy.next("GET", lost());
    let later = scene.after_the_window().operations();
    let (ended, report) = finish_by(&later, batch).await;
    assert_eq!((report.counts.unknown, report.halt), (1, None));
    assert_eq!(scene.proxy.count("GET") - before, 1, "it was not answered");
    assert!(ended[0].note.is_some(), "{ended:?}");
}

#[tokio::test]
async fn failed_read_backs_are_repeated_at_the_end() {
    let scene = Scene::new(2).await;
    let batch = scene.begin().await;
    scene.next("GET", [ProxyFault::passed(), lost()]);
    let (ended, report) = scene.finish(batch).await;
    let statuses: Vec<_> = ended.iter().map(|one| one.status).collect();
    let confirmed = ItemStatus::Confirmed;
    assert_eq!(statuses, [ItemStatus::Rotated, confirmed, confirmed]);
    assert_eq!((report.counts.confirmed, report.counts.rotated), (2, 0));
    scene.check(&report).await;
}

#[tokio::test]
async fn the_token_of_an_abandoned_rotation_waits_for_its_hand_off() {
    let mut scene = Scene::new(1).await;
    let installation = scene.world.installation(Side::Testing);
    let fails = installation.with(|profile| {
        profile.handoff = Some(HandOffCommand {
            command: vec!["/bin/false".into()],
            timeout: Duration::from_secs(5),
        });
    });
    scene.ana = fails.through(scene.proxy.base_url()).operations();
    scene.next("GET", [ProxyFault::passed(), lost(), lost()]);
    let batch = scene.begin().await;
    let (_, report) = scene.finish(batch).await;
    assert_eq!(report.counts.rotated, 1);
    let waiting = async || scene.ana.batch(batch).await.expect("read").not_handed_off;
    assert_eq!(waiting().await, 1);
    let rotation = scene.items(batch).await[0].rotation.expect("begun");
    let closed = scene.ana.abandon(rotation, "the customer left").await;
    assert_eq!(closed.expect("closed").rotation.state, State::Abandoned);
    assert_eq!(waiting().await, 1, "it can still be handed off");
    let item = &scene.items(batch).await[0];
    assert_eq!(item.status(), ItemStatus::Abandoned);
    assert!(item.is_not_handed_off(), "{item:?}");
}

#[tokio::test]
async fn a_stopped_run_reads_nothing_again() {
    let scene = Scene::new(1).await;
    let batch = scene.begin().await;
    let gate = Gate::new();
    scene.next("GET", [ProxyFault::passed(), lost().held(&gate)]);
    let run = scene.run(batch, one_at_a_time()).await;
    gate.reached().await;
    run.control.stop(StopCause::Person);
    gate.open();
    let (ended, report) = watch(run).await;
    assert_eq!(ended.len(), 1);
    assert_eq!((report.counts.rotated, report.counts.confirmed), (1, 0));
    assert_eq!(scene.proxy.count("GET"), 2);
    // Resuming does it.
    let (_, report) = scene.finish(batch).await;
    assert_eq!((report.counts.rotated, report.counts.confirmed), (0, 1));
    assert_eq!(scene.proxy.count("POST"), 1);
}

#[tokio::test]
async fn a_group_that_vanished_after_its_rotation_stops_the_run() {
    let scene = Scene::new(2).await;
    let batch = scene.begin().await;
    scene.proxy.next("GET", ProxyFault::passed());
    let created = |body: &mut serde_json::Value| {
        body["new_user_group"] = json!(true);
        body["user_group"]["token"] = json!("of a group made just now");
    };
    scene.proxy.next("GET", ProxyFault::change(created));
    let mut run = scene.run(batch, one_at_a_time()).await;
    let mut halts = Vec::new();
    let report = loop {
        match run.progress.recv().await.expect("it tells how it ended") {
            BatchEvent::Ended(one) => assert_eq!(one.status, ItemStatus::Conflict),
            BatchEvent::Halted(halt) => halts.push(halt),
            BatchEvent::Finished(report) => break report,
            BatchEvent::Started(_) | BatchEvent::Throttled(_) | BatchEvent::NoDirectory(_) => {}
        }
    };
    let all = Counts {
        conflict: 1,
        not_started: 1,
        ..Counts::default()
    };
    assert_eq!(report.counts, all);
    let halt = report.halt.clone().expect("it stopped");
    assert_is!(halt, Halt::Conflict(_));
    assert_eq!(halts, [halt], "reported once, when it happens");
    scene.check(&report).await;
}

#[tokio::test]
async fn groups_rotated_meanwhile_do_not_count_as_failures_in_a_row() {
    let scene = Scene::new(5).await;
    let batch = scene.begin().await;
    for group in &scene.groups[..4] {
        let done = scene.rotate_now(group).await.expect("rotated");
        scene.ana.confirm(done).await;
    }
    let pace = RunLimits {
        stop_after: 2,
        ..one_at_a_time()
    };
    let (_, report) = watch(scene.run(batch, pace).await).await;
    assert_eq!(report.halt, None);
    assert_eq!((report.counts.not_applied, report.counts.confirmed), (4, 1));
}
