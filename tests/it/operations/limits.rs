//! Limits without a loophole: by no operation is anything sent that the profile forbids.

use groupdesk::{
    config::guard::{Guard, Operation, Rule},
    domain::{annotation::AnnotationChange, change::DesiredFields},
    formats::GroupRow,
    operations::{Class, Failure, Operations, UnknownIdPolicy, batch::RunLimits},
};

use serde_json::json;

use super::{ACME, Scene, wanted};
use crate::support::world::{Side, id};

const NEW: &str = "only-in-a-file";

/// Every operation that could send a change, or a read that could create.
async fn every_way(scene: &Scene, with: impl Fn() -> Operations) -> Vec<(&'static str, Failure)> {
    let batch = {
        let plan = scene.ana.plan_batch(&[id(ACME)], true).await;
        scene.ana.begin_batch(&plan.expect("readable"), None).await
    };
    let batch = batch.expect("begun");
    let (known, exists) = (UnknownIdPolicy::KnownOnly, UnknownIdPolicy::Exists);
    let acme = id(ACME);
    let mut refused = Vec::new();
    let mut add = |what, failure: Option<Failure>| {
        refused.push((what, failure.unwrap_or_else(|| panic!("{what} was done"))));
    };
    add(
        "create",
        with()
            .create(&id("new"), &wanted("New", &[], &json!({})))
            .await
            .err(),
    );
    let base = DesiredFields::default();
    let update = with()
        .update(&acme, &base, &wanted("New", &[], &json!({})), known)
        .await;
    add("update", update.err());
    add("rotate", with().rotate(&acme, None, known).await.err());
    let seen = with().rotate_seen(&acme, None, None, known).await;
    add("rotate what was seen", seen.err());
    let resumed = with().run_batch(batch, RunLimits::default(), None).await;
    add("resume", resumed.err());
    let plan = with()
        .plan_batch(&[id(ACME)], true)
        .await
        .expect("readable");
    add("bulk", with().begin_batch(&plan, None).await.err());
    let unknown = with().look_up(&id("unknown"), exists).await;
    add("read what may not be there", unknown.err());
    let imported = with().look_up(&id(NEW), exists).await;
    add("read what only a file told of", imported.err());
    refused
}

async fn scene() -> Scene {
    let scene = Scene::new().await;
    let row = GroupRow {
        id: id(NEW),
        fields: DesiredFields::default(),
        annotation: AnnotationChange::default(),
        parts: groupdesk::formats::Parts::default(),
    };
    scene.ana.import(vec![row], false).await.expect("written");
    scene
}

#[tokio::test]
async fn a_read_only_profile_refuses_every_operation() {
    let scene = scene().await;
    let with = || {
        let installation = scene
            .installation()
            .with(|profile| profile.read_only = true);
        installation.operations()
    };
    let before = scene.proxy.methods().len();
    for (what, failure) in every_way(&scene, with).await {
        assert!(
            matches!(failure, Failure::ReadOnly { .. }),
            "{what}: {failure}"
        );
    }
    assert_eq!(scene.proxy.methods().len(), before, "nothing was sent");
}

#[tokio::test]
async fn a_guard_holds_for_every_operation() {
    let scene = scene().await;
    let all = [
        Operation::Create,
        Operation::Update,
        Operation::Rotate,
        Operation::Bulk,
    ];
    let guards: Vec<_> = all
        .into_iter()
        .map(|operation| Guard {
            operation,
            rule: Rule::Forbid,
            reason: "ask first".into(),
        })
        .collect();
    let with = || {
        let guards = guards.clone();
        scene
            .installation()
            .with(|profile| profile.guards = guards)
            .operations()
    };
    let before = scene.proxy.methods().len();
    for (what, failure) in every_way(&scene, with).await {
        assert!(
            matches!(&failure, Failure::Forbidden { reason, .. } if reason == "ask first"),
            "{what}: {failure}"
        );
    }
    assert_eq!(scene.proxy.methods().len(), before, "nothing was sent");
}

#[tokio::test]
async fn a_batch_over_a_tightened_limit_is_not_resumed() {
    let scene = Scene::new().await;
    scene
        .world
        .seed(Side::Testing, "globex", "Globex", &[], &json!({}));
    let globex = scene
        .ana
        .look_up(&id("globex"), UnknownIdPolicy::Exists)
        .await;
    globex.expect("found");
    let plan = scene.ana.plan_batch(&[id(ACME), id("globex")], false).await;
    let batch = scene.ana.begin_batch(&plan.expect("readable"), None).await;
    let batch = batch.expect("begun");
    for most in [0, 1] {
        let by_profile = scene.installation().with(|profile| profile.max_bulk = most);
        let by_guard = scene.installation().with(|profile| {
            profile.guards = vec![Guard {
                operation: Operation::Bulk,
                rule: Rule::Max(most),
                reason: "slowly".into(),
            }];
        });
        for installation in [by_profile, by_guard] {
            let run = installation
                .operations()
                .run_batch(batch, RunLimits::default(), None)
                .await;
            let refused = run.expect_err("over the limit");
            assert!(matches!(refused, Failure::Forbidden { .. }), "{refused}");
        }
    }
    assert_eq!(scene.proxy.count("POST"), 0);
    let run = scene.ana.run_batch(batch, RunLimits::default(), None).await;
    let mut progress = run.expect("within it").progress;
    while progress.recv().await.is_some() {}
    assert_eq!(scene.proxy.count("POST"), 2);
}

#[tokio::test]
async fn a_group_known_only_from_a_file_is_not_read() {
    let scene = scene().await;
    let before = scene.proxy.methods().len();
    let refused = scene
        .ana
        .look_up(&id(NEW), UnknownIdPolicy::KnownOnly)
        .await;
    let refused = refused.expect_err("it could create it");
    assert_eq!(refused.class(), Class::Guarded);
    assert!(
        refused.to_string().contains("comes from a file"),
        "{refused}"
    );
    let plan = scene
        .ana
        .plan_batch(&[id(NEW)], false)
        .await
        .expect("readable");
    assert!(plan.ready.is_empty(), "{plan:?}");
    assert_eq!(scene.proxy.methods().len(), before, "nothing was sent");
    assert!(scene.world.find_stored(Side::Testing, NEW).is_none());
}

#[tokio::test]
async fn a_group_created_here_has_a_token_age_from_its_creation() {
    let scene = Scene::new().await;
    scene
        .ana
        .create(&id("made"), &wanted("New", &[], &json!({})))
        .await
        .expect("made");
    let known = scene.ana.show(&id("made")).await.expect("readable");
    let known = known.expect("known");
    assert_eq!(known.last_rotated, None);
    let age = groupdesk::domain::age::age(&known, scene.ana.now());
    assert!(age.is_some(), "{known:?}");
    let acme = scene.ana.show(&id(ACME)).await.expect("readable");
    let age = groupdesk::domain::age::age(&acme.expect("known"), scene.ana.now());
    assert_eq!(age, None, "nobody saw it being created");
}
