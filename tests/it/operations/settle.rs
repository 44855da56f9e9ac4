//! Settling by a later look-up: what a get shows, and when, decides. Two installations apply the same rules.

use std::time::Duration;

use groupdesk::{
    directory::{Record, RotationId, RotationIntent, RotationStep},
    domain::{
        history::{Ending, Operation},
        rotation::{Event, RotateOutcome, Rotation, State},
        token::{Fingerprint, Token},
    },
    operations::{Failure, Operations, Warning},
};
use jiff::Timestamp;

use super::{ACME, Scene, assert_unknown, exposed, history, look_up, rotate, rotate_up_to_answer};
use crate::support::{
    proxy::{Gate, ProxyFault, Then},
    world::{LI, Side, id, opened_by, place},
};

/// The shortest settle horizon, in seconds.
pub(super) const HORIZON: i64 = 60;
pub(super) const MODEL_HORIZON: Duration = Duration::from_mins(1);

pub(super) fn noon() -> Timestamp {
    "2026-11-20T12:00:00Z".parse().expect("a time")
}

/// The same directory, this many seconds after noon.
pub(super) fn after(scene: &Scene, seconds: i64) -> Operations {
    let time = noon() + Duration::from_secs(seconds.unsigned_abs());
    scene.installation().by(LI).at(time).operations()
}

fn settled(ending: Ending) -> Vec<Warning> {
    vec![Warning::RotationSettled { ending }]
}

async fn unknown_at_noon() -> Scene {
    let scene = Scene::with(|installation| installation.at(noon())).await;
    scene.proxy.next("POST", ProxyFault::swallowed(Then::Drop));
    assert_unknown(&rotate(&scene.ana).await);
    assert_eq!(scene.states().await, [State::Unknown]);
    scene
}

#[tokio::test]
async fn the_old_token_settles_only_at_the_second_read_and_after_the_horizon() {
    let scene = unknown_at_noon().await;
    for seconds in [1, HORIZON - 1] {
        let done = look_up(&after(&scene, seconds)).await.expect("found");
        let [Warning::RotationOpen { decided_from, .. }] = &done.warnings[..] else {
            panic!("after {seconds} s: {:?}", done.warnings);
        };
        assert_eq!(*decided_from, after(&scene, HORIZON).now());
        assert_eq!(scene.states().await, [State::Unknown]);
    }
    let done = look_up(&after(&scene, HORIZON)).await.expect("found");
    assert_eq!(done.warnings, settled(Ending::NotApplied));
    assert_eq!(scene.states().await, [State::NotApplied]);
    let lines = history(&scene.ana).await;
    let last = lines.last().expect("a line");
    assert_eq!(
        (last.operation, last.ending),
        (Operation::Rotate, Ending::NotApplied)
    );
    assert_eq!(last.by, LI);
    let note = last.note.as_deref().expect("a note");
    assert!(note.contains(scene.ana.operator()), "{note}");

    let done = rotate(&after(&scene, HORIZON + 1)).await.expect("safe now");
    assert_eq!(done.ending, Ending::Rotated);
    assert_eq!(scene.proxy.count("POST"), 2, "two intents, two requests");
    scene.check().await;
}

#[tokio::test]
async fn one_late_read_does_not_count_as_two() {
    let scene = Scene::with(|installation| installation.at(noon())).await;
    scene.proxy.next("POST", ProxyFault::swallowed(Then::Drop));
    scene.proxy.next("GET", ProxyFault::passed());
    // The read right after the rotation is lost.
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    rotate(&scene.ana).await.expect_err("unknown");
    let late = after(&scene, 10 * HORIZON);
    look_up(&late).await.expect("found");
    assert_eq!(scene.states().await, [State::Unknown]);
    look_up(&late).await.expect("found");
    assert_eq!(scene.states().await, [State::NotApplied]);
    scene.check().await;
}

/// The reason for the horizon: the request was only late.
#[tokio::test]
async fn a_rotation_that_arrives_after_the_first_read_is_recovered() {
    let scene = unknown_at_noon().await;
    look_up(&after(&scene, 1)).await.expect("found");
    let arrives = scene.world.installation(Side::Testing).by("late");
    let arrives = arrives
        .on(&scene.world.other_directory("late"))
        .operations();
    let exists = groupdesk::operations::UnknownIdPolicy::Exists;
    arrives
        .rotate(&id(ACME), None, exists)
        .await
        .expect("rotated");
    let done = look_up(&after(&scene, 2)).await.expect("found");
    assert_eq!(done.warnings, settled(Ending::Recovered));
    assert_eq!(exposed(&done), scene.token());
    assert_eq!(scene.states().await, [State::Recovered]);
    scene.check().await;
}

#[tokio::test]
async fn a_longer_timeout_makes_a_longer_horizon() {
    let scene = unknown_at_noon().await;
    let patient = |seconds: u64| {
        let installation = scene.installation().timeout(Duration::from_secs(100));
        installation
            .at(noon() + Duration::from_secs(seconds))
            .operations()
    };
    look_up(&patient(1)).await.expect("found");
    look_up(&patient(199)).await.expect("found");
    assert_eq!(scene.states().await, [State::Unknown]);
    look_up(&patient(200)).await.expect("found");
    assert_eq!(scene.states().await, [State::NotApplied]);
}

#[tokio::test]
async fn a_rotation_is_confirmed_by_whoever_reads_first() {
    let scene = Scene::with(|installation| installation.at(noon())).await;
    rotate(&scene.ana).await.expect("rotated");
    let done = look_up(&after(&scene, 1)).await.expect("found");
    assert_eq!(done.warnings, settled(Ending::Confirmed));
    let done = look_up(&after(&scene, 2)).await.expect("found");
    assert_eq!(done.warnings, []);
    let lines = scene.history().await;
    let expected = [
        (Operation::Rotate, Ending::Rotated),
        (Operation::Rotate, Ending::Confirmed),
    ];
    assert_eq!(lines, expected);
    scene.check().await;
}

#[tokio::test]
async fn a_service_that_keeps_the_old_token_after_a_success_is_a_conflict_after_the_horizon() {
    let scene = Scene::with(|installation| installation.at(noon())).await;
    let promised = "f".repeat(64);
    let body =
        serde_json::json!({"success": 1, "user_group": {"token": promised, "provided_id": ACME}});
    let bytes = crate::support::faults::http("200 OK", &[], body.to_string());
    scene
        .proxy
        .next("POST", ProxyFault::swallowed(Then::Instead(bytes)));
    let done = rotate(&scene.ana).await.expect("the server reports it");
    assert_eq!(exposed(&done), promised);
    let early = look_up(&after(&scene, HORIZON - 1)).await.expect("found");
    assert_eq!(early.warnings, [Warning::StaleAnswer]);
    assert_eq!(scene.states().await, [State::Rotated]);
    let late = look_up(&after(&scene, HORIZON)).await.expect("found");
    let expected = [
        Warning::TokenChangedElsewhere,
        Warning::RotationSettled {
            ending: Ending::Conflict,
        },
    ];
    assert_eq!(late.warnings, expected);
    assert_eq!(
        exposed(&late),
        scene.token(),
        "the service's word in the end"
    );
    assert_eq!(scene.states().await, [State::Conflict]);
    let failure = rotate(&after(&scene, HORIZON + 1)).await;
    assert!(
        matches!(
            failure,
            Err(Failure::RotationTaken {
                state: State::Conflict,
                ..
            })
        ),
        "{failure:?}"
    );
    assert_eq!(scene.proxy.count("POST"), 1);
    scene.check().await;
}

/// Leaves a row of the usual group, as a dying process does.
async fn left_behind(scene: &Scene, events: &[Event]) {
    let previous = scene.ana.directory().fingerprinter();
    let previous = previous.of(&Token::new(scene.token()));
    leave_behind(&scene.ana, ACME, previous, events).await;
}

/// Leaves a row begun at noon: the intent, and these journalled events.
pub(super) async fn leave_behind(
    ana: &Operations,
    group: &str,
    previous: Fingerprint,
    events: &[Event],
) -> RotationId {
    let by = "dead@nowhere";
    let (directory, profile) = (ana.directory(), &ana.profile().name);
    let intent = RotationIntent {
        user_group_id: id(group),
        previous,
        by: by.into(),
        reason: None,
        at: noon(),
        profile: profile.clone(),
        hands_off: false,
        key: None,
        item: None,
        noted: None,
        spares: std::time::Duration::ZERO,
    };
    let begun = opened_by(directory, by)
        .begin_rotation(place(directory, profile), intent)
        .await;
    let groupdesk::directory::BeginResult::Started(row) = begun.expect("begun") else {
        panic!("the token is held");
    };
    let mut rotation = Rotation::intended(previous);
    for event in events {
        let from = rotation.state;
        rotation = rotation.step(*event, MODEL_HORIZON).expect("in order");
        let step = RotationStep {
            id: row,
            from,
            event: *event,
            after: rotation,
            at: noon(),
            note: None,
        };
        let record = Record {
            rotation: Some(step),
            ..Record::default()
        };
        directory
            .record(place(directory, profile), record)
            .await
            .expect("written");
    }
    row
}

#[tokio::test]
async fn an_open_rotation_of_a_dead_process_is_settled_after_the_horizon() {
    let new = Fingerprint::from_bytes([7; 32]);
    let cases: [(&[Event], &[State]); 3] = [
        (&[], &[State::NotApplied]),
        (&[Event::Sending], &[State::Unknown, State::NotApplied]),
        (
            &[
                Event::Sending,
                Event::Answered(RotateOutcome::NewToken(new)),
            ],
            &[State::Conflict],
        ),
    ];
    for (events, expected) in cases {
        let scene = Scene::new().await;
        left_behind(&scene, events).await;
        let before = scene.states().await;
        look_up(&after(&scene, HORIZON - 1)).await.expect("found");
        assert_eq!(scene.states().await, before, "too early to say");
        let failure = rotate(&after(&scene, HORIZON - 1)).await;
        assert!(
            matches!(failure, Err(Failure::RotationTaken { .. })),
            "{failure:?}"
        );
        for state in expected {
            look_up(&after(&scene, HORIZON)).await.expect("found");
            assert_eq!(scene.states().await, [*state], "{events:?}");
        }
        assert_eq!(scene.proxy.count("POST"), 0, "nothing is sent to find out");
        scene.check().await;
    }
}

#[tokio::test]
async fn a_rotation_under_way_is_left_to_its_own_process() {
    let scene = Scene::new().await;
    let (gate, rotating) = rotate_up_to_answer(&scene).await;
    // The service has rotated, and the answer is on its way.
    let other = scene.installation().by(LI).operations();
    let seen = look_up(&other).await.expect("found");
    assert_eq!(exposed(&seen), scene.token());
    assert_eq!(scene.states().await, [State::Sent]);
    gate.open();
    let done = rotating.await.expect("it ends").expect("rotated");
    assert_eq!(done.ending, Ending::Rotated);
    assert_eq!(exposed(&done), scene.token());
    assert_eq!(scene.states().await, [State::Rotated]);
    scene.check().await;
}

#[tokio::test]
async fn a_rotation_abandoned_meanwhile_shows_no_token_but_loses_none() {
    let scene = Scene::new().await;
    let (gate, rotating) = rotate_up_to_answer(&scene).await;
    // Another installation, an hour ahead, takes its process for dead.
    let ahead = Timestamp::now() + Duration::from_hours(1);
    let other = scene.installation().by(LI).at(ahead).operations();
    let done = look_up(&other).await.expect("found");
    assert!(
        done.warnings.contains(&settled(Ending::Recovered)[0]),
        "{done:?}"
    );
    gate.open();
    let failure = rotating.await.expect("it ends").expect_err("not written");
    assert!(matches!(failure, Failure::Unknown { .. }), "{failure:?}");
    assert!(failure.to_string().contains("moved on"), "{failure}");
    assert_eq!(scene.states().await, [State::Recovered]);
    let found = look_up(&scene.ana).await.expect("found");
    assert_eq!(exposed(&found), scene.token());
    scene.check().await;
}

/// A wall clock that jumps forward does not shorten the horizon for the process that sent the request.
#[tokio::test]
async fn the_sending_process_measures_the_horizon_by_its_monotonic_clock() {
    let scene = Scene::new().await;
    scene.proxy.next("POST", ProxyFault::swallowed(Then::Drop));
    assert_unknown(&rotate(&scene.ana).await);
    let raw = rusqlite::Connection::open(scene.world.directory_file()).expect("opened");
    let jump = "UPDATE rotations SET sent_at = sent_at - 7200000000, \
                started_at = started_at - 7200000000, boot_clock = NULL";
    assert_eq!(raw.execute(jump, []).expect("SQL"), 1);
    for _ in 0..2 {
        look_up(&scene.ana).await.expect("found");
        assert_eq!(scene.states().await, [State::Unknown], "too early to say");
    }
    let other = scene.installation().by(LI).operations();
    for _ in 0..2 {
        look_up(&other).await.expect("found");
    }
    assert_eq!(
        scene.states().await,
        [State::NotApplied],
        "another process knows only the row"
    );
}

#[tokio::test]
async fn a_rotation_by_a_colleague_is_not_reported_as_foreign() {
    let by = async |scene: &Scene| {
        let known = scene.ana.show(&id(ACME)).await.expect("readable");
        let last = known.expect("known").last_rotated;
        last.and_then(|last| last.by)
    };
    let li = |scene: &Scene| scene.installation().by(LI).operations();
    // The answer is lost, and so is the read that would have settled it: somebody else settles it.
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    scene.proxy.next("POST", ProxyFault::applied(Then::Drop));
    scene.proxy.next("GET", ProxyFault::passed());
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    rotate(&scene.ana).await.expect_err("unknown");
    let read = look_up(&li(&scene)).await.expect("found");
    assert_eq!(read.warnings, settled(Ending::Recovered));
    assert_eq!(by(&scene).await.as_deref(), Some(scene.ana.operator()));
    // The answer is on its way while somebody else reads.
    let scene = Scene::new().await;
    look_up(&scene.ana).await.expect("found");
    let gate = Gate::new();
    scene
        .proxy
        .next("POST", ProxyFault::applied(Then::Pass).behind(&gate));
    let ana = scene.ana.clone();
    let rotating = tokio::spawn(async move { rotate(&ana).await });
    gate.reached().await;
    let read = look_up(&li(&scene)).await.expect("found");
    let news = |warning: &Warning| *warning == Warning::TokenChangedElsewhere;
    assert!(!read.warnings.iter().any(news), "{:?}", read.warnings);
    assert_eq!(by(&scene).await.as_deref(), Some(scene.ana.operator()));
    gate.open();
    rotating.await.expect("no panic").expect("rotated");
    assert_eq!(by(&scene).await.as_deref(), Some(scene.ana.operator()));
}
