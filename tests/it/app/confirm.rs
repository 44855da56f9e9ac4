//! Nothing is sent before its review or check, and only the right key of the level sends it (docs/design/console.md,
//! "Confirmation").

use super::prelude::*;

#[test]
fn y_sends_the_whole_change_in_every_profile() {
    for profile in [TESTING, PRODUCTION] {
        // From the list to the review of a new name, the service's copy read.
        let mut scene = Scene::walked(profile, "e<end> 2<ctrl-s>");
        scene.shows("nothing is sent yet");
        assert_eq!(scene.keys("<tab><enter><enter>"), []);
        scene.says("Enter confirms nothing: y does");
        let update = Job::Update {
            id: id("acme-eu"),
            base: base("acme-eu"),
            wanted: wanted("Name of acme-eu 2", &[("7", "40")], r#"{"tier":"gold"}"#),
            replace: Vec::new(),
            sends_unchanged: false,
        };
        assert_eq!(scene.started("y"), update);
        assert_eq!(scene.keys("yy<enter>"), [], "once is enough");
    }
}

/// A slow line brings a paste in pieces that are no longer than what somebody types ahead.
#[test]
fn a_key_that_comes_at_once_with_others_confirms_nothing() {
    for (way, at_once) in [
        ("e<end> 2<ctrl-s>", "y5"),
        ("t", "Ty"),
        ("e<end> 2<ctrl-s>", "<tab>y"),
    ] {
        let mut scene = Scene::walked(TESTING, way);
        scene.msg(Msg::Burst(parse(at_once)));
        scene.says("Press it alone");
        assert_eq!(scene.keys("y"), [], "{at_once}: part of it");
        scene.later(1);
        assert!(scene.started("y").is_write(), "{at_once}");
    }
}

#[test]
fn keys_that_come_at_once_save_nothing_in_a_field_that_they_opened() {
    for (way, at_once) in [
        ("", "acme-eu<enter>"),
        ("", "vwx<enter>"),
        ("", "jf"),
        ("", ":favourite<enter>"),
        ("a<tab>vip<enter>", ":add label vip<enter>"),
        ("tTy", "w<enter>"),
    ] {
        let mut scene = Scene::walked(TESTING, way);
        scene.pending.clear();
        scene.msg(Msg::Burst(parse(at_once)));
        scene.says("Press it alone");
        assert!(
            scene.pending.iter().all(|(.., job)| !job.is_write()),
            "{at_once}"
        );
    }
    // What was typed stays, and Enter alone saves it.
    let mut scene = Scene::on(TESTING);
    scene.msg(Msg::Burst(parse("acme-eu<enter>")));
    scene.shows("cme-eu");
    scene.answer_canned(|job| matches!(job, Job::ReadNote(_)));
    scene.later(1);
    assert!(matches!(scene.started("<enter>"), Job::Annotate(..)));
}

/// The page of a change is left as every other page, to the one that the change began on.
#[test]
fn the_result_leads_back_to_the_page_before_the_change() {
    for leave in ["<enter>", "<esc>"] {
        for (way, page) in [("", "List"), ("<enter>", "Group")] {
            let mut scene = Scene::walked(TESTING, way);
            scene.walk("e<end> 2<ctrl-s>y").at("Result");
            scene.shows("Esc back");
            scene.keys(leave);
            scene.at(page);
        }
    }
}

#[test]
fn nothing_is_sent_before_the_copy_has_been_read() {
    for profile in [TESTING, PRODUCTION] {
        let mut scene = Scene::walked(profile, "e<end> 2");
        assert_eq!(scene.started("<ctrl-s>"), Job::LookUp(id("acme-eu")));
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
    let mut scene = Scene::walked(TESTING, "e<end> 2");
    let alarm = warned(group("acme-eu", 1), Warning::CreatedByGet);
    scene.open("<ctrl-s>", alarm).shows("ALARM");
    assert_eq!(scene.keys("yr<f5>y"), []);
    scene.shows("ALARM");
    scene.walk("<esc><esc>");
    assert_eq!(scene.drafts(), 1, "the text is kept");
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
fn a_rotation_is_sent_once_by_y_or_in_production_by_the_id() {
    let mut scene = Scene::walked(TESTING, "t");
    assert_eq!(scene.keys("T<shift-tab>y"), [], "a letter of the reason");
    assert_eq!(scene.keys("<tab><enter><enter>"), []);
    scene.at("RotateCheck");
    assert_eq!(scene.started("y"), rotation(Some("y")));
    assert_eq!(scene.keys("yyT<enter>"), [], "it is sent once");

    let mut scene = Scene::walked(PRODUCTION, "tT");
    assert_eq!(scene.keys("y<enter>"), []);
    scene.shows("Text differs; nothing was sent");
    assert_eq!(scene.keys("<backspace>acme-e<enter>"), []);
    assert_eq!(scene.started("u<enter>"), rotation(None));
}

#[test]
fn a_reason_that_was_typed_is_there_when_the_rotation_is_checked_again() {
    let mut scene = Scene::walked(TESTING, "tT<shift-tab>leaked<esc>");
    scene.at("Token");
    scene.walk("T").shows("leaked");
    assert_eq!(scene.started("y"), rotation(Some("leaked")));
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
        (TESTING, "/"),
        (TESTING, "o"),
        (TESTING, "tw"),
    ] {
        let mut scene = Scene::walked(profile, script);
        let before = scene.focus();
        let effects = scene.msg(Msg::Paste(hostile.into()));
        assert_eq!(effects, [], "after {script:?}");
        scene.at(&before);
    }
    // Pasting the ID is typing it.
    let mut scene = Scene::walked(PRODUCTION, "tT");
    scene.msg(Msg::Paste("acme-eu".into()));
    assert_eq!(scene.started("<enter>"), rotation(None));
}
