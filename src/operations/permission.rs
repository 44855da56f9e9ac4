//! Which step a person may take in a profile, and why not otherwise: decided here for the command line, the console and
//! `doctor`, so that none of them proposes what would be refused.

use std::fmt;

use super::{Failure, Guarded, Operations, Role};
use crate::{
    config::{
        guard,
        profile::{KeySource, Profile},
    },
    domain::batch::BatchKind,
};

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep<'s> {
    /// It only looks at the directory.
    Look,
    /// It reads from the service or writes to the directory.
    Record,
    /// It changes something: the profile must not forbid any of these.
    Change(&'s [Guarded]),
}

/// Why a step is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused<'p, D> {
    /// The directory can only be read: the role, newer tables, or it was moved.
    Directory(D),
    ReadOnly,
    Guard(Guarded, &'p str),
    /// The profile has no API key, or it cannot be read.
    NoKey,
    /// The profile of this name, which began the work, is missing or belongs to another environment.
    NoProfile(&'p str),
    /// The profile of this name has no hand-off command.
    NoHandOff(&'p str),
}

impl<D: fmt::Display> fmt::Display for Refused<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(why) => why.fmt(f),
            Self::ReadOnly => f.write_str("this profile is read-only"),
            Self::Guard(operation, reason) => {
                write!(f, "{} is forbidden: {reason}", operation.as_str())
            }
            Self::NoKey => f.write_str("this profile has no readable API key"),
            Self::NoProfile(name) => write!(
                f,
                "profile \"{name}\", which started it, is missing or belongs to another environment"
            ),
            Self::NoHandOff(name) => write!(f, "profile \"{name}\" has no hand-off"),
        }
    }
}

impl NextStep<'_> {
    /// Sending a bulk edit.
    pub const BULK_EDIT: NextStep<'static> = NextStep::Change(&[Guarded::Bulk, Guarded::Update]);

    /// Continuing a batch of this kind.
    pub fn batch(kind: &BatchKind) -> NextStep<'static> {
        match kind {
            BatchKind::Rotate => NextStep::Change(&[Guarded::Bulk]),
            BatchKind::Edit(_) => Self::BULK_EDIT,
        }
    }

    /// Why a hand-off is refused that the profile of this name began, as [`NextStep::refused`].
    pub fn refused_hand_off<'p, D>(
        begun_by: &'p str,
        profile: Option<&'p Profile>,
        directory: Option<D>,
    ) -> Option<Refused<'p, D>> {
        let refused = NextStep::Change(&[Guarded::HandOff]).refused(profile, directory);
        refused.or_else(|| match profile {
            None => Some(Refused::NoProfile(begun_by)),
            Some(profile) if profile.handoff.is_none() => Some(Refused::NoHandOff(begun_by)),
            Some(_) => None,
        })
    }

    /// Why the step is refused in a profile, given why nothing can be written to the directory.
    pub fn refused<D>(
        self,
        profile: Option<&Profile>,
        directory: Option<D>,
    ) -> Option<Refused<'_, D>> {
        let needed = match self {
            Self::Look => return None,
            Self::Record => &[],
            Self::Change(needed) => {
                if profile.is_some_and(|profile| profile.read_only) {
                    return Some(Refused::ReadOnly);
                }
                needed
            }
        };
        if let Some(why) = directory {
            return Some(Refused::Directory(why));
        }
        let profile = profile?;
        let forbidden =
            |&operation| Some((operation, guard::forbidden(&profile.guards, operation)?));
        if let Some((operation, reason)) = needed.iter().find_map(forbidden) {
            return Some(Refused::Guard(operation, reason));
        }
        (self.sends_a_change() && profile.api_key == KeySource::Unset).then_some(Refused::NoKey)
    }

    /// Whether it sends a change to the service. Abandoning a rotation only writes to the directory.
    pub fn sends_a_change(self) -> bool {
        matches!(self, Self::Change(needed) if needed != [Guarded::Abandon])
    }
}

impl Operations {
    /// Refuses a step that this profile or the directory does not allow, before anything is read or sent.
    pub fn may(&self, step: NextStep<'_>) -> Result<(), Failure> {
        let profile = self.profile();
        let name = || profile.name.clone();
        let directory = self.directory().may(Role::Operator).err();
        match step.refused(Some(profile), directory) {
            Some(Refused::Directory(error)) => Err(Failure::NothingSent(error)),
            Some(Refused::ReadOnly) => Err(Failure::ReadOnly { profile: name() }),
            Some(Refused::Guard(operation, reason)) => Err(Failure::Forbidden {
                operation,
                profile: name(),
                reason: reason.to_owned(),
            }),
            // Reading the key says why there is none.
            Some(Refused::NoKey | Refused::NoProfile(_) | Refused::NoHandOff(_)) | None => {
                match step {
                    NextStep::Change([Guarded::Rotate]) => self.can_hand_off(),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Refuses an operation that this profile or the directory does not allow.
    pub fn permitted(&self, operation: Guarded) -> Result<(), Failure> {
        self.may(NextStep::Change(&[operation]))
    }
}
