//! What an operation came to, for whoever asked: the ending, what is known now, the token, and what to look at.

use std::{fmt, time::Duration};

use jiff::Timestamp;

use crate::{
    directory::RotationId,
    domain::{
        change::Difference,
        group::EnvironmentTag,
        history::Ending,
        known::{KnownGroup, Noticed},
        rotation::State,
        text::visible,
        token::{Fingerprint, Token},
    },
};

/// An operation that the service answered. Its `Debug` holds no token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    pub ending: Ending,
    /// What the directory knows of the group now.
    pub group: KnownGroup,
    /// The token that is current as far as the last answer tells; in memory only. `None` when it told of an older one.
    pub token: Option<Token>,
    pub previous_fingerprint: Option<Fingerprint>,
    pub warnings: Vec<Warning>,
    /// HTTP status of the deciding answer.
    pub status: u16,
    /// From the request to the last byte of the answer.
    pub latency: Duration,
    /// The journal's row, for rotations.
    pub rotation: Option<RotationId>,
}

/// Something about an answer that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// Hazard 1: the id was thought to exist, and this get made it.
    CreatedByGet,
    /// Hazard 11: the answer comes from another environment than the profile says.
    WrongTag {
        expected: EnvironmentTag,
        got: EnvironmentTag,
    },
    TokenChangedElsewhere,
    NameChangedElsewhere {
        was: String,
    },
    /// Hazard 2: the service kept its own value.
    Differs(Difference),
    /// Nobody said whether this call created the group.
    CreationUnclear,
    /// The confirming read failed; what was done stays done.
    NotReadBack {
        why: String,
    },
    /// It may still take effect; a get from that moment on decides (rotation.md, the horizon).
    RotationOpen {
        state: State,
        by: String,
        decided_from: Timestamp,
    },
    /// A get settled a rotation whose outcome was open.
    RotationSettled {
        ending: Ending,
    },
    /// The answer carries a token that this desk has seen replaced a short while ago; nothing was learnt from it.
    StaleAnswer,
}

impl Warning {
    /// Stops everything that would follow.
    pub fn is_alarm(&self) -> bool {
        matches!(self, Self::CreatedByGet | Self::WrongTag { .. })
    }

    /// Nothing was learnt from the answer.
    pub(super) fn is_stale(&self) -> bool {
        matches!(self, Self::StaleAnswer)
    }

    /// Another environment answered than the profile says (hazard 11).
    pub fn is_wrong_environment(&self) -> bool {
        matches!(self, Self::WrongTag { .. })
    }

    /// The contradiction alone, as it is kept.
    pub(super) fn bare(&self) -> String {
        let text = self.to_string();
        text.strip_prefix("ALARM: ").unwrap_or(&text).to_owned()
    }

    /// How an earlier rotation ended, if that is the news.
    pub(super) fn settled(&self) -> Option<Ending> {
        match self {
            Self::RotationSettled { ending } => Some(*ending),
            _ => None,
        }
    }

    /// What the directory noticed while learning.
    pub(super) fn of(noticed: &Noticed) -> Vec<Self> {
        let token = noticed
            .token_changed_elsewhere
            .then_some(Self::TokenChangedElsewhere);
        let name = noticed
            .name_was
            .clone()
            .map(|was| Self::NameChangedElsewhere { was });
        token.into_iter().chain(name).collect()
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreatedByGet => f.write_str(
                "ALARM: this get CREATED the group: it had vanished, or this is another environment. \
                 Check the profile and the id before anything else.",
            ),
            Self::WrongTag { expected, got } => write!(
                f,
                "ALARM: the answer is tagged {got}, this profile expects {expected}. \
                 Check base_url and API key of the profile.",
            ),
            Self::TokenChangedElsewhere => {
                f.write_str("the token was changed elsewhere since it was last seen here")
            }
            Self::NameChangedElsewhere { was } => {
                write!(f, "the name was changed elsewhere; it was \"{}\" here", visible(was))
            }
            Self::Differs(difference) => write!(
                f,
                "the {} at the service differs from what was asked for; send an update if it should change",
                difference.field
            ),
            Self::CreationUnclear => {
                f.write_str("created by this call or before it: nobody can tell which")
            }
            Self::NotReadBack { why } => {
                write!(f, "done, but it could not be read back: {why}")
            }
            Self::RotationOpen {
                state,
                by,
                decided_from,
            } => write!(
                f,
                "a rotation begun by {} is still open ({}): do not rotate; read again from {} on",
                visible(by),
                state.as_str(),
                decided_from.strftime("%H:%M:%S UTC")
            ),
            Self::RotationSettled { ending } => write!(
                f,
                "an earlier rotation with an open outcome is settled: {}",
                ending.as_str().replace('_', " ")
            ),
            Self::StaleAnswer => f.write_str(
                "the service answered with an older token than the one this desk has seen; \
                 read the group again in a minute",
            ),
        }
    }
}
