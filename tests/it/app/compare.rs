//! The comparison of two environments: it reads only the directory until the services are asked for, and what it copies
//! here goes through a form and a review.

use groupdesk::{
    domain::{group::UserGroupId, history::Ending},
    tui::state::message::{Effect, Job, Outcome, ProfileIndex},
};

use super::scene::{
    PRODUCTION, READ_ONLY, Scene, TESTING, base, done, failed, group, known_group, wanted,
};
use crate::support::world::id;

/// Which profiles know an id in every scene, and how.
pub(super) fn everywhere(id: &UserGroupId) -> Outcome {
    let live = wanted(
        "Live name",
        &[("7", "41"), ("8", "2")],
        r#"{"tier":"gold"}"#,
    );
    Outcome::SameId(vec![
        (ProfileIndex(TESTING), group(id.as_str(), 1)),
        (ProfileIndex(PRODUCTION), known_group(id.as_str(), &live, 2)),
    ])
}

fn read(profile: usize, effects: &[Effect]) -> bool {
    matches!(effects, [Effect::Start(_, ProfileIndex(at), job)]
        if *at == profile && **job == Job::LookUp(id("acme-eu")))
}

#[test]
fn only_the_directory_is_read_at_first_and_both_services_on_request() {
    let mut scene = Scene::on(TESTING);
    let effects = scene.keys("x");
    assert!(
        matches!(effects.as_slice(), [Effect::Start(_, _, job)] if **job == Job::SameId(id("acme-eu"))),
        "{effects:?}"
    );
    scene.answer();
    scene
        .shows("TESTING")
        .shows("PRODUCTION")
        .shows("3 differences");
    let effects = scene.keys("r");
    assert!(read(TESTING, &effects), "{effects:?}");
    let effects = scene.answer_with(failed("no route to host", None));
    assert!(read(PRODUCTION, &effects), "{effects:?}");
    let mut newer = base("acme-eu");
    newer.name = Some("Newest".into());
    scene.answer_with(done(Ending::Found, known_group("acme-eu", &newer, 2)));
    scene
        .shows("testing: no route to host")
        .shows("Newest")
        .shows("1 difference");
    assert!(scene.pending.is_empty());
    let groups = &scene.app.context.groups;
    let here = groups.get(&id("acme-eu")).expect("known");
    assert_eq!(
        here.title(),
        "Name of acme-eu",
        "theirs is not taken for ours"
    );
}

#[test]
fn one_row_or_all_are_copied_into_a_form_here() {
    let mut scene = Scene::on(TESTING);
    scene.walk("x<down><enter>");
    assert_eq!(scene.focus(), "EditName");
    scene
        .shows("1 change")
        .says("mapping 7 taken from production");
    scene.walk("<ctrl-s>");
    scene.keys("y");
    let mut expected = base("acme-eu");
    expected.mapping.as_mut().expect("known")["7"] = "41".into();
    assert!(
        matches!(scene.writes().as_slice(), [Job::Update { wanted, .. }] if *wanted == expected),
        "{:?}",
        scene.writes()
    );

    let mut scene = Scene::on(TESTING);
    scene.walk("xa").shows("3 changes");
    scene.walk("<esc><esc>");
    assert_eq!(scene.app.context.drafts.len(), 1, "kept like every draft");
    assert!(scene.writes().is_empty());
}

#[test]
fn a_draft_is_kept_below_the_copied_values() {
    let mut scene = Scene::on(TESTING);
    scene.walk("e<end> 2<esc>x<down><enter>");
    scene.shows("Name of acme-eu 2").shows("2 changes");
}

#[test]
fn a_read_only_profile_compares_and_copies_nothing() {
    let mut scene = Scene::on(READ_ONLY);
    scene.walk("x");
    scene.shows("READ-ONLY").shows("PRODUCTION");
    for key in ["<enter>", "a"] {
        assert_eq!(scene.keys(key), []);
        scene.says("this profile is read-only");
        assert_eq!(scene.focus(), "Compare");
    }
    scene.walk("<tab>").shows(" TESTING  testing ");
}

#[test]
fn leaving_cancels_the_reads() {
    let mut scene = Scene::on(TESTING);
    scene.walk("x");
    scene.keys("r");
    let effects = scene.keys("<esc>");
    assert!(
        matches!(effects.as_slice(), [Effect::Cancel(_)]),
        "{effects:?}"
    );
    assert!(scene.pending.is_empty());
}

#[test]
fn the_copy_of_a_group_fills_the_form_of_a_new_one() {
    let mut scene = Scene::on(TESTING);
    assert_eq!(scene.keys("onew-id<tab>"), []);
    scene.shows("copy of");
    scene.walk("nothing<enter>");
    assert_eq!(scene.focus(), "Open");
    scene.shows("no known group has this ID");
    scene.walk("<ctrl-u>acme-eu<enter>");
    scene.shows("Create new-id").says("Copied from acme-eu");
    scene.walk("New<ctrl-s>");
    scene.shows("nothing can delete it").shows("+ 7  40");
    scene.keys("y");
    let mut expected = base("acme-eu");
    expected.name = Some("New".into());
    assert!(
        matches!(scene.writes().as_slice(), [Job::Create(new, wanted)] if *new == id("new-id") && *wanted == expected),
        "{:?}",
        scene.writes()
    );
}

#[test]
fn a_near_id_is_copied_with_two_keys_and_a_known_one_is_opened() {
    let mut scene = Scene::on(TESTING);
    scene.walk("oacme-ex<down><tab><enter>");
    scene.shows("Create acme-ex").says("Copied from acme-eu");
    let mut scene = Scene::on(TESTING);
    scene.walk("oacme-eu");
    scene.keys("<tab>");
    scene.says("this ID is known");
    scene.keys("<enter>");
    assert!(scene.writes().is_empty());
    assert_eq!(scene.focus(), "Group");
}
