//! The class of a failure, from which its exit code follows.

use super::Failure;
use crate::{
    api::failure::ClientError,
    directory::{DirectoryError, Refusal},
    operations::PlaceProblem,
};

/// What kind of failure it is; the exit code follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Refused by the service, not applied, or an unusable response; nothing was changed.
    Refused,
    /// Wrong input, wrong configuration, or a problem with local files; nothing was sent.
    Usage,
    /// Stopped by a safety check.
    Guarded,
    /// The API key is missing or refused.
    Key,
    Unreachable,
    /// The change may or may not have taken effect.
    Unknown,
    /// A team's directory cannot be reached or refuses; no change was sent.
    Directory,
    /// Taken back before the change was sent.
    Cancelled,
}

impl From<&DirectoryError> for Class {
    /// No change was sent.
    fn from(error: &DirectoryError) -> Self {
        match error {
            DirectoryError::NotBound(_) => Self::Key,
            DirectoryError::Team { .. } => Self::Directory,
            DirectoryError::ItemEnded { .. }
            | DirectoryError::UnderWay { .. }
            | DirectoryError::StillOpen { .. } => Self::Guarded,
            error if error.is_of_others() => Self::Guarded,
            _ => Self::Usage,
        }
    }
}

impl From<&PlaceProblem> for Class {
    fn from(problem: &PlaceProblem) -> Self {
        match problem {
            // Which place does the API key belong to?
            PlaceProblem::Asked { .. } | PlaceProblem::OnTrial { .. } => Self::Key,
            // Something was contradicted, or somebody else is at work there.
            PlaceProblem::NotProven { .. }
            | PlaceProblem::Alarmed { .. }
            | PlaceProblem::Refused {
                refusal: Refusal::UnderWay { .. },
            } => Self::Guarded,
            PlaceProblem::TagConflict { .. }
            | PlaceProblem::NoProof { .. }
            | PlaceProblem::Refused { .. }
            | PlaceProblem::NoPlace { .. }
            | PlaceProblem::BadName { .. }
            | PlaceProblem::NameTaken { .. } => Self::Usage,
        }
    }
}

impl Failure {
    pub fn class(&self) -> Class {
        match self {
            Self::Refusal { class, .. } => *class,
            Self::Refused { .. }
            | Self::Busy { .. }
            | Self::Unreadable(_)
            | Self::Stale(_)
            | Self::NotApplied { .. } => Class::Refused,
            Self::NotKnown { .. }
            | Self::ReadOnly { .. }
            | Self::Forbidden { .. }
            | Self::CreatedByGet { .. }
            | Self::WrongEnvironment { .. }
            | Self::Held(_)
            | Self::ChangedSince { .. }
            | Self::NotKnownEnough(_)
            | Self::RotationTaken { .. }
            | Self::TokenChanged { .. }
            | Self::JustRotated { .. } => Class::Guarded,
            Self::Place(problem) => problem.into(),
            Self::NothingSent(error) | Self::NotKept(error) | Self::NotSaved { error, .. } => {
                error.into()
            }
            Self::Unknown { .. }
            | Self::Settled(..)
            | Self::Conflict { .. }
            | Self::NotWritten(_) => Class::Unknown,
            Self::Key(_)
            | Self::KeyRefused { .. }
            | Self::Client(ClientError::NoKey(_) | ClientError::Key(_)) => Class::Key,
            Self::Client(_)
            | Self::NoRotation { .. }
            | Self::Annotation(_)
            | Self::TooLarge(_)
            | Self::HoldsSecret { .. }
            | Self::HandOffAlarm(_) => Class::Usage,
            Self::Unreachable(_) => Class::Unreachable,
            Self::ReadBefore { failure, .. } | Self::NotChanged { failure, .. } => failure.class(),
            Self::Cancelled { .. } => Class::Cancelled,
        }
    }
}
