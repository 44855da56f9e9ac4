//! Reconstructs a rotation from its journal, step by step, by the rules of the domain alone.

use std::time::Duration;

use super::{EventKind, JournalEvent};
use crate::domain::rotation::{Event, Rotation};

/// Reconstructs the rotation from its events (docs/design/rotation.md: "replayed from its journal").
///
/// Returns `None` if they do not begin with the intent, or if a step does not follow from the one before.
pub fn replay(events: &[JournalEvent]) -> Option<Rotation> {
    let (first, rest) = events.split_first()?;
    let EventKind::Intended { previous } = first.what else {
        return None;
    };
    rest.iter()
        .try_fold(Rotation::intended(previous), |rotation, happening| {
            let EventKind::Stepped {
                event,
                horizon_passed,
            } = happening.what
            else {
                return None;
            };
            let next = rotation.step(event, horizon(horizon_passed)).ok()?;
            (next.state == happening.state).then_some(next)
        })
}

/// Whether the settle window was over in the step from `before` to `after`; `None` if neither explains the step.
///
/// The journal stores this answer, not the horizon: the timeout it depends on may be different tomorrow.
pub(super) fn horizon_passed(before: Rotation, event: Event, after: Rotation) -> Option<bool> {
    [false, true]
        .into_iter()
        .find(|passed| before.step(event, horizon(*passed)) == Ok(after))
}

/// A horizon that any duration has passed, or none has.
fn horizon(passed: bool) -> Duration {
    if passed {
        Duration::ZERO
    } else {
        Duration::MAX
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::domain::{rotation::State, token::Fingerprint};

    const OLD: Fingerprint = Fingerprint::from_bytes([1; 32]);

    fn unknown(read_unchanged: bool) -> Rotation {
        Rotation {
            state: State::Unknown,
            read_unchanged,
            ..Rotation::intended(OLD)
        }
    }

    #[test]
    fn the_horizon_is_told_from_what_followed() {
        let read = Event::Read {
            fingerprint: OLD,
            since_sent: Duration::from_secs(70),
        };
        let settled = Rotation {
            state: State::NotApplied,
            ..unknown(true)
        };
        assert_eq!(horizon_passed(unknown(true), read, settled), Some(true));
        assert_eq!(
            horizon_passed(unknown(true), read, unknown(true)),
            Some(false)
        );
        assert_eq!(horizon_passed(unknown(false), read, settled), None);
    }

    #[test]
    fn a_journal_that_does_not_add_up_makes_no_rotation() {
        let happening = |what, state| JournalEvent {
            at: Timestamp::UNIX_EPOCH,
            what,
            state,
            note: None,
        };
        let intended = happening(EventKind::Intended { previous: OLD }, State::Intended);
        let sending = |state| {
            let what = EventKind::Stepped {
                event: Event::Sending,
                horizon_passed: false,
            };
            happening(what, state)
        };
        assert_eq!(replay(&[]), None);
        assert_eq!(replay(&[sending(State::Sent)]), None);
        assert_eq!(
            replay(&[intended.clone(), sending(State::Confirmed)]),
            None,
            "another state than journalled"
        );
        assert_eq!(
            replay(&[intended.clone(), intended.clone()]),
            None,
            "begun twice"
        );
        let sent = replay(&[intended, sending(State::Sent)]).expect("in order");
        assert_eq!(sent.state, State::Sent);
    }
}
