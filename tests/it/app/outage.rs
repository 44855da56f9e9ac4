//! What a lost directory does to the messages.

use groupdesk::tui::state::OutageReason;

use super::{
    attention::{self, with_alarms},
    prelude::*,
};

const UNREACHABLE: &str = "the directory cannot be reached; nothing was recorded";

/// The directory says this from now on.
fn lose(scene: &mut Scene, why: OutageReason) {
    let lost = Some((Duration::ZERO, why));
    let here = scene.app.context.current;
    scene.msg(Msg::DirectoryState(here, lost));
}

fn history_that_cannot_be_read(scene: &mut Scene, is_directory_outage: bool) {
    let failed = JobError {
        is_directory_outage,
        ..JobError::of(UNREACHABLE)
    };
    scene.open("2", Outcome::Failed(failed));
}

/// The message that is shown on every screen.
fn shown(scene: &Scene) -> &str {
    let message = scene.app.context.messages.current();
    message.map_or("", |message| &message.text)
}

#[test]
fn what_the_outage_made_fail_gives_way_to_it_and_to_its_end() {
    let mut scene = Scene::on(TESTING);
    history_that_cannot_be_read(&mut scene, true);
    assert_eq!(shown(&scene), UNREACHABLE);
    lose(&mut scene, OutageReason::Away);
    scene.shows("directory lost, ");
    assert!(shown(&scene).ends_with("your input stays here"));
    // Another error stays.
    let mut scene = Scene::on(TESTING);
    history_that_cannot_be_read(&mut scene, false);
    lose(&mut scene, OutageReason::Away);
    scene.shows("directory lost, ");
    assert_eq!(shown(&scene), UNREACHABLE);
    // What failed during the outage is answered by its end.
    let mut scene = Scene::on(TESTING);
    lose(&mut scene, OutageReason::Away);
    history_that_cannot_be_read(&mut scene, true);
    assert_eq!(shown(&scene), UNREACHABLE);
    scene.msg(Msg::DirectoryState(ProfileIndex(TESTING), None));
    assert_ne!(shown(&scene), UNREACHABLE);
}

#[test]
fn each_reason_says_what_is_possible_now_and_what_it_waits_for() {
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (OutageReason::Away, "Directory lost since"),
        (OutageReason::Standby, "nothing is read or sent"),
        (OutageReason::NotAllowed, "Nothing is sent until you have it"),
        (OutageReason::Refused("password"), "has refused your password since"),
        (OutageReason::Unusable("left behind by a failover"), "left behind by a failover. Run `groupdesk doctor`"),
        (OutageReason::Viewer, "You are a viewer of this directory: you can read it"),
        (OutageReason::NotWritable, "you can read it, nothing is sent. Update groupdesk"),
        (OutageReason::Moved, "you can read it, nothing is sent. To see where"),
    ];
    for (why, text) in table {
        let mut scene = Scene::on(TESTING);
        lose(&mut scene, why);
        scene.says(text);
        assert!(!shown(&scene).contains("until then"), "{why:?}");
    }
}

#[test]
fn what_can_only_be_read_opens_no_form_and_still_shows_what_is_known() {
    for (why, finds) in [
        (OutageReason::Viewer, false),
        (OutageReason::NotWritable, true),
        (OutageReason::Moved, false),
    ] {
        let mut scene = Scene::on(TESTING);
        let reason = told(&mut scene, why);
        for key in ["e", "o", "a", "f", "t"] {
            assert_eq!(scene.keys(key), [], "{key}");
            scene.says(&reason).at("List");
        }
        // The group of a token is found wherever the directory has the key for it.
        scene.keys("W");
        scene.at(if finds { "Whose" } else { "List" });
        scene.later(1).walk("<esc>");
        scene.walk("<space>").hides("T ROTATE").hides("B EDIT");
        scene.walk("<esc>?").shows(&reason[..12]);
        scene.walk("<esc>");
        assert_eq!(scene.keys("<enter>"), [], "it is opened, not read");
        scene
            .at("Group")
            .shows("Last known values, not read")
            .hides("e edit");
        scene.walk("2").shows("History");
    }
}

/// The scene, of which the directory says this.
fn told(scene: &mut Scene, why: OutageReason) -> String {
    lose(scene, why);
    let reason = scene.app.context.view_only_reason();
    reason.expect("it can only be read").to_owned()
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
        scene.open("r", list_of(Vec::new()));
        scene.answer();
        scene
    };
    empty(READ_ONLY)
        .shows("No groups yet; this profile is")
        .hides("creates or reads one");
    let mut viewer = empty(TESTING);
    told(&mut viewer, OutageReason::Viewer);
    viewer
        .shows("No groups yet: a viewer sees the environment with the profile's name")
        .hides("import FILE");
    viewer.keys("e");
    viewer.says("Not available: no group here");
    assert!(
        !viewer.footer().contains("creates or reads one"),
        "{}",
        viewer.footer()
    );
    let mut old = empty(TESTING);
    let reason = told(&mut old, OutageReason::NotWritable);
    old.shows("No groups yet, and none can be added: ")
        .shows(&reason[..12]);
    let mut trial = empty(TESTING);
    let here = trial.app.context.current;
    let problem = PlaceProblem::OnTrial {
        profile: "testing".into(),
        place: "eu-live".into(),
    };
    trial.app.context.place_problems.insert(here, problem);
    trial
        .shows("No groups yet, and nothing is sent now: r shows why")
        .hides("first choose the environment");
}

#[test]
fn no_next_step_is_a_key_that_is_refused() {
    let mut scene = Scene::on(TESTING);
    let unknown = rotation(1, "acme-eu", State::Unknown);
    scene.open("3", Outcome::Rotations(vec![unknown]));
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

    let mut scene = attention(vec![
        attention::unknown(TESTING),
        attention::batch(TESTING),
        attention::draft(TESTING, "acme-eu"),
    ]);
    scene.msg(Msg::Resize(160, 40));
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
        scene.open("5", Outcome::AllBatches(Vec::new()));
        if let Some(why) = why {
            told(&mut scene, why);
        }
        scene
    };
    empty(TESTING, None).shows("No batches yet: Space marks groups");
    let (none, marks) = ("No batches yet, and none can be started: ", "marks groups");
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
    let mut scene = listing(TESTING, batch);
    scene.guard(Operation::Update, Rule::Forbid);
    scene.shows("two people look").hides("R checks");
    scene.keys("R");
    scene.says("update is forbidden: two people look");
}

#[test]
fn a_group_is_called_unread_exactly_if_it_was_not_read() {
    let mut scene = Scene::walked(TESTING, "<enter>");
    told(&mut scene, OutageReason::Viewer);
    scene.hides("Last known values, not read");

    let mut scene = Scene::on(TESTING);
    told(&mut scene, OutageReason::Viewer);
    scene.keys("<enter>");
    scene.msg(Msg::DirectoryState(ProfileIndex(TESTING), None));
    scene.shows("Last known values, not read");
    scene.walk("r").hides("Last known values, not read");
}

#[test]
fn a_long_name_hides_neither_the_lost_directory_nor_that_something_is_read() {
    const NAME: &str = "Municipal Water and Waste Water Company of the Northern Districts, Ltd.";
    let line = |scene: &Scene| {
        let screen = scene.screen();
        let line = screen.lines().nth(1).expect("line 2").to_owned();
        assert!(line.contains("Municipal W"), "{line}");
        assert!(line.contains(NAME) || line.contains('…'), "{line}");
        line
    };
    for width in [60, 80, 120] {
        let mut scene = Scene::on(TESTING);
        let long = known_group("acme-eu", &wanted(NAME, &[], "{}"), 1);
        scene.open("r", list_of(vec![long]));
        scene.pending.clear();
        scene.app.context.size = (width, 24);
        scene.keys("<enter>");
        let text = line(&scene);
        assert!(text.contains("reading"), "{text}");
        lose(&mut scene, OutageReason::Away);
        let text = line(&scene);
        assert!(text.contains("directory lost, "), "{text}");
        assert!(text.contains("; trying"), "{text}");
    }
}
