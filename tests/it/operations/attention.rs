//! What waits for a person (concerns) over two profiles of one directory, found without reading an API key.

use super::*;
use groupdesk::domain::batch;

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

fn batch(by: &str, at: Timestamp, kind: BatchKind, edit: Option<ItemEdit>) -> NewBatch {
    NewBatch {
        options: BatchOptions::default(),
        by: by.into(),
        reason: None,
        at,
        noted: 0,
        kind,
        items: vec![(id(ACME), edit)],
    }
}

/// A batch of one group that was begun and never run.
async fn unfinished_batch(world: &World, side: Side, by: &str, at: Timestamp) -> BatchId {
    let batch = batch(by, at, BatchKind::Rotate, None);
    let begun = world.directory().begin_batch(world.place(side), batch);
    begun.await.expect("durable")
}

#[tokio::test]
async fn concerns_of_two_profiles_are_found_and_no_key_is_read() {
    let scene = Scene::new().await;
    lose_rotation(&scene).await;
    let world = &scene.world;
    unfinished_batch(world, Side::Production, ANA, Timestamp::now()).await;
    let draft = fields::draft(ACME, Timestamp::now());
    scene.ana.keep_draft(draft, None).await.expect("kept");
    // Of another console, which has not seen it.
    let later = Timestamp::now() + SignedDuration::from_secs(1);
    let mut newer = fields::draft(ACME, later);
    newer.typed.name = "another name".into();
    scene
        .ana
        .keep_draft(newer.clone(), None)
        .await
        .expect("kept");
    // The same text in a third console is no version.
    newer.changed_at -= SignedDuration::from_millis(500);
    scene.ana.keep_draft(newer, None).await.expect("kept");
    // Bound in an earlier session; its keys come from a command that leaves a trace when it runs.
    let folder = crate::support::folder::temporary();
    let trace = folder.path().join("asked");
    let asks = ["touch".to_owned(), trace.display().to_string()];
    let all = [Side::Testing, Side::Production].map(|side| {
        let installation = world.installation(side);
        installation.clone().operations();
        let asking = KeySource::Command(asks.to_vec());
        installation
            .with(|profile| profile.api_key = asking)
            .unbound()
    });
    let expected = [
        (Some(0), "rotation"),
        (Some(1), "batch"),
        (Some(0), "draft"),
    ];
    let found = concerns(&all, 0).await;
    assert_eq!(named(&found), expected, "the worst first: {found:?}");
    let is_one = |one: &Concern| {
        matches!(one.kind, ConcernKind::Draft(_, 2))
            && one
                .since
                .is_some_and(|at| at > later - SignedDuration::from_millis(1))
    };
    assert!(found.iter().any(is_one), "one row of a person: {found:?}");
    assert!(!trace.exists(), "an API key was asked for");
    let counted = Operations::attention(&all, 0, false).await;
    let counted = counted.expect("readable").concerns;
    assert_eq!(named(&counted), expected[..2], "enough for the counts");
    // Only a request would have run that command.
    assert!(all[0].bound().await.is_err());
    assert!(trace.exists());
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
        noted,
        ..batch(ANA, at, kind, edit)
    };
    let place = world.place(Side::Testing);
    let directory = world.directory();
    let batch = directory.begin_batch(place, batch).await.expect("durable");
    let run = begun_run(RunId(batch.0), ANA, at);
    directory.begin_run(batch, run).await.expect("durable");
    let item = ItemKey { batch, position: 0 };
    let ended = directory.end_item(item, Ending::Refused, "no".into());
    assert!(ended.await.expect("written"));
    let run = (batch, RunId(batch.0));
    let ended = directory.end_run(run, at, None, Vec::new()).await;
    assert!(ended.expect("written"), "the batch has ended");
    batch
}

#[tokio::test]
async fn what_ended_batches_did_not_do_counts_until_it_is_done() {
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
    let noted = scene.ana.directory().last_number().await.expect("readable");
    let first = failed_batch(world, BatchKind::Rotate, now, noted).await;
    assert_eq!(left().await, [(first, 1)]);
    // Tried again in vain: that is the matter of the later batch.
    let second = failed_batch(world, BatchKind::Rotate, now, noted).await;
    assert_eq!(left().await, [(second, 1)]);
    super::rotate(&scene.ana).await.expect("rotated by itself");
    assert_eq!(left().await, []);

    let change = BulkChange {
        row: Part::property("tier"),
        to: batch::Target::Value(Some("\"silver\"".into())),
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
        let operations = scene.world.installation(side).at(now).operations();
        let asked = operations.plan_resumption(batch, true).await;
        let asked = asked.expect("readable");
        assert_eq!(asked.level, expected, "{side:?} {by} {hours} h");
        assert_eq!((asked.left(), asked.batch.is_run()), (1, false));
        // A batch with nothing left sends nothing: a single key closes it.
        let item = ItemKey { batch, position: 0 };
        let directory = scene.world.directory();
        let ended = directory.end_item(item, Ending::NotApplied, "no".into());
        assert!(ended.await.expect("written"));
        let asked = operations.plan_resumption(batch, true).await;
        assert_eq!(asked.expect("readable").level, Level::Key, "{side:?} {by}");
    }
}

/// Nothing else tells of it once the command is gone, also if the answer was lost.
#[tokio::test]
async fn the_new_token_of_one_rotation_that_is_in_no_file_is_named_until_it_is() {
    let scene = Scene::new().await;
    let target = Target {
        to_file: true,
        ..Target::default()
    };
    let rotated = scene.ana.rotate_seen(&id(ACME), target, None, KNOWN).await;
    let done = scene.ana.confirm(rotated.expect("rotated")).await;
    let alone = std::slice::from_ref(&scene.ana);
    let found = concerns(alone, 0).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_is!(&found[0].kind, ConcernKind::UnwrittenToken(_, group) if *group == id(ACME));
    assert!(found[0].is_counted());
    scene.ana.note_written(&done).await;
    assert_eq!(concerns(alone, 0).await, []);
}

#[tokio::test]
async fn what_is_left_of_a_batch_is_open_in_an_environment_without_a_profile() {
    let scene = Scene::new().await;
    let side = Side::Production;
    unfinished_batch(&scene.world, side, ANA, Timestamp::now()).await;
    let alone = std::slice::from_ref(&scene.ana);
    let found = concerns(alone, 0).await;
    let [
        Concern {
            kind: ConcernKind::NoProfile(1),
            ..
        },
    ] = &found[..]
    else {
        panic!("{found:?}");
    };
}
