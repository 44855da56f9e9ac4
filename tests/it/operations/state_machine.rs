//! The state machine of rotations, cut at every prefix of its journal: durable state is enough to go on from, nothing
//! rotated is sent again, and nothing sent is forgotten.

use super::*;
use proptest::prelude::*;

const H: Duration = Duration::from_mins(1);
/// The old token, the new one, and one of somebody else.
const TOKENS: [Fingerprint; 3] = [fp(0), fp(1), fp(2)];

const fn fp(n: u8) -> Fingerprint {
    Fingerprint::from_bytes([n; 32])
}

fn token() -> impl Strategy<Value = Fingerprint> {
    prop::sample::select(TOKENS.to_vec())
}

fn event() -> impl Strategy<Value = Event> {
    let answer = prop_oneof![
        token().prop_map(RotateOutcome::NewToken),
        Just(RotateOutcome::SameToken),
        Just(RotateOutcome::WrongGroup),
        Just(RotateOutcome::Refused),
        Just(RotateOutcome::NotSent),
        Just(RotateOutcome::Unclear),
    ];
    prop_oneof![
        2 => Just(Event::Sending),
        3 => answer.prop_map(Event::Answered),
        3 => read(),
        1 => Just(Event::ReadContradicts),
        1 => Just(Event::Orphaned),
        1 => Just(Event::Abandon),
    ]
}

fn read() -> impl Strategy<Value = Event> {
    (token(), 0..180_u64).prop_map(|(fingerprint, seconds)| Event::Read {
        fingerprint,
        since_sent: Duration::from_secs(seconds),
    })
}

/// Begins as every rotation does, so that the following events are often in order.
fn events() -> impl Strategy<Value = Vec<Event>> {
    (0..3_usize, prop::collection::vec(event(), 0..12)).prop_map(|(begun, rest)| {
        let begin = [Event::Sending, Event::Answered(RotateOutcome::Unclear)];
        begin.into_iter().take(begun).chain(rest).collect()
    })
}

/// The journal: only the events that are allowed, and the state after each.
fn journal(events: &[Event]) -> Vec<(Event, Rotation)> {
    let mut rotation = Rotation::intended(TOKENS[0]);
    let mut journal = Vec::new();
    for event in events {
        if let Ok(after) = rotation.step(*event, H) {
            rotation = after;
            journal.push((*event, after));
        }
    }
    journal
}

proptest! {
    #[test]
    fn resuming_from_every_prefix_ends_and_sends_nothing(
        events in events(),
        current in token(),
    ) {
        let journal = journal(&events);
        for cut in 0..=journal.len() {
            let (before, _) = journal.split_at(cut);
            let start = before.last().map_or(Rotation::intended(TOKENS[0]), |(_, after)| *after);
            let sent = before.iter().any(|(event, _)| *event == Event::Sending);
            let was_told_a_token = before.iter().any(|(_, after)| after.state == State::Rotated);

            // The process died here. Another one finds the rotation and reads the group: now, and after the horizon.
            let mut rotation = start.step(Event::Orphaned, H).unwrap_or(start);
            for since_sent in [Duration::from_secs(1), H, H] {
                let read = Event::Read { fingerprint: current, since_sent };
                rotation = rotation.step(read, H).unwrap_or(rotation);
                prop_assert!(rotation.step(Event::Sending, H).is_err(), "sent again: {rotation:?}");
            }
            prop_assert!(!rotation.state.is_open(), "never ends: {rotation:?}");

            if start.state.is_open() {
                // Nothing sent is forgotten: only reading the old token proves that the rotation did not happen.
                if sent && rotation.state == State::NotApplied {
                    prop_assert_eq!(current, TOKENS[0]);
                    prop_assert!(!was_told_a_token);
                }
                if !sent {
                    prop_assert_eq!(rotation.state, State::NotApplied);
                }
                if sent && current != TOKENS[0] {
                    prop_assert!(
                        matches!(rotation.state, State::Confirmed | State::Superseded | State::Recovered),
                        "{:?}", rotation
                    );
                    prop_assert!(rotation.fingerprint.is_some());
                }
            } else {
                prop_assert_eq!(rotation, start, "an ending is an ending");
            }
            // The token stays locked as long as it may have been rotated.
            if sent && current != TOKENS[0] && start.state.is_open() {
                prop_assert!(!matches!(rotation.state, State::NotApplied | State::Abandoned));
            }
        }
    }

    #[test]
    fn at_most_one_request_is_sent_and_never_after_an_answer(events in events()) {
        let journal = journal(&events);
        let sendings: Vec<_> = (0..journal.len())
            .filter(|at| journal[*at].0 == Event::Sending)
            .collect();
        prop_assert!(sendings.len() <= 1);
        for (event, _) in journal.iter().take(sendings.first().copied().unwrap_or(journal.len())) {
            prop_assert!(!matches!(event, Event::Answered(_) | Event::Read { .. }), "{event:?}");
        }
        let previous: Vec<_> = journal.iter().map(|(_, after)| after.previous).collect();
        prop_assert!(previous.iter().all(|token| *token == TOKENS[0]));
    }

    #[test]
    fn one_early_read_of_the_old_token_proves_nothing_unless_the_service_refused(
        seconds in 0..60_u64,
        refused in any::<bool>(),
    ) {
        let answer = if refused { RotateOutcome::Refused } else { RotateOutcome::Unclear };
        let read = Event::Read { fingerprint: TOKENS[0], since_sent: Duration::from_secs(seconds) };
        let journal = journal(&[Event::Sending, Event::Answered(answer), read, read, read]);
        let expected = if refused { State::NotApplied } else { State::Unknown };
        prop_assert_eq!(journal.last().expect("steps").1.state, expected);
    }
}
