//! One change over the marked groups: fields, review and confirmation; nothing is sent before that.

use groupdesk::{
    domain::batch::BulkChange,
    tui::state::message::{AskedEdit, Job},
};

use super::scene::{PRODUCTION, READ_ONLY, Scene, TESTING};

/// The change that is sent, and to how many.
fn sent(scene: &Scene) -> Option<(BulkChange, usize)> {
    scene.pending.iter().find_map(|(.., job)| match job {
        Job::BulkEdit(plan) => Some((plan.change.clone(), plan.counts().0)),
        _ => None,
    })
}

#[test]
fn outside_production_a_key_confirms_what_was_reviewed() {
    let mut scene = Scene::on(TESTING);
    scene.walk("*B");
    assert_eq!(scene.focus(), "BulkEditField");
    scene
        .shows("Edit 2 marked groups")
        .shows("Name a schema id");
    scene.walk("40<tab>214");
    scene
        .shows("2 change")
        .shows("213")
        .shows("nothing is sent yet");
    scene.walk("y<ctrl-u>214<ctrl-s>");
    assert_eq!(scene.focus(), "BulkEditConfirm");
    scene.keys("<enter>");
    assert_eq!(sent(&scene), None, "Enter does nothing");
    scene.keys("y");
    let change = BulkChange::mapping("40", Some("214"), None).expect("a change");
    assert_eq!(sent(&scene), Some((change, 2)));
    assert_eq!(scene.focus(), "BulkRun");
    scene.answer();
    scene.shows("2 confirmed of 2");
}

#[test]
fn in_production_the_words_are_typed() {
    let mut scene = Scene::on(PRODUCTION);
    scene.walk("*B40<tab>214<ctrl-s>");
    assert_eq!(scene.focus(), "BulkEditTyped");
    scene.keys("edit 2 in testing<enter>");
    scene.shows("Text differs");
    assert_eq!(sent(&scene), None);
    scene.keys("<ctrl-u>edit 2 in production<enter>");
    assert_eq!(sent(&scene).map(|(_, count)| count), Some(2));
}

#[test]
fn the_filter_fills_the_row_and_the_focus_waits_for_the_value() {
    let mut scene = Scene::on(TESTING);
    scene.walk("*/map:40=213<enter>B214");
    scene.keys("5");
    let asked = scene.pending.iter().find_map(|(.., job)| match job {
        Job::PlanEdit { asked, .. } => Some(asked),
        _ => None,
    });
    let Some(AskedEdit::Groups(change, _)) = asked else {
        panic!("{asked:?}");
    };
    let expected = BulkChange::mapping("40", Some("2145"), Some("213"));
    assert_eq!(Ok(change), expected.as_ref());
    // What is typed is checked anew before it can be confirmed.
    scene.keys("<ctrl-s>");
    assert_eq!(scene.focus(), "BulkEditField");
    scene.answer();
    scene.keys("<ctrl-s>");
    assert_eq!(scene.focus(), "BulkEditConfirm");
}

#[test]
fn it_needs_marks_and_a_profile_that_may_be_written() {
    let mut scene = Scene::on(TESTING);
    scene.walk("B");
    scene.says("nothing is marked");
    assert_eq!(scene.focus(), "List");
    let mut scene = Scene::on(READ_ONLY);
    scene.walk("*B");
    assert_eq!(scene.focus(), "List");
    scene.says("read-only");
}
