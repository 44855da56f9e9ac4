//! What waits for a person (concerns) over two profiles of one directory, found without reading an API key.

use groupdesk::{
    config::{guard::Level, profile::KeySource},
    directory::{BatchId, ItemKey, NewBatch},
    domain::{
        batch::BatchKind,
        change::DesiredFields,
        draft::{Draft, DraftFields},
        history::Ending,
    },
    operations::{
        Operations,
        attention::{Concern, ConcernKind},
    },
};
use jiff::Timestamp;

use super::{ACME, Scene, places::lose_rotation};
use crate::support::world::{ANA, Side, World, id};

fn named(concerns: &[Concern]) -> Vec<(Option<usize>, &'static str)> {
    let name = |matter: &ConcernKind| match matter {
        ConcernKind::Rotation(..) => "rotation",
        ConcernKind::Batch(_) => "batch",
        ConcernKind::Draft(..) => "draft",
        _ => "other",
    };
    let named = concerns.iter().map(|one| (one.profile, name(&one.kind)));
    named.filter(|(_, name)| *name != "other").collect()
}

async fn concerns(all: &[Operations], first: usize) -> Vec<Concern> {
    let found = Operations::attention(all, first, true).await;
    found.expect("readable").concerns
}

/// A batch of one group that was begun and never run.
async fn unfinished_batch(world: &World, side: Side, by: &str, at: Timestamp) -> BatchId {
    let batch = NewBatch {
        by: by.into(),
        reason: None,
        at,
        noted: 0,
        kind: BatchKind::Rotate,
        items: vec![(id(ACME), None)],
    };
    let begun = world.directory().begin_batch(world.place(side), batch);
    begun.await.expect("durable")
}

#[tokio::test]
async fn concerns_of_two_profiles_are_found_and_no_key_is_read() {
    let scene = Scene::new().await;
    lose_rotation(&scene).await;
    let world = &scene.world;
    unfinished_batch(world, Side::Production, ANA, Timestamp::now()).await;
    let draft = Draft {
        user_group_id: id(ACME),
        creating: false,
        typed: DraftFields::default(),
        base: DesiredFields::default(),
        base_at: Timestamp::now(),
        changed_at: Timestamp::now(),
    };
    scene.ana.keep_draft(draft, None).await.expect("kept");
    // Bound in an earlier session; its keys come from a command that leaves a trace when it runs.
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("asked");
    let asks = ["touch".to_owned(), trace.display().to_string()];
    let without_key = |side| {
        let installation = world.installation(side);
        installation.clone().operations();
        let installation =
            installation.with(|profile| profile.api_key = KeySource::Command(asks.to_vec()));
        installation.unbound()
    };
    let all = [without_key(Side::Testing), without_key(Side::Production)];
    let found = concerns(&all, 0).await;
    assert_eq!(
        named(&found),
        [
            (Some(0), "rotation"),
            (Some(1), "batch"),
            (Some(0), "draft")
        ],
        "the worst first: {found:?}"
    );
    assert!(!trace.exists(), "an API key was asked for");
    let counted = Operations::attention(&all, 0, false).await;
    let counted = counted.expect("readable").concerns;
    assert_eq!(
        named(&counted),
        [(Some(0), "rotation"), (Some(1), "batch")],
        "enough for the counts"
    );
    // Only a request would have run that command.
    assert!(all[0].bound().await.is_err());
    assert!(trace.exists());
}

#[tokio::test]
async fn a_hidden_row_returns_after_a_day_or_a_change_and_unknown_outcomes_still_count() {
    let scene = Scene::new().await;
    lose_rotation(&scene).await;
    let now = Timestamp::now();
    let batch = unfinished_batch(&scene.world, Side::Testing, ANA, now).await;
    let at = |hours: u64| {
        let later = now + std::time::Duration::from_hours(hours);
        [scene.installation().at(later).operations()]
    };
    let today = at(0);
    for concern in concerns(&today, 0).await {
        let until = today[0].hide_concern(&concern).await.expect("written");
        assert_eq!(until, now + std::time::Duration::from_hours(24));
    }
    let standing = async |all: &[Operations]| {
        let found = concerns(all, 0).await.into_iter();
        let found = found
            .filter(|one| matches!(one.kind, ConcernKind::Rotation(..) | ConcernKind::Batch(_)));
        let of = |one: Concern| (one.hidden_until.is_some(), one.is_counted());
        found.map(of).collect::<Vec<_>>()
    };
    // The rotation comes first, because its outcome is unknown.
    assert_eq!(standing(&at(23)).await, [(true, true), (true, false)]);
    assert_eq!(standing(&at(25)).await, [(false, true), (false, true)]);
    // A change of the batch brings it back.
    let item = ItemKey { batch, position: 0 };
    let ended = scene
        .world
        .directory()
        .end_item(item, Ending::NotApplied, "no".into());
    assert!(ended.await.expect("written"));
    assert_eq!(standing(&at(1)).await, [(true, true), (false, true)]);
    let all = concerns(&today, 0).await;
    let rotation = all.iter().find(|one| one.hidden_until.is_some());
    let rotation = rotation.expect("still hidden");
    today[0].unhide_concern(rotation).await.expect("written");
    assert_eq!(standing(&at(1)).await, [(false, true), (false, true)]);
}

#[tokio::test]
async fn resuming_asks_for_words_for_batches_of_others_and_of_another_day_in_production() {
    let scene = Scene::new().await;
    let now = Timestamp::now();
    for (side, by, hours, expected) in [
        (Side::Production, ANA, 23, Level::Key),
        (Side::Production, ANA, 25, Level::Words),
        (Side::Production, "li@desk7", 1, Level::Words),
        (Side::Testing, ANA, 25, Level::Key),
        (Side::Testing, "li@desk7", 25, Level::Key),
    ] {
        let at = now - std::time::Duration::from_hours(hours);
        let batch = unfinished_batch(&scene.world, side, by, at).await;
        let installation = scene.world.installation(side).at(now);
        let asked = installation.clone().operations();
        let asked = asked.plan_resumption(batch, true).await;
        let asked = asked.expect("readable");
        assert_eq!(asked.level, expected, "{side:?} {by} {hours} h");
        assert_eq!((asked.left(), asked.batch.is_run()), (1, false));
        // A batch with nothing left sends nothing: a single key closes it.
        let item = ItemKey { batch, position: 0 };
        let ended = scene
            .world
            .directory()
            .end_item(item, Ending::NotApplied, "no".into());
        assert!(ended.await.expect("written"));
        let asked = installation.operations().plan_resumption(batch, true).await;
        assert_eq!(asked.expect("readable").level, Level::Key, "{side:?} {by}");
    }
}
