//! The batch engine: reasons, stopping, pausing, waiting, resuming and retrying.

use std::sync::{Arc, Mutex};

use groupdesk::{
    directory::Directory,
    domain::{
        batch::{Counts, Halt, ItemStatus, LastRun, Skip, StopCause},
        history::Ending,
        rotation::{State, settle_window},
    },
    operations::{
        Done, Failure, UnknownIdPolicy,
        batch::{BatchEvent, RunLimits, TokenSink},
    },
};
use jiff::Timestamp;
use serde_json::json;

use super::{Scene, one_at_a_time, watch};
use crate::support::{
    faults::http,
    proxy::{Gate, ProxyFault, Then},
    world::{Side, id},
};

fn answer(status: &str, header: &str) -> ProxyFault {
    let body = json!({"success": 0}).to_string();
    let bytes = http(status, &["Content-Type: application/json", header], body);
    ProxyFault::swallowed(Then::Instead(bytes))
}

async fn rotate(scene: &Scene, group: &str) -> Result<Done, Failure> {
    let known = UnknownIdPolicy::KnownOnly;
    scene.ana.rotate(&id(group), None, known).await
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
        let found = groupdesk::operations::Operations::batches_of_all(&all, here)
            .await
            .expect("readable");
        let found: Vec<_> = found.into_iter().map(|(at, one)| (at, one.id)).collect();
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
    rotate(&scene, "g000").await.expect("rotated");
    scene.proxy.next("POST", ProxyFault::applied(Then::Drop));
    scene.proxy.next("GET", ProxyFault::passed());
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    rotate(&scene, "g001").await.expect_err("unknown");
    let installation = scene.world.installation(Side::Testing);
    let few = installation
        .with(|profile| profile.max_bulk = 1)
        .operations();
    let ids = ["g000", "g001", "g002", "g003", "nobody"].map(id);
    let plan = few.plan_batch(&ids, false).await.expect("readable");
    assert_eq!(plan.ready, [id("g002")]);
    let [recent, open, beyond, nobody] = plan.skipped.as_slice() else {
        panic!("{:?}", plan.skipped)
    };
    assert!(matches!(
        recent.1,
        Skip::RotatedRecently(_) | Skip::Open(State::Rotated)
    ));
    assert_eq!(*open, (id("g001"), Skip::Open(State::Unknown)));
    assert_eq!(*beyond, (id("g003"), Skip::Beyond(1)));
    assert_eq!(*nobody, (id("nobody"), Skip::NotKnown));
}

#[tokio::test]
async fn failures_in_a_row_stop_the_run_and_failed_groups_can_be_retried() {
    let scene = Scene::new(5).await;
    for _ in 0..2 {
        let body = json!({"success": 0}).to_string();
        let no = http("403 Forbidden", &["Content-Type: application/json"], body);
        scene
            .proxy
            .next("POST", ProxyFault::swallowed(Then::Instead(no)));
    }
    let batch = scene.begin().await;
    let pace = RunLimits {
        stop_after: 2,
        ..one_at_a_time()
    };
    let (_, report) = watch(scene.run(batch, pace).await).await;
    assert_eq!(report.halt, Some(Halt::Failures(2)));
    assert_eq!(
        (report.counts.not_applied, report.counts.not_started),
        (2, 3)
    );
    scene.check(&report).await;
    let found = scene.ana.batch(batch).await.expect("readable");
    assert_eq!(found.ended_at, None, "something is left");

    let (_, report) = watch(scene.run(batch, pace).await).await;
    assert_eq!((report.counts.not_applied, report.counts.confirmed), (2, 3));
    let failed = scene.ana.not_applied_groups(batch).await.expect("readable");
    assert_eq!(failed, [id("g000"), id("g001")]);
    let plan = scene
        .ana
        .plan_batch(&failed, false)
        .await
        .expect("readable");
    let retry = scene.ana.begin_batch(&plan, None).await.expect("durable");
    let (_, report) = watch(scene.run(retry, pace).await).await;
    assert_eq!(report.counts.confirmed, 2);
    assert_eq!(scene.proxy.count("POST"), 7);
}

#[tokio::test]
async fn a_refused_key_stops_the_run_at_once_and_leaves_all_groups_to_resume() {
    let scene = Scene::new(4).await;
    let refused = http("401 Unauthorized", &[], "{}");
    let refused = ProxyFault::swallowed(Then::Instead(refused));
    scene.proxy.next("GET", refused);
    let batch = scene.begin().await;
    let before = scene.proxy.count("GET");
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    assert!(matches!(report.halt, Some(Halt::Cannot(_))), "{report:?}");
    assert_eq!(report.counts.not_started, 4, "{report:?}");
    let reads = scene.proxy.count("GET") - before;
    assert_eq!((reads, scene.proxy.count("POST")), (1, 0));
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    assert_eq!(report.counts.confirmed, 4);
}

#[tokio::test]
async fn a_conflict_stops_the_run_at_once() {
    let scene = Scene::new(4).await;
    scene.proxy.next("POST", ProxyFault::passed());
    let other = |answer: &mut serde_json::Value| {
        answer["user_group"]["provided_id"] = "somebody-else".into();
    };
    scene.proxy.next("POST", ProxyFault::change(other));
    let batch = scene.begin().await;
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    assert_eq!(report.halt, Some(Halt::Conflict(id("g001"))));
    assert_eq!((report.counts.confirmed, report.counts.conflict), (1, 1));
    assert_eq!(report.counts.not_started, 2);
    scene.check(&report).await;
}

#[tokio::test]
async fn a_vanished_group_is_a_conflict_and_nothing_is_sent_for_it() {
    let scene = Scene::new(2).await;
    scene.world.vanish(Side::Testing, "g000");
    let batch = scene.begin().await;
    let (ended, report) = watch(scene.run(batch, one_at_a_time()).await).await;
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
async fn a_stopped_run_does_not_end_a_batch_that_another_run_continues() {
    let scene = Scene::new(2).await;
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let batch = scene.begin().await;
    let first = scene.run(batch, one_at_a_time()).await;
    gate.reached().await;
    let second = scene.run(batch, one_at_a_time()).await;
    second.control.stop(StopCause::Person);
    let (_, report) = watch(second).await;
    assert_eq!(report.halt, Some(Halt::Asked(StopCause::Person)));
    let found = scene.ana.batch(batch).await.expect("readable");
    assert_eq!(found.last_run, Some(LastRun::Begun));
    gate.open();
    let (_, report) = watch(first).await;
    assert_eq!((report.counts.confirmed, report.halt.clone()), (2, None));
    scene.check(&report).await;
}

#[tokio::test]
async fn a_busy_service_is_waited_for_before_a_rotation_is_sent() {
    let scene = Scene::new(3).await;
    for status in ["429 Too Many Requests", "503 Service Unavailable"] {
        scene.proxy.next("GET", answer(status, "Retry-After: 0"));
    }
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
    let (ended, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    assert_eq!(ended[0].status, ItemStatus::NotApplied);
    assert_eq!((report.counts.not_applied, report.counts.confirmed), (1, 1));
    assert_eq!(scene.proxy.count("POST"), 2);
    scene.check(&report).await;
}

/// An old token must be read twice before it counts, and with a healthy service one run is enough for that.
#[tokio::test]
async fn an_old_token_not_read_before_is_read_twice_in_one_run() {
    let scene = Scene::new(1).await;
    scene.proxy.next("GET", ProxyFault::passed());
    scene.proxy.next("POST", ProxyFault::swallowed(Then::Drop));
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    let batch = scene.begin().await;
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    assert_eq!(report.counts.unknown, 1);
    let later = Timestamp::now() + settle_window(scene.ana.profile().timeout);
    let installation = scene.world.installation(Side::Testing).at(later);
    let installation = installation.through(scene.proxy.base_url()).operations();
    let run = installation.run_batch(batch, one_at_a_time(), None).await;
    let (_, report) = watch(run.expect("it begins")).await;
    assert_eq!((report.counts.unknown, report.counts.not_applied), (0, 1));
    assert_eq!(
        (scene.proxy.count("GET"), scene.proxy.count("POST")),
        (4, 1)
    );
}

/// What an earlier run left open says nothing about the service now.
#[tokio::test]
async fn open_rotations_do_not_keep_a_resumed_run_from_the_rest() {
    let scene = Scene::new(5).await;
    for _ in 0..3 {
        scene.proxy.next("POST", ProxyFault::swallowed(Then::Drop));
    }
    let batch = scene.begin().await;
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    assert_eq!(report.halt, Some(Halt::Failures(3)));
    assert_eq!((report.counts.unknown, report.counts.not_started), (3, 2));
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    assert_eq!(report.halt, None);
    assert_eq!((report.counts.unknown, report.counts.confirmed), (3, 2));

    let later = Timestamp::now() + settle_window(scene.ana.profile().timeout);
    let installation = scene
        .world
        .installation(Side::Testing)
        .at(later)
        .operations();
    let run = installation.run_batch(batch, one_at_a_time(), None).await;
    let (_, report) = watch(run.expect("it begins")).await;
    assert_eq!((report.halt.as_ref(), report.counts.not_applied), (None, 3));
    scene.check(&report).await;
}

#[tokio::test]
async fn an_item_begun_by_another_process_is_not_begun_again() {
    let scene = Scene::new(1).await;
    let batch = scene.begin().await;
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let first = scene.run(batch, RunLimits::default()).await;
    gate.reached().await;
    let file = scene.world.directory_file();
    let other = Directory::open(&file).expect("a second opening");
    let installation = scene.world.installation(Side::Testing);
    let installation = installation.through(scene.proxy.base_url());
    let other = installation.on(&other).operations();
    let second = other.run_batch(batch, RunLimits::default(), None).await;
    let (_, report) = watch(second.expect("it begins")).await;
    assert_eq!(report.counts.unknown, 1, "it is under way elsewhere");
    gate.open();
    let (_, report) = watch(first).await;
    assert_eq!(report.counts.confirmed, 1);
    assert_eq!(scene.proxy.count("POST"), 1);
}

#[tokio::test]
async fn a_group_rotated_meanwhile_is_left_alone() {
    let scene = Scene::new(2).await;
    let batch = scene.begin().await;
    let done = rotate(&scene, "g000").await.expect("rotated");
    scene.ana.confirm(done).await;
    let (_, report) = watch(scene.run(batch, one_at_a_time()).await).await;
    assert_eq!((report.counts.not_applied, report.counts.confirmed), (1, 1));
    assert_eq!(scene.proxy.count("POST"), 2);
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
    assert!(matches!(report.halt, Some(Halt::Cannot(_))), "{report:?}");
    assert_eq!((report.counts.confirmed, report.counts.not_started), (2, 2));
    scene.check(&report).await;
}

/// The second run reads a group while the first finds that it cannot be rotated.
#[tokio::test]
async fn a_second_run_continues_when_the_first_one_ended_its_group() {
    let scene = Scene::new(2).await;
    let batch = scene.begin().await;
    let (gate, refused) = (Gate::new(), http("400 Bad Request", &[], "{}"));
    // The read of the slow run is held up; that of the fast one is refused.
    scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
    scene
        .proxy
        .next("GET", ProxyFault::swallowed(Then::Instead(refused)));
    let slow = scene.run(batch, one_at_a_time()).await;
    gate.reached().await;
    let fast = scene.run(batch, one_at_a_time()).await;
    let (of_fast, fast) = watch(fast).await;
    gate.open();
    let (of_slow, slow) = watch(slow).await;
    assert_eq!(
        (&slow.halt, &fast.halt),
        (&None, &None),
        "{of_slow:?} {of_fast:?}"
    );
    let told: Vec<_> = of_slow.iter().map(|ended| ended.status).collect();
    assert_eq!(told, [ItemStatus::NotApplied, ItemStatus::Confirmed]);
    assert_eq!(scene.proxy.count("POST"), 1, "{:?}", scene.proxy.methods());
}
