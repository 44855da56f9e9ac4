//! Which groups a bulk rotation may take now, and why others are left out.

use std::{collections::HashSet, fmt, time::Duration};

use jiff::Timestamp;

use crate::domain::{
    group::{EnvironmentTag, UserGroupId},
    known::KnownGroup,
    rotation::State,
};

/// A token younger than this is not rotated in bulk.
pub const RECENT: Duration = Duration::from_hours(24);

/// Why a group is left out of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// Hazard 1: a read of an unknown id could create it.
    NotKnown,
    /// Only a file told of it: to read it could create it, too.
    NotSeen,
    /// Hazard 11.
    OtherEnvironment(EnvironmentTag),
    /// The outcome of an earlier rotation is open, or a person must look.
    Open(State),
    RotatedRecently(Timestamp),
    /// After the batch that is resumed was begun: its wish is fulfilled.
    RotatedSince(Timestamp),
    /// The profile's `max_bulk` is used up.
    Beyond(usize),
    /// A guard of the profile allows no more, and says why.
    Guarded(usize, String),
}

impl Skip {
    pub fn is_recent(&self) -> bool {
        matches!(self, Self::RotatedRecently(_))
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotKnown => f.write_str("not known here"),
            Self::NotSeen => f.write_str("only a file told of it; read it first: get ID --exists"),
            Self::OtherEnvironment(tag) => write!(f, "tagged {tag}, another environment"),
            Self::Open(state) => write!(f, "an earlier rotation is open: {}", state.as_str()),
            Self::RotatedRecently(at) => write!(f, "rotated less than 24 h ago, at {at:.0}"),
            Self::RotatedSince(at) => write!(f, "rotated since the batch began, at {at:.0}"),
            Self::Beyond(most) => write!(f, "beyond max_bulk = {most} of the profile"),
            Self::Guarded(most, reason) => {
                write!(f, "beyond {most}, the most of a guard: {reason}")
            }
        }
    }
}

/// What is known of a group that was asked for.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    pub id: UserGroupId,
    pub group: Option<&'a KnownGroup>,
    /// The state of a rotation of it whose outcome is open.
    pub open: Option<State>,
}

/// What the check goes by.
#[derive(Debug, Clone)]
pub struct Rules {
    pub environment: Option<EnvironmentTag>,
    /// Most groups of one batch.
    pub most: usize,
    /// Most groups that a guard allows, and why.
    pub guard: Option<(usize, String)>,
    /// Also what was rotated within 24 h: a second leak on one day is real.
    pub include_recent: bool,
    /// When the batch was begun that is resumed.
    pub begun: Option<Timestamp>,
    pub now: Timestamp,
}

impl Rules {
    /// Why no more can be taken once there are `ready`.
    pub(super) fn full(&self, ready: usize) -> Option<Skip> {
        let guard = self.guard.as_ref().filter(|(most, _)| *most < self.most);
        match guard {
            Some((most, reason)) => (ready >= *most).then(|| Skip::Guarded(*most, reason.clone())),
            None => (ready >= self.most).then_some(Skip::Beyond(self.most)),
        }
    }
}

/// What a bulk rotation would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// When it was looked at: what is rotated after that is left as it is.
    pub at: Timestamp,
    /// In the order they were asked for.
    pub ready: Vec<UserGroupId>,
    pub skipped: Vec<(UserGroupId, Skip)>,
}

impl Plan {
    /// Decides about every candidate; the first reason counts. An id that was asked for twice is planned once.
    pub fn of<'a>(candidates: impl IntoIterator<Item = Candidate<'a>>, rules: &Rules) -> Self {
        let mut plan = Self {
            at: rules.now,
            ..Self::default()
        };
        let mut seen = HashSet::new();
        for candidate in candidates {
            if !seen.insert(candidate.id.clone()) {
                continue;
            }
            let skip = why_not(&candidate, rules).or_else(|| rules.full(plan.ready.len()));
            match skip {
                Some(skip) => plan.skipped.push((candidate.id, skip)),
                None => plan.ready.push(candidate.id),
            }
        }
        plan
    }

    /// The first `limit` of those that are ready, and why those before them are not; `wanted` has all in their order.
    #[must_use]
    pub fn first(mut self, limit: usize, wanted: &[UserGroupId]) -> Self {
        if limit <= self.ready.len()
            && let Some(last) = self.ready.get(limit.saturating_sub(1))
        {
            let before = wanted.iter().take_while(|id| *id != last);
            let before: HashSet<_> = before.collect();
            self.skipped.retain(|(id, _)| before.contains(id));
        }
        self.ready.truncate(limit);
        self
    }
}

pub(super) fn why_not(candidate: &Candidate<'_>, rules: &Rules) -> Option<Skip> {
    let Some(group) = candidate.group else {
        return Some(Skip::NotKnown);
    };
    if group.last_seen.is_none() {
        return Some(Skip::NotSeen);
    }
    let tag = group.environment_tag.as_ref().map(|known| &known.value);
    if let (Some(expected), Some(tag)) = (&rules.environment, tag)
        && expected != tag
    {
        return Some(Skip::OtherEnvironment(tag.clone()));
    }
    if let Some(state) = candidate.open {
        return Some(Skip::Open(state));
    }
    let last = group.last_rotated.as_ref()?.at;
    if rules.begun.is_some_and(|begun| last >= begun) {
        return Some(Skip::RotatedSince(last));
    }
    if rules.include_recent {
        return None;
    }
    let age = Duration::try_from(rules.now.duration_since(last)).unwrap_or_default();
    (age < RECENT).then_some(Skip::RotatedRecently(last))
}
