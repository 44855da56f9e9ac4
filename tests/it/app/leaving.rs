//! Quitting waits for writes and says so; drafts are warned of; Ctrl-C twice is always enough.

use groupdesk::tui::{
    Farewell,
    message::{Effect, Msg},
};

use super::scene::{Scene, TESTING};

#[test]
fn q_goes_back_and_at_the_top_it_quits() {
    let mut scene = Scene::on(TESTING);
    scene.walk("<enter>");
    assert_eq!(scene.keys("q"), []);
    assert_eq!(scene.focus(), "List");
    assert_eq!(scene.keys("q"), [Effect::Quit(Farewell::Asked)]);
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
            [Effect::Quit(Farewell::Asked)],
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
fn q_with_a_draft_warns_first() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<esc>");
    assert_eq!(scene.keys("q"), []);
    assert!(
        scene.footer().contains("1 unsent draft"),
        "{}",
        scene.footer()
    );
    assert_eq!(scene.later(9).keys("q"), [], "that was too long ago");
    assert_eq!(scene.keys("q"), [Effect::Quit(Farewell::Asked)]);
}

#[test]
fn ctrl_c_is_no_answer_to_the_warning_of_q() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<esc>");
    assert_eq!(scene.keys("<ctrl-c>q"), [], "q has not warned yet");
    assert_eq!(scene.keys("q"), [Effect::Quit(Farewell::Asked)]);
}

#[test]
fn a_standing_error_does_not_hide_the_warning() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter>");
    scene.answer_with(super::scene::failed("broken", None));
    scene.walk("<esc>e<end> 2<esc>");
    assert_eq!(scene.keys("q"), []);
    assert!(
        scene.footer().contains("q again quits"),
        "{}",
        scene.footer()
    );
}

#[test]
fn leaving_waits_for_writes_and_says_so() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tT");
    scene.keys("y<esc>");
    assert_eq!(scene.keys("q"), []);
    assert!(
        scene.footer().contains("waiting for rotating acme-eu"),
        "{}",
        scene.footer()
    );
    let (ticket, profile, job) = scene.pending.remove(0);
    let outcome = super::scene::canned(profile, &job);
    let effects = scene.msg(Msg::Done(ticket, outcome));
    assert!(
        effects.contains(&Effect::Quit(Farewell::Asked)),
        "{effects:?}"
    );
}

#[test]
fn ctrl_c_while_leaving_leaves_at_once() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tT");
    scene.keys("y<esc>");
    assert_eq!(scene.keys("q"), []);
    assert_eq!(scene.keys("<ctrl-c>"), [Effect::Quit(Farewell::Signal)]);
}

#[test]
fn a_signal_waits_for_writes_too() {
    let mut scene = Scene::on(TESTING);
    assert_eq!(scene.msg(Msg::Leave), [Effect::Quit(Farewell::Signal)]);

    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<ctrl-s><tab>");
    scene.keys("<enter>");
    assert_eq!(scene.msg(Msg::Leave), []);
    let (ticket, ..) = scene.pending.remove(0);
    assert_eq!(
        scene.msg(Msg::Lost(ticket)),
        [Effect::Quit(Farewell::Signal)],
        "a job that broke off does not hold the console for ever"
    );
}

#[test]
fn reads_hold_nobody() {
    let mut scene = Scene::on(TESTING);
    scene.keys("<enter><esc>r");
    assert_eq!(scene.pending.len(), 1);
    assert_eq!(scene.keys("q"), [Effect::Quit(Farewell::Asked)]);
}
