//! The journal of rotations: one rotation per token, no step from a stale state, and the stored state equals the
//! replayed events.

use super::*;
use crate::support::world::place;

/// The write is already committed when the rotation is read.
#[tokio::test]
async fn an_unreadable_rotation_does_not_undo_other_records() {
    let installation = Opened::new();
    let directory = installation.open();
    let place = place(&directory, "eu");
    start(&directory, intent("acme", OLD)).await;
    installation.tamper("UPDATE rotations SET handoff = 'eclipse'");
    let record = Record {
        observation: Some(observation("acme", OLD, 0)),
        ..history_record(entry("eu", "acme", 0))
    };
    let recorded = directory.record(place, record).await.expect("recorded");
    assert_eq!(recorded.group.expect("a group").id, id("acme"));
    assert!(recorded.open.is_empty(), "{:?}", recorded.open);
    let lines = directory.history(HistoryFilter::default()).await;
    assert_eq!(lines.expect("read").len(), 1);
}

#[tokio::test]
async fn a_step_that_comes_too_late_is_refused_with_its_whole_record() {
    let installation = Opened::new();
    let directory = installation.open();
    let rotation = start(&directory, intent("acme", OLD)).await;
    let intended = Rotation::intended(OLD);
    let sending = step(rotation, intended, Event::Sending, 1);
    directory
        .record(place(&directory, "eu"), step_record(sending.clone()))
        .await
        .expect("written");
    let late = Record {
        observation: Some(observation("acme", NEW, 2)),
        entry: Some(entry("eu", "acme", 2)),
        rotation: Some(sending),
        ..Record::default()
    };
    let refused = directory.record(place(&directory, "eu"), late).await;
    assert!(
        matches!(
            refused,
            Err(DirectoryError::MovedOn {
                from: State::Intended,
                now: State::Sent,
                ..
            })
        ),
        "{refused:?}"
    );
    assert!(
        directory
            .history(HistoryFilter::default())
            .await
            .expect("read")
            .is_empty()
    );
    assert!(
        directory
            .groups(place(&directory, "eu"))
            .await
            .expect("read")
            .is_empty()
    );
    assert!(directory.owners(NEW).await.expect("read").is_empty());
    assert_eq!(
        directory
            .journal_events(rotation)
            .await
            .expect("read")
            .len(),
        2,
        "the intent and the sending"
    );
}

#[tokio::test]
async fn a_step_that_does_not_follow_from_the_stored_rotation_is_refused() {
    let installation = Opened::new();
    let directory = installation.open();
    let rotation = start(&directory, intent("acme", OLD)).await;
    let intended = Rotation::intended(OLD);
    let mut forged = step(rotation, intended, Event::Sending, 1);
    forged.after.state = State::Confirmed;
    let refused = directory
        .record(place(&directory, "eu"), step_record(forged))
        .await;
    assert!(
        matches!(refused, Err(DirectoryError::MovedOn { .. })),
        "{refused:?}"
    );
    let other_profile = step(rotation, intended, Event::Sending, 1);
    let refused = directory
        .record(place(&directory, "us"), step_record(other_profile))
        .await;
    assert!(
        matches!(refused, Err(DirectoryError::NoRotation { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn of_fifty_concurrent_rotations_exactly_one_begins() {
    let installation = Opened::new();
    let handles = [installation.open(), installation.open()];
    let begun = join_all((0..50).map(|n| {
        let directory = handles[n % 2].clone();
        async move {
            directory
                .begin_rotation(place(&directory, "eu"), intent("acme", OLD))
                .await
        }
    }))
    .await;
    let (mut started, mut taken) = (Vec::new(), Vec::new());
    for one in begun {
        match one.expect("written") {
            BeginResult::Started(id) => started.push(id),
            BeginResult::TakenBy(row) => taken.push(row.id),
            BeginResult::HeldBy(holder) => panic!("held by {holder:?}"),
            BeginResult::RotatedBy(token) => panic!("rotated: {token:?}"),
        }
    }
    assert_eq!((started.len(), taken.len()), (1, 49));
    assert!(taken.iter().all(|id| *id == started[0]));
    // Another token of the group may be the result of the unsettled rotation.
    let next = handles[0]
        .begin_rotation(place(&handles[0], "eu"), intent("acme", NEW))
        .await;
    assert!(matches!(next, Ok(BeginResult::TakenBy(row)) if row.id == started[0]));
    start(&handles[1], intent("globex", OLD)).await;
    let ended = step(started[0], Rotation::intended(OLD), Event::Orphaned, 1);
    handles[0]
        .record(place(&handles[0], "eu"), step_record(ended))
        .await
        .expect("written");
    start(&handles[0], intent("acme", NEW)).await;
}

#[tokio::test]
async fn a_token_can_be_rotated_again_after_a_rotation_that_was_not_applied() {
    let installation = Opened::new();
    let directory = installation.open();
    let first = start(&directory, intent("acme", OLD)).await;
    let ended = step(first, Rotation::intended(OLD), Event::Orphaned, 1);
    assert_eq!(ended.after.state, State::NotApplied);
    directory
        .record(place(&directory, "eu"), step_record(ended))
        .await
        .expect("written");
    assert_ne!(start(&directory, intent("acme", OLD)).await, first);
}

#[tokio::test]
async fn rotations_are_listed_newest_first_and_filtered() {
    let installation = Opened::new();
    let directory = installation.open();
    let acme = start(&directory, intent("acme", OLD)).await;
    let globex = start(&directory, intent("globex", OLD)).await;
    let intended = Rotation::intended(OLD);
    let mut sending = step(acme, intended, Event::Sending, 3);
    sending.note = Some("sending".into());
    let sent = sending.after;
    directory
        .record(place(&directory, "eu"), step_record(sending))
        .await
        .expect("written");
    let row = directory
        .rotation(acme)
        .await
        .expect("read")
        .expect("there");
    assert_eq!((row.rotation, row.sent_at), (sent, Some(second(3))));
    assert_eq!(row.note.as_deref(), Some("sending"));
    assert_eq!(row.reason.as_deref(), Some("leaked"));
    let conflict = step(acme, sent, Event::Answered(RotateOutcome::WrongGroup), 4);
    directory
        .record(place(&directory, "eu"), step_record(conflict))
        .await
        .expect("written");

    let list = async |filter| -> Vec<RotationId> {
        let rows = directory.rotations(filter).await.expect("read");
        rows.into_iter().map(|row| row.id).collect()
    };
    let all = RotationFilter::default();
    assert_eq!(list(all.clone()).await, [globex, acme]);
    let open = RotationFilter {
        open_only: true,
        place: Some(place(&directory, "eu")),
        ..all.clone()
    };
    assert_eq!(list(open).await, [globex]);
    let of_acme = RotationFilter {
        user_group_id: Some(id("acme")),
        ..all.clone()
    };
    assert_eq!(list(of_acme).await, [acme]);
    let elsewhere = RotationFilter {
        place: Some(place(&directory, "us")),
        ..all.clone()
    };
    assert!(list(elsewhere).await.is_empty());
    let newest = RotationFilter {
        limit: Some(1),
        ..all
    };
    assert_eq!(list(newest).await, [globex]);
    assert_eq!(
        directory.rotation(RotationId(99)).await.expect("read"),
        None
    );
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
                    directory.record(place(&directory, "eu"), step_record(step)).await.expect("written");
                }
            }
            let row = directory.rotation(rotation).await.expect("read").expect("there");
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
    let place = place(&directory, "eu");
    let see = async |token, at, token_from| {
        let record = Record {
            token_from,
            ..observation_record(observation("acme", token, at))
        };
        directory.record(place, record).await.expect("recorded");
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
        let record = directory.record(place, step_record(step)).await;
        record.expect("recorded");
        // The read before the second rotation finds another token, which may come from the first.
        see(NEW, at, Some(first)).await;
        let again = directory.begin_rotation(place, spared()).await;
        assert!(
            matches!(&again, Ok(BeginResult::TakenBy(row)) if row.id == first),
            "{again:?}"
        );
    }
}
