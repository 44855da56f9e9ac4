//! The records of a hand-off while its command runs, and when the rotation is overtaken meanwhile.

use std::time::{Duration, Instant};

use groupdesk::{
    config::HandOffCommand,
    domain::{
        handoff::HandOffState,
        history::{Ending, Operation},
        rotation::State,
    },
    operations::{HandedOff, Operations, UnknownIdPolicy, attention::ConcernKind},
};
use tokio::task::JoinHandle;

use super::{
    ACME, Scene,
    handoff::{HandOffScript, PATIENCE, hand_off, rotated, states},
    history, journal, rotate,
    unwritable::fail_writes,
};
use crate::support::{
    assertions::assert_has,
    world::{Side, id},
};

/// A script that says when it has begun, and ends when told to or when its folder is removed.
const WAITS: &str = "cat > $1/in; touch $1/began; \
                     until [ -e $1/go ] || [ ! -d $1 ]; do sleep 0.02; done; rm -f $1/began $1/go";

/// A hand-off whose command is running.
async fn started(
    taker: &HandOffScript,
    run: impl Future<Output = HandedOff> + Send + 'static,
) -> JoinHandle<HandedOff> {
    let running = tokio::spawn(run);
    let deadline = Instant::now() + PATIENCE;
    while !taker.path("began").exists() {
        assert!(Instant::now() < deadline, "the command does not begin");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    running
}

/// Lets the command end; returns the result of the hand-off.
async fn finish(taker: &HandOffScript, running: JoinHandle<HandedOff>) -> HandedOff {
    std::fs::write(taker.path("go"), "").expect("written");
    running.await.expect("it ends")
}

/// Runs the hand-off of the newest rotation again.
async fn run_again(scene: &Scene) -> impl Future<Output = HandedOff> + Send + 'static {
    let (here, row) = (scene.ana.clone(), journal(&scene.ana).await[0].id);
    async move { here.hand_off_again(row).await.expect("run") }
}

#[tokio::test]
async fn a_hand_off_overtaken_by_a_later_rotation_is_not_done() {
    let taker = HandOffScript::new(WAITS);
    let scene = taker.scene().await;
    let first = rotated(&scene).await;
    let here = scene.ana.clone();
    let running = started(&taker, async move {
        here.hand_off(&first).await.expect("something to hand off")
    });
    let running = running.await;
    rotate(&scene.ana).await.expect("rotated");
    let overtaken = finish(&taker, running).await;
    assert!(!overtaken.is_done());
    assert_eq!(overtaken.handoff.state, HandOffState::Failed);
    let note = overtaken.handoff.note.expect("why");
    assert!(note.contains("rotations handoff"), "{note}");
    let rows = [HandOffState::None, HandOffState::Pending];
    assert_eq!(states(&scene.ana).await, rows);
}

#[tokio::test]
async fn a_hand_off_whose_end_cannot_be_recorded_waits() {
    let taker = HandOffScript::new(WAITS);
    let scene = taker.scene().await;
    let done = rotated(&scene).await;
    let here = scene.ana.clone();
    let running = started(&taker, async move {
        here.hand_off(&done).await.expect("something to hand off")
    });
    let running = running.await;
    fail_writes(&scene, Some("history"));
    let unwritten = finish(&taker, running).await;
    assert!(!unwritten.is_done());
    assert_eq!(unwritten.handoff.state, HandOffState::Pending);
    let note = unwritten.handoff.note.expect("why");
    assert_has(&note, "it ended well");
    assert_has(&note, "could not be recorded");
    fail_writes(&scene, None);
    assert_eq!(states(&scene.ana).await, [HandOffState::Pending]);
}

#[tokio::test]
async fn a_hand_off_run_again_is_pending_until_it_ends() {
    let taker = HandOffScript::new("exit 3");
    let scene = taker.scene().await;
    let done = rotated(&scene).await;
    assert!(!hand_off(&scene, &done).await.is_done());
    assert_eq!(states(&scene.ana).await, [HandOffState::Failed]);
    taker.set_script(WAITS);
    let running = started(&taker, run_again(&scene).await).await;
    // As a crash would leave it.
    assert_eq!(states(&scene.ana).await, [HandOffState::Pending]);
    assert!(finish(&taker, running).await.is_done());
    assert_eq!(states(&scene.ana).await, [HandOffState::Done]);
}

#[tokio::test]
async fn the_history_has_the_hand_off_and_the_reason_of_the_rotation() {
    let taker = HandOffScript::new("echo no room >&2; exit 3");
    let scene = taker.scene().await;
    let why = Some("it leaked".to_owned());
    let known = UnknownIdPolicy::KnownOnly;
    let done = scene.ana.rotate(&id(ACME), why.clone(), known).await;
    let done = scene.ana.confirm(done.expect("rotated")).await;
    hand_off(&scene, &done).await;
    taker.set_script("cat > $1/in");
    assert!(run_again(&scene).await.await.is_done());
    let lines = history(&scene.ana).await;
    let lines: Vec<_> = lines
        .iter()
        .filter(|line| line.operation == Operation::HandOff)
        .collect();
    let endings: Vec<_> = lines.iter().map(|line| line.ending).collect();
    assert_eq!(endings, [Ending::NotHandedOff, Ending::HandedOff]);
    let current = done.group.fingerprint.map(|known| known.value);
    for line in &lines {
        assert_eq!(line.previous_fingerprint, done.previous_fingerprint);
        assert_eq!(line.fingerprint, current);
        assert_eq!(line.reason, why);
    }
    let notes: Vec<_> = lines.iter().filter_map(|line| line.note.clone()).collect();
    assert_eq!(notes.len(), 2);
    assert!(notes[0].contains("/bin/sh") && notes[0].contains("no room"));
    assert!(notes[1].starts_with("to ") && notes[1].contains("/bin/sh"));
}

#[tokio::test]
async fn a_rotation_that_ends_in_a_conflict_hands_nothing_off() {
    let taker = HandOffScript::new("touch $1/ran");
    let scene = taker.scene().await;
    let rotated = rotate(&scene.ana).await.expect("rotated");
    assert_eq!(states(&scene.ana).await, [HandOffState::Pending]);
    scene.world.vanish(Side::Testing, ACME);
    let done = scene.ana.confirm(rotated).await;
    assert_eq!(done.ending, Ending::Conflict);
    assert_eq!(scene.states().await, [State::Conflict]);
    assert_eq!(states(&scene.ana).await, [HandOffState::None]);
    assert_eq!(scene.ana.hand_off(&done).await, None);
    assert!(!taker.path("ran").exists());
}

#[tokio::test]
async fn a_waiting_hand_off_names_the_profile_that_began_it() {
    let taker = HandOffScript::new("exit 3");
    let scene = taker.scene().await;
    let done = rotated(&scene).await;
    assert!(!hand_off(&scene, &done).await.is_done());
    let second = scene
        .installation()
        .with(|profile| profile.name = "second".into());
    let second = second.unbound();
    // Its first use binds the profile to the same place.
    let known = UnknownIdPolicy::KnownOnly;
    second.look_up(&id(ACME), known).await.expect("read");
    let begun_in = async |all: &[Operations]| {
        let found = Operations::attention(all, 0, false).await;
        let found = found.expect("readable").concerns;
        match &found[..] {
            [concern] => match &concern.kind {
                ConcernKind::HandOff { begun_in, .. } => {
                    assert_eq!((concern.profile, &*concern.place), (Some(0), "testing"));
                    *begun_in
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        begun_in(&[second.clone(), scene.ana.clone()]).await,
        Some(1)
    );
    assert_eq!(
        begun_in(&[scene.ana.clone(), second.clone()]).await,
        Some(0)
    );
    assert_eq!(begun_in(&[second]).await, None, "it is not configured");
}

#[tokio::test]
async fn waiting_hand_offs_of_other_profiles_are_not_listed() {
    let taker = HandOffScript::new("exit 3");
    let scene = taker.scene().await;
    let command: HandOffCommand = taker.command();
    let other = scene.world.installation(Side::Production);
    let other: Operations = other
        .with(|profile| profile.handoff = Some(command))
        .operations();
    let done = other.rotate(&id(ACME), None, UnknownIdPolicy::Exists).await;
    done.expect("rotated");
    let waiting = other.pending_hand_offs().await.expect("readable");
    assert_eq!(waiting.len(), 1);
    let here = scene.ana.pending_hand_offs().await.expect("readable");
    assert!(here.is_empty(), "{here:?}");
    let refused = scene.ana.hand_off_again(waiting[0].id).await;
    assert!(refused.is_err(), "it is another profile's");
}
