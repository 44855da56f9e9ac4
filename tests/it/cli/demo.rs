//! The world that demo, tests and pictures share.

use groupdesk::{
    demo::World,
    domain::{
        group::UserGroupId,
        history::{Ending, Operation},
        rotation::State,
    },
    operations::{Clock, Operations, UnknownIdPolicy},
};
use jiff::Timestamp;

use super::program::Home;
use crate::support::assertions::assert_has;

#[tokio::test]
async fn the_world_is_consistent_and_leaves_nothing_behind() {
    let world = World::start(None).await.expect("a world");
    let folder = world.folder().to_owned();
    for operations in [&world.production, &world.testing] {
        let groups = operations.list().await.expect("a list");
        assert!(groups.len() >= 8, "{}", operations.profile().name);
        for group in groups {
            let done = operations
                .look_up(&group.id, UnknownIdPolicy::KnownOnly)
                .await
                .expect("found");
            assert_eq!(done.ending, Ending::Found);
            assert_eq!(
                done.warnings,
                [],
                "the directory agrees with the service: {}",
                group.id
            );
            assert_eq!(done.group.last_rotated, group.last_rotated);
        }
        assert_rotations_agree(operations).await;
        let history = operations.history(None, None).await.expect("a history");
        assert!(history.len() >= 4);
        assert!(
            history.is_sorted_by(|a, b| a.value.at >= b.value.at),
            "the newest first"
        );
    }
    assert_eq!(world.production.profile().environment_word(), "PRODUCTION");
    assert_eq!(world.testing.profile().environment_word(), "TESTING");
    assert!(folder.exists());
    world.end().await;
    assert!(!folder.exists());
}

/// The list, the history and the journal agree on the rotations.
async fn assert_rotations_agree(operations: &Operations) {
    let rows = operations.rotations().await.expect("a journal");
    let groups = operations.list().await.expect("a list");
    let rotated = groups.iter().filter(|group| group.last_rotated.is_some());
    assert_eq!(rows.len(), rotated.count());
    assert!(rows.len() >= 7, "{}", rows.len());
    assert!(rows.is_sorted_by(|a, b| a.started_at >= b.started_at));
    let history = operations.history(None, None).await.expect("a history");
    let mut told = 0;
    for row in &rows {
        let id = &row.user_group_id;
        let group = groups.iter().find(|group| group.id == *id).expect("known");
        assert_eq!(row.rotation.state, State::Confirmed, "{id}");
        let rotated = group.last_rotated.as_ref().expect("rotated");
        assert_eq!(rotated.at, row.started_at, "{id}");
        assert_eq!(rotated.by.as_ref(), Some(&row.by), "{id}");
        assert_eq!(
            row.rotation.fingerprint,
            group.fingerprint.as_ref().map(|known| known.value),
            "{id}"
        );
        let lines = history.iter().map(|line| &line.value);
        let lines: Vec<_> = lines
            .filter(|line| line.operation == Operation::Rotate && line.user_group_id == *id)
            .collect();
        let endings: Vec<_> = lines.iter().map(|line| line.ending).collect();
        assert_eq!(endings, [Ending::Confirmed, Ending::Rotated], "{id}");
        for line in lines {
            assert_eq!(line.previous_fingerprint, Some(row.rotation.previous));
            assert_eq!(line.fingerprint, row.rotation.fingerprint);
            assert_eq!((&line.by, &line.reason), (&row.by, &row.reason));
            told += 1;
        }
    }
    let lines = history.iter().map(|line| line.value.operation);
    let lines = lines.filter(|operation| *operation == Operation::Rotate);
    assert_eq!(lines.count(), told, "no line without its journal");
}

#[tokio::test]
async fn a_world_can_have_a_fixed_time() {
    let now: Timestamp = "2026-11-20T12:00:00Z".parse().expect("a time");
    let world = World::start_at(None, Clock::Fixed(now))
        .await
        .expect("a world");
    let id = UserGroupId::parse("acme-eu").expect("an ID");
    let group = world
        .production
        .show(&id)
        .await
        .expect("readable")
        .expect("known");
    assert_eq!(
        group.last_seen.map(|at| at.to_string()).as_deref(),
        Some("2026-11-20T09:00:00Z")
    );
    world.end().await;
}

#[tokio::test]
async fn as_many_groups_are_generated_as_asked_for() {
    let world = World::start(Some(250)).await.expect("a world");
    assert_eq!(world.testing.list().await.expect("a list").len(), 250);
    assert_eq!(world.production.list().await.expect("a list").len(), 25);
    world.end().await;
    let empty = World::start(Some(0)).await.expect("a world");
    assert!(empty.testing.list().await.expect("a list").is_empty());
    empty.end().await;
}

/// Options that no command may ignore, because somebody relies on them.
#[tokio::test]
async fn the_demo_and_the_service_do_not_ignore_global_options() {
    let mut home = Home::new();
    let _held = home
        .hold(&["--read-only", "-P", "production", "demo", "--hold"])
        .await;
    let ran = home
        .run(&["update", "acme-eu", "--name", "x", "--yes"])
        .await;
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_has(&ran.err, "profile production is read-only");

    let alone = Home::new();
    for (arguments, said) in [
        (
            &["demo", "--hold", "-P", "live"][..],
            "Use production or testing",
        ),
        (&["demo", "--hold", "--config", "x"], "Leave out --config"),
        (
            &["demo", "--hold", "--directory", "x"],
            "Leave out --directory",
        ),
        (&["serve", "--read-only"], "nothing was started"),
    ] {
        let ran = alone.run(arguments).await;
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        assert_has(&ran.err, said);
    }
}
