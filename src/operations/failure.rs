//! Why an operation did not end as requested: what happened, whether anything was sent, and what to do.

mod class;

use std::time::Duration;

pub use class::Class;

use super::{ClaimHolder, PlaceProblem, UnknownFields, Warning};
use crate::{
    api::{
        answer::{advice, who_refused},
        failure::{CallError, ClientError},
    },
    config::{KeyError, guard::Operation},
    directory::{DirectoryError, RotationId},
    domain::{
        annotation::InvalidAnnotation,
        group::{EnvironmentTag, UserGroupId},
        history::Ending,
        rotation::State,
        size::TooLarge,
        text::{joined, visible, without_retry},
    },
};

/// An operation that did not end as requested.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Hazard 1: reading an unknown id could create it.
    #[error(
        "\"{id}\" is not in the directory of this profile; {undone}{}",
        suggestion(near)
    )]
    NotKnown {
        id: UserGroupId,
        near: Vec<UserGroupId>,
        /// What was not done: "nothing was sent", of a command that never sends "nothing was shown".
        undone: &'static str,
        /// Whether this profile and role may create it.
        may_create: bool,
        /// What to do about a create or a first read of it that has no result.
        open: Option<String>,
    },
    /// A refusal that nothing but its class follows from. Nothing was sent.
    #[error("{text}")]
    Refusal { class: Class, text: String },
    /// The profile, or this run of groupdesk, only reads.
    #[error(
        "profile {profile} is read-only; nothing was sent. For other profiles: groupdesk profile list"
    )]
    ReadOnly { profile: String },
    /// A guard of the profile.
    #[error("{} is forbidden in profile {profile}: {reason}; nothing was sent", operation.as_str())]
    Forbidden {
        operation: Operation,
        profile: String,
        reason: String,
    },
    /// A field that is larger than an answer may be: it could not be read back.
    #[error("{field}: {0}; nothing was sent", field = .0.field())]
    TooLarge(#[from] TooLarge),
    /// A known secret in a text field: it would be readable by everybody, here and at the service.
    #[error(
        "{field}: this is a token or an API key that groupdesk knows; nothing was sent or saved. To find the group of a token, run `groupdesk whose` (W \
         in the console); rotate the token if others may have seen it"
    )]
    HoldsSecret { field: String },
    /// An invalid note or label; these are never sent.
    #[error("{0}; nothing was saved")]
    Annotation(#[from] InvalidAnnotation),
    /// Hazard 1: the group had to be read first, and the read created it.
    #[error(
        "ALARM: reading \"{id}\" CREATED it: it had vanished, or this is another environment; \
         nothing further was sent. Check the profile and the ID"
    )]
    CreatedByGet { id: UserGroupId },
    /// Hazard 11.
    #[error(
        "ALARM: \"{id}\" is tagged {got}, but this profile expects {expected}; nothing further was sent. \
         Check base_url and API key of the profile; if they have been corrected since: {}",
        id.command("get", "--exists")
    )]
    WrongEnvironment {
        id: UserGroupId,
        expected: EnvironmentTag,
        got: EnvironmentTag,
    },
    /// Another mutation of the group is still in progress.
    #[error("nothing was sent: {0}")]
    Held(Box<ClaimHolder>),
    /// What the operator is about to change is no longer as it was reviewed.
    #[error(
        "\"{id}\" was changed since it was reviewed: {}; nothing was sent. Review it again, then decide",
        what.join("; ")
    )]
    ChangedSince {
        id: UserGroupId,
        /// Each changed part with both values; with invisible characters made visible.
        what: Vec<String>,
    },
    /// The values that would be sent as well are not known well enough, and nobody vouched for them.
    #[error("{0}")]
    NotKnownEnough(Box<UnknownFields>),
    /// One rotation per seen token (docs/design/rotation.md).
    #[error(
        "\"{id}\" NOT rotated: {by} started to rotate this token{}{}",
        ago_in_words(*ago),
        what_next(*state)
    )]
    RotationTaken {
        id: UserGroupId,
        state: State,
        by: String,
        /// Since it was sent, or started if it was not sent.
        ago: Option<Duration>,
    },
    /// Somebody rotated it since this process began, or a moment ago, by the directory's own order and clock.
    #[error(
        "\"{id}\" NOT rotated: {}. To rotate it all the same: {}",
        newer_token(by.as_ref(), *ago),
        id.command("rotate", "--include-recent")
    )]
    JustRotated {
        id: UserGroupId,
        /// `None` if it was changed elsewhere.
        by: Option<String>,
        ago: Option<Duration>,
    },
    /// The operator meant to rotate another token than the current one, which may just have been handed out.
    #[error("\"{id}\" NOT rotated: {}", changed_how(settled, by.as_ref()))]
    TokenChanged {
        id: UserGroupId,
        /// How earlier rotations from here, whose outcome was open, were settled by this read.
        settled: Vec<Ending>,
        /// Who rotated it in this directory, and how long ago; `None` if it was changed elsewhere.
        by: Option<(String, Option<Duration>)>,
    },
    #[error("rotation {} not found in this profile; nothing was changed. For a list: groupdesk rotations", id.0)]
    NoRotation { id: RotationId },
    /// The operator has to decide something about the place first.
    #[error(transparent)]
    Place(#[from] PlaceProblem),
    #[error("nothing was sent: {0}")]
    Key(#[from] KeyError),
    #[error("nothing was sent: {0}")]
    Client(#[from] ClientError),
    #[error(
        "the service rejected the API key{}; nothing was changed. Check api_key in the profile, and whether a proxy removes the \
         key from requests",
        after_colon(words.as_ref())
    )]
    KeyRefused { words: Option<String> },
    #[error(
        "{} refused ({status}){}; nothing was changed; {}{}",
        who_refused(*stated, via.as_deref()),
        after_colon(words.as_ref()),
        if *bodiless { BODILESS } else { "" },
        advice(*status, *stated, *retry_after)
    )]
    Refused {
        status: u16,
        /// Whether the service itself stated the refusal.
        stated: bool,
        /// The proxy that may have answered in its place.
        via: Option<String>,
        words: Option<String>,
        /// The pause that the service asks for.
        retry_after: Option<Duration>,
        /// A get whose body did not arrive may be refused in this way (hazard 8).
        bodiless: bool,
    },
    /// The service postponed a read (429 or 503); nothing was changed by it.
    #[error("{why}")]
    Busy {
        status: u16,
        why: String,
        /// The pause that the service asks for.
        retry_after: Option<Duration>,
    },
    /// No answer. For a mutation: certainly nothing reached the service.
    #[error("{0}")]
    Unreachable(CallError),
    /// A read with an unusable answer; nothing was changed by it.
    #[error("{0}")]
    Unreadable(String),
    /// The answer to a read is older than what this directory has recorded of the group since; nothing was taken from it.
    #[error("{0}")]
    Stale(Warning),
    /// The read before a change got no usable answer, so the change was not sent.
    #[error(
        "\"{id}\" NOT {changed}: the read before it failed: {}; no change was sent",
        of_read(failure)
    )]
    ReadBefore {
        id: UserGroupId,
        /// What would have become of the group: "rotated" or "updated".
        changed: &'static str,
        failure: Box<Failure>,
    },
    /// Whoever asked for the change has taken that back in time.
    #[error("\"{id}\" NOT {changed}: it was cancelled before the change was sent")]
    Cancelled {
        id: UserGroupId,
        /// What would have become of the group: "created", "updated" or "rotated".
        changed: &'static str,
    },
    /// A change or a read that did not come about, for a failure that does not name its group.
    #[error("{}", failure.about(id, changed))]
    NotChanged {
        id: UserGroupId,
        /// What would have become of the group: "created", "updated", "rotated" or "read".
        changed: &'static str,
        failure: Box<Failure>,
    },
    /// A mutation that may or may not have taken effect, or whose outcome is not in the directory.
    #[error("UNKNOWN {}{why}. {next}", unknown_what(id, operation, *is_answered))]
    Unknown {
        id: UserGroupId,
        operation: &'static str,
        /// The response stated the outcome, which `why` says; only the directory does not have it.
        is_answered: bool,
        /// What happened; what to do is only in `next`.
        why: String,
        next: &'static str,
    },
    /// Somebody else has recorded how this change ended, while no answer arrived here.
    #[error("{1}")]
    Settled(Ending, String),
    /// The token is still the old one; it is safe to try again.
    #[error("\"{id}\" NOT rotated, its token is still the old one: {why}. It is safe to try again")]
    NotApplied { id: UserGroupId, why: String },
    #[error("\"{id}\" CONFLICT: {}. Investigate before you rotate it again", .why.trim_end_matches('.'))]
    Conflict {
        id: UserGroupId,
        why: String,
        /// The contradiction is the tag of another environment (hazard 11).
        wrong_environment: bool,
    },
    /// The read before the hand-off raised an alarm.
    #[error("not handed off, and the command was not run: {0}")]
    HandOffAlarm(Warning),
    #[error("{}", unsent(_0))]
    NothingSent(DirectoryError),
    /// What only the directory has, such as a note, could not be written; it would not have been sent anyway.
    #[error("{what} {}: {error}", if error.is_unclear() { "perhaps not saved" } else { "not saved" })]
    NotSaved {
        /// For example "the note was".
        what: &'static str,
        error: DirectoryError,
    },
    /// The answer to a read could not be recorded; no change was sent.
    #[error(
        "the service was only read, and no change was sent, but its response could not be recorded: {0}"
    )]
    NotKept(DirectoryError),
    /// A create or an update was sent, and its answer could not be recorded.
    #[error(
        "the service responded, but the response could not be saved: {}; then read the group again",
        without_retry(&_0.to_string())
    )]
    NotWritten(DirectoryError),
}

const BODILESS: &str =
    "a proxy may drop the body of a GET (to test it, run `groupdesk doctor --id ID`); otherwise ";

/// The change of a group as a noun.
fn noun(changed: &str) -> &'static str {
    match changed {
        "created" => "create",
        "rotated" => "rotation",
        _ => "update",
    }
}

fn unknown_what(id: &UserGroupId, operation: &str, is_answered: bool) -> String {
    if is_answered {
        format!("in the directory how the {operation} of \"{id}\" ended: ")
    } else {
        format!("whether the {operation} of \"{id}\" took effect: it was sent, but ")
    }
}

/// What happened to the read, without its advice: to read again is safe, the change after it may not be.
pub(super) fn of_read(failure: &Failure) -> String {
    match failure {
        Failure::Unreachable(error) => error.what(),
        Failure::NotKept(error) => format!("its response could not be recorded: {error}"),
        other => other.to_string(),
    }
}

impl Failure {
    /// Whether the answer to a create was lost: the same create again finds out what became of it.
    pub(crate) fn is_lost_create(&self) -> bool {
        matches!(self, Self::Unknown { operation, .. } if *operation == "create")
    }

    /// A failed read before a change, as the outcome of that change; other failures unchanged.
    #[must_use]
    pub fn before(self, id: &UserGroupId, changed: &'static str) -> Self {
        match self {
            // Where no connection was made, the failure says itself that nothing was sent.
            // What cannot be recorded is the read: no change was sent.
            Self::Unreachable(CallError::Lost { .. }) | Self::Unreadable(_) | Self::Stale(_) => {
                Self::ReadBefore {
                    id: id.clone(),
                    changed,
                    failure: Box::new(self),
                }
            }
            Self::NotWritten(error) => Self::ReadBefore {
                id: id.clone(),
                changed,
                failure: Box::new(Self::NotKept(error)),
            },
            other => other,
        }
    }

    /// The failure of this change of a group: its text names the group and begins with the verdict.
    #[must_use]
    pub fn of_change(self, id: &UserGroupId, changed: &'static str) -> Self {
        match self {
            Self::NotWritten(error) if changed != "read" => Self::Unknown {
                id: id.clone(),
                operation: noun(changed),
                is_answered: false,
                why: format!(
                    "its response could not be recorded: {}",
                    without_retry(&error.to_string())
                ),
                next: "Read the group again",
            },
            failure if failure.names_no_group() => Self::NotChanged {
                id: id.clone(),
                changed,
                failure: Box::new(failure),
            },
            failure => failure,
        }
    }

    /// The failure of writing something that is never sent; `what` is for example "the note was".
    #[must_use]
    pub(super) fn of_saving(self, what: &'static str) -> Self {
        match self {
            Self::NothingSent(error) => Self::NotSaved { what, error },
            other => other,
        }
    }

    /// The text of [`Failure::of_change`].
    pub(super) fn about(&self, id: &UserGroupId, changed: &str) -> String {
        if self.names_no_group() {
            format!("\"{id}\" NOT {changed}: {self}")
        } else {
            self.to_string()
        }
    }

    fn names_no_group(&self) -> bool {
        matches!(
            self,
            Self::Refused { .. }
                | Self::KeyRefused { .. }
                | Self::Busy { .. }
                | Self::Unreachable(_)
                | Self::Unreadable(_)
                | Self::Stale(_)
                | Self::Key(_)
                | Self::Client(_)
                | Self::NothingSent(_)
                | Self::NotKept(_)
        )
    }

    pub(crate) fn usage(text: impl Into<String>) -> Self {
        let (class, text) = (Class::Usage, text.into());
        Self::Refusal { class, text }
    }

    pub(crate) fn guarded(text: impl Into<String>) -> Self {
        let (class, text) = (Class::Guarded, text.into());
        Self::Refusal { class, text }
    }

    /// Something in a text that looks like a token or a part of one. `instead`: what to do if it is something else.
    pub(crate) fn looks_secret(field: &str, instead: &str) -> Self {
        Self::usage(format!(
            "{field}: this looks like a token, or a part of one; nothing was sent or saved. If it is one, find its group with \
             `groupdesk whose` (W in the console). If it is something else, {instead}"
        ))
    }

    /// The field whose text was refused because it has a known secret.
    pub fn secret_in(&self) -> Option<&str> {
        match self.cause() {
            Self::HoldsSecret { field } => Some(field),
            _ => None,
        }
    }

    /// What failed, without the change that did not come about for it.
    pub(super) fn cause(&self) -> &Self {
        match self {
            Self::ReadBefore { failure, .. } | Self::NotChanged { failure, .. } => failure.cause(),
            other => other,
        }
    }

    /// The failure itself, without the group that it is about.
    pub fn bare(&self) -> &Self {
        match self {
            Self::NotChanged { failure, .. } => failure,
            other => other,
        }
    }

    /// Whether the answer came from another environment than the profile expects (hazard 11).
    pub fn is_wrong_environment(&self) -> bool {
        match self {
            Self::WrongEnvironment { .. } => true,
            Self::Conflict {
                wrong_environment, ..
            } => *wrong_environment,
            Self::HandOffAlarm(alarm) => alarm.is_wrong_environment(),
            _ => false,
        }
    }

    /// The ending for the JSON output and the history, if the operation got that far.
    pub fn ending(&self) -> Option<Ending> {
        match self.cause() {
            Self::CreatedByGet { .. } => Some(Ending::CreatedByGet),
            Self::KeyRefused { .. } | Self::Refused { .. } | Self::Busy { status: 429, .. } => {
                Some(Ending::Refused)
            }
            Self::Unreachable(_) => Some(Ending::Unreachable),
            // It was sent; its result is unknown.
            Self::Unknown { .. } | Self::NotWritten(_) => Some(Ending::Unknown),
            Self::Settled(ending, _) => Some(*ending),
            Self::NotApplied { .. } => Some(Ending::NotApplied),
            Self::Conflict { .. } => Some(Ending::Conflict),
            _ => None,
        }
    }
}

fn suggestion(near: &[UserGroupId]) -> String {
    if near.is_empty() {
        return ". Check the ID and the profile".into();
    }
    let names = joined(near.iter().map(|id| format!("\"{id}\"")), ", ");
    format!("; did you mean {names}?")
}

fn after_colon(words: Option<&String>) -> String {
    words.map_or_else(String::new, |words| format!(": {}", visible(words)))
}

/// Who gave it the token that was left alone, and when.
fn newer_token(by: Option<&String>, ago: Option<Duration>) -> String {
    let ago = ago_in_words(ago);
    match by {
        Some(by) => format!("{} rotated it{ago}", visible(by)),
        None if ago.is_empty() => "its token was changed outside this directory".to_owned(),
        None => format!("its token was changed outside this directory, as was seen{ago}"),
    }
}

fn changed_how(settled: &[Ending], by: Option<&(String, Option<Duration>)>) -> String {
    match (by, settled.first()) {
        (Some((by, ago)), _) => format!(
            "{by} rotated it{}; read the group for its current token",
            ago_in_words(*ago)
        ),
        (None, Some(ending)) => format!(
            "this read resolved an earlier rotation ({}); the current token is a newer one",
            ending.as_str().replace('_', " ")
        ),
        (None, None) => "its token was changed elsewhere since it was last seen; check the group, then rotate the token if that is still necessary"
            .into(),
    }
}

/// Once: a profile that cannot be bound says so itself.
fn unsent(error: &DirectoryError) -> String {
    let why = error.to_string();
    if ["nothing was sent", "nothing was read or sent"]
        .iter()
        .any(|state| why.contains(state))
    {
        why
    } else {
        format!("nothing was sent: {why}")
    }
}

/// ` just now` or ` 40 s ago`; nothing if it is not known.
fn ago_in_words(ago: Option<Duration>) -> String {
    let seconds = ago.map(|ago| ago.as_secs());
    seconds.map_or_else(String::new, |seconds| match seconds {
        0 => " just now".into(),
        1..120 => format!(" {seconds} s ago"),
        120..7200 => format!(" {} min ago", seconds / 60),
        7200..172_800 => format!(" {} h ago", seconds / 3600),
        _ => format!(" {} days ago", seconds / 86_400),
    })
}

fn what_next(state: State) -> &'static str {
    match state {
        State::Intended | State::Sent => {
            ", and that rotation is still running. Wait for it, then read the group"
        }
        State::Unknown => {
            ", and its result is unknown. To find out: groupdesk rotations check; never rotate to find out"
        }
        State::Rotated | State::Confirmed | State::Recovered | State::Superseded => {
            ". Read the group: its token is a newer one"
        }
        State::Conflict => ", and the responses contradict each other: investigate",
        State::NotApplied | State::Abandoned => ", and that rotation has ended. Try again",
    }
}

#[cfg(test)]
mod tests;
