//! Scenes of the later views (attention, batches, history, dialogs about places) in each of their states.

use groupdesk::{
    domain::history::{self, Operation},
    operations::{Numbered, Place, Question, QuestionReason},
};
use serde_json::json;

use super::prelude::*;

/// One concern of every kind.
pub(super) fn concerns() -> Vec<Concern> {
    let batch = |counts| {
        ConcernKind::Batch(Box::new(Batch {
            counts,
            ..unfinished(BatchId(12)).batch
        }))
    };
    let counts = Counts::default;
    let days = |days: u64| Duration::from_hours(24 * days);
    let of = |state| ConcernKind::Rotation(RotationId(1), state, id("globex"));
    let change = |operation| ConcernKind::Change(MutationId(1), operation, id("globex"));
    let hand_off = |state| ConcernKind::HandOff {
        rotation: RotationId(7),
        id: id("globex"),
        state,
        exit: Some(1),
        begun_in: Some(TESTING),
    };
    let mut all: Vec<Concern> = [
        of(State::Unknown),
        of(State::Conflict),
        of(State::Rotated),
        of(State::Sent),
        change(Operation::Create),
        change(Operation::Update),
        change(Operation::Get),
        hand_off(HandOffState::Failed),
        hand_off(HandOffState::Pending),
        batch(Counts {
            not_started: 2,
            ..counts()
        }),
        batch(Counts {
            unknown: 2,
            ..counts()
        }),
        batch(counts()),
        ConcernKind::ChangedElsewhere(id("globex")),
        ConcernKind::Over(3, days(402)),
        ConcernKind::Due(3, days(3)),
        ConcernKind::Draft(id("acme-eu"), 1),
        ConcernKind::NewKey(2),
        ConcernKind::NoProfile(2),
    ]
    .map(|kind| concern(TESTING, kind))
    .into();
    if let Some(nowhere) = all.last_mut() {
        nowhere.profile = None;
    }
    all
}

/// Batches in each state, with what tells them apart.
#[rustfmt::skip] // A table: one case per line.
pub(super) fn batches() -> Vec<(&'static str, Batch)> {
    let edit = BulkChange::mapping("40", Some("214"), None).expect("a change");
    let counted = |counts| Batch {
        counts,
        ..stored(BATCH)
    };
    let counts = Counts::default;
    vec![
        ("left", unfinished(BATCH).batch),
        ("not closed", Batch { ended_at: None, ..stored(BATCH) }),
        ("done", counted(Counts { confirmed: 2, ..counts() })),
        ("not applied", counted(Counts { not_applied: 2, ..counts() })),
        ("unknown", counted(Counts { unknown: 2, ..counts() })),
        ("conflict", counted(Counts { conflict: 2, ..counts() })),
        ("edited", Batch { kind: BatchKind::Edit(edit), ..counted(Counts { confirmed: 1, unknown: 1, ..counts() }) }),
    ]
}

/// The page of a batch whose items have these states.
pub(super) fn page(states: [State; 2]) -> Scene {
    let mut scene = Scene::on(TESTING);
    let items = items(states);
    let counts = Counts::of(items.iter().map(BatchItem::status));
    let batch = Batch {
        counts,
        ..stored(BATCH)
    };
    let stands = Outcome::Batch(Box::new((batch, items)));
    scene.app.context.live.batches.insert(BATCH);
    scene.open(":7<down><enter>", stands);
    scene
}

/// The history of the profile, with every value that a field of an entry can have.
pub(super) fn with_history() -> Scene {
    let changes = json!({"name": {"before": "Acme", "after": "Acme Europe"}});
    let entry = |operation, ending, changes| history::Entry {
        at: BEGIN,
        by: "ana@bastion2".into(),
        profile: "testing".into(),
        user_group_id: id("acme-eu"),
        operation,
        ending,
        previous_fingerprint: Some(Fingerprint::from_bytes([1; 32])),
        fingerprint: Some(Fingerprint::from_bytes([2; 32])),
        reason: Some("leaked in ticket 4711".into()),
        changes,
        note: None,
    };
    let entries = [
        entry(Operation::Update, Ending::Updated, Some(changes)),
        entry(Operation::Rotate, Ending::Confirmed, None),
    ];
    let entries = (0..).zip(entries);
    let entries = entries.map(|(number, value)| Numbered { number, value });
    let mut scene = Scene::on(TESTING);
    scene.open("2", Outcome::History(entries.collect()));
    scene
}

/// The dialogs that keep a profile from being used.
pub(super) fn dialogs() -> Vec<(&'static str, Scene)> {
    let held = |problem: PlaceProblem| {
        let mut scene = Scene::on(TESTING);
        let job = scene.app.context.start(Job::OpenRotations);
        let text = problem.to_string();
        let trouble = JobError {
            place: Some(Box::new(problem)),
            ..JobError::of(text)
        };
        scene.msg(Msg::Done(job, Outcome::Failed(trouble)));
        scene.pending.clear();
        scene
    };
    let alarm = Alarm {
        number: 1,
        user_group_id: Some("acme-eu".into()),
        what: "the answer of acme-eu has the tag Customer, and this place is Testing".into(),
        at: BEGIN,
        by: "li@bastion2".into(),
    };
    let place = Place {
        id: PlaceId(1),
        name: "eu-live-of-the-second-installation".into(),
        tag: None,
        urls: vec!["https://groups.example.com:443/installation/two".into()],
        keys: Vec::new(),
        profiles: vec!["production".into()],
        groups: 114,
        open: 2,
        last_used: Some(BEGIN),
        alarms: vec![alarm.clone()],
        restored_at: None,
    };
    let asked = || {
        held(PlaceProblem::Asked {
            profile: "testing".into(),
            from_variables: false,
            question: Box::new(Question {
                why: QuestionReason::NewKey,
                key: Fingerprint::from_bytes([3; 32]),
                places: vec![place.clone()],
            }),
        })
    };
    let trial = || {
        held(PlaceProblem::OnTrial {
            profile: "testing".into(),
            place: place.name.clone(),
        })
    };
    let mut new = asked();
    new.keys("<down><down><enter>");
    let mut typed = trial();
    typed.keys("acme-eu");
    let mut waits = trial();
    waits.keys("acme-eu<enter>");
    let alarmed = held(PlaceProblem::Alarmed {
        place: place.name.clone(),
        alarms: vec![alarm],
    });
    vec![
        ("a choice of places", asked()),
        ("a new place", new),
        ("a proof", trial()),
        ("a proof that is typed", typed),
        ("a proof that is read", waits),
        ("an alarm", alarmed),
    ]
}

/// The check succeeds because another console has answered: the question ends, whatever of it is on the screen.
#[test]
fn a_question_that_another_console_answered_is_not_asked_any_more() {
    for (name, mut scene) in dialogs() {
        let is_working = name == "a proof that is read";
        let check = scene.app.context.start(Job::OpenRotations);
        let outcome = canned_outcome(scene.app.context.current, &Job::OpenRotations);
        scene.msg(Msg::Done(check, outcome));
        if is_working {
            assert_ne!(scene.focus(), "List", "{name}");
        } else {
            scene.at("List").says("Answered by another console");
        }
    }
}

/// The directory refuses the answer: what it refuses is not asked again unless it is still open.
#[test]
fn a_refused_answer_is_checked() {
    let (_, mut scene) = dialogs().swap_remove(1);
    scene.keys("y");
    scene
        .pending
        .retain(|(_, _, job)| matches!(job, Job::AnswerPlace(_)));
    scene.answer_with(failed("its URL and API key already belong to it", None));
    assert!(matches!(scene.jobs()[..], [Job::OpenRotations]));
}
