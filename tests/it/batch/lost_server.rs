//! The server of a team's directory goes away in the middle of a run, and comes back.

use super::*;

/// The next event of this kind.
async fn until(run: &mut Run, is_it: impl Fn(&BatchEvent) -> bool) -> BatchEvent {
    loop {
        let event = run.progress.recv().await.expect("it goes on");
        if is_it(&event) {
            return event;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sent_rotations_are_recorded_when_the_server_is_back_and_the_rest_waits() {
    let Some(server) = postgres::own() else {
        return;
    };
    let team = server.set_up("desk");
    let world = World::new().await;
    let directory = Directory::open(&team).expect("it opens");
    let proxy = FaultyProxy::before(world.address()).await;
    let installation = world.installation(Side::Testing).on(&directory);
    let (recorder, _recorded) = mpsc::unbounded_channel();
    // As in a console, where somebody can wait for the server.
    let ana = installation.through(proxy.base_url()).operations();
    let ana = ana.with_listener(Listener::new(1, recorder));
    let groups = ["g0", "g1", "g2"].map(id);
    for group in &groups {
        world.seed(
            Side::Testing,
            group.as_str(),
            "A name",
            &[],
            &serde_json::json!({}),
        );
        let met = ana.look_up(group, UnknownIdPolicy::Exists).await;
        met.expect("it is known now");
    }
    let plan = ana.plan_batch(&groups, false).await.expect("readable");
    let batch = ana.begin_batch(&plan, None).await.expect("durable");
    let gate = Gate::new();
    proxy.next("POST", ProxyFault::passed().behind(&gate));
    let mut run = ana
        .run_batch(batch, one_at_a_time(), None)
        .await
        .expect("it begins");

    // The answer arrives when nobody can record it.
    gate.reached().await;
    run.control.pause();
    server.stop();
    gate.open();
    server.start();
    let first = until(&mut run, |event| matches!(event, BatchEvent::Ended(_))).await;
    assert_is!(first, BatchEvent::Ended(ended) if ended.outcome == "confirmed");

    // Nothing new is started while it is away, and the run continues by itself.
    server.stop();
    run.control.resume();
    until(&mut run, |event| {
        matches!(event, BatchEvent::NoDirectory(_))
    })
    .await;
    assert_eq!(proxy.count("POST"), 1);
    server.start();
    let last = until(&mut run, |event| matches!(event, BatchEvent::Finished(_))).await;
    let BatchEvent::Finished(report) = last else {
        unreachable!("waited for")
    };
    assert_eq!(report.halt, None);
    assert_eq!(report.counts.confirmed, 3, "{report:?}");
    assert_sent_once(&proxy);
}
