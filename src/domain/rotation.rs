//! The state machine of docs/design/rotation.md as a pure [`Rotation::step`]: what is durable, what was observed, what
//! follows. Sends nothing and reads no clock; `operations` feeds it and journals every step before acting on it.

use std::time::Duration;

use super::{token::Fingerprint, word_enum::word_enum};

word_enum! {
    /// Where a rotation stands. The words are those of `rotations --json`. T0 is the token before, N that of the answer, S one
    /// that a get returned.
    ///
    /// ```text
    /// Intended --> Sent --N--> Rotated --S = N--> Confirmed
    ///    |          |             +--S is another--> Superseded
    ///    |          |             +--S = T0 after the horizon--> Conflict
    ///    |          +--unclear--> Unknown --S is not T0--> Recovered
    ///    |          |                +--S = T0, twice, the second after the horizon--> NotApplied
    ///    |          +--N = T0, or it never left--> NotApplied
    ///    +--found when its time is over--> NotApplied          any open one, or Conflict --a person--> Abandoned
    /// ```
    #[derive(Hash)]
    pub enum State {
        /// The intent is durable; nothing was sent.
        Intended = "intended",
        /// The request may be on its way.
        Sent = "sent",
        /// The answer carried a new token.
        Rotated = "rotated",
        /// A get returned that same new token.
        Confirmed = "confirmed",
        /// It may or may not have taken effect; only a get decides.
        Unknown = "unknown",
        /// A get returned a new token: rotated, by this call or by someone else.
        Recovered = "recovered",
        /// The old token is still the current one; it is safe to try again.
        NotApplied = "not_applied",
        /// Rotated, and a get returned a third token: someone rotated after us.
        Superseded = "superseded",
        /// The answers contradict each other; investigate.
        Conflict = "conflict",
        /// A person closed it, with a reason.
        Abandoned = "abandoned",
    }
}

impl State {
    /// Something is still to be found out.
    pub fn is_open(self) -> bool {
        match self {
            Self::Intended | Self::Sent | Self::Rotated | Self::Unknown => true,
            Self::Confirmed
            | Self::Recovered
            | Self::NotApplied
            | Self::Superseded
            | Self::Conflict
            | Self::Abandoned => false,
        }
    }

    /// Whether there is a new token that can be handed off.
    pub fn has_new_token(self) -> bool {
        matches!(
            self,
            Self::Rotated | Self::Confirmed | Self::Recovered | Self::Superseded | Self::Abandoned
        )
    }
}

/// The result of the rotate request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RotateOutcome {
    /// Valid success, right id, a token that differs from the old one.
    NewToken(Fingerprint),
    /// Valid success, but the token is the old one.
    SameToken,
    /// Another id or another environment.
    WrongGroup,
    /// The service stated that it refused.
    Refused,
    /// Nothing was sent: no connection was made.
    NotSent,
    /// Everything else: timeout, reset, redirect, 5xx, half a body, garbage.
    Unclear,
}

/// Something that happened to a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The commit that must be durable before the first byte is sent.
    Sending,
    Answered(RotateOutcome),
    /// A get of the group returned this token.
    Read {
        fingerprint: Fingerprint,
        /// Time since the request was sent, on a monotonic clock if there is one.
        since_sent: Duration,
    },
    /// A get created the group, or came from another environment.
    ReadContradicts,
    /// Still intended or sent when the settle window is over.
    Orphaned,
    /// A person closes it.
    Abandon,
}

/// One rotation, as far as its journal tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    pub state: State,
    /// Fingerprint of the token read in the preflight (T0).
    pub previous: Fingerprint,
    /// Fingerprint of the new token, once it is known.
    pub fingerprint: Option<Fingerprint>,
    /// The service stated a refusal: one unchanged read settles it, without the horizon.
    pub refused: bool,
    /// The unchanged token was read once since the outcome became unknown.
    pub read_unchanged: bool,
}

/// The event cannot happen in this state: a bug in the caller, never an external condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{event:?} cannot happen to a rotation that is {}", state.as_str())]
pub struct OutOfOrder {
    pub state: State,
    pub event: Event,
}

/// Settle horizon H: how long a late request may still arrive (docs/design/rotation.md).
pub fn settle_window(request_timeout: Duration) -> Duration {
    Duration::from_mins(1).max(request_timeout * 2)
}

/// The settle window of the longest timeout that a profile can have, for what does not know the profile.
pub const LONGEST_SETTLE_WINDOW: Duration = Duration::from_mins(20);

impl Rotation {
    /// A rotation with a durable intent.
    pub fn intended(previous: Fingerprint) -> Self {
        Self {
            state: State::Intended,
            previous,
            fingerprint: None,
            refused: false,
            read_unchanged: false,
        }
    }

    /// The result of an event. `horizon` is H of [`settle_window`].
    pub fn step(self, event: Event, horizon: Duration) -> Result<Self, OutOfOrder> {
        let to = |state| Self { state, ..self };
        let next = match (self.state, event) {
            (State::Intended, Event::Sending) => to(State::Sent),
            (State::Intended, Event::Orphaned) => to(State::NotApplied),
            (State::Sent, Event::Answered(answer)) => self.answered(answer),
            (State::Sent, Event::Orphaned) => to(State::Unknown),
            (State::Rotated | State::Unknown, Event::Orphaned) => self,
            (
                State::Rotated,
                Event::Read {
                    fingerprint,
                    since_sent,
                },
            ) => {
                if Some(fingerprint) == self.fingerprint {
                    to(State::Confirmed)
                } else if fingerprint != self.previous {
                    to(State::Superseded)
                } else if since_sent >= horizon {
                    to(State::Conflict)
                } else {
                    self
                }
            }
            (
                State::Unknown,
                Event::Read {
                    fingerprint,
                    since_sent,
                },
            ) => {
                if fingerprint != self.previous {
                    Self {
                        state: State::Recovered,
                        fingerprint: Some(fingerprint),
                        ..self
                    }
                } else if self.refused || (self.read_unchanged && since_sent >= horizon) {
                    to(State::NotApplied)
                } else {
                    Self {
                        read_unchanged: true,
                        ..self
                    }
                }
            }
            (State::Rotated | State::Unknown, Event::ReadContradicts) => to(State::Conflict),
            (state, Event::Abandon) if state.is_open() || state == State::Conflict => {
                to(State::Abandoned)
            }
            (state, event) => return Err(OutOfOrder { state, event }),
        };
        Ok(next)
    }

    fn answered(self, answer: RotateOutcome) -> Self {
        let to = |state| Self { state, ..self };
        match answer {
            RotateOutcome::NewToken(fingerprint) if fingerprint != self.previous => Self {
                state: State::Rotated,
                fingerprint: Some(fingerprint),
                ..self
            },
            RotateOutcome::NewToken(_) | RotateOutcome::SameToken | RotateOutcome::NotSent => {
                to(State::NotApplied)
            }
            RotateOutcome::WrongGroup => to(State::Conflict),
            RotateOutcome::Refused => Self {
                state: State::Unknown,
                refused: true,
                ..self
            },
            RotateOutcome::Unclear => to(State::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::testing::fingerprint;

    const H: Duration = Duration::from_mins(1);
    const EARLY: Duration = Duration::from_secs(1);
    const OLD: Fingerprint = fingerprint(0);
    const NEW: Fingerprint = fingerprint(1);

    /// The state after these events, each a word; `old`, `new` and `other` are read early, `late` is the old one read late.
    fn after(events: &str) -> (State, Option<Fingerprint>) {
        use RotateOutcome::{NewToken, NotSent, Refused, SameToken, Unclear, WrongGroup};
        let read = |fingerprint, since_sent| Event::Read {
            fingerprint,
            since_sent,
        };
        let event = |word: &str| match word {
            "orphaned" => Event::Orphaned,
            "sending" => Event::Sending,
            "old" => read(OLD, EARLY),
            "late" => read(OLD, H),
            "new" => read(NEW, EARLY),
            "other" => read(fingerprint(2), EARLY),
            "=new" => Event::Answered(NewToken(NEW)),
            "=old" => Event::Answered(NewToken(OLD)),
            "=same" => Event::Answered(SameToken),
            "=wrong" => Event::Answered(WrongGroup),
            "=refused" => Event::Answered(Refused),
            "=unsent" => Event::Answered(NotSent),
            "=unclear" => Event::Answered(Unclear),
            _ => panic!("{word}"),
        };
        let events = events.split(' ').map(event);
        let rotation = events.fold(Rotation::intended(OLD), |rotation, event| {
            rotation.step(event, H).expect("in order")
        });
        (rotation.state, rotation.fingerprint)
    }

    #[test]
    fn each_answer_and_each_read_leads_to_its_state() {
        for (events, state) in [
            ("sending =new", State::Rotated),
            ("sending =new new", State::Confirmed),
            ("sending =new other", State::Superseded),
            // A lost answer is settled by gets alone; the request may still arrive.
            ("sending =unclear", State::Unknown),
            ("sending =unclear new", State::Recovered),
            ("sending =unclear old", State::Unknown),
            ("sending =unclear old old", State::Unknown),
            ("sending =unclear old old late", State::NotApplied),
            ("sending =unclear late", State::Unknown),
            // A stated refusal needs one read and no horizon.
            ("sending =refused", State::Unknown),
            ("sending =refused old", State::NotApplied),
            ("sending =refused new", State::Recovered),
            ("sending =same", State::NotApplied),
            ("sending =old", State::NotApplied),
            ("sending =unsent", State::NotApplied),
            ("sending =wrong", State::Conflict),
            // A death before sending is harmless.
            ("orphaned", State::NotApplied),
            ("sending orphaned", State::Unknown),
        ] {
            let (found, token) = after(events);
            assert_eq!(found, state, "{events}");
            let is_known = matches!(state, State::Rotated | State::Recovered);
            assert!(!is_known || token == Some(NEW), "{events}");
        }
    }

    #[test]
    fn nothing_is_sent_twice_and_what_a_person_must_look_at_can_be_abandoned() {
        for state in State::ALL {
            let rotation = Rotation {
                state,
                ..Rotation::intended(OLD)
            };
            let sends_again = rotation.step(Event::Sending, H).is_ok();
            assert_eq!(sends_again, state == State::Intended, "{state:?}");
            let may = state.is_open() || state == State::Conflict;
            assert_eq!(rotation.step(Event::Abandon, H).is_ok(), may);
            assert_eq!(State::parse(state.as_str()), Some(state));
        }
    }
}
