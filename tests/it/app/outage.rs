//! What a lost directory does to the messages.

use std::time::Duration;

use groupdesk::{
    config::guard::{Guard, Rule},
    domain::{
        batch::{BatchKind, BulkChange},
        rotation::State,
    },
    operations::{
        BatchId, Guarded, PlaceProblem, RotationId,
        attention::{Attention, ConcernKind},
    },
    tui::state::{
        message::{Job, JobError, Msg, Outcome, ProfileIndex},
        outage::OutageReason,
    },
};

use super::{
    attention::{concern, with_alarms},
    batch::unfinished,
    batches::listed,
    scene::{BEGIN, READ_ONLY, Scene, TESTING, rotation},
};
use crate::support::world::id;

const UNREACHABLE: &str = "the directory cannot be reached; nothing was recorded";

fn lost(scene: &mut Scene) {
    let lost = Some((Duration::ZERO, OutageReason::Away));
    scene.msg(Msg::DirectoryState(ProfileIndex(TESTING), lost));
}

fn history_that_cannot_be_read(scene: &mut Scene, is_directory_outage: bool) {
    scene.keys("2");
    scene.answer_with(Outcome::Failed(JobError {
        is_directory_outage,
        ..JobError::of(UNREACHABLE)
    }));
}

/// The message that is shown on every screen.
fn shown(scene: &Scene) -> &str {
    let message = scene.app.context.messages.current();
    message.map_or("", |message| &message.text)
}

#[test]
fn what_the_outage_made_fail_gives_way_to_it() {
    let mut scene = Scene::on(TESTING);
    history_that_cannot_be_read(&mut scene, true);
    assert_eq!(shown(&scene), UNREACHABLE);
    lost(&mut scene);
    scene.shows("directory lost, ");
    assert!(shown(&scene).ends_with("your input stays here"));
}

#[test]
fn another_error_stays() {
    let mut scene = Scene::on(TESTING);
    history_that_cannot_be_read(&mut scene, false);
    lost(&mut scene);
    scene.shows("directory lost, ");
    assert_eq!(shown(&scene), UNREACHABLE);
}

#[test]
fn what_failed_during_the_outage_is_answered_by_its_end() {
    let mut scene = Scene::on(TESTING);
    lost(&mut scene);
    history_that_cannot_be_read(&mut scene, true);
    assert_eq!(shown(&scene), UNREACHABLE);
    scene.msg(Msg::DirectoryState(ProfileIndex(TESTING), None));
    assert_ne!(shown(&scene), UNREACHABLE);
}

#[test]
fn each_reason_says_what_is_possible_now_and_what_it_waits_for() {
    for (why, text) in [
        (OutageReason::Away, "Directory lost since"),
        (OutageReason::Standby, "nothing is read or sent"),
        (
            OutageReason::NotAllowed,
            "Nothing is sent until you have them",
        ),
        (
            OutageReason::Viewer,
            "You are a viewer of this directory: you can read it",
        ),
        (
            OutageReason::NotWritable,
            "you can read it, nothing is sent. Update groupdesk",
        ),
        (
            OutageReason::Moved,
            "you can read it, nothing is sent. To see where",
        ),
    ] {
        let mut scene = Scene::on(TESTING);
        let lost = Some((Duration::ZERO, why));
        scene.msg(Msg::DirectoryState(ProfileIndex(TESTING), lost));
        scene.says(text);
        assert!(!shown(&scene).contains("until then"), "{why:?}");
    }
}

#[test]
fn what_can_only_be_read_opens_no_form_and_still_shows_what_is_known() {
    for why in [
        OutageReason::Viewer,
        OutageReason::NotWritable,
        OutageReason::Moved,
    ] {
        let mut scene = Scene::on(TESTING);
        scene.msg(Msg::DirectoryState(
            ProfileIndex(TESTING),
            Some((Duration::ZERO, why)),
        ));
        let reason = scene.app.context.view_only_reason().expect("one");
        for key in ["e", "o", "a", "f", "t"] {
            assert_eq!(scene.keys(key), [], "{key}");
            scene.says(reason);
            assert_eq!(scene.focus(), "List", "{key}");
        }
        scene.walk("<space>").hides("T ROTATE").hides("B EDIT");
        scene.walk("<esc>?").shows(&reason[..12]);
        scene.walk("<esc>");
        assert_eq!(scene.keys("<enter>"), [], "it is opened, not read");
        assert_eq!(scene.focus(), "Group");
        scene.shows("Last known values, not read").hides("e edit");
        scene.walk("2").shows("History");
    }
}

/// The scene, of which the directory says this.
fn told(scene: &mut Scene, why: OutageReason) -> String {
    let lost = Some((Duration::ZERO, why));
    let here = scene.app.context.current;
    scene.msg(Msg::DirectoryState(here, lost));
    let reason = scene.app.context.view_only_reason();
    reason.expect("it can only be read").to_owned()
}

#[test]
fn the_group_of_a_token_is_found_wherever_the_directory_has_the_key_for_it() {
    for (why, is_possible) in [
        (OutageReason::Viewer, false),
        (OutageReason::NotWritable, true),
        (OutageReason::Moved, false),
    ] {
        let mut scene = Scene::on(TESTING);
        let reason = told(&mut scene, why);
        scene.keys("W");
        assert_eq!(scene.focus() == "Whose", is_possible, "{why:?}");
        if !is_possible {
            scene.says(&reason);
        }
    }
}

#[test]
fn a_name_that_was_typed_saves_no_view_once_the_directory_is_only_read() {
    let mut scene = Scene::on(TESTING);
    scene.walk("vw").keys("night");
    let reason = told(&mut scene, OutageReason::Viewer);
    scene.keys("<enter>");
    scene.says(&format!("Not available: {reason}"));
    let saves = |(.., job): &(_, _, Job)| matches!(job, Job::SaveView(..));
    assert!(!scene.pending.iter().any(saves), "{:?}", scene.pending);
}

#[test]
fn an_empty_list_says_what_can_add_groups() {
    let empty = |profile| {
        let mut scene = Scene::on(profile);
        scene.keys("r");
        scene.answer_with(Outcome::listed(Vec::new()));
        scene.answer();
        scene
    };
    empty(READ_ONLY)
        .shows("No groups yet: groupdesk import FILE adds known IDs; this profile is")
        .hides("creates one");
    let mut viewer = empty(TESTING);
    let reason = told(&mut viewer, OutageReason::Viewer);
    viewer
        .shows("No groups yet, and none can be added: ")
        .shows(&reason[..12])
        .hides("import FILE");
    let mut trial = empty(TESTING);
    let here = trial.app.context.current;
    let problem = PlaceProblem::OnTrial {
        profile: "testing".into(),
        place: "eu-live".into(),
    };
    trial.app.context.place_problems.insert(here, problem);
    trial
        .shows("No groups yet, and nothing is sent now: r says why")
        .hides("first choose the environment");
}

#[test]
fn no_next_step_is_a_key_that_is_refused() {
    let mut scene = Scene::on(TESTING);
    scene.keys("3");
    scene.answer_with(Outcome::Rotations(vec![rotation(
        1,
        "acme-eu",
        State::Unknown,
    )]));
    scene.shows("r reads the group; never rotate to find out");
    told(&mut scene, OutageReason::Viewer);
    scene
        .shows("Result unknown; never rotate to find out. It cannot be read: you are a viewer")
        .hides("r reads the group");

    let mut scene = listed("ana@bastion2", TESTING);
    let reason = told(&mut scene, OutageReason::Moved);
    scene.shows(&reason).hides("R checks 1 again");
    let scene = listed("ana@bastion2", READ_ONLY);
    scene
        .shows("this profile is read-only")
        .hides("R checks 1 again");

    let batch = unfinished(BatchId(12)).batch;
    let concerns = vec![
        concern(
            TESTING,
            ConcernKind::Rotation(RotationId(1), State::Unknown, id("globex")),
        ),
        concern(TESTING, ConcernKind::Batch(Box::new(batch))),
        concern(TESTING, ConcernKind::Draft(id("acme-eu"), BEGIN)),
    ];
    let mut scene = Scene::on(TESTING);
    scene.msg(Msg::Resize(160, 40));
    scene.keys("0");
    let found = Attention {
        concerns,
        ages: Vec::new(),
        profiles: 1,
    };
    scene.answer_with(Outcome::Attention(Box::new(found)));
    told(&mut scene, OutageReason::Viewer);
    scene
        .shows("never rotate; you are a viewer")
        .hides("r read it")
        .hides("R resume")
        .hides("e open");

    let mut scene = with_alarms();
    let reason = told(&mut scene, OutageReason::Viewer);
    scene.hides("Enter acknowledge");
    scene.keys("<enter>");
    scene.says(&format!("Not available: {reason}"));
}

#[test]
fn an_empty_page_of_batches_proposes_no_key_that_is_refused() {
    let empty = |profile, why| {
        let mut scene = Scene::on(profile);
        scene.keys("5");
        scene.answer_with(Outcome::AllBatches(Vec::new()));
        if let Some(why) = why {
            told(&mut scene, why);
        }
        scene
    };
    empty(TESTING, None).shows("No batch yet: Space marks groups");
    let (none, marks) = ("No batch yet, and none can be started: ", "marks groups");
    let read_only = empty(READ_ONLY, None);
    read_only.shows(none).shows("read-only").hides(marks);
    let viewer = empty(TESTING, Some(OutageReason::Viewer));
    viewer.shows(none).shows("you are a viewer").hides(marks);
}

#[test]
fn a_batch_of_edits_is_not_resumed_where_updates_are_forbidden() {
    let mut batch = unfinished(BatchId(12)).batch;
    let change = BulkChange::mapping("40", Some("214"), None);
    batch.kind = BatchKind::Edit(change.expect("a change"));
    let mut scene = Scene::on(TESTING);
    scene.app.context.profiles[TESTING].guards = vec![Guard {
        operation: Guarded::Update,
        rule: Rule::Forbid,
        reason: "not on Fridays".into(),
    }];
    scene.keys("5");
    scene.answer_with(Outcome::AllBatches(vec![(ProfileIndex(TESTING), batch)]));
    scene.shows("not on Fridays").hides("R checks");
    scene.keys("R");
    scene.says("update is forbidden: not on Fridays");
}

#[test]
fn a_group_is_called_unread_exactly_if_it_was_not_read() {
    let mut scene = Scene::on(TESTING);
    scene.walk("<enter>");
    told(&mut scene, OutageReason::Viewer);
    scene.hides("Last known values, not read");

    let mut scene = Scene::on(TESTING);
    told(&mut scene, OutageReason::Viewer);
    scene.keys("<enter>");
    scene.msg(Msg::DirectoryState(ProfileIndex(TESTING), None));
    scene.shows("Last known values, not read");
    scene.walk("r").hides("Last known values, not read");
}
