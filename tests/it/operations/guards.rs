//! Guards are enforced in `operations`, so that no caller can bypass them; and the tag alarm (hazard 11), in whichever
//! answer the tag comes.

use groupdesk::{
    config::{
        HandOffCommand,
        guard::{Guard, Operation, Rule},
    },
    domain::{
        batch::{Halt, ItemStatus, Plan, Skip},
        change::DesiredFields,
        group::EnvironmentTag,
        handoff::HandOffState,
    },
    operations::{
        Failure, UnknownIdPolicy, Warning,
        batch::{BatchEvent, RunLimits},
    },
};
use serde_json::json;

use crate::support::{
    proxy::FaultyProxy,
    world::{Side, World, id},
};

fn forbids(operation: Operation) -> Vec<Guard> {
    vec![Guard {
        operation,
        rule: Rule::Forbid,
        reason: "change freeze".into(),
    }]
}

fn wanted() -> DesiredFields {
    DesiredFields {
        name: Some("Acme".into()),
        mapping: None,
        properties: None,
    }
}

/// A world whose installation knows `acme` and `globex`, and a proxy that counts requests.
async fn world_with_proxy() -> (World, FaultyProxy) {
    let world = World::new().await;
    for group in ["acme", "globex"] {
        world.seed(Side::Testing, group, group, &[], &json!({}));
        let met = world.operations(Side::Testing);
        let met = met.look_up(&id(group), UnknownIdPolicy::Exists).await;
        met.expect("known now");
    }
    let proxy = FaultyProxy::before(world.address()).await;
    (world, proxy)
}

#[tokio::test]
async fn a_forbidden_operation_is_refused_with_its_reason_and_nothing_is_sent() {
    let (world, proxy) = world_with_proxy().await;
    let with = |operation| {
        let installation = world.installation(Side::Testing).through(proxy.base_url());
        installation
            .with(|profile| profile.guards = forbids(operation))
            .operations()
    };
    let acme = id("acme");
    let known = UnknownIdPolicy::KnownOnly;
    let plan = world
        .operations(Side::Testing)
        .plan_batch(std::slice::from_ref(&acme), false)
        .await;
    let plan = plan.expect("readable");
    #[rustfmt::skip] // A table: one case per line.
    let results = [
        with(Operation::Create).create(&id("new"), &wanted()).await.map(|_| ()),
        // A read of an unknown id could create it.
        with(Operation::Create).look_up(&id("new"), UnknownIdPolicy::Exists).await.map(|_| ()),
        with(Operation::Update).update(&acme, &wanted(), &wanted(), known).await.map(|_| ()),
        with(Operation::Rotate).rotate(&acme, None, known).await.map(|_| ()),
        with(Operation::Bulk).begin_batch(&plan, None).await.map(|_| ()),
        // A batch of rotations counts as rotating.
        with(Operation::Rotate).begin_batch(&plan, None).await.map(|_| ()),
        with(Operation::Abandon).abandon(groupdesk::operations::RotationId(1), "x").await.map(|_| ()),
        with(Operation::HandOff).hand_off_again(groupdesk::operations::RotationId(1)).await.map(|_| ()),
    ];
    for (at, result) in results.into_iter().enumerate() {
        let failure = result.expect_err("forbidden");
        assert!(
            matches!(failure, Failure::Forbidden { .. }),
            "{at}: {failure}"
        );
        let text = failure.to_string();
        for words in [
            "is forbidden in profile testing",
            "change freeze",
            "nothing was sent",
        ] {
            assert!(text.contains(words), "{at}: {text}");
        }
    }
    assert_eq!(
        proxy.count("GET") + proxy.count("PUT") + proxy.count("POST"),
        0
    );
    // Operations not named by a guard stay allowed.
    let done = with(Operation::Update).rotate(&acme, None, known).await;
    done.expect("rotated");
    world.end().await;
}

#[tokio::test]
async fn a_batch_begun_before_the_guard_does_not_continue() {
    let (world, proxy) = world_with_proxy().await;
    let free = world.operations(Side::Testing);
    let plan = free
        .plan_batch(&[id("acme"), id("globex")], false)
        .await
        .expect("readable");
    let batch = free.begin_batch(&plan, None).await.expect("durable");
    let installation = world.installation(Side::Testing).through(proxy.base_url());
    let guarded = installation
        .with(|profile| profile.guards = forbids(Operation::Rotate))
        .operations();
    let run = guarded.run_batch(batch, RunLimits::default(), None).await;
    assert!(matches!(run, Err(Failure::Forbidden { .. })));
    assert_eq!(proxy.count("POST"), 0);
}

#[tokio::test]
async fn a_guard_limits_the_size_of_a_batch_and_says_why() {
    let (world, _meddler) = world_with_proxy().await;
    let guard = Guard {
        operation: Operation::Bulk,
        rule: Rule::Max(1),
        reason: "slowly".into(),
    };
    let installation = world
        .installation(Side::Testing)
        .with(|profile| profile.guards = vec![guard])
        .operations();
    let plan = installation
        .plan_batch(&[id("acme"), id("globex")], false)
        .await;
    let plan = plan.expect("readable");
    assert_eq!(plan.ready, [id("acme")]);
    assert_eq!(
        plan.skipped,
        [(id("globex"), Skip::Guarded(1, "slowly".into()))]
    );
    assert!(plan.skipped[0].1.to_string().contains("slowly"));
    // A plan made elsewhere meets the same limit when its batch begins.
    let larger = Plan {
        ready: vec![id("acme"), id("globex")],
        ..Plan::default()
    };
    let begun = installation.begin_batch(&larger, None).await;
    assert!(
        matches!(&begun, Err(Failure::Forbidden { reason, .. }) if reason.contains("slowly")),
        "{begun:?}"
    );
    assert!(installation.batches().await.expect("readable").is_empty());
    let as_many = Plan {
        ready: vec![id("acme")],
        ..Plan::default()
    };
    assert!(installation.begin_batch(&as_many, None).await.is_ok());
}

#[tokio::test]
async fn a_plan_from_elsewhere_meets_the_limit_of_the_profile() {
    let (world, _meddler) = world_with_proxy().await;
    let plan = Plan {
        ready: vec![id("acme"), id("globex")],
        ..Plan::default()
    };
    for (most, may) in [(0, false), (1, false), (2, true), (3, true)] {
        let installation = world.installation(Side::Testing);
        let installation = installation
            .with(|profile| profile.max_bulk = most)
            .operations();
        let begun = installation.begin_batch(&plan, None).await;
        assert_eq!(begun.is_ok(), may, "{most}: {begun:?}");
        if let Err(refused) = begun {
            let limit = format!("at most {most} at once");
            assert!(refused.to_string().contains(&limit), "{refused}");
        }
    }
}

/// A profile that expects another tag than its service answers with; the directory has no tag yet.
fn expecting_another_tag(world: &World, proxy: &FaultyProxy) -> groupdesk::operations::Operations {
    let installation = world.installation(Side::Testing).through(proxy.base_url());
    installation
        .with(|profile| profile.environment = Some(EnvironmentTag::Customer))
        .operations()
}

#[tokio::test]
async fn an_answer_with_another_tag_is_an_alarm_and_stops_a_bulk_rotation() {
    let (world, proxy) = world_with_proxy().await;
    for group in ["hooli", "initech", "umbrella"] {
        world.seed(Side::Testing, group, group, &[], &json!({}));
        let met = world.operations(Side::Testing);
        met.look_up(&id(group), UnknownIdPolicy::Exists)
            .await
            .expect("known now");
    }
    let misled = expecting_another_tag(&world, &proxy);
    let ids = ["acme", "globex", "hooli", "initech", "umbrella"].map(id);
    let plan = misled.plan_batch(&ids, false).await.expect("readable");
    assert_eq!(plan.ready.len(), 5, "no tag is known yet");
    let batch = misled.begin_batch(&plan, None).await.expect("durable");
    let pace = RunLimits {
        concurrency: 1,
        ..RunLimits::default()
    };
    let mut run = misled
        .run_batch(batch, pace, None)
        .await
        .expect("it begins");
    let mut notes = Vec::new();
    let report = loop {
        match run.progress.recv().await.expect("it tells how it ended") {
            BatchEvent::Ended(one) if one.status != ItemStatus::NotStarted => {
                assert!(one.wrong_environment, "{one:?}");
                notes.extend(one.note);
            }
            BatchEvent::Finished(report) => break report,
            _ => {}
        }
    };
    assert_eq!(report.halt, Some(Halt::Conflict(id("acme"))));
    assert_eq!((report.counts.conflict, report.counts.not_started), (1, 4));
    assert_eq!(
        proxy.count("POST"),
        1,
        "nothing was started after the alarm"
    );
    assert!(
        notes[0].contains("ALARM") && notes[0].contains("tagged Testing"),
        "{notes:?}"
    );
}

#[tokio::test]
async fn an_update_answered_with_another_tag_is_done_and_an_alarm() {
    let (world, proxy) = world_with_proxy().await;
    let misled = expecting_another_tag(&world, &proxy);
    let known = UnknownIdPolicy::KnownOnly;
    let done = misled
        .update(&id("acme"), &DesiredFields::default(), &wanted(), known)
        .await;
    let done = done.expect("it was done");
    let alarm = done.warnings.iter().find(|warning| warning.is_alarm());
    assert!(
        matches!(alarm, Some(Warning::WrongTag { .. })),
        "{:?}",
        done.warnings
    );
    assert_eq!(
        proxy.methods(),
        ["GET", "PUT"],
        "nothing follows an alarm, not even the read"
    );
    // From now on nothing is sent until a person has resolved the alarm.
    let again = misled.rotate(&id("acme"), None, known).await;
    assert!(matches!(again, Err(Failure::Place(_))), "{again:?}");
    assert_eq!(proxy.count("POST"), 0);
}

#[tokio::test]
async fn a_forbidden_hand_off_leaves_the_new_token_waiting() {
    let (world, _meddler) = world_with_proxy().await;
    let folder = tempfile::tempdir().expect("a folder");
    let taken = folder.path().join("taken");
    let handoff = HandOffCommand {
        command: vec!["/usr/bin/tee".into(), taken.display().to_string()],
        timeout: std::time::Duration::from_secs(30),
    };
    let installation = world.installation(Side::Testing).with(|profile| {
        profile.handoff = Some(handoff);
        profile.guards = forbids(Operation::HandOff);
    });
    let guarded = installation.operations();
    let done = guarded
        .rotate(&id("acme"), None, UnknownIdPolicy::KnownOnly)
        .await;
    let done = guarded.confirm(done.expect("rotated")).await;
    let handed = guarded
        .hand_off(&done)
        .await
        .expect("there is a batch to resume");
    assert_eq!(handed.handoff.state, HandOffState::Pending);
    let note = handed.handoff.note.unwrap_or_default();
    assert!(note.contains("change freeze"), "{note}");
    assert!(!taken.exists(), "the command was not run");
    let waiting = guarded.pending_hand_offs().await.expect("readable");
    assert_eq!(waiting.len(), 1, "somebody with the right can do it later");
}
