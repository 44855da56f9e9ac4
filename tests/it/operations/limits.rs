//! Limits without a loophole: by no operation is anything sent that the profile forbids.

use super::*;
use groupdesk::config::guard::Operation;

const NEW: &str = "only-in-a-file";

/// Every operation that could send a change, or a read that could create, by an installation for its kind.
async fn every_way(
    scene: &Scene,
    with: impl Fn(Operation) -> Operations,
) -> Vec<(&'static str, Failure)> {
    let plan = scene.ana.plan_batch(&[id(ACME)], true).await;
    let plan = plan.expect("readable");
    let batch = scene.ana.begin(&plan).await.expect("begun");
    let (acme, new, name) = (id(ACME), id("new"), only_name("New"));
    let (nothing, limits) = (DesiredFields::default(), RunLimits::default());
    #[rustfmt::skip] // A table: one case per line.
    let refused = [
        ("create", with(Operation::Create).create(&new, &name).await.err()),
        ("read what may not be there", with(Operation::Create).look_up(&new, EXISTS).await.err()),
        ("read what only a file told of", with(Operation::Create).look_up(&id(NEW), EXISTS).await.err()),
        ("update", with(Operation::Update).update(&acme, &nothing, &name, KNOWN).await.err()),
        ("rotate", with(Operation::Rotate).rotate(&acme, None, KNOWN).await.err()),
        ("rotate what was seen", with(Operation::Rotate).rotate_seen(&acme, None, None, KNOWN).await.err()),
        ("resume", with(Operation::Rotate).run_batch(batch, limits, None).await.err()),
        ("rotate in bulk", with(Operation::Rotate).begin(&plan).await.err()),
        ("bulk", with(Operation::Bulk).begin(&plan).await.err()),
    ];
    let refused = refused.into_iter();
    refused
        .map(|(what, failure)| (what, failure.unwrap_or_else(|| panic!("{what} was done"))))
        .collect()
}

async fn scene() -> Scene {
    let scene = Scene::new().await;
    let row = row(NEW, DesiredFields::default());
    scene.ana.import(vec![row], false).await.expect("written");
    scene
}

fn guards(operation: Operation, rule: Rule) -> Vec<Guard> {
    vec![Guard {
        operation,
        rule,
        reason: "ask first".into(),
    }]
}

#[tokio::test]
async fn a_read_only_profile_refuses_every_operation() {
    let scene = scene().await;
    let reader = scene.installation();
    let reader = reader.with(|profile| profile.read_only = true).operations();
    for (what, failure) in every_way(&scene, |_| reader.clone()).await {
        assert_is!(failure, Failure::ReadOnly { .. }, "{what}: {failure}");
    }
    assert_eq!(scene.proxy.methods(), [""; 0], "nothing was sent");
    super::look_up(&reader).await.expect("reading is allowed");
}

#[tokio::test]
async fn a_guard_holds_for_every_operation() {
    let scene = scene().await;
    let with = |operation| {
        let guarded = scene.installation();
        let guarded = guarded.with(|profile| profile.guards = guards(operation, Rule::Forbid));
        guarded.operations()
    };
    let mut refused = every_way(&scene, with).await;
    let row = RotationId(1);
    let closed = with(Operation::Abandon).abandon(row, "x").await;
    refused.push(("abandon", closed.expect_err("forbidden")));
    let handed = with(Operation::HandOff).hand_off_again(row).await;
    refused.push(("hand off", handed.expect_err("forbidden")));
    for (what, failure) in refused {
        let said = failure.to_string();
        assert_is!(failure, Failure::Forbidden { reason, .. } if reason == "ask first", "{what}: {said}");
        assert_has(&said, "is forbidden in profile testing");
        assert_has(&said, "nothing was sent");
    }
    assert_eq!(scene.proxy.methods(), [""; 0], "nothing was sent");
    // Operations not named by a guard stay allowed.
    let done = super::rotate(&with(Operation::Update)).await;
    done.expect("rotated");
}

#[tokio::test]
async fn a_batch_over_the_limit_of_profile_or_guard_neither_begins_nor_resumes() {
    let scene = Scene::new().await;
    scene.meet("globex").await;
    let plan = scene.ana.plan_batch(&[id(ACME), id("globex")], false).await;
    let plan = plan.expect("readable");
    let batch = scene.ana.begin(&plan).await.expect("begun");
    for (most, may) in [(0, false), (1, false), (2, true)] {
        let limited = scene.installation();
        let by_profile = limited.with(|profile| profile.max_bulk = most);
        let limited = scene.installation();
        let max = guards(Operation::Bulk, Rule::Max(most));
        let by_guard = limited.with(|profile| profile.guards = max);
        let why = format!("at most {most} at once");
        for (limited, why) in [(by_profile, &*why), (by_guard, "ask first")] {
            let limited = limited.operations();
            let begun = limited.begin(&plan).await;
            assert_eq!(begun.is_ok(), may, "{most}: {begun:?}");
            if let Err(refused) = begun {
                assert_has(&refused.to_string(), why);
                let resumed = limited.run_batch(batch, RunLimits::default(), None).await;
                assert_is!(resumed.map(drop), Err(Failure::Forbidden { .. }));
            }
        }
    }
    assert_eq!(scene.proxy.count("POST"), 0);
    let ran = scene.ana.run_through(batch, RunLimits::default()).await;
    ran.expect("within it");
    assert_eq!(scene.proxy.count("POST"), 2);
}

#[tokio::test]
async fn a_group_known_only_from_a_file_is_not_read() {
    let scene = scene().await;
    let refused = scene.ana.look_up(&id(NEW), KNOWN).await;
    let refused = refused.expect_err("it could create it");
    assert_eq!(refused.class(), Class::Guarded);
    assert_has(&refused.to_string(), "comes from a file");
    let plan = scene.ana.plan_batch(&[id(NEW)], false).await;
    let plan = plan.expect("readable");
    assert!(plan.ready.is_empty(), "{plan:?}");
    assert_eq!(scene.proxy.methods(), [""; 0], "nothing was sent");
    assert!(scene.world.find_stored(Side::Testing, NEW).is_none());
}

#[tokio::test]
async fn a_group_created_here_has_a_token_age_from_its_creation() {
    let scene = Scene::new().await;
    let made = scene.ana.create(&id("made"), &only_name("New")).await;
    made.expect("made");
    let made = scene.ana.show(&id("made")).await.expect("readable");
    let made = made.expect("known");
    assert_eq!(made.last_rotated, None);
    let age = |group| groupdesk::domain::age::age(group, scene.ana.now());
    assert!(age(&made).is_some(), "{made:?}");
    let acme = known(&scene.ana).await;
    assert_eq!(age(&acme), None, "nobody saw it being created");
}
