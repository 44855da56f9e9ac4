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

#[test]
fn each_reason_says_what_is_possible_now_and_what_it_waits_for() {
    for (why, text) in [
        (OutageReason::Away, "Directory lost since"),
        (OutageReason::Standby, "Nothing is sent until it is back"),
        (
            OutageReason::NotAllowed,
            "Nothing is sent until you have them",
        ),
        (
            OutageReason::Viewer,
            "You are a viewer of this directory: you can read it",
        ),
        (
            OutageReason::NotWritable,
            "you can read it, nothing is sent. Update groupdesk",
        ),
        (
            OutageReason::Moved,
            "you can read it, nothing is sent. To see where",
        ),
    ] {
        let mut scene = Scene::on(TESTING);
        let lost = Some((Duration::ZERO, why));
        scene.msg(Msg::DirectoryState(ProfileIndex(TESTING), lost));
        scene.says(text);
        assert!(!shown(&scene).contains("until then"), "{why:?}");
    }
}

#[test]
fn what_can_only_be_read_opens_no_form_and_still_shows_what_is_known() {
    for why in [
        OutageReason::Viewer,
        OutageReason::NotWritable,
        OutageReason::Moved,
    ] {
        let mut scene = Scene::on(TESTING);
        scene.msg(Msg::DirectoryState(
            ProfileIndex(TESTING),
            Some((Duration::ZERO, why)),
        ));
        let reason = scene.app.context.view_only_reason().expect("one");
        for key in ["e", "o", "a", "f", "t"] {
            assert_eq!(scene.keys(key), [], "{key}");
            scene.says(reason);
            assert_eq!(scene.focus(), "List", "{key}");
        }
        scene.walk("<space>").hides("T ROTATE").hides("B EDIT");
        scene.walk("<esc>?").shows(&reason[..12]);
        scene.walk("<esc>");
        assert_eq!(scene.keys("<enter>"), [], "it is opened, not read");
        assert_eq!(scene.focus(), "Group");
        scene.shows("Last known values, not read").hides("e edit");
        scene.walk("2").shows("History");
    }
}
