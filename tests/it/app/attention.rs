//! //! The attention view and its count in line 1: the order of its rows, and where the keys of a row lead.

use std::time::Duration;

use super::{
    batch::unfinished,
    scene::{BEGIN, PRODUCTION, Scene, TESTING, group},
};
use crate::support::world::id;
use groupdesk::{
    config::{
        HandOffCommand,
        guard::{Guard, Operation, Rule},
    },
    domain::{
        change::DesiredFields,
        draft::{Draft, DraftFields},
        handoff::HandOffState,
        rotation::State,
    },
    operations::{
        Alarm, KeptDraft, PlaceId, PlaceProblem, RotationId,
        attention::{Attention, Concern, ConcernKind},
    },
    tui::state::message::{Job, Msg, Outcome, ProfileIndex},
};

pub(super) fn concern(profile: usize, kind: ConcernKind) -> Concern {
    Concern {
        profile: Some(profile),
        place: ["testing", "production"][profile].into(),
        kind,
        since: Some(BEGIN),
        by: Some("li@bastion2".into()),
        place_id: PlaceId::NONE,
    }
}

/// The attention view with an unknown rotation here, a batch in production, and a draft here.
fn opened() -> Scene {
    let mut scene = Scene::on(TESTING);
    scene.keys("0");
    let batch = unfinished(groupdesk::operations::BatchId(12)).batch;
    let found = Attention {
        concerns: vec![
            concern(
                TESTING,
                ConcernKind::Rotation(RotationId(1), State::Unknown, id("globex")),
            ),
            concern(PRODUCTION, ConcernKind::Batch(Box::new(batch))),
            concern(TESTING, ConcernKind::Draft(id("acme-eu"), BEGIN)),
        ],
        ages: Vec::new(),
        profiles: 2,
    };
    scene.answer_with(Outcome::Attention(Box::new(found)));
    scene
}

fn pending_jobs(scene: &Scene) -> Vec<(ProfileIndex, &Job)> {
    let jobs = scene.pending.iter();
    jobs.map(|(_, profile, job)| (*profile, job)).collect()
}

#[test]
fn rows_are_sorted_worst_first_with_their_next_step_and_counted_in_line_1() {
    let scene = opened();
    scene
        .shows("3 items in 2 profiles")
        .shows("> ? rotation unknown")
        .shows("testing globex")
        .shows("r read it; never rotate")
        .shows("x batch unfinished")
        .shows("R resume: 1 of 2 left")
        .shows("d draft");
    let screen = scene.screen();
    let first = screen.lines().next().expect("line 1");
    assert!(first.contains("!1 +1"), "a draft is not counted: {first}");
}

/// An alarm of this place, and one of production.
pub(super) fn with_alarms() -> Scene {
    let alarm = Alarm {
        number: 1,
        user_group_id: Some("acme-eu".into()),
        what: "the response is tagged Customer".into(),
        at: BEGIN,
        by: "li@bastion2".into(),
    };
    let mut scene = Scene::on(TESTING);
    scene.keys("0");
    let found = Attention {
        concerns: vec![
            concern(
                TESTING,
                ConcernKind::Alarms("testing".into(), vec![alarm.clone()]),
            ),
            concern(
                PRODUCTION,
                ConcernKind::Alarms("customers".into(), vec![alarm.clone(), alarm]),
            ),
        ],
        ages: Vec::new(),
        profiles: 2,
    };
    scene.answer_with(Outcome::Attention(Box::new(found)));
    scene
}

#[test]
fn an_alarm_is_counted_and_leads_to_the_dialog_that_acknowledges_it() {
    let mut scene = with_alarms();
    scene
        .shows("!1 +1")
        .shows("> x ALARM")
        .shows("x 2 ALARMS")
        .shows("production customers")
        .shows("Enter acknowledge: the resp");
    // In the footer, as in the row.
    scene.shows("Enter acknowledge  ");
    scene.keys("<enter>");
    assert_eq!(
        pending_jobs(&scene),
        [(ProfileIndex(TESTING), &Job::OpenRotations)],
        "it fails because of the alarm, which opens the dialog"
    );
    let mut scene = with_alarms();
    scene.keys("j<enter>");
    assert_eq!(scene.app.context.current, ProfileIndex(PRODUCTION));
    let jobs = pending_jobs(&scene);
    let open = (ProfileIndex(PRODUCTION), &Job::OpenRotations);
    assert!(jobs.contains(&open), "{jobs:?}");
}

#[test]
fn an_unknown_rotation_is_settled_in_two_keys() {
    let mut scene = opened();
    scene.keys("r");
    assert_eq!(
        pending_jobs(&scene),
        [(ProfileIndex(TESTING), &Job::Settle)]
    );
    scene.keys("<tab>");
    scene.shows("2 items in this profile");
    assert!(!scene.screen().contains("batch unfinished"));
}

#[test]
fn a_batch_of_another_profile_is_resumed_there() {
    let mut scene = opened();
    scene.keys("R");
    scene.says("no batch here to resume or retry");
    scene.later(1).keys("jR");
    assert_eq!(scene.app.context.current, ProfileIndex(PRODUCTION));
    let jobs = pending_jobs(&scene);
    let planned = Job::PlanResumption(groupdesk::operations::BatchId(12), false);
    assert!(
        jobs.contains(&(ProfileIndex(PRODUCTION), &planned)),
        "{jobs:?}"
    );
}

#[test]
fn a_draft_is_opened_by_its_key() {
    let mut scene = opened();
    scene.keys("jje");
    assert_eq!(scene.focus(), "EditName");
}

/// Two failed hand-offs of this place: one begun by production, one by a profile that is no longer configured.
fn with_hand_offs(command: bool) -> Scene {
    let mut scene = Scene::on(TESTING);
    if command {
        scene.app.context.profiles[PRODUCTION].handoff = Some(HandOffCommand {
            command: vec!["put-token".into()],
            timeout: Duration::from_secs(5),
        });
    }
    let hand_off = |number, place: &str, begun_in| Concern {
        place: place.into(),
        ..concern(
            TESTING,
            ConcernKind::HandOff {
                rotation: RotationId(number),
                id: id("globex"),
                state: HandOffState::Failed,
                exit: Some(1),
                begun_in,
            },
        )
    };
    let found = Attention {
        concerns: vec![
            hand_off(7, "production", Some(PRODUCTION)),
            hand_off(8, "gone", None),
        ],
        ages: Vec::new(),
        profiles: 1,
    };
    scene.keys("0");
    scene.answer_with(Outcome::Attention(Box::new(found)));
    scene
}

#[test]
fn a_hand_off_is_run_by_the_command_of_the_profile_that_began_it() {
    let mut scene = with_hand_offs(true);
    scene.shows("!2").shows("h run again: exit 1");
    scene.keys("jh");
    scene.says("profile \"gone\", which started it, is missing or belongs to another environment");
    assert!(
        pending_jobs(&scene).is_empty(),
        "{:?}",
        pending_jobs(&scene)
    );
    scene.keys("kh");
    let again = Job::HandOffAgain(RotationId(7), id("globex"));
    assert_eq!(pending_jobs(&scene), [(ProfileIndex(PRODUCTION), &again)]);
}

#[test]
fn a_hand_off_without_a_command_or_against_a_guard_is_not_run() {
    let mut scene = with_hand_offs(false);
    scene.keys("h");
    scene.says("profile \"production\" has no hand-off");
    let mut scene = with_hand_offs(true);
    scene.app.context.profiles[PRODUCTION].guards = vec![Guard {
        operation: Operation::HandOff,
        rule: Rule::Forbid,
        reason: "not at night".into(),
    }];
    scene.keys("h");
    scene.says("not at night");
    assert!(
        pending_jobs(&scene).is_empty(),
        "{:?}",
        pending_jobs(&scene)
    );
}

fn answer_to(scene: &mut Scene, to: &Job, outcome: Outcome) {
    let here = scene.app.context.current;
    let is_meant = |(_, profile, job): &(_, ProfileIndex, Job)| *profile == here && job == to;
    let at = scene.pending.iter().rposition(is_meant).expect("asked");
    let (ticket, ..) = scene.pending.remove(at);
    scene.msg(Msg::Done(ticket, outcome));
}

fn batch(number: i64, not_started: usize) -> ConcernKind {
    let mut batch = unfinished(groupdesk::operations::BatchId(number)).batch;
    batch.counts.not_started = not_started;
    ConcernKind::Batch(Box::new(batch))
}

/// Reads the rows again, and answers with these.
pub(super) fn answer_concerns(scene: &mut Scene, concerns: Vec<Concern>) {
    let found = Attention {
        concerns,
        ages: Vec::new(),
        profiles: 2,
    };
    let asked = |(.., job): &(_, _, Job)| matches!(job, Job::Attention { whole: true });
    let at = scene.pending.iter().position(asked).expect("asked");
    let (ticket, ..) = scene.pending.remove(at);
    let found = Outcome::Attention(Box::new(found));
    scene.msg(Msg::Done(ticket, found));
}

#[test]
fn the_cursor_stays_on_its_row_whatever_comes_and_changes() {
    let mut scene = Scene::on(TESTING);
    scene.keys("0");
    let rotation = |number| {
        let id = id("globex");
        ConcernKind::Rotation(RotationId(number), State::Unknown, id)
    };
    let rows = vec![
        concern(PRODUCTION, rotation(1)),
        concern(PRODUCTION, ConcernKind::Over(3, Duration::from_secs(9))),
        concern(TESTING, batch(12, 28)),
        concern(TESTING, ConcernKind::Over(3, Duration::from_secs(9))),
    ];
    answer_concerns(&mut scene, rows);
    scene.keys("jj");
    scene.shows("> x batch unfinished");
    // Of the batch under the cursor fewer groups are left, and a worse row was added above it.
    let rows = vec![
        concern(PRODUCTION, rotation(2)),
        concern(PRODUCTION, rotation(1)),
        concern(PRODUCTION, ConcernKind::Over(3, Duration::from_secs(9))),
        concern(TESTING, batch(12, 11)),
        concern(TESTING, ConcernKind::Over(2, Duration::from_secs(9))),
    ];
    scene.keys("<tab>");
    scene.shows("2 items").shows("> x batch unfinished");
    scene.keys("<tab>");
    scene.shows("4 items").shows("> x batch unfinished");
    // The batch has no unknown outcome, so there is nothing to check at the service.
    scene.keys("r");
    answer_concerns(&mut scene, rows);
    scene
        .shows("> x batch unfinished")
        .shows("resume: 11 of 12 left");
}

#[test]
fn the_draft_of_a_new_group_is_opened_here_and_in_another_profile() {
    let mut scene = Scene::on(TESTING);
    scene.walk("oinitech<enter>Typed<esc>");
    scene.keys("0");
    let rows = vec![
        concern(TESTING, ConcernKind::Draft(id("initech"), BEGIN)),
        concern(PRODUCTION, ConcernKind::Draft(id("old"), BEGIN)),
    ];
    answer_concerns(&mut scene, rows);
    scene.keys("e");
    assert_eq!(scene.focus(), "EditName");
    scene.shows("Typed");
    scene.keys("<esc>");
    assert_eq!(scene.focus(), "Attention");
    // The draft of another profile opens once that profile's groups and drafts are read.
    scene.keys("j<enter>");
    scene.shows("PRODUCTION");
    assert_eq!(scene.focus(), "List");
    let draft = Draft {
        user_group_id: id("old"),
        creating: true,
        loaded_from: None,
        typed: DraftFields {
            name: "Left there".into(),
            ..DraftFields::default()
        },
        base: DesiredFields::default(),
        base_at: BEGIN,
        changed_at: BEGIN,
    };
    let kept = vec![KeptDraft {
        draft,
        by: "ana@bastion2".into(),
    }];
    answer_to(&mut scene, &Job::Drafts, Outcome::Drafts(kept));
    assert_eq!(scene.focus(), "List", "the groups are not read yet");
    let groups = Outcome::listed(vec![group("globex", 2)]);
    answer_to(&mut scene, &Job::List, groups);
    assert_eq!(scene.focus(), "EditName");
    scene.shows("Left there");
}

#[test]
fn opening_a_draft_that_is_gone_says_so() {
    let mut scene = Scene::on(TESTING);
    scene.keys("0");
    let row = concern(PRODUCTION, ConcernKind::Draft(id("old"), BEGIN));
    answer_concerns(&mut scene, vec![row]);
    scene.keys("<enter>");
    answer_to(&mut scene, &Job::Drafts, Outcome::Drafts(Vec::new()));
    let groups = Outcome::listed(vec![group("old", 2)]);
    answer_to(&mut scene, &Job::List, groups);
    assert_eq!(scene.focus(), "List");
    scene.says("The draft of old no longer exists: it was sent or discarded");
    scene.keys("P<up><enter>");
    scene.answer();
    scene.keys("0");
    answer_concerns(
        &mut scene,
        vec![concern(TESTING, ConcernKind::Draft(id("nobody"), BEGIN))],
    );
    scene.keys("e");
    scene.says("The draft of nobody no longer exists");
    assert_eq!(scene.focus(), "List");
}

#[test]
fn of_one_profile_it_is_not_said_that_nothing_needs_attention_while_others_do() {
    let of = |profile| {
        let unknown = ConcernKind::Rotation(RotationId(1), State::Unknown, id("globex"));
        concern(profile, unknown)
    };
    let mut scene = Scene::on(TESTING);
    scene.keys("0");
    answer_concerns(&mut scene, vec![of(PRODUCTION)]);
    scene
        .walk("<tab>")
        .shows("Nothing needs attention in this profile: Tab shows all profiles");
}

#[test]
fn the_count_names_exactly_the_profiles_that_were_not_read() {
    let mut scene = opened();
    let production = ProfileIndex(PRODUCTION);
    let problem = PlaceProblem::OnTrial {
        profile: "production".into(),
        place: "eu-live".into(),
    };
    scene.app.context.place_problems.insert(production, problem);
    scene.shows("3 items in 2 profiles").hides("without");
    let problem = PlaceProblem::TagConflict {
        profile: "production".into(),
        other: "testing".into(),
        place: "eu-live".into(),
    };
    scene.app.context.place_problems.insert(production, problem);
    scene.shows("3 items in 2 profiles, without production");
    scene.keys("/globex<enter>");
    scene.shows("1 of 3, without production");
    scene.keys("<esc><esc>0");
    let found = Attention {
        profiles: 1,
        ..Attention::default()
    };
    let reads = |(.., job): &(_, _, Job)| matches!(job, Job::Attention { whole: true });
    if let Some(at) = scene.pending.iter().position(reads) {
        let (ticket, ..) = scene.pending.remove(at);
        scene.msg(Msg::Done(ticket, Outcome::Attention(Box::new(found))));
    } else {
        panic!("{:?}", scene.pending);
    }
    scene.shows("0 items in 1 profile, without production");
}
