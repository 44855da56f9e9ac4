//! The journal of rotations: one rotation per token, no step from a stale state, and the stored state equals the
//! replayed events.

use super::*;
use crate::support::world::place;

/// The write is already committed when the rotation is read.
#[tokio::test]
async fn an_unreadable_rotation_does_not_undo_other_records() {
    let installation = Opened::new();
    let directory = installation.open();
    start(&directory, intent("acme", OLD)).await;
    if installation.team.is_some() {
        // A server refuses it.
        installation.tamper("ALTER TABLE rotations DROP CONSTRAINT rotations_handoff_check");
    }
    installation.tamper("UPDATE rotations SET handoff = 'eclipse'");
    let recorded = recorded(&directory, both("acme", 0)).await;
    assert_eq!(recorded.group.expect("a group").id, id("acme"));
    assert!(recorded.open.is_empty(), "{:?}", recorded.open);
    assert_eq!(lines(&directory).await.len(), 1);
}

#[tokio::test]
async fn a_step_that_comes_too_late_is_refused_with_its_whole_record() {
    let installation = Opened::new();
    let directory = installation.open();
    let rotation = start(&directory, intent("acme", OLD)).await;
    let sending = step(rotation, Rotation::intended(OLD), Event::Sending, 1);
    recorded(&directory, step_record(sending.clone())).await;
    let late = Record {
        observation: Some(observation("acme", NEW, 2)),
        entry: Some(entry("eu", "acme", 2)),
        ..step_record(sending)
    };
    let refused = directory.record(place(&directory, "eu"), late).await;
    let Err(DirectoryError::MovedOn { from, now, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!((from, now), (State::Intended, State::Sent));
    assert!(lines(&directory).await.is_empty());
    assert!(groups(&directory).await.is_empty());
    assert!(directory.owners(NEW).await.expect("read").is_empty());
    let events = directory.journal_events(rotation).await.expect("read");
    assert_eq!(events.len(), 2, "the intent and the sending");
}

#[tokio::test]
async fn a_step_that_does_not_follow_from_the_stored_rotation_is_refused() {
    let installation = Opened::new();
    let directory = installation.open();
    let rotation = start(&directory, intent("acme", OLD)).await;
    let sending = step(rotation, Rotation::intended(OLD), Event::Sending, 1);
    let mut forged = sending.clone();
    forged.after.state = State::Confirmed;
    let refused = directory.record(place(&directory, "eu"), step_record(forged));
    assert_is!(refused.await, Err(DirectoryError::MovedOn { .. }));
    let elsewhere = directory.record(place(&directory, "us"), step_record(sending));
    assert_is!(elsewhere.await, Err(DirectoryError::NoRotation { .. }));
}

#[tokio::test]
async fn of_fifty_concurrent_rotations_exactly_one_begins() {
    let installation = Opened::new();
    let handles = [installation.open(), installation.open()];
    let begun = (0..50).map(|n| {
        let directory = &handles[n % 2];
        directory.begin_rotation(place(directory, "eu"), intent("acme", OLD))
    });
    let (mut started, mut taken) = (Vec::new(), Vec::new());
    for one in join_all(begun).await {
        match one.expect("written") {
            BeginResult::Started(id) => started.push(id),
            BeginResult::TakenBy(row) => taken.push(row.id),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((started.len(), taken.len()), (1, 49));
    assert!(taken.iter().all(|id| *id == started[0]));
    // Another token of the group may be the result of the unsettled rotation.
    let next = handles[0].begin_rotation(place(&handles[0], "eu"), intent("acme", NEW));
    assert_is!(next.await, Ok(BeginResult::TakenBy(row)) if row.id == started[0]);
    start(&handles[1], intent("globex", OLD)).await;
    // The token, or another one, can be rotated after a rotation that was not applied.
    let mut first = started[0];
    for token in [OLD, NEW] {
        let ended = step(first, Rotation::intended(OLD), Event::Orphaned, 1);
        assert_eq!(ended.after.state, State::NotApplied);
        recorded(&handles[0], step_record(ended)).await;
        first = start(&handles[0], intent("acme", token)).await;
    }
}

#[tokio::test]
async fn rotations_are_listed_newest_first_and_filtered() {
    let installation = Opened::new();
    let directory = installation.open();
    let acme = start(&directory, intent("acme", OLD)).await;
    let globex = start(&directory, intent("globex", OLD)).await;
    let mut sending = step(acme, Rotation::intended(OLD), Event::Sending, 3);
    sending.note = Some("sending".into());
    let sent = sending.after;
    recorded(&directory, step_record(sending)).await;
    let row = row(&directory, acme).await;
    assert_eq!((row.rotation, row.sent_at), (sent, Some(second(3))));
    let texts = (row.note.as_deref(), row.reason.as_deref());
    assert_eq!(texts, (Some("sending"), Some("leaked")));
    let conflict = step(acme, sent, Event::Answered(RotateOutcome::WrongGroup), 4);
    recorded(&directory, step_record(conflict)).await;
    let all = RotationFilter::default();
    let open = RotationFilter {
        open_only: true,
        place: Some(place(&directory, "eu")),
        ..all.clone()
    };
    let of_acme = RotationFilter {
        user_group_id: Some(id("acme")),
        ..all.clone()
    };
    let elsewhere = RotationFilter {
        place: Some(place(&directory, "us")),
        ..all.clone()
    };
    let newest = RotationFilter {
        limit: Some(1),
        ..all.clone()
    };
    for (filter, expected) in [
        (all, &[globex, acme][..]),
        (open, &[globex]),
        (of_acme, &[acme]),
        (elsewhere, &[]),
        (newest, &[globex]),
    ] {
        let rows = directory.rotations(filter).await.expect("read");
        let ids: Vec<_> = rows.into_iter().map(|row| row.id).collect();
        assert_eq!(ids, expected);
    }
    let unknown = directory.rotation(RotationId(99)).await;
    assert_eq!(unknown.expect("read"), None);
}

fn any_event() -> impl Strategy<Value = Event> {
    let fingerprint = prop_oneof![Just(OLD), Just(NEW), Just(fp(3))];
    let since = prop_oneof![Just(1_u64), Just(60), Just(61)];
    let read = (fingerprint, since).prop_map(|(fingerprint, since)| Event::Read {
        fingerprint,
        since_sent: Duration::from_secs(since),
    });
    prop_oneof![
        4 => Just(Event::Sending),
        1 => Just(Event::Answered(RotateOutcome::NewToken(OLD))),
        2 => Just(Event::Answered(RotateOutcome::NewToken(NEW))),
        1 => Just(Event::Answered(RotateOutcome::SameToken)),
        1 => Just(Event::Answered(RotateOutcome::WrongGroup)),
        2 => Just(Event::Answered(RotateOutcome::Refused)),
        1 => Just(Event::Answered(RotateOutcome::NotSent)),
        3 => Just(Event::Answered(RotateOutcome::Unclear)),
        8 => read,
        1 => Just(Event::ReadContradicts),
        1 => Just(Event::Orphaned),
        1 => Just(Event::Abandon),
    ]
}

#[test]
fn replaying_the_journal_gives_the_stored_rotation() {
    let installation = Opened::new();
    let directory = installation.open();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let number = std::cell::Cell::new(0);
    let config = ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(events in prop::collection::vec(any_event(), 0..24))| {
        number.set(number.get() + 1);
        let group = format!("group-{}", number.get());
        let (steps, row, events) = runtime.block_on(async {
            let rotation = start(&directory, intent(&group, OLD)).await;
            let (mut now, mut steps) = (Rotation::intended(OLD), 0);
            for event in events {
                if now.step(event, HORIZON).is_ok() {
                    let step = step(rotation, now, event, steps);
                    now = step.after;
                    steps += 1;
                    recorded(&directory, step_record(step)).await;
                }
            }
            let row = row(&directory, rotation).await;
            assert_eq!(row.rotation, now);
            (steps, row, directory.journal_events(rotation).await.expect("read"))
        });
        prop_assert_eq!(events.len() as i64, steps + 1);
        prop_assert_eq!(replay(&events), Some(row.rotation));
    });
}

/// Whether an open rotation gave the group a token is not known: who asks for another one is told that it is open, and not
/// that it took place.
#[tokio::test]
async fn an_open_rotation_is_refused_as_open_and_not_as_one_that_took_place() {
    let installation = Opened::new();
    let directory = installation.open();
    let see = async |token, at, token_from| {
        let record = Record {
            token_from,
            ..observation_record(observation("acme", token, at))
        };
        recorded(&directory, record).await;
    };
    see(OLD, 0, None).await;
    let first = start(&directory, intent("acme", OLD)).await;
    let spared = || RotationIntent {
        spares: std::time::Duration::from_mins(1),
        noted: Some(0),
        ..intent("acme", NEW)
    };
    let mut rotation = Rotation::intended(OLD);
    for (event, at) in [(Event::Sending, 1), (Event::Orphaned, 2)] {
        let step = step(first, rotation, event, at);
        rotation = step.after;
        recorded(&directory, step_record(step)).await;
        // The read before the second rotation finds another token, which may come from the first.
        see(NEW, at, Some(first)).await;
        let again = directory
            .begin_rotation(place(&directory, "eu"), spared())
            .await;
        assert_is!(again, Ok(BeginResult::TakenBy(row)) if row.id == first);
    }
}
