//! What was typed is never lost: it survives Esc, a change of profile and an error, and is dropped once it was sent.

use super::prelude::*;

#[test]
fn a_draft_survives_esc_and_is_restored() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<esc>").says("Draft of acme-eu saved");
    scene.walk("<down>e<esc>");
    assert_eq!(scene.drafts(), 1, "an untouched form is no draft");
    scene.walk("<up>e");
    scene.shows("Name of acme-eu 2").says("Your unsent draft");
    scene.walk("<end><backspace><backspace><esc>");
    assert_eq!(scene.drafts(), 0, "as it was before");
}

#[test]
fn a_draft_survives_another_profile_and_stays_in_its_own() {
    let mut scene = Scene::on(TESTING);
    scene
        .walk("e<end> 2<tab>P<down><enter>")
        .shows("PRODUCTION");
    scene.walk("e").hides("Name of acme-eu 2");
    scene.walk("<esc>P<up><enter>e").shows("Name of acme-eu 2");
    let drafts = &scene.app.context.drafts;
    let is_of = |profile| {
        drafts
            .get(&(ProfileIndex(profile), id("acme-eu")))
            .is_some()
    };
    assert_eq!([TESTING, PRODUCTION].map(is_of), [true, false]);
}

#[test]
fn a_draft_survives_a_failed_sending_and_an_unknown_outcome() {
    let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>");
    let refused = failed("the service refused (409)", Some(Ending::Refused));
    scene
        .open("y", refused)
        .shows_all(["the service refused", "Your text is kept"]);
    scene.walk("<esc><esc>e").shows("Name of acme-eu 2");
    let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>");
    scene.keys("y<esc><esc>");
    scene.lose();
    assert_eq!(scene.drafts(), 1);
}

#[test]
fn a_change_that_was_sent_is_no_longer_a_draft() {
    let mut scene = Scene::walked(TESTING, "e<end> 2<ctrl-s>y");
    assert_eq!(scene.drafts(), 0);
    // The same when the pane was left while the request was in flight.
    scene.walk("<esc>e<end>3<ctrl-s>").keys("y<esc><esc>");
    assert_eq!(scene.drafts(), 1);
    scene.answer();
    assert_eq!(scene.drafts(), 0);
    // And when the form was opened again meanwhile.
    scene.walk("e<end>4<ctrl-s>").keys("y<esc>");
    scene.answer();
    scene.at("EditName").shows("nothing changed");
    scene.walk("<esc>");
    assert_eq!(scene.drafts(), 0);
}

#[test]
fn a_form_below_the_one_that_was_sent_is_kept() {
    let mut scene = Scene::walked(TESTING, "e<end> 2<tab>oglobex<enter>");
    scene.walk("e<end> 3<ctrl-s>y").shows("UPDATED");
    scene.walk("<enter>").at("Group");
    scene.walk("<esc>").shows("Name of acme-eu 2");
}

#[test]
fn a_creation_that_met_an_existing_group_becomes_an_update() {
    let keys = "oinitech<enter>Typed<tab>a7<tab>99<enter><ctrl-s>";
    let mut scene = Scene::walked(TESTING, keys);
    scene
        .open("y", done(Ending::Existed, group("initech", 3)))
        .shows_all(["EXISTED", "To send your input as an"]);
    scene.walk("e").shows_all(["Edit initech", "Typed", "99"]);
    scene.walk("<ctrl-s>").keys("y");
    let update = scene.write();
    assert!(
        matches!(update, Job::Update { id: group, .. } if *group == id("initech")),
        "{update:?}"
    );
}
