//! Recovery of open rotations: only by gets of known groups, from every prefix of a journal, also when the recovery
//! itself is cut; and abandoning by a person.

use super::*;

const NEW: Fingerprint = Fingerprint::from_bytes([7; 32]);

async fn recover(operations: &Operations) -> Vec<Recovered> {
    let mut told = 0;
    let all = operations.recover(&[], 4, |_| told += 1).await;
    let all = all.expect("the journal is readable");
    assert_eq!(told, all.len(), "each is reported");
    all
}

fn states(all: &[Recovered]) -> Vec<State> {
    all.iter().map(|each| each.row().rotation.state).collect()
}

async fn leave_open(scene: &Scene, events: &[Event]) {
    leave_behind(&scene.ana, ACME, scene.current(), events).await;
}

/// The only rotation, which stays open: why, and how much longer it is left alone.
async fn open(operations: &Operations) -> (String, Option<Duration>) {
    match &recover(operations).await[..] {
        [Recovered::Open(open)] => (open.why.clone(), open.again_in),
        all => panic!("{all:?}"),
    }
}

#[tokio::test]
async fn before_the_horizon_a_process_may_live_and_nothing_is_read() {
    for events in [&[][..], &[Event::Sending]] {
        let scene = Scene::new().await;
        leave_open(&scene, events).await;
        let before = scene.states().await;
        let (why, again_in) = open(&after(&scene, HORIZON - 1)).await;
        assert_has(&why, "may still be running");
        assert_eq!(again_in, Some(Duration::from_secs(1)));
        assert_eq!(scene.states().await, before);
        assert_eq!(scene.proxy.methods(), [""; 0], "nothing is sent");
    }
}

#[tokio::test]
async fn a_rotation_that_was_never_sent_needs_no_read() {
    let scene = Scene::new().await;
    leave_open(&scene, &[]).await;
    let all = recover(&after(&scene, HORIZON)).await;
    assert_eq!(states(&all), [State::NotApplied]);
    assert_eq!(scene.proxy.methods(), [""; 0]);
    assert_has(&scene.history_notes().await[0], "never sent");
    let done = rotate(&after(&scene, HORIZON)).await.expect("safe now");
    assert_eq!(done.ending, Ending::Rotated);
    scene.check().await;
}

#[tokio::test]
async fn an_unknown_rotation_waits_for_the_horizon_and_says_how_long() {
    let scene = unknown_at_noon().await;
    let (why, again_in) = open(&after(&scene, 20)).await;
    assert_has(&why, "may still take effect");
    assert_eq!(again_in, Some(Duration::from_secs(40)));
    let all = recover(&after(&scene, HORIZON)).await;
    assert_eq!(states(&all), [State::NotApplied]);
    assert!(recover(&scene.ana).await.is_empty(), "nothing is left");
    assert_eq!(scene.proxy.count("POST"), 1);
    scene.check().await;
}

#[tokio::test]
async fn another_environment_settles_as_a_conflict_and_is_an_alarm() {
    let scene = Scene::new().await;
    leave_open(&scene, &[Event::Sending]).await;
    scene.proxy.next("GET", tagged("Customer"));
    let all = recover(&after(&scene, HORIZON)).await;
    assert_eq!(states(&all), [State::Conflict]);
    let [Recovered::Alarmed(_, alarm)] = &all[..] else {
        panic!("{all:?}")
    };
    assert!(alarm.is_wrong_environment(), "{alarm}");
}

#[tokio::test]
async fn an_id_that_the_directory_does_not_know_is_never_read() {
    let scene = Scene::new().await;
    leave_behind(&scene.ana, "ghost", NEW, &[Event::Sending]).await;
    let (why, again_in) = open(&after(&scene, HORIZON)).await;
    assert_has(&why, "not in the directory");
    assert_eq!(again_in, None);
    assert_eq!(scene.states().await, [State::Unknown]);
    assert_eq!(scene.proxy.methods(), [""; 0], "a read would create it");
    assert_eq!(scene.world.find_stored(Side::Testing, "ghost"), None);
}

/// Five groups, each with a rotation that was sent.
async fn five_open() -> Scene {
    let scene = Scene::new().await;
    for number in 0..5 {
        let group = format!("group-{number}");
        scene.meet(&group).await;
        leave_behind(&scene.ana, &group, NEW, &[Event::Sending]).await;
    }
    scene
}

/// Why groups were not checked.
fn left(all: &[Recovered]) -> Vec<&str> {
    let why = all.iter().filter_map(|one| match one {
        Recovered::Open(open) => Some(open.why.as_str()),
        Recovered::Settled(_) | Recovered::Alarmed(..) => None,
    });
    why.filter(|why| why.starts_with("not checked")).collect()
}

/// They would be the first ones in each check, so that those behind them never had their turn.
#[tokio::test]
async fn groups_that_cannot_be_read_keep_no_other_one_from_its_turn() {
    let scene = five_open().await;
    let refusal = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let refused = || ProxyFault::swallowed(Then::Instead(refusal.to_vec()));
    scene.next("GET", [(); 4].map(|()| refused()));
    let late = after(&scene, HORIZON);
    let all = late.recover(&[], 1, |_| {}).await.expect("readable");
    assert_eq!(left(&all), [""; 0]);
    let open = late.open_rotations().await.expect("readable");
    assert_eq!(open.len(), 4, "the last one was read: {open:?}");
    scene.check().await;
}

#[tokio::test]
async fn no_further_group_is_read_in_another_environment_or_with_a_refused_key() {
    let refusal = b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let refused = ProxyFault::swallowed(Then::Instead(refusal.to_vec()));
    let scene = five_open().await;
    // A refused key settles nothing, so that all five are still open afterwards.
    for fault in [refused, tagged("Customer")] {
        let before = scene.proxy.count("GET");
        scene.proxy.next("GET", fault);
        let late = after(&scene, HORIZON);
        let all = late.recover(&[], 1, |_| {}).await.expect("readable");
        assert_eq!(scene.proxy.count("GET") - before, 1);
        assert_eq!(left(&all).len(), 4, "{all:?}");
    }
}

#[tokio::test]
async fn an_unreadable_group_stays_open_and_a_dead_service_is_not_asked_for_each() {
    let scene = five_open().await;
    let before = scene.proxy.count("GET");
    scene.next("GET", [(); 5].map(|()| lost()));
    let late = after(&scene, HORIZON);
    let all = late.recover(&[], 1, |_| {}).await.expect("readable");
    assert_eq!(states(&all), [State::Unknown; 5]);
    assert_eq!(scene.proxy.count("GET") - before, 3, "then it gives up");
    assert_eq!(
        left(&all),
        ["not checked, stopped after 3 failures in a row"; 2]
    );
    for _ in 0..2 {
        recover(&late).await;
    }
    let left = late.open_rotations().await.expect("readable");
    assert!(left.is_empty(), "{left:?}");
    scene.check().await;
}

#[tokio::test]
async fn a_person_abandons_with_a_reason_and_the_token_is_free_again() {
    let scene = unknown_at_noon().await;
    let row = scene.journal().await[0].id;
    // Its request may still arrive.
    let early = after(&scene, HORIZON - 1).abandon(row, "gone").await;
    let early = early.expect_err("too early").to_string();
    assert_has(&early, "may still take effect");
    let li = after(&scene, HORIZON);
    let failure = li.abandon(row, "  ").await.expect_err("no reason");
    assert_has(&failure.to_string(), "a reason is required");
    let read_only = scene.installation();
    let read_only = read_only.with(|profile| profile.read_only = true);
    let failure = read_only.operations().abandon(row, "gone").await;
    assert_is!(failure, Err(Failure::ReadOnly { .. }));
    let other = scene.world.operations(Side::Production);
    let failure = other.abandon(row, "gone").await;
    assert_is!(failure, Err(Failure::NoRotation { .. }));
    assert_eq!(scene.states().await, [State::Unknown]);
    let abandoned = li.abandon(row, "the customer left").await.expect("done");
    assert_eq!(abandoned.rotation.state, State::Abandoned);
    let last = history(&scene.ana).await.pop().expect("a line");
    assert_eq!((last.ending, &*last.by), (Ending::Abandoned, li.operator()));
    assert_eq!(last.reason.as_deref(), Some("the customer left"));
    assert_eq!(last.previous_fingerprint, Some(scene.current()));
    assert_has(&last.note.expect("what it was"), "unknown");
    let failure = li.abandon(row, "again").await.expect_err("it has ended");
    assert_has(&failure.to_string(), "is abandoned: there is nothing");
    rotate(&scene.ana).await.expect("the token is free");
    scene.check().await;
}

#[tokio::test]
async fn a_rotation_that_may_be_under_way_cannot_be_abandoned() {
    let scene = Scene::new().await;
    leave_open(&scene, &[Event::Sending]).await;
    let row = scene.journal().await[0].id;
    let early = after(&scene, HORIZON - 1).abandon(row, "gone").await;
    let early = early.expect_err("too early");
    assert_eq!(early.class(), Class::Guarded);
    assert_has(&early.to_string(), "may still take effect");
    let late = after(&scene, HORIZON).abandon(row, "gone").await;
    late.expect("done");
    assert_eq!(scene.states().await, [State::Abandoned]);
    scene.check().await;
}

/// Rotations that a journal of up to this many events can describe.
const DEPTH: usize = 5;

/// The shortest journal of each: whatever prefix a dying process leaves is equivalent to one of these.
fn journals(old: Fingerprint, new: Fingerprint) -> Vec<(Vec<Event>, Rotation)> {
    let read = |fingerprint, seconds| Event::Read {
        fingerprint,
        since_sent: Duration::from_secs(seconds),
    };
    let alphabet = [
        Event::Sending,
        Event::Answered(RotateOutcome::NewToken(new)),
        Event::Answered(RotateOutcome::SameToken),
        Event::Answered(RotateOutcome::WrongGroup),
        Event::Answered(RotateOutcome::Refused),
        Event::Answered(RotateOutcome::NotSent),
        Event::Answered(RotateOutcome::Unclear),
        read(old, 1),
        read(old, 60),
        read(new, 1),
        Event::ReadContradicts,
        Event::Orphaned,
        Event::Abandon,
    ];
    let mut all = vec![(Vec::new(), Rotation::intended(old))];
    let mut from = 0;
    for _ in 0..DEPTH {
        let to = all.len();
        for at in from..to {
            let (events, rotation) = all[at].clone();
            for event in alphabet {
                let Ok(next) = rotation.step(event, MODEL_HORIZON) else {
                    continue;
                };
                if all.iter().all(|(_, known)| *known != next) {
                    all.push(([&events[..], &[event]].concat(), next));
                }
            }
        }
        from = to;
    }
    all
}

/// Which token the service has, from the view of the rotation.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Holds {
    Old,
    New,
    Third,
}

#[tokio::test(flavor = "multi_thread")]
async fn recovery_from_every_prefix_ends_sends_nothing_and_forgets_nothing() {
    let scene = Scene::new().await;
    let mut cases = Vec::new();
    for (turn, holds) in [Holds::Old, Holds::New, Holds::Third]
        .into_iter()
        .enumerate()
    {
        let count = journals(NEW, Fingerprint::from_bytes([8; 32])).len();
        // Each of the three meets other prefixes.
        let numbers = (0..count).cycle().skip(turn).take(count);
        for number in long::sampled(numbers, module_path!(), 3) {
            let group = format!("{holds:?}-{number}").to_lowercase();
            let done = scene.meet(&group).await;
            let now = done.group.fingerprint.expect("read").value;
            let other = Fingerprint::from_bytes([8; 32]);
            let (old, new) = match holds {
                Holds::Old => (now, NEW),
                Holds::New => (NEW, now),
                Holds::Third => (NEW, other),
            };
            let (events, start) = journals(old, new).swap_remove(number);
            let row = leave_behind(&scene.ana, &group, old, &events).await;
            cases.push((row, holds, events, start, now));
        }
    }
    assert!(cases.len() > 10, "{} prefixes", cases.len());
    let late = after(&scene, HORIZON);

    // The recovery itself dies after a few polls, several times.
    for _ in 0..4 {
        let (sender, mut cut) = tokio::sync::mpsc::unbounded_channel();
        let work = late.recover(&[], 2, |_| {
            let _ = sender.send(());
        });
        let few = async {
            for _ in 0..3 {
                cut.recv().await;
            }
        };
        tokio::select! {
            biased;
            () = few => {}
            all = work => drop(all.expect("readable")),
        }
    }
    recover(&late).await;
    assert!(recover(&late).await.is_empty(), "it ends");

    for (row, holds, events, start, now) in cases {
        let row = late.rotation(row).await.expect("it is there");
        let end = row.rotation;
        assert!(!end.state.is_open(), "{events:?}: {end:?}");
        if !start.state.is_open() {
            assert_eq!(end, start, "an ending is an ending: {events:?}");
            continue;
        }
        let sent = events.contains(&Event::Sending);
        let expected = match (start.state, holds) {
            _ if !sent => State::NotApplied,
            (State::Rotated, Holds::New) => State::Confirmed,
            (State::Rotated, Holds::Third) => State::Superseded,
            (State::Rotated, Holds::Old) => State::Conflict,
            (_, Holds::Old) => State::NotApplied,
            (_, Holds::New | Holds::Third) => State::Recovered,
        };
        assert_eq!(end.state, expected, "{holds:?} {events:?}");
        if end.state == State::Recovered {
            assert_eq!(end.fingerprint, Some(now), "{holds:?} {events:?}");
        }
    }
    assert_eq!(scene.proxy.count("POST"), 0, "nothing is sent to find out");
    scene.check().await;
}
