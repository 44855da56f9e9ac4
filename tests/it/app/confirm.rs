//! Nothing is sent before its review or check, and only the right key of the level sends it (docs/design/console.md,
//! "Confirmation").

use groupdesk::{
    domain::{history::Ending, token::Fingerprint},
    operations::Warning,
    tui::state::message::{Effect, Job, Msg, ProfileIndex, Ticket},
};

use super::scene::{PRODUCTION, READ_ONLY, Scene, TESTING, base, failed, group, wanted, warned};
use crate::support::world::id;

/// From the list to the review of a new name, the service's copy read.
fn at_review(profile: usize) -> Scene {
    let mut scene = Scene::on(profile);
    scene.walk("e<end> 2<ctrl-s>").shows("nothing is sent yet");
    scene
}

fn update() -> Job {
    Job::Update {
        id: id("acme-eu"),
        base: base("acme-eu"),
        wanted: wanted("Name of acme-eu 2", &[("7", "40")], r#"{"tier":"gold"}"#),
        replace: Vec::new(),
        sends_unchanged: false,
    }
}

fn starts(job: &Job, effects: &[Effect]) -> bool {
    matches!(effects, [Effect::Start(_, _, started)] if **started == *job)
}

#[test]
fn y_sends_the_whole_change_in_every_profile() {
    for profile in [TESTING, PRODUCTION] {
        let mut scene = at_review(profile);
        assert_eq!(scene.keys("<tab><enter><enter>"), []);
        scene.says("Enter confirms nothing: y does");
        let effects = scene.keys("y");
        assert!(starts(&update(), &effects), "{effects:?}");
        assert_eq!(scene.keys("yy<enter>"), [], "once is enough");
    }
}

/// The page of a change is left as every other page, to the one that the change began on.
#[test]
fn the_result_leads_back_to_the_page_before_the_change() {
    for leave in ["<enter>", "<esc>"] {
        for (way, page) in [("", "List"), ("<enter>", "Group")] {
            let mut scene = Scene::on(TESTING);
            scene.walk(way).walk("e<end> 2<ctrl-s>y");
            assert_eq!(scene.focus(), "Result");
            scene.shows("Esc back");
            scene.keys(leave);
            assert_eq!(scene.focus(), page, "{leave}");
        }
    }
}

#[test]
fn nothing_is_sent_before_the_copy_has_been_read() {
    for profile in [TESTING, PRODUCTION] {
        let mut scene = Scene::on(profile);
        scene.walk("e<end> 2");
        let read = scene.keys("<ctrl-s>");
        assert!(starts(&Job::LookUp(id("acme-eu")), &read), "{read:?}");
        assert_eq!(scene.keys("y"), []);
        scene.says("copy is being read");
        scene.answer_with(failed("no route to host", Some(Ending::Unreachable)));
        scene.later(4);
        assert_eq!(scene.keys("y"), []);
        scene.says("copy could not be read");
    }
}

#[test]
fn an_alarm_stops_the_review_and_reading_again_does_not_lift_it() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2");
    scene.keys("<ctrl-s>");
    scene.answer_with(warned(group("acme-eu", 1), Warning::CreatedByGet));
    scene.shows("ALARM");
    assert_eq!(scene.keys("yr<f5>y"), []);
    scene.shows("ALARM");
}

/// A rotation of the token that the scene's service returned.
fn rotation(reason: Option<&str>) -> Job {
    Job::Rotate {
        id: id("acme-eu"),
        seen: Some(Fingerprint::from_bytes([1; 32])),
        reason: reason.map(str::to_owned),
    }
}

#[test]
fn a_rotation_outside_production_asks_for_y_alone() {
    let mut scene = Scene::on(TESTING);
    scene.walk("t");
    assert_eq!(
        scene.keys("T<shift-tab>y"),
        [],
        "y is a letter of the reason"
    );
    assert_eq!(scene.keys("<tab><enter><enter>"), []);
    assert_eq!(scene.focus(), "RotateCheck");
    let effects = scene.keys("y");
    let rotate = rotation(Some("y"));
    assert!(starts(&rotate, &effects), "{effects:?}");
    assert_eq!(scene.keys("yyT<enter>"), [], "it is sent once");
}

#[test]
fn a_rotation_in_production_asks_for_the_id() {
    let mut scene = Scene::on(PRODUCTION);
    scene.walk("tT");
    assert_eq!(scene.keys("y<enter>"), []);
    scene.shows("Text differs; nothing was sent");
    assert_eq!(scene.keys("<backspace>acme-e<enter>"), []);
    let effects = scene.keys("u<enter>");
    assert!(starts(&rotation(None), &effects), "{effects:?}");
}

#[test]
fn a_reason_that_was_typed_is_there_when_the_rotation_is_checked_again() {
    let mut scene = Scene::on(TESTING);
    scene.walk("tT<shift-tab>leaked<esc>");
    assert_eq!(scene.focus(), "Token");
    scene.walk("T").shows("leaked");
    let effects = scene.keys("y");
    assert!(starts(&rotation(Some("leaked")), &effects), "{effects:?}");
    scene.answer();
    scene.walk("<esc>tT").hides("leaked");
}

#[test]
fn pasted_text_never_acts() {
    let hostile = "y\nacme-eu\n\r\x1b[13~T\x03q";
    for (profile, script) in [
        (TESTING, ""),
        (TESTING, "e<end> 2<ctrl-s>"),
        (PRODUCTION, "e<end> 2<ctrl-s>"),
        (TESTING, "tT"),
        (PRODUCTION, "tT"),
        (TESTING, "P"),
        (TESTING, "?"),
        (TESTING, "o"),
        (TESTING, "tw"),
    ] {
        let mut scene = Scene::on(profile);
        scene.walk(script);
        let before = scene.focus();
        let effects = scene.msg(Msg::Paste(hostile.into()));
        assert_eq!(effects, [], "after {script:?}");
        assert_eq!(scene.focus(), before, "after {script:?}");
    }
    let mut scene = Scene::on(PRODUCTION);
    scene.walk("tT");
    scene.msg(Msg::Paste("acme-eu".into()));
    assert_eq!(
        scene.keys("<enter>").len(),
        1,
        "pasting the ID is typing it"
    );
}

#[test]
fn the_help_does_not_confirm() {
    for (profile, script) in [(TESTING, "tT"), (PRODUCTION, "e<end> 2<ctrl-s>")] {
        let mut scene = Scene::on(profile);
        scene.walk(script);
        let place = scene.focus();
        assert_eq!(scene.keys("?"), []);
        scene.shows("> y ");
        assert_eq!(scene.keys("<enter>"), [], "after {script}");
        assert_eq!(scene.focus(), place);
        scene.says("press the key itself");
    }
}

#[test]
fn a_read_only_profile_says_why_not() {
    let mut scene = Scene::on(READ_ONLY);
    scene.shows("READ-ONLY");
    for script in ["e", "<enter>", "e", "<esc>t", "T"] {
        scene.walk(script);
    }
    assert_eq!(scene.focus(), "Token");
    scene.says("Not available: this profile is read-only");
    scene.later(1).walk("<esc>e");
    scene.says("Not available: this profile is read-only");
    assert_eq!(scene.focus(), "List");
    scene.walk("onew-id<enter>");
    assert_eq!(scene.focus(), "Open");
    scene.shows("cannot be created");
    scene
        .walk("<esc>?read-only")
        .shows("(this profile is read-only)");
    assert!(scene.writes().is_empty());
}

#[test]
fn an_unknown_id_is_created_only_from_its_review() {
    let mut scene = Scene::on(TESTING);
    assert_eq!(scene.keys("oacme-ue<enter>"), []);
    scene.shows("Create acme-ue");
    assert_eq!(scene.keys("New<ctrl-s>"), [], "a creation reads nothing");
    scene.shows("creates");
    let effects = scene.keys("y");
    let [Effect::Start(Ticket(_), ProfileIndex(TESTING), job)] = effects.as_slice() else {
        panic!("{effects:?}");
    };
    assert!(matches!(&**job, Job::Create(new, _) if *new == id("acme-ue")));
}
