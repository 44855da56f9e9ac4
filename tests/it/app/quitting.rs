//! Quitting waits for writes and says so, and warns about drafts that cannot be saved. Ctrl-C twice always quits.

use super::prelude::*;

const ASKED: [Effect; 1] = [Effect::Quit(ExitReason::Asked)];
const SIGNAL: [Effect; 1] = [Effect::Quit(ExitReason::Signal)];

#[test]
fn q_goes_back_and_at_the_top_it_quits() {
    let mut scene = Scene::walked(TESTING, "<enter>");
    assert_eq!(scene.keys("q"), []);
    scene.at("List");
    assert_eq!(scene.keys("q"), ASKED);
}

#[test]
fn ctrl_c_twice_quits_from_anywhere() {
    for place in "|/|<enter>|e|e<tab>|e<tab><enter>|?|o|P|m|tT".split('|') {
        let mut scene = Scene::walked(TESTING, place);
        scene.keys("<ctrl-c>");
        scene.says("Ctrl-C again quits");
        assert_eq!(scene.keys("<ctrl-c>"), ASKED, "from {place:?}");
    }
    // A slow second one is a first one.
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
    assert_eq!(scene.keys("q"), ASKED);
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
    scene.msg(Msg::Done(ticket, failed("no room left on the disk", None)))
}

#[test]
fn q_with_a_draft_that_cannot_be_saved_warns_first() {
    let mut scene = unsaved();
    scene.walk("q");
    scene
        .shows("1 unsent draft will be lost.")
        .shows("y quits. No other key does.");
    scene.walk("q").hides("No other key does.");
    scene.walk("q");
    assert_eq!(scene.keys("y"), [], "it tries once more");
    assert_eq!(fail_the_save(&mut scene), ASKED);
    assert_eq!(scene.app.unsent(), None);
}

#[test]
fn one_ctrl_c_does_not_confirm_the_question_of_q() {
    let mut scene = unsaved();
    scene.walk("<ctrl-c>q").shows("y quits");
    scene.later(9).walk("<ctrl-c>").hides("y quits");
    scene.walk("q").shows("y quits");
    scene.keys("y");
    assert_eq!(fail_the_save(&mut scene), ASKED);
}

#[test]
fn quitting_waits_for_writes_and_says_so() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tT").keys("y<esc>");
    assert_eq!(scene.keys("q"), []);
    scene.says("Waiting: rotate acme-eu");
    // Waits for the rotation and for the read that confirms it, because the hand-off follows that read.
    for is_last in [false, true] {
        let effects = scene.answer_oldest();
        let leaves = effects.contains(&Effect::Quit(ExitReason::Asked));
        assert_eq!(leaves, is_last, "{effects:?}");
    }
    // Ctrl-C does not wait.
    let mut scene = Scene::walked(TESTING, "tT");
    scene.keys("y<esc>q");
    assert_eq!(scene.keys("<ctrl-c>"), SIGNAL);
}

#[test]
fn a_signal_waits_for_writes_too() {
    let mut scene = Scene::on(TESTING);
    let leave = || Msg::Leave(StopCause::TerminalLost);
    assert_eq!(scene.msg(leave()), SIGNAL);
    let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>");
    scene.keys("y");
    assert_eq!(scene.msg(leave()), []);
    assert_eq!(scene.lose(), SIGNAL, "a lost job does not block quitting");
}

#[test]
fn reads_do_not_delay_quitting() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter><esc>r");
    assert_eq!(scene.pending.len(), 1);
    assert_eq!(scene.keys("q"), ASKED);
}

/// What was confirmed and waited for is told where the console was.
#[test]
fn the_result_that_quitting_waited_for_is_told() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tT");
    scene.keys("y<esc><esc>q");
    assert_eq!(scene.app.unsent(), None);
    scene.answer();
    let told = scene.app.unsent().expect("the result");
    assert!(told.contains("acme-eu"), "{told}");
}

/// Ctrl-C cancels dialogs in a row, as in a shell: only the same key twice quits.
#[test]
fn another_key_ends_what_ctrl_c_asks() {
    let mut scene = Scene::walked(TESTING, "a");
    scene.walk("one<ctrl-c>").says("Ctrl-C again quits");
    scene.walk("<down>a").hides("again quits");
    scene.walk("two");
    assert_eq!(scene.keys("<ctrl-c>"), []);
    scene.at("List").says("Ctrl-C again quits");
    assert_eq!(scene.keys("<ctrl-c>"), ASKED);
}

#[test]
fn what_ctrl_c_asks_is_shown_as_long_as_it_holds() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<ctrl-c>");
    scene.later(4).msg(Msg::Tick);
    scene.shows("Ctrl-C again quits");
    scene.later(1).msg(Msg::Tick);
    scene.hides("Ctrl-C again quits");
    assert_eq!(scene.keys("<ctrl-c>"), []);
    scene.shows("Ctrl-C again quits");
}

#[test]
fn what_is_typed_and_would_be_lost_is_named() {
    let mut scene = Scene::walked(TESTING, "a");
    scene.walk("hello<ctrl-c>");
    scene.shows("The note of acme-eu is not saved: Ctrl-C again quits");
    // Below another page it is still there.
    let mut scene = Scene::walked(TESTING, "a");
    scene.walk("hello<ctrl-p>globex<enter><ctrl-c>");
    scene.shows("The note of acme-eu is not saved: Ctrl-C again quits");
}

#[test]
fn what_is_typed_below_another_page_is_not_left_for_the_list() {
    for (keys, typed, what) in [
        ("ahello", "hello", "the note of acme-eu is not saved"),
        ("*B123<tab>9", "123", "the bulk edit is not sent"),
        (
            "*T<shift-tab>leaked",
            "leaked",
            "what was typed for the confirmation would be lost",
        ),
    ] {
        let mut scene = Scene::on(TESTING);
        scene.walk(keys).walk("<ctrl-p>globex<enter>").at("Group");
        scene
            .walk("1")
            .at("Group")
            .says(&format!("Not left: {what}"));
        scene.walk("<esc>").shows(typed);
    }
}
