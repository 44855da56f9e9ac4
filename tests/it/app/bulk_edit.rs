//! One change to the marked groups: its fields, review and confirmation. Nothing is sent before the confirmation.

use super::prelude::*;

/// The change that is sent, and to how many groups.
fn sent(scene: &Scene) -> Option<(BulkChange, usize)> {
    scene.pending.iter().find_map(|(.., job)| match job {
        Job::BulkEdit { plan, .. } => Some((plan.change.clone(), plan.counts().0)),
        _ => None,
    })
}

fn change() -> BulkChange {
    BulkChange::mapping("40", Some("214"), None).expect("a change")
}

#[test]
fn outside_production_a_key_confirms_what_was_reviewed() {
    let mut scene = Scene::walked(TESTING, "*B");
    scene
        .at("BulkEditField")
        .shows_all(["Edit 2 marked groups", "Type a schema ID"]);
    scene.walk("40<tab>214");
    scene.shows_all(["2 change", "213", "nothing is sent yet"]);
    scene.walk("y<ctrl-u>214<ctrl-s>").at("BulkEditConfirm");
    scene.keys("<enter>");
    assert_eq!(sent(&scene), None, "Enter does nothing");
    scene.keys("y");
    assert_eq!(sent(&scene), Some((change(), 2)));
    scene.at("BulkRun");
    scene.answer();
    scene.shows("2 updated of 2");
}

#[test]
fn a_guard_that_raises_updates_asks_for_the_words_and_says_why() {
    let mut scene = Scene::on(TESTING);
    scene.guard(Operation::Update, Rule::AtLeast(Level::Typed));
    scene
        .walk("*B40<tab>214<ctrl-s>")
        .at("BulkEditTyped")
        .shows_all(["! guard: two people look", "Type edit 2 in testing"]);
    scene.keys("y<enter>");
    assert_eq!(sent(&scene), None);
    scene.keys("<ctrl-u>edit 2 in testing<enter>");
    assert_eq!(sent(&scene), Some((change(), 2)));
}

#[test]
fn what_was_typed_is_checked_again_before_it_can_be_confirmed() {
    let mut scene = Scene::walked(TESTING, "*/map:40=213<enter>B214");
    scene.keys("5");
    let asked = scene.jobs().into_iter().find_map(|job| match job {
        Job::PlanEdit { asked, .. } => Some(asked),
        _ => None,
    });
    let Some(BulkEditRequest::Groups(change, _)) = asked else {
        panic!("{asked:?}");
    };
    let expected = BulkChange::mapping("40", Some("2145"), Some("213"));
    assert_eq!(Ok(change), expected.as_ref());
    scene.keys("<ctrl-s>");
    scene.at("BulkEditField");
    scene.answer();
    scene.keys("<ctrl-s>");
    scene.at("BulkEditConfirm");
}

/// An edit batch in the list: one group is changed, one is not, and the outcome of one is unknown.
fn listed_edit() -> Scene {
    let batch = Batch {
        kind: BatchKind::Edit(change()),
        counts: Counts {
            confirmed: 1,
            not_applied: 1,
            unknown: 1,
            ..Counts::default()
        },
        ..stored(BATCH)
    };
    listing(TESTING, batch)
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
            scene.answer_with(Outcome::Batch(Box::new(edited())));
        }
        scene.shows(title);
        let planned = Job::PlanEdit {
            asked,
            include_old: false,
        };
        assert!(scene.jobs().contains(&&planned), "{:?}", scene.pending);
        assert!(scene.writes().is_empty());
    }
}

/// The edit batch and its items, as its page shows them.
fn edited() -> (Batch, Vec<BatchItem>) {
    let mut items = items([State::NotApplied, State::Confirmed]);
    for (item, ending) in items.iter_mut().zip([Ending::NotApplied, Ending::Updated]) {
        item.rotation = None;
        item.state = None;
        item.ending = Some(ending);
    }
    let batch = Batch {
        kind: BatchKind::Edit(change()),
        ..stored(BATCH)
    };
    (batch, items)
}

#[test]
fn unknown_items_of_an_edit_are_settled_as_changes() {
    let mut scene = listed_edit();
    scene.shows("1 UNKNOWN");
    scene.keys("r");
    let jobs = scene.jobs();
    assert!(jobs.contains(&&Job::SettleChanges) && !jobs.contains(&&Job::Settle));
    scene.answer_with(Outcome::ChangesSettled(Vec::new()));
    scene.says("All open changes are resolved");
    let mut scene = listed("ana@bastion2", TESTING);
    scene.keys("z");
    scene.says("a rotation cannot be undone");
}
