//! What needs a person's attention: alarms, open rotations and changes, hand-offs, abandoned batches, groups changed
//! elsewhere, drafts, and token ages. How bad each is, and who takes the next step.

mod gathering;

use std::mem::discriminant;

use super::prelude::*;
use crate::{
    directory::Alarm,
    domain::{
        age::{DEFAULT_LIMIT, TokenAge, due_within},
        batch::RunnerState,
    },
    operations::Refused,
};

/// One kind of thing that needs attention. The variants are in the order of the list, worst first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConcernKind {
    /// An environment with this name has alarms that are not acknowledged: requests for its groups are blocked.
    Alarms(String, Vec<Alarm>),
    Rotation(RotationId, State, UserGroupId),
    Change(MutationId, Operation, UserGroupId),
    HandOff {
        rotation: RotationId,
        id: UserGroupId,
        state: HandOffState,
        exit: Option<i32>,
        /// The profile that began the rotation and hands its token off; `None` if no profile of that name is bound to
        /// this place.
        begun_in: Option<usize>,
    },
    Batch(Box<Batch>),
    /// A batch that has ended, and how many of its groups still are not as it wanted them.
    NotDone(Box<Batch>, usize),
    /// New tokens of this batch, which writes them to a file, are not in it.
    Unwritten(Box<Batch>),
    /// So is the one of this rotation, which belongs to no batch.
    UnwrittenToken(RotationId, UserGroupId),
    /// The current token is one that this rotation replaced: the service was restored from an older copy.
    Revived(RotationId, UserGroupId),
    /// The token has changed, and nobody here rotated it.
    ChangedElsewhere(UserGroupId),
    /// Number of tokens over the limit, and the age of the oldest.
    Over(usize, Duration),
    /// Number of tokens that will soon be over the limit, and the time until the first one is.
    Due(usize, Duration),
    /// The unsent draft of a person, and in how many versions they have it: each console keeps its own.
    Draft(UserGroupId, usize),
    /// A place has this many open items, and the API key of its profile is new there.
    NewKey(usize),
    /// A place that no profile is bound to has this many open items.
    NoProfile(usize),
}

impl ConcernKind {
    fn rank(&self) -> u8 {
        match self {
            Self::Alarms(..) | Self::NewKey(_) => 0,
            Self::Rotation(_, State::Unknown | State::Conflict, _) => 1,
            Self::Rotation(..) | Self::Change(..) | Self::Revived(..) => 2,
            Self::HandOff { .. } => 3,
            Self::Batch(_) | Self::NotDone(..) | Self::Unwritten(_) | Self::UnwrittenToken(..) => 4,
            Self::NoProfile(_) => 5,
            Self::ChangedElsewhere(_) => 6,
            Self::Over(..) => 7,
            Self::Due(..) => 8,
            Self::Draft(..) => 9,
        }
    }

    /// The group that it is about.
    pub fn group(&self) -> Option<&UserGroupId> {
        match self {
            Self::Rotation(_, _, id)
            | Self::Change(_, _, id)
            | Self::HandOff { id, .. }
            | Self::Revived(_, id)
            | Self::UnwrittenToken(_, id)
            | Self::ChangedElsewhere(id)
            | Self::Draft(id, _) => Some(id),
            _ => None,
        }
    }

    /// The batch that it is about.
    pub fn batch(&self) -> Option<&Batch> {
        match self {
            Self::Batch(batch) | Self::NotDone(batch, _) | Self::Unwritten(batch) => Some(batch),
            _ => None,
        }
    }

    /// The operation that is open or failed.
    pub fn operation(&self) -> Option<Operation> {
        match self {
            Self::Rotation(..) | Self::Revived(..) | Self::UnwrittenToken(..) => {
                Some(Operation::Rotate)
            }
            Self::Change(_, operation, _) => Some(*operation),
            Self::HandOff { .. } => Some(Operation::HandOff),
            _ => self.batch().map(|batch| batch.kind.operation()),
        }
    }

    /// The number of what it is about.
    fn number(&self) -> Option<i64> {
        match self {
            Self::Rotation(id, ..)
            | Self::HandOff { rotation: id, .. }
            | Self::Revived(id, _)
            | Self::UnwrittenToken(id, _) => Some(id.0),
            Self::Change(id, ..) => Some(id.0),
            _ => self.batch().map(|batch| batch.id.0),
        }
    }

    /// The list filter that finds the tokens counted here, given the limit of their profile; `None` for matters that
    /// count no tokens.
    pub fn filter(&self, limit: Option<Duration>) -> Option<String> {
        match self {
            Self::Over(..) => Some("old".into()),
            Self::Due(..) => Some(due_filter(limit)),
            _ => None,
        }
    }
}

/// Something that needs attention, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concern {
    /// Index of the profile bound to the place; `None` if there is none.
    pub profile: Option<usize>,
    /// Name of that profile, or of the place; for a hand-off, name of the profile that began it.
    pub place: String,
    pub kind: ConcernKind,
    pub since: Option<Timestamp>,
    pub by: Option<String>,
    /// The place it belongs to.
    pub place_id: PlaceId,
}

impl Concern {
    /// Whether it counts as unfinished or failed work, as opposed to mere ageing.
    pub fn is_counted(&self) -> bool {
        match &self.kind {
            ConcernKind::Alarms(..)
            | ConcernKind::Rotation(..)
            | ConcernKind::Change(..)
            | ConcernKind::HandOff { .. }
            | ConcernKind::NotDone(..)
            | ConcernKind::Unwritten(_)
            | ConcernKind::UnwrittenToken(..)
            | ConcernKind::Revived(..)
            | ConcernKind::NewKey(_) => true,
            // A paused batch may have been forgotten.
            ConcernKind::Batch(batch) => {
                let runner = batch.runner.as_ref();
                runner.is_none_or(|runner| runner.state != RunnerState::Running)
            }
            ConcernKind::ChangedElsewhere(_)
            | ConcernKind::Over(..)
            | ConcernKind::Due(..)
            | ConcernKind::Draft(..)
            | ConcernKind::NoProfile(_) => false,
        }
    }

    /// The profile that takes the next step.
    pub fn acting(&self) -> Option<usize> {
        match self.kind {
            ConcernKind::HandOff { begun_in, .. } => begun_in,
            _ => self.profile,
        }
    }

    /// What the step does that continues with it.
    fn next_step(&self) -> NextStep<'static> {
        match &self.kind {
            ConcernKind::Alarms(..)
            | ConcernKind::Rotation(..)
            | ConcernKind::Change(..)
            | ConcernKind::UnwrittenToken(..)
            | ConcernKind::NewKey(_) => NextStep::Record,
            ConcernKind::HandOff { .. } => NextStep::Change(&[Guarded::HandOff]),
            ConcernKind::Revived(..) => NextStep::Change(&[Guarded::Rotate]),
            ConcernKind::NotDone(batch, _) if !batch.can_be_retried() => NextStep::Look,
            ConcernKind::Batch(batch)
            | ConcernKind::NotDone(batch, _)
            | ConcernKind::Unwritten(batch) => NextStep::batch(&batch.kind),
            ConcernKind::Over(..) | ConcernKind::Due(..) => NextStep::Change(&[Guarded::Bulk]),
            ConcernKind::Draft(..) => NextStep::Change(&[Guarded::Update]),
            ConcernKind::ChangedElsewhere(_) | ConcernKind::NoProfile(_) => NextStep::Look,
        }
    }

    /// Why that step is refused, given its profile, if there is one, and why nothing can be written to the directory.
    pub fn refused<'p, D>(
        &'p self,
        profile: Option<&'p Profile>,
        directory: Option<D>,
    ) -> Option<Refused<'p, D>> {
        if matches!(self.kind, ConcernKind::HandOff { .. }) {
            return NextStep::refused_hand_off(&self.place, profile, directory);
        }
        self.next_step().refused(profile, directory)
    }

    /// Whether its next step sends a change to the service.
    pub fn sends_a_change(&self) -> bool {
        self.next_step().sends_a_change()
    }

    /// Whether both concern the same thing, whatever its state.
    pub fn is_about(&self, other: &Self) -> bool {
        let of = |one: &Self| (discriminant(&one.kind), one.place_id, one.kind.number());
        self.key() == other.key() && of(self) == of(other)
    }

    /// The profile, the name of the place and the group; for a draft its author as well, because each has their own.
    fn key(&self) -> (Option<usize>, &str, Option<&UserGroupId>, Option<&str>) {
        let is_draft = matches!(self.kind, ConcernKind::Draft(..));
        let author = self.by.as_deref().filter(|_| is_draft);
        (self.profile, &self.place, self.kind.group(), author)
    }
}

/// Numbers of tokens of a place by age, relative to the limit of its profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ages {
    /// Not due yet: below a third of the limit, below two thirds, and above.
    pub fresh: [usize; 3],
    pub due: usize,
    pub over: usize,
    pub far: usize,
    pub unknown: usize,
    oldest: Duration,
    /// Age of the oldest token that is due but not over the limit.
    nearest: Duration,
}

impl Ages {
    fn add(&mut self, age: Option<Duration>, limit: Duration) {
        let count = match (TokenAge::of(age, Some(limit)), age) {
            (TokenAge::Fresh, Some(age)) => {
                let third = usize::from(age >= limit / 3) + usize::from(age >= limit * 2 / 3);
                &mut self.fresh[third]
            }
            (TokenAge::Due, Some(age)) => {
                self.nearest = self.nearest.max(age);
                &mut self.due
            }
            (TokenAge::Over, _) => &mut self.over,
            (TokenAge::Far, _) => &mut self.far,
            (_, _) => &mut self.unknown,
        };
        *count += 1;
        self.oldest = self.oldest.max(age.unwrap_or_default());
    }
}

/// What needs attention, worst first, and the token ages of every profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attention {
    pub concerns: Vec<Concern>,
    /// By profile index; empty if only the counts were requested.
    pub ages: Vec<(usize, Ages)>,
    pub profiles: usize,
}

const HOUR: u64 = 60 * 60;

/// The filter that finds the tokens counted as due.
fn due_filter(limit: Option<Duration>) -> String {
    let due = due_within(limit.unwrap_or(DEFAULT_LIMIT));
    // In whole days if possible.
    match due.as_secs().div_ceil(HOUR) {
        hours if hours.is_multiple_of(24) => format!("due<={}d -old", hours / 24),
        hours => format!("due<={hours}h -old"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Query;

    #[test]
    fn the_list_is_asked_for_what_was_counted() {
        let hours = |hours: u64| Some(Duration::from_secs(hours * HOUR));
        for (limit, filter) in [
            (hours(12), "due<=6h -old"),
            (hours(36), "due<=18h -old"),
            (hours(90 * 24), "due<=15d -old"),
            (hours(100 * 24), "due<=400h -old"),
            (None, "due<=15d -old"),
        ] {
            assert_eq!(due_filter(limit), filter);
            let query = Query::parse(filter, limit);
            assert_eq!(query.wrong, [""; 0], "{filter}");
        }
    }
}
