//! What waits for a person (concerns) over two profiles of one directory, found without reading an API key.

use groupdesk::{
    config::{guard::Level, profile::KeySource},
    directory::{BatchId, BatchOptions, BatchRun, ItemKey, NewBatch, RunId},
    domain::{
        batch::{BatchKind, BulkChange, ItemEdit, OnlyWhere, Target},
        change::DesiredFields,
        draft::{Draft, DraftFields},
        history::Ending,
        merge::Part,
    },
    operations::{
        Operations,
        attention::{Concern, ConcernKind},
    },
};
use jiff::Timestamp;
use serde_json::json;

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
        options: BatchOptions::default(),
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
        loaded_from: None,
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

/// A batch of one group that has ended without changing it.
async fn failed_batch(world: &World, kind: BatchKind, at: Timestamp, noted: i64) -> BatchId {
    let edit = match &kind {
        BatchKind::Rotate => None,
        BatchKind::Edit(_) => Some(ItemEdit {
            base: DesiredFields::default(),
            to: Some("\"silver\"".into()),
        }),
    };
    let batch = NewBatch {
        options: BatchOptions::default(),
        by: ANA.into(),
        reason: None,
        at,
        noted,
        kind,
        items: vec![(id(ACME), edit)],
    };
    let place = world.place(Side::Testing);
    let directory = world.directory();
    let batch = directory.begin_batch(place, batch).await.expect("durable");
    let run = BatchRun {
        id: RunId(batch.0),
        by: ANA.into(),
        process: None,
        is_paused: false,
        since: at,
        seen: at,
        boot_clock: None,
    };
    directory.begin_run(batch, run).await.expect("durable");
    let item = ItemKey { batch, position: 0 };
    let ended = directory.end_item(item, Ending::Refused, "no".into());
    assert!(ended.await.expect("written"));
    let run = (batch, RunId(batch.0));
    let ended = directory.end_run(run, at, None, false).await;
    assert!(ended.expect("written"), "the batch has ended");
    batch
}

#[tokio::test]
async fn what_ended_batches_did_not_do_counts_until_it_is_done_or_hidden() {
    let scene = Scene::new().await;
    let (world, now) = (&scene.world, Timestamp::now());
    let all = [scene.ana.clone()];
    let left = async || {
        let found = concerns(&all, 0).await.into_iter();
        let found = found.filter(Concern::is_counted);
        let of = |one: Concern| match one.kind {
            ConcernKind::NotDone(batch, count) => (batch.id, count),
            other => panic!("{other:?}"),
        };
        found.map(of).collect::<Vec<_>>()
    };
    super::look_up(&scene.ana).await.expect("found");
    let noted = scene.ana.last_number().await.expect("readable");
    let first = failed_batch(world, BatchKind::Rotate, now, noted).await;
    assert_eq!(left().await, [(first, 1)]);
    // Tried again in vain: that is the matter of the later batch.
    let second = failed_batch(world, BatchKind::Rotate, now, noted).await;
    assert_eq!(left().await, [(second, 1)]);
    let row = concerns(&all, 0).await.remove(0);
    scene.ana.hide_concern(&row).await.expect("written");
    assert_eq!(left().await, []);
    scene.ana.unhide_concern(&row).await.expect("written");
    super::rotate(&scene.ana).await.expect("rotated by itself");
    assert_eq!(left().await, []);

    let change = BulkChange {
        row: Part::Property("tier".into()),
        to: Target::Value(Some("\"silver\"".into())),
        only_where: OnlyWhere::Any,
    };
    let edit = BatchKind::Edit(change);
    let third = failed_batch(world, edit, now, noted).await;
    assert_eq!(left().await, [(third, 1)]);
    let base = super::wanted("Acme Europe", &[("7", "40")], &json!({"tier": "gold"}));
    let wanted = super::wanted("Acme Europe", &[("7", "40")], &json!({"tier": "silver"}));
    let updated = super::update(&scene.ana, &base, &wanted).await;
    updated.expect("it has the value by now");
    assert_eq!(left().await, []);
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
