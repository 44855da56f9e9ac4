//! The world that demo, tests and pictures share.

use groupdesk::{
    domain::{
        history::{Ending, Operation},
        rotation::State,
    },
    operations::{Clock, Operations, UnknownIdPolicy},
};

use super::program::Home;
use crate::support::at_once::{AtOnce as _, demo};

#[tokio::test]
async fn the_world_is_consistent_and_leaves_nothing_behind() {
    let world = demo(None, Clock::System).await.expect("a world");
    let file = world.directory_file();
    let folder = file.parent().expect("a folder");
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
    let history = operations.history(None, None).await.expect("a history");
    let lines = history.iter().map(|line| &line.value);
    let lines: Vec<_> = lines
        .filter(|line| line.operation == Operation::Rotate)
        .collect();
    for row in &rows {
        let id = &row.user_group_id;
        assert_eq!(row.rotation.state, State::Confirmed, "{id}");
        let group = groups.iter().find(|group| group.id == *id).expect("known");
        let rotated = group.last_rotated.as_ref().expect("rotated");
        assert_eq!(
            (&rotated.at, &rotated.by),
            (&row.started_at, &Some(row.by.clone()))
        );
        let of_it = lines.iter().filter(|line| line.user_group_id == *id);
        let endings: Vec<_> = of_it.map(|line| line.ending).collect();
        assert_eq!(endings, [Ending::Confirmed, Ending::Rotated], "{id}");
    }
    assert_eq!(lines.len(), 2 * rows.len(), "no line without its journal");
}

#[tokio::test]
async fn as_many_groups_are_generated_as_asked_for() {
    let world = demo(Some(250), Clock::System).await.expect("a world");
    assert_eq!(world.testing.list().await.expect("a list").len(), 250);
    assert_eq!(world.production.list().await.expect("a list").len(), 25);
    world.end().await;
    let empty = demo(Some(0), Clock::System).await.expect("a world");
    assert!(empty.testing.list().await.expect("a list").is_empty());
    empty.end().await;
}

/// Options that no command may ignore, because somebody relies on them.
#[tokio::test]
async fn the_demo_and_the_service_do_not_ignore_global_options() {
    let mut home = Home::new();
    let _held = home.hold("--read-only -P production demo --hold").await;
    home.exits(3, "update acme-eu --name x --yes")
        .await
        .says("profile production is read-only");

    let alone = Home::new();
    #[rustfmt::skip] // A table: one command a line.
    alone.each(&[
        (2, "demo --hold -P live", "Use production or testing"),
        (2, "demo --hold --config x", "Remove --config"),
        (2, "demo --hold --directory x", "Remove --directory"),
        (2, "serve --read-only", "nothing was started"),
    ]).await;
}
