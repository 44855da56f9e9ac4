//! Each place (focus): its help, its footer, how long the token is shown there, and its debug text.

use super::prelude::*;
use crate::support::console::ELSEWHERE;

#[test]
fn every_place_is_visited() {
    let missing: Vec<Focus> = Focus::ALL
        .into_iter()
        .filter(|focus| !places().any(|(_, place)| place == *focus))
        .collect();
    assert_eq!(missing, ELSEWHERE);
}

#[test]
fn every_place_can_be_reached_and_left() {
    for (script, focus) in places() {
        let mut scene = Scene::walked(TESTING, script);
        assert_eq!(scene.app.top().focus(), focus, "{script}");
        scene.walk(&"<esc>".repeat(5)).at("List");
    }
}

#[test]
fn the_help_lists_every_binding_of_the_place() {
    for (script, focus) in places() {
        let mut scene = Scene::on(TESTING);
        scene.app.context.size = (120, 70);
        scene.walk(script);
        if matches!(focus, Focus::Help | Focus::Palette) {
            continue;
        }
        scene.walk("<f1>");
        scene.at("Help");
        let screen = scene.screen();
        for binding in keymap::bindings(focus) {
            assert!(is_in(&screen, binding.help), "{focus:?}\n{screen}");
        }
        scene.walk("<f1>");
        assert_eq!(scene.app.top().focus(), focus, "F1 closes it again");
    }
}

#[test]
fn the_help_of_a_field_lists_no_key_that_types_text() {
    Scene::walked(TESTING, "e<f1>")
        .shows_all(["  F1 ", "  Ctrl-P ", "F5 Ctrl-R"])
        .hides("? F1")
        .hides(": Ctrl-P");
}

#[test]
fn the_help_finds_and_runs_an_action() {
    let mut scene = Scene::on(TESTING);
    scene.walk("?switch").shows("switch profile");
    scene.walk("<enter>").at("Profiles");
    scene.walk("<esc>:reverse<enter>").shows("sort name ▾");
    scene.walk("?no such thing<enter>").at("List");
}

#[test]
fn the_token_is_hidden_after_its_time_even_below_a_box() {
    let mut scene = Scene::walked(TESTING, "t");
    assert!(scene.app.wake_at().is_none());
    scene.walk("v").shows(TOKEN);
    assert!(scene.app.wake_at().is_some());
    scene.later(5).walk("?");
    assert!(scene.app.wake_at().is_some(), "time passes below the help");
    scene.walk("<esc>");
    scene.later(14).msg(Msg::Tick);
    scene.shows(TOKEN);
    scene.later(1).msg(Msg::Tick);
    scene.hides(TOKEN);
    // An idle console wakes for nothing.
    assert!(scene.app.wake_at().is_none());
}

#[test]
fn the_token_is_copied_only_on_request() {
    let mut scene = Scene::on(TESTING);
    scene.walk("t");
    let effects = scene.keys("y");
    assert!(
        matches!(effects.as_slice(), [Effect::Copy(token)] if token.expose() == TOKEN),
        "{effects:?}"
    );
    scene.says("it does not confirm");
}

/// Hands that learned `t T y` put no token into the clipboard when `T` is refused.
#[test]
fn the_key_that_confirms_does_nothing_else_after_a_refused_key() {
    let mut scene = Scene::on(TESTING);
    scene.guard(Operation::Rotate, Rule::Forbid).walk("t");
    for key in ["T", "y"] {
        let effects = scene.later(1).keys(key);
        let is_copy = |effect: &Effect| matches!(effect, Effect::Copy(_));
        assert!(!effects.iter().any(is_copy), "{key}: {effects:?}");
    }
    scene.says("y did nothing: the key before it was refused");
    // Asked again, it is copied.
    let effects = scene.later(1).keys("y");
    assert!(matches!(effects[..], [Effect::Copy(_)]), "{effects:?}");
}

/// A key that is held down, or pressed twice, confirms and does no more.
#[test]
fn the_key_that_confirmed_does_nothing_else_until_a_pause() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tTy");
    let effects = scene.keys("yyy");
    assert_eq!(effects, [], "it is held down");
    scene.says("Confirmed. The 3 keys after it did nothing");
    let effects = scene.later(1).keys("y");
    assert!(matches!(effects[..], [Effect::Copy(_)]), "{effects:?}");
    // Another key was typed on purpose.
    let mut scene = Scene::on(TESTING);
    scene.walk("tTyvy");
    scene.shows(TOKEN);
}

#[test]
fn a_key_at_once_after_a_paste_confirms_nothing() {
    let mut scene = Scene::walked(TESTING, "tT");
    scene.msg(Msg::Paste("hello".into()));
    assert_eq!(scene.keys("y"), []);
    scene.says("Not confirmed: the key came at once with others, as in a paste. Press it alone");
    assert_eq!(scene.writes(), Vec::<&Job>::new());
    scene.later(1).keys("y");
    assert_eq!(scene.writes().len(), 1, "pressed after looking");
    // A clock that goes back does not keep it from confirming.
    let mut scene = Scene::walked(TESTING, "tT");
    scene.msg(Msg::Paste("hello".into()));
    scene.later(-600).keys("y");
    assert_eq!(scene.writes().len(), 1);
}

#[test]
fn suspend_and_redraw_are_effects() {
    let mut scene = Scene::on(TESTING);
    assert_eq!(scene.keys("<ctrl-z>"), [Effect::Suspend]);
    assert_eq!(scene.keys("e<ctrl-l>"), [Effect::Redraw]);
}
