//! The comparison of two environments: it reads only the directory until the services are asked for, and what it copies
//! here goes through a form and a review.

use super::prelude::*;

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
    assert_eq!(scene.started("x"), Job::SameId(id("acme-eu")));
    scene.answer();
    scene.shows_all(["TESTING", "PRODUCTION", "3 differences"]);
    let effects = scene.keys("r");
    assert!(read(TESTING, &effects), "{effects:?}");
    let effects = scene.answer_with(failed("no route to host", None));
    assert!(read(PRODUCTION, &effects), "{effects:?}");
    let mut newer = base("acme-eu");
    newer.name = Some("Newest".into());
    scene.answer_with(done(Ending::Found, known_group("acme-eu", &newer, 2)));
    scene.shows_all(["testing: no route to host", "Newest", "1 difference"]);
    assert!(scene.pending.is_empty());
    let groups = &scene.app.context.groups;
    let here = groups.get(&id("acme-eu")).expect("known");
    assert_eq!(here.title(), "Name of acme-eu", "theirs is not ours");
    // Leaving cancels the reads.
    scene.keys("r");
    assert!(matches!(scene.keys("<esc>")[..], [Effect::Cancel(_)]));
}

#[test]
fn one_row_or_all_are_copied_into_a_form_here() {
    let mut scene = Scene::walked(TESTING, "x<down><enter>");
    scene
        .at("EditName")
        .shows("1 change")
        .says("mapping 7 copied from production");
    scene.walk("<ctrl-s>").keys("y");
    let mut expected = base("acme-eu");
    expected.mapping.as_mut().expect("known")["7"] = "41".into();
    let update = scene.write();
    assert!(
        matches!(update, Job::Update { wanted, .. } if *wanted == expected),
        "{update:?}"
    );

    let mut scene = Scene::walked(TESTING, "xa");
    scene.shows("3 changes");
    scene.walk("<esc><esc>");
    assert_eq!(scene.drafts(), 1, "kept like every draft");
    assert!(scene.writes().is_empty());
    // A draft is kept below the copied values.
    let scene = Scene::walked(TESTING, "e<end> 2<esc>x<down><enter>");
    scene.shows_all(["Name of acme-eu 2", "2 changes"]);
    // What is typed is not replaced.
    let mut scene = Scene::walked(TESTING, "e<end> 2<esc>x<enter>");
    scene
        .at("Compare")
        .says("your draft of the group changes the name");
    scene.walk("<esc>e").shows("Name of acme-eu 2");
}

#[test]
fn a_draft_of_a_new_group_is_not_replaced_by_a_copy() {
    let mut scene = Scene::on(TESTING);
    scene.walk("onew-id<enter>Mine<esc>");
    scene.walk("onew-id<tab>acme-eu<enter>");
    scene.at("Open").shows("you have a draft of the new group");
}

#[test]
fn the_copy_of_a_group_fills_the_form_of_a_new_one() {
    let mut scene = Scene::on(TESTING);
    assert_eq!(scene.keys("onew-id<tab>"), []);
    scene.shows("copy of");
    scene
        .walk("nothing<enter>")
        .at("Open")
        .shows("no known group has this ID");
    scene.walk("<ctrl-u>acme-eu<enter>");
    scene.shows("Create new-id").says("Copied from acme-eu");
    scene.walk("New");
    assert_eq!(scene.keys("<ctrl-s>"), [], "a creation reads nothing");
    scene.shows_all(["nothing can delete it", "+ 7  40"]);
    let mut expected = base("acme-eu");
    expected.name = Some("New".into());
    assert_eq!(scene.started("y"), Job::Create(id("new-id"), expected));
}

#[test]
fn a_near_id_is_copied_with_two_keys_and_a_known_one_is_opened() {
    let scene = Scene::walked(TESTING, "oacme-ex<down><tab><enter>");
    scene.shows("Create acme-ex").says("Copied from acme-eu");
    let mut scene = Scene::walked(TESTING, "oacme-eu");
    scene.keys("<tab>");
    scene.says("this ID is known");
    scene.keys("<enter>");
    assert!(scene.writes().is_empty());
    scene.at("Group");
}
