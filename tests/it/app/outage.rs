//! What a lost directory does to the messages.

use std::time::Duration;

use groupdesk::tui::state::{
    message::{JobError, Msg, Outcome, ProfileIndex},
    outage::OutageReason,
};

use super::scene::{Scene, TESTING};

const UNREACHABLE: &str = "the directory cannot be reached; nothing was recorded";

fn lost(scene: &mut Scene) {
    let lost = Some((Duration::ZERO, OutageReason::Away));
    scene.msg(Msg::DirectoryState(ProfileIndex(TESTING), lost));
}

fn history_that_cannot_be_read(scene: &mut Scene, is_directory_outage: bool) {
    scene.keys("2");
    scene.answer_with(Outcome::Failed(JobError {
        is_directory_outage,
        ..JobError::of(UNREACHABLE)
    }));
}

/// The message that is shown on every screen.
fn shown(scene: &Scene) -> &str {
    let message = scene.app.context.messages.current();
    message.map_or("", |message| &message.text)
}

#[test]
fn what_the_outage_made_fail_gives_way_to_it() {
    let mut scene = Scene::on(TESTING);
    history_that_cannot_be_read(&mut scene, true);
    assert_eq!(shown(&scene), UNREACHABLE);
    lost(&mut scene);
    scene.shows("directory lost, ");
    assert!(shown(&scene).ends_with("your input stays here"));
}

#[test]
fn another_error_stays() {
    let mut scene = Scene::on(TESTING);
    history_that_cannot_be_read(&mut scene, false);
    lost(&mut scene);
    scene.shows("directory lost, ");
    assert_eq!(shown(&scene), UNREACHABLE);
}

#[test]
fn what_failed_during_the_outage_is_answered_by_its_end() {
    let mut scene = Scene::on(TESTING);
    lost(&mut scene);
    history_that_cannot_be_read(&mut scene, true);
    assert_eq!(shown(&scene), UNREACHABLE);
    scene.msg(Msg::DirectoryState(ProfileIndex(TESTING), None));
    assert_ne!(shown(&scene), UNREACHABLE);
}
