//! One change to the marked groups: its fields, review and confirmation. Nothing is sent before the confirmation.

use groupdesk::{
    config::guard::{Guard, Level, Operation, Rule},
    domain::{
        batch::{BatchKind, BulkChange, Counts},
        history::Ending,
        rotation::State,
    },
    operations::{Batch, BatchItem},
    tui::state::message::{BulkEditRequest, Job, Outcome, ProfileIndex},
};

use super::{
    batch::{BATCH, items, stored},
    batches::listed,
    scene::{PRODUCTION, READ_ONLY, Scene, TESTING},
};

/// The change that is sent, and to how many groups.
fn sent(scene: &Scene) -> Option<(BulkChange, usize)> {
    scene.pending.iter().find_map(|(.., job)| match job {
        Job::BulkEdit { plan, .. } => Some((plan.change.clone(), plan.counts().0)),
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
        .shows("Name a schema ID");
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
    scene.shows("2 updated of 2");
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
fn a_guard_that_raises_updates_asks_for_the_words_and_says_why() {
    let mut scene = Scene::on(TESTING);
    scene.app.context.profiles[TESTING].guards = vec![Guard {
        operation: Operation::Update,
        rule: Rule::AtLeast(Level::Typed),
        reason: "two people look".into(),
    }];
    scene.walk("*B40<tab>214<ctrl-s>");
    assert_eq!(scene.focus(), "BulkEditTyped");
    scene
        .shows("! guard: two people look")
        .shows("Type edit 2 in testing");
    scene.keys("y<enter>");
    assert_eq!(sent(&scene), None);
    scene.keys("<ctrl-u>edit 2 in testing<enter>");
    assert_eq!(sent(&scene).map(|(_, count)| count), Some(2));
}

#[test]
fn the_row_is_filled_from_the_filter_and_the_focus_is_on_its_value() {
    let mut scene = Scene::on(TESTING);
    scene.walk("*/map:40=213<enter>B214");
    scene.keys("5");
    let asked = scene.pending.iter().find_map(|(.., job)| match job {
        Job::PlanEdit { asked, .. } => Some(asked),
        _ => None,
    });
    let Some(BulkEditRequest::Groups(change, _)) = asked else {
        panic!("{asked:?}");
    };
    let expected = BulkChange::mapping("40", Some("2145"), Some("213"));
    assert_eq!(Ok(change), expected.as_ref());
    // What was typed is checked again before it can be confirmed.
    scene.keys("<ctrl-s>");
    assert_eq!(scene.focus(), "BulkEditField");
    scene.answer();
    scene.keys("<ctrl-s>");
    assert_eq!(scene.focus(), "BulkEditConfirm");
}

#[test]
fn a_bulk_edit_needs_marks_and_a_writable_profile() {
    let mut scene = Scene::on(TESTING);
    scene.walk("B").says("nothing is marked");
    assert_eq!(scene.focus(), "List");
    let mut scene = Scene::on(READ_ONLY);
    scene.walk("*B");
    assert_eq!(scene.focus(), "List");
    scene.says("read-only");
}

/// An edit batch in the list: one group is changed, one is not, and the outcome of one is unknown.
fn listed_edit() -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.keys("5");
    let change = BulkChange::mapping("40", Some("214"), None).expect("a change");
    let batch = Batch {
        kind: BatchKind::Edit(change),
        counts: Counts {
            confirmed: 1,
            not_applied: 1,
            unknown: 1,
            ..Counts::default()
        },
        ..stored(BATCH)
    };
    let all = vec![(ProfileIndex(TESTING), batch)];
    scene.answer_with(Outcome::AllBatches(all));
    scene
}

fn has(scene: &Scene, wanted: &Job) -> bool {
    scene.pending.iter().any(|(.., job)| job == wanted)
}

#[test]
fn an_edit_batch_is_retried_and_undone_as_an_edit() {
    for (key, title, asked) in [
        (
            "z",
            "Reverse edit of batch 7",
            BulkEditRequest::Reverse(BATCH),
        ),
        ("F", "Retry batch 7", BulkEditRequest::Again(BATCH)),
    ] {
        let mut scene = listed_edit();
        scene.shows("edit map 40");
        scene.keys(key);
        // The page of a batch is read before it is retried.
        if key == "F" {
            let (batch, items) = edited();
            scene.answer_with(Outcome::Batch(Box::new((batch, items))));
        }
        scene.shows(title);
        let planned = Job::PlanEdit {
            asked,
            include_old: false,
        };
        assert!(has(&scene, &planned), "{:?}", scene.pending);
        assert!(scene.writes().is_empty());
    }
}

/// The edit batch and its items, as its page shows them.
fn edited() -> (Batch, Vec<BatchItem>) {
    let change = BulkChange::mapping("40", Some("214"), None).expect("a change");
    let mut items = items([State::NotApplied, State::Confirmed]);
    for (item, ending) in items.iter_mut().zip([Ending::NotApplied, Ending::Updated]) {
        item.rotation = None;
        item.state = None;
        item.ending = Some(ending);
    }
    let batch = Batch {
        kind: BatchKind::Edit(change),
        ..stored(BATCH)
    };
    (batch, items)
}

#[test]
fn unknown_items_of_an_edit_are_settled_as_changes() {
    let mut scene = listed_edit();
    scene.shows("1 UNKNOWN");
    scene.keys("r");
    assert!(has(&scene, &Job::SettleChanges), "{:?}", scene.pending);
    assert!(!has(&scene, &Job::Settle));
    scene.answer_with(Outcome::ChangesSettled(Vec::new()));
    scene.says("All open changes are resolved");
    let mut scene = listed("ana@bastion2", TESTING);
    scene.keys("z");
    scene.says("a rotation cannot be undone");
}
