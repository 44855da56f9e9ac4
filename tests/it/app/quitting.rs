//! Quitting waits for writes and says so, and warns about drafts that cannot be saved. Ctrl-C twice always quits.

use groupdesk::{
    domain::batch::StopCause,
    tui::{
        ExitReason,
        state::message::{Effect, Job, Msg},
    },
};

use super::scene::{Scene, TESTING};

#[test]
fn q_goes_back_and_at_the_top_it_quits() {
    let mut scene = Scene::on(TESTING);
    scene.walk("<enter>");
    assert_eq!(scene.keys("q"), []);
    assert_eq!(scene.focus(), "List");
    assert_eq!(scene.keys("q"), [Effect::Quit(ExitReason::Asked)]);
}

#[test]
fn ctrl_c_twice_quits_from_anywhere() {
    for place in [
        "",
        "/",
        "<enter>",
        "e",
        "e<tab>",
        "e<tab><enter>",
        "?",
        "o",
        "P",
        "m",
        "tT",
    ] {
        let mut scene = Scene::on(TESTING);
        scene.walk(place);
        scene.keys("<ctrl-c>");
        scene.says("Ctrl-C again quits");
        assert_eq!(
            scene.keys("<ctrl-c>"),
            [Effect::Quit(ExitReason::Asked)],
            "from {place:?}"
        );
    }
}

#[test]
fn a_slow_second_ctrl_c_is_a_first_one() {
    let mut scene = Scene::on(TESTING);
    assert_eq!(scene.keys("<ctrl-c>"), []);
    assert_eq!(scene.later(6).keys("<ctrl-c>"), []);
    assert_eq!(scene.keys("<ctrl-c>").len(), 1);
}

#[test]
fn a_saved_draft_does_not_delay_quitting() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<esc>");
    scene.keys("<ctrl-c>");
    scene.says("Ctrl-C again quits; 1 unsent draft is kept");
    assert_eq!(scene.keys("q"), [Effect::Quit(ExitReason::Asked)]);
    let unsent = scene.app.unsent();
    assert_eq!(unsent.as_deref(), Some("1 unsent draft is kept"));
}

/// The list, with a draft that cannot be saved.
fn unsaved() -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.is_full = true;
    scene.walk("e<end> 2<esc>");
    scene
}

/// Lets the last save fail.
fn fail_the_save(scene: &mut Scene) -> Vec<Effect> {
    let (ticket, _, job) = scene.pending.remove(0);
    assert!(matches!(job, Job::KeepDraft(..)), "{job:?}");
    assert!(scene.pending.is_empty());
    let failed = super::scene::failed("no room left on the disk", None);
    scene.msg(Msg::Done(ticket, failed))
}

#[test]
fn q_with_a_draft_that_cannot_be_saved_warns_first() {
    let mut scene = unsaved();
    let said = scene.app.context.messages.all();
    let errors = said.filter(|message| message.text.contains("NOT saved"));
    assert_eq!(errors.count(), 1, "said once");
    scene.walk("q");
    scene
        .shows("1 unsent draft will be lost.")
        .shows("y quits. No other key does.");
    scene.walk("q").hides("No other key does.");
    scene.walk("q");
    assert_eq!(scene.keys("y"), [], "it tries once more");
    assert_eq!(fail_the_save(&mut scene), [Effect::Quit(ExitReason::Asked)]);
    assert_eq!(scene.app.unsent(), None);
}

#[test]
fn one_ctrl_c_does_not_confirm_the_question_of_q() {
    let mut scene = unsaved();
    scene.walk("<ctrl-c>q").shows("y quits");
    scene.later(9).walk("<ctrl-c>").hides("y quits");
    scene.walk("q").shows("y quits");
    scene.keys("y");
    assert_eq!(fail_the_save(&mut scene), [Effect::Quit(ExitReason::Asked)]);
}

#[test]
fn quitting_waits_for_writes_and_says_so() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tT");
    scene.keys("y<esc>");
    assert_eq!(scene.keys("q"), []);
    assert!(
        scene.footer().contains("Waiting: rotate acme-eu"),
        "{}",
        scene.footer()
    );
    // Waits for the rotation and for the read that confirms it, because the hand-off follows that read.
    for is_last in [false, true] {
        let (ticket, profile, job) = scene.pending.remove(0);
        let outcome = super::scene::canned_outcome(profile, &job);
        let effects = scene.msg(Msg::Done(ticket, outcome));
        let leaves = effects.contains(&Effect::Quit(ExitReason::Asked));
        assert_eq!(leaves, is_last, "{effects:?}");
    }
}

#[test]
fn ctrl_c_while_quitting_quits_at_once() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tT");
    scene.keys("y<esc>");
    assert_eq!(scene.keys("q"), []);
    assert_eq!(scene.keys("<ctrl-c>"), [Effect::Quit(ExitReason::Signal)]);
}

#[test]
fn a_signal_waits_for_writes_too() {
    let mut scene = Scene::on(TESTING);
    assert_eq!(
        scene.msg(Msg::Leave(StopCause::TerminalLost)),
        [Effect::Quit(ExitReason::Signal)]
    );

    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<ctrl-s>");
    scene.keys("y");
    assert_eq!(scene.msg(Msg::Leave(StopCause::TerminalLost)), []);
    let (ticket, ..) = scene.pending.remove(0);
    assert_eq!(
        scene.msg(Msg::JobPanicked(ticket)),
        [Effect::Quit(ExitReason::Signal)],
        "a lost job does not block quitting"
    );
}

#[test]
fn reads_do_not_delay_quitting() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter><esc>r");
    assert_eq!(scene.pending.len(), 1);
    assert_eq!(scene.keys("q"), [Effect::Quit(ExitReason::Asked)]);
}
