//! What was typed is never lost: it survives Esc, a change of profile and an error, and is dropped once it was sent.

use groupdesk::{
    domain::{group::EnvironmentTag, history::Ending},
    operations::Warning,
    tui::state::message::{Job, Msg, ProfileIndex},
};

use super::scene::{PRODUCTION, Scene, TESTING, done, failed, group, warned};
use crate::support::world::id;

fn drafts(scene: &Scene) -> usize {
    scene.app.context.drafts.len()
}

#[test]
fn a_draft_survives_esc_and_is_restored() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<esc>").says("Draft of acme-eu saved");
    scene.walk("<down>e<esc>");
    assert_eq!(drafts(&scene), 1, "an untouched form is no draft");
    scene.walk("<up>e");
    scene.shows("Name of acme-eu 2").says("your unsent draft");
    scene.walk("<end><backspace><backspace><esc>");
    assert_eq!(drafts(&scene), 0, "as it was before");
}

#[test]
fn a_draft_survives_another_profile_and_stays_in_its_own() {
    let mut scene = Scene::on(TESTING);
    scene
        .walk("e<end> 2<tab>P<down><enter>")
        .shows("PRODUCTION");
    scene.walk("e");
    assert!(!scene.screen().contains("Name of acme-eu 2"));
    scene.walk("<esc>P<up><enter>e").shows("Name of acme-eu 2");
    assert!(
        scene
            .app
            .context
            .drafts
            .contains_key(&(ProfileIndex(TESTING), id("acme-eu")))
    );
    assert!(
        !scene
            .app
            .context
            .drafts
            .contains_key(&(ProfileIndex(PRODUCTION), id("acme-eu")))
    );
}

#[test]
fn a_draft_survives_a_failed_sending() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<ctrl-s>");
    scene.keys("y");
    scene.answer_with(failed("the service refused (409)", Some(Ending::Refused)));
    scene
        .shows("the service refused")
        .shows("Your text is kept");
    scene.walk("<esc><esc>e").shows("Name of acme-eu 2");
}

#[test]
fn a_change_that_was_sent_is_no_longer_a_draft() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<ctrl-s>y");
    assert_eq!(drafts(&scene), 0);
    // The same when the pane was left while the request was in flight.
    scene.walk("<esc>e<end>3<ctrl-s>");
    scene.keys("y<esc><esc>");
    assert_eq!(drafts(&scene), 1);
    scene.answer();
    assert_eq!(drafts(&scene), 0);
    // And when the form was opened again meanwhile.
    scene.walk("e<end>4<ctrl-s>");
    scene.keys("y<esc>");
    scene.answer();
    assert_eq!(scene.focus(), "EditName");
    scene.shows("nothing changed");
    scene.walk("<esc>");
    assert_eq!(drafts(&scene), 0);
}

#[test]
fn an_unknown_outcome_keeps_the_draft() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<ctrl-s>");
    scene.keys("y<esc><esc>");
    let (ticket, ..) = scene.pending.remove(0);
    scene.msg(Msg::JobPanicked(ticket));
    assert_eq!(drafts(&scene), 1);
}

#[test]
fn a_form_below_the_one_that_was_sent_is_kept() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<tab>oglobex<enter>");
    scene.walk("e<end> 3<ctrl-s>y").shows("UPDATED");
    scene.walk("<enter>");
    assert_eq!(scene.focus(), "Group");
    scene.walk("<esc>").shows("Name of acme-eu 2");
}

#[test]
fn a_creation_that_met_an_existing_group_becomes_an_update() {
    let mut scene = Scene::on(TESTING);
    scene.walk("oinitech<enter>Typed<tab>a7<tab>99<enter><ctrl-s>");
    scene.keys("y");
    scene.answer_with(done(Ending::Existed, group("initech", 3)));
    scene.shows("EXISTED").shows("To send your input as an");
    scene.walk("e");
    scene.shows("Edit initech").shows("Typed").shows("99");
    scene.walk("<ctrl-s>");
    scene.keys("y");
    assert!(
        matches!(scene.writes().as_slice(), [Job::Update { id: group, .. }] if *group == id("initech")),
        "{:?}",
        scene.pending
    );
}

#[test]
fn an_alarm_keeps_the_draft() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2");
    scene.keys("<ctrl-s>");
    let wrong = Warning::WrongTag {
        expected: EnvironmentTag::Testing,
        got: EnvironmentTag::Customer,
    };
    scene.answer_with(warned(group("acme-eu", 1), wrong));
    scene.shows("ALARM");
    scene.walk("<esc><esc>");
    assert_eq!(drafts(&scene), 1);
}
