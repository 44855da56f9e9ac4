//! The result of an operation for its caller: the ending, what is known now, the token, and warnings.

use std::{fmt, time::Duration};

use jiff::Timestamp;

use crate::{
    directory::{Mutation, RotationId, RotationRow},
    domain::{
        annotation::InvalidAnnotation,
        change::Difference,
        facts::{Facts, Field},
        group::EnvironmentTag,
        history::{Ending, Operation},
        known::{Drift, KnownGroup},
        mutation::{self, fields_of},
        proposal::quoted,
        rotation::State,
        text::visible,
        token::{Fingerprint, Token},
        update::{Baseline, Edit, Plan},
        when,
    },
};

/// An operation that the service answered. Its `Debug` output contains no token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    pub ending: Ending,
    /// What the directory knows of the group now.
    pub group: KnownGroup,
    /// The current token as of the last answer; in memory only. `None` if the answer was outdated. It leaves this program
    /// only by [`Done::token`], except to the service.
    pub returned_token: Option<Token>,
    pub previous_fingerprint: Option<Fingerprint>,
    pub warnings: Vec<Warning>,
    /// HTTP status of the deciding answer.
    pub status: u16,
    /// From the request to the last byte of the answer.
    pub latency: Duration,
    /// The journal row, for rotations.
    pub rotation: Option<RotationId>,
    /// The fields that were just read.
    pub read: Vec<Field>,
    /// What is known of the behaviour of the place, as far as it was loaded.
    pub facts: Facts,
    /// Earlier changes of the group with an unknown outcome that may have taken effect.
    pub open: Vec<Mutation>,
}

impl Done {
    /// The token, for a file, a display, a clipboard or a hand-off. A response with an alarm gives none: it may be the token
    /// of another environment, or of an empty group.
    pub fn token(&self) -> Option<&Token> {
        self.returned_token
            .as_ref()
            .filter(|_| !self.withholds_token())
    }

    /// Whether a token came with an alarm, and so is not handed out. That somebody else writes makes no token doubtful, and
    /// without it what uses the group would stand still.
    pub fn withholds_token(&self) -> bool {
        let mut alarms = self.warnings.iter().filter(|warning| warning.is_alarm());
        self.returned_token.is_some() && alarms.any(|alarm| !alarm.is_of_facts())
    }

    /// Whether an alarm says that the response is one of another environment.
    pub fn is_of_another_environment(&self) -> bool {
        self.warnings.iter().any(Warning::is_wrong_environment)
    }

    pub fn has_alarm(&self) -> bool {
        self.warnings.iter().any(Warning::is_alarm)
    }

    /// What an edit of this operator would send, given the group as it was read.
    pub fn plan(&self, edit: &Edit, operator: &str) -> Plan {
        let known = (&self.group, &self.read[..], &self.facts);
        planned(edit, known, &self.open, operator)
    }
}

/// What an edit of this operator would send, given the group, the fields that were read or will be, and the facts. To repeat
/// an update of one's own that has no result changes nothing twice, so such an update casts no doubt on its repetition.
pub(super) fn planned(
    edit: &Edit,
    (group, read, facts): (&KnownGroup, &[Field], &Facts),
    open: &[Mutation],
    operator: &str,
) -> Plan {
    let is_own = |open: &&Mutation| {
        open.operation == Operation::Update
            && open.state == mutation::State::Open
            && open.by == operator
    };
    let plan = |uncertain: Vec<Field>| {
        let baseline = Baseline {
            group,
            read,
            uncertain: &uncertain,
            facts,
        };
        Plan::of(edit, &baseline)
    };
    let others = open.iter().filter(|open| !is_own(open));
    let repeated = plan(uncertain(others, read));
    let mut own = open.iter().filter(is_own);
    if own.all(|own| own.sent.as_ref() == Some(&repeated.send)) {
        return repeated;
    }
    plan(uncertain(open, read))
}

/// The fields that earlier open changes may have changed, and that were neither read nor replaced since.
fn uncertain<'m>(open: impl IntoIterator<Item = &'m Mutation>, read: &[Field]) -> Vec<Field> {
    let may_have_arrived = |other: &&Mutation| {
        matches!(
            other.state,
            mutation::State::Open | mutation::State::Unknown
        )
    };
    // What a later update replaced is no longer in what was sent.
    let left = |other: &'m Mutation| {
        let fields = fields_of(other.changes.as_ref()).into_iter();
        fields.filter(|field| other.sent.as_ref().is_none_or(|sent| sent.has(*field)))
    };
    let fields = open.into_iter().filter(may_have_arrived).flat_map(left);
    fields.filter(|field| !read.contains(field)).collect()
}

/// Something about an answer that the operator should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// Hazard 1: the id was expected to exist, and this get created it.
    CreatedByGet,
    /// Hazard 11: the answer comes from another environment than the profile expects.
    WrongTag {
        expected: EnvironmentTag,
        got: EnvironmentTag,
    },
    TokenChangedElsewhere,
    /// A token that a rotation from here replaced is current again.
    TokenRevived {
        by: String,
        at: Timestamp,
        reason: Option<String>,
    },
    NameChangedElsewhere {
        was: String,
    },
    /// The token that a first read returned is known in another environment of the directory: both may be one.
    OfAnotherEnvironment {
        environment: String,
        /// The profile as the command names it.
        profile: String,
    },
    /// Hazard 2: the service kept its own value.
    Differs(Difference),
    /// The answer does not say whether this call created the group.
    CreationUnclear,
    /// The confirming read failed; what was done stays done.
    NotReadBack {
        why: String,
    },
    /// The rotation may still take effect; a get after that time decides (docs/design/rotation.md, the horizon).
    RotationOpen {
        state: State,
        by: String,
        decided_from: Timestamp,
    },
    /// A get settled a rotation whose outcome was unknown.
    RotationSettled {
        ending: Ending,
    },
    /// The answer carries a token that this installation saw replaced a short while ago; nothing was recorded from it.
    StaleAnswer,
    /// The group was changed from here while it was being read; nothing was recorded from that reading.
    ReadOvertaken,
    /// A reading shows a value that this directory did not write, although it had been told to be the sole writer.
    NotSoleWriter,
    /// A field that an update left out has changed, although it was taken to be kept.
    LeftOutChanged {
        field: Field,
    },
    /// The group is done; its note and labels stay as somebody else has changed them since.
    NotAnnotated(InvalidAnnotation),
}

impl Warning {
    /// Whether this stops everything that would follow.
    pub fn is_alarm(&self) -> bool {
        matches!(
            self,
            Self::CreatedByGet
                | Self::WrongTag { .. }
                | Self::NotSoleWriter
                | Self::LeftOutChanged { .. }
        )
    }

    /// Whether a fact about the place turned out wrong.
    pub fn is_of_facts(&self) -> bool {
        matches!(self, Self::NotSoleWriter | Self::LeftOutChanged { .. })
    }

    /// Whether nothing was recorded from the answer.
    pub(super) fn is_stale(&self) -> bool {
        matches!(self, Self::StaleAnswer | Self::ReadOvertaken)
    }

    /// Whether the answer came from another environment than the profile expects (hazard 11).
    pub fn is_wrong_environment(&self) -> bool {
        matches!(self, Self::WrongTag { .. })
    }

    /// The contradiction alone, as stored.
    pub(super) fn bare(&self) -> String {
        let text = self.to_string();
        text.strip_prefix("ALARM: ").unwrap_or(&text).to_owned()
    }

    /// How an earlier rotation ended, if this warning reports that.
    pub(super) fn settled(&self) -> Option<Ending> {
        match self {
            Self::RotationSettled { ending } => Some(*ending),
            _ => None,
        }
    }

    /// Warnings for what the directory noticed while recording. `revived`: the rotation that replaced the token, if that is
    /// current again.
    pub(super) fn of(noticed: &Drift, revived: Option<&RotationRow>) -> Vec<Self> {
        let token = match revived {
            Some(row) => Some(Self::TokenRevived {
                by: row.by.clone(),
                at: row.sent_at.unwrap_or(row.started_at),
                reason: row.reason.clone(),
            }),
            None => noticed
                .token_changed_elsewhere
                .then_some(Self::TokenChangedElsewhere),
        };
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
                 Check the profile and the ID before anything else.",
            ),
            Self::WrongTag { expected, got } => write!(
                f,
                "ALARM: the response is tagged {got}, but this profile expects {expected}. \
                 Check base_url and API key of the profile.",
            ),
            Self::TokenChangedElsewhere => {
                f.write_str("the token was changed elsewhere since it was last seen here")
            }
            Self::TokenRevived { by, at, reason } => {
                let (by, at) = (visible(by), when::minute(*at));
                let reason = reason.as_ref();
                let reason = reason.map_or_else(String::new, |why| format!(" ({})", visible(why)));
                write!(
                    f,
                    "the token that {by} replaced on {at}{reason} is current again: was the service restored from an older \
                     copy? Rotate it again"
                )
            }
            Self::NameChangedElsewhere { was } => {
                write!(f, "the name was changed elsewhere; the last known name was \"{}\"", visible(was))
            }
            Self::OfAnotherEnvironment {
                environment,
                profile,
            } => write!(
                f,
                "its token is known in environment {}. If that is the same environment: groupdesk profile bind {profile} \
                 --same-environment {}",
                visible(environment),
                quoted(&visible(environment))
            ),
            Self::Differs(difference) => write!(
                f,
                "{}: the service has another value than requested; to change it, send an update",
                difference.field
            ),
            Self::CreationUnclear => {
                f.write_str("created by this call or before it; which one is unknown")
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
                "{} started a rotation that is still open ({}): do not rotate; read again at {} or later",
                visible(by),
                state.as_str(),
                when::second(*decided_from)
            ),
            Self::RotationSettled { ending } => write!(
                f,
                "an earlier open rotation is now resolved: {}",
                ending.as_str().replace('_', " ")
            ),
            Self::ReadOvertaken => f.write_str(
                "the group was changed by this directory during the read, so this response was ignored; read it again",
            ),
            Self::NotSoleWriter => f.write_str(
                "ALARM: another process also changes this environment: it contains values that were not sent from here. \
                 sole_writer is withdrawn, and unreadable values now count as unknown. For details, run `groupdesk profile behaviour`",
            ),
            Self::LeftOutChanged { field } => write!(
                f,
                "ALARM: the update omitted the {}, but the service changed it. The setting that omitted fields are kept was \
                 withdrawn; check the group. For details, run `groupdesk profile behaviour`",
                field.as_str()
            ),
            Self::NotAnnotated(why) => write!(f, "{why}; the note and labels in the file were skipped"),
            Self::StaleAnswer => f.write_str(
                "the service returned an older token than the last one seen here; read the group again in a minute",
            ),
        }
    }
}
