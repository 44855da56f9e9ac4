//! Each place (focus): its help, its footer, how long the token is shown there, and its debug text.

use groupdesk::{
    config::guard::{Guard, Operation, Rule},
    tui::{
        keymap::{self, Action, Focus},
        state::message::{Effect, Msg},
    },
};

use super::scene::{PRODUCTION, Scene, TESTING, TOKEN};
use crate::support::{assertions::assert_lacks, console::PLACES};

/// Places that need a history of their own, and so have tests of their own.
const ELSEWHERE: [Focus; 18] = [
    // Without a profile.
    Focus::Welcome,
    Focus::ConnectField,
    Focus::ConnectChoice,
    Focus::ConnectCheck,
    // With a question in a box.
    Focus::ConfirmKey,
    Focus::ConfirmTyped,
    // While a request is in flight.
    Focus::RotateRunning,
    // With an open rotation or a pasted token.
    Focus::AbandonReason,
    Focus::Whose,
    Focus::WhoseFound,
    // With no group that is ready, or a stopped batch.
    Focus::BulkCheck,
    Focus::ResumeCheck,
    Focus::ResumeTyped,
    // With an API key whose environment is not known, or an alarm.
    Focus::PlaceChoice,
    Focus::PlaceNew,
    Focus::PlaceProof,
    Focus::PlaceReason,
    Focus::PlaceWait,
];

#[test]
fn every_place_is_visited() {
    let missing: Vec<Focus> = Focus::ALL
        .into_iter()
        .filter(|focus| !PLACES.iter().any(|(_, place)| place == focus))
        .collect();
    assert_eq!(missing, ELSEWHERE);
}

#[test]
fn every_place_can_be_reached_and_left() {
    for (script, focus) in PLACES {
        let mut scene = Scene::on(TESTING);
        scene.walk(script);
        assert_eq!(scene.app.top().focus(), focus, "{script}");
        for _ in 0..5 {
            scene.walk("<esc>");
        }
        assert_eq!(scene.focus(), "List", "out of {script}");
    }
}

#[test]
fn the_help_lists_every_binding_of_the_place() {
    for (script, focus) in PLACES {
        let mut scene = Scene::on(TESTING);
        scene.app.context.size = (120, 70);
        scene.walk(script);
        if matches!(focus, Focus::Help | Focus::Palette) {
            continue;
        }
        scene.walk("<f1>");
        assert_eq!(scene.focus(), "Help");
        let screen = scene.screen();
        for binding in keymap::bindings(focus) {
            assert!(
                screen.contains(binding.help),
                "{:?} is not in the help of {focus:?}:\n{screen}",
                binding.help
            );
        }
        scene.walk("<f1>");
        assert_eq!(scene.app.top().focus(), focus, "F1 closes it again");
    }
}

#[test]
fn the_help_of_a_field_lists_no_key_that_types_text() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<f1>");
    let screen = scene.screen();
    assert!(screen.contains("  F1 "), "{screen}");
    assert!(screen.contains("  Ctrl-P "), "{screen}");
    assert_lacks(&screen, "? F1");
    assert_lacks(&screen, ": Ctrl-P");
    assert!(screen.contains("F5 Ctrl-R"), "{screen}");
}

#[test]
fn the_help_finds_and_runs_an_action() {
    let mut scene = Scene::on(TESTING);
    scene.walk("?switch").shows("switch profile");
    scene.walk("<enter>");
    assert_eq!(scene.focus(), "Profiles");
    scene.walk("<esc>:reverse<enter>").shows("sort name ▾");
    scene.walk("?no such thing<enter>");
    assert_eq!(scene.focus(), "List");
}

#[test]
fn every_footer_action_acts_or_says_why_not() {
    for (script, focus) in PLACES {
        for binding in keymap::bindings(focus).filter(|binding| !binding.hint.is_empty()) {
            if binding.action == Action::InField {
                continue;
            }
            let mut scene = Scene::on(TESTING);
            scene.walk(script);
            let before = (scene.screen(), scene.app.context.messages.all().len());
            let name = binding.keys[0];
            let script = if name.chars().count() == 1 {
                name.to_owned()
            } else {
                format!("<{name}>")
            };
            let effects = scene.keys(&script);
            let after = (scene.screen(), scene.app.context.messages.all().len());
            assert!(
                before != after || !effects.is_empty(),
                "{name} ({}) does nothing in {focus:?}:\n{}",
                binding.hint,
                before.0
            );
        }
    }
}

#[test]
fn the_token_is_hidden_after_its_time_even_below_a_box() {
    let mut scene = Scene::on(TESTING);
    scene.walk("t");
    assert!(scene.app.wake_at().is_none());
    scene.walk("v").shows(TOKEN);
    assert!(scene.app.wake_at().is_some());
    scene.later(5).walk("?");
    assert!(scene.app.wake_at().is_some(), "time passes below the help");
    scene.walk("<esc>");
    scene.later(14).msg(Msg::Tick);
    scene.shows(TOKEN);
    scene.later(1).msg(Msg::Tick);
    assert!(!scene.screen().contains(TOKEN));
    assert!(
        scene.app.wake_at().is_none(),
        "an idle console wakes for nothing"
    );
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
    scene.app.context.profiles[TESTING].guards = vec![Guard {
        operation: Operation::Rotate,
        rule: Rule::Forbid,
        reason: "change freeze".into(),
    }];
    scene.walk("t");
    for key in ["T", "y"] {
        let effects = scene.later(1).keys(key);
        let is_copy = |effect: &Effect| matches!(effect, Effect::Copy(_));
        assert!(!effects.iter().any(is_copy), "{key}: {effects:?}");
    }
    scene.says("y did nothing: the key before it was refused");
    let effects = scene.later(1).keys("y");
    assert!(
        matches!(effects.as_slice(), [Effect::Copy(_)]),
        "asked again"
    );
}

#[test]
fn no_place_shows_the_token_unasked_or_in_its_debug_text() {
    for profile in [TESTING, PRODUCTION] {
        for (script, _) in PLACES {
            let mut scene = Scene::on(profile);
            scene.walk(script);
            assert!(!scene.screen().contains(TOKEN), "after {script}");
            scene.walk("<esc>tv");
            assert!(
                !format!("{:?}", scene.app).contains(TOKEN),
                "after {script}"
            );
        }
    }
}

#[test]
fn suspend_and_redraw_are_effects() {
    let mut scene = Scene::on(TESTING);
    assert_eq!(scene.keys("<ctrl-z>"), [Effect::Suspend]);
    assert_eq!(scene.keys("e<ctrl-l>"), [Effect::Redraw]);
}
