//! Which groups a bulk rotation may take now, and why others are left out.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use jiff::Timestamp;

use crate::domain::{
    age,
    group::{EnvironmentTag, UserGroupId},
    known::KnownGroup,
    rotation::State,
    text::visible,
    when,
};

/// A token younger than this is not rotated in bulk.
pub const RECENT: Duration = Duration::from_hours(24);

/// Why a group is left out of a batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Skip {
    /// Hazard 1: reading an unknown id could create it.
    #[error("not in the directory")]
    NotKnown,
    /// It is known only from a file: reading it could create it as well.
    #[error("it comes from a file; read it first: groupdesk get ID --exists")]
    NotSeen,
    /// Hazard 11.
    #[error("tagged {0}, another environment")]
    OtherEnvironment(EnvironmentTag),
    /// The outcome of an earlier rotation is unknown or in conflict.
    #[error("an earlier rotation is open: {}", .0.as_str())]
    Open(State),
    #[error("rotated less than 24 h ago, at {}", when::second(*.0))]
    RotatedRecently(Timestamp),
    /// The recorded time is in the future, from a clock that was wrong: it may have been rotated just now.
    #[error("the age of its token is unknown: its recorded rotation is in the future, at {}", when::second(*.0))]
    RotatedInFuture(Timestamp),
    /// Another change may take effect until then, and holds it for longer than a command waits.
    #[error("locked by a change by {}, which may still take effect until {}", visible(by), when::second(*until))]
    Locked { by: String, until: Timestamp },
    /// How it ended in the batch that is retried, for which this is no retry.
    #[error("{0}")]
    InBatch(String),
    /// Rotated in this directory since the batch that is being resumed began: nothing is left to do.
    #[error("rotated by {0} since the batch started")]
    RotatedSince(String),
    /// The same, outside this directory, and when that was first seen.
    #[error(
        "not rotated by the batch: its token was changed outside this directory, as was seen{}. To rotate it all the same: {}",
        seen_at(*.1), .0.command("rotate", "--include-recent")
    )]
    ChangedElsewhere(UserGroupId, Option<Timestamp>),
    /// The profile's `max_bulk` is used up.
    #[error("more than max_bulk = {0} in the profile")]
    Beyond(usize),
    /// A guard of the profile allows no more, for this reason.
    #[error("more than {0}, the limit of a guard: {1}")]
    Guarded(usize, String),
}

impl Skip {
    pub fn is_recent(&self) -> bool {
        matches!(self, Self::RotatedRecently(_) | Self::RotatedInFuture(_))
    }

    /// The reason without what differs between groups.
    fn in_general(&self) -> String {
        match self {
            Self::RotatedRecently(_) => "rotated less than 24 h ago".to_owned(),
            Self::RotatedInFuture(_) => "the recorded rotation is in the future".to_owned(),
            Self::Locked { by, .. } => format!("locked by a change by {by}"),
            Self::ChangedElsewhere(..) => {
                "with a token that was changed outside this directory. To rotate \
                 one all the same: groupdesk rotate ID --include-recent"
                    .to_owned()
            }
            other => other.to_string(),
        }
    }
}

fn seen_at(at: Option<Timestamp>) -> String {
    at.map_or_else(
        || " after the batch started".to_owned(),
        |at| format!(" at {}", when::second(at)),
    )
}

/// What is known of a requested group.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    pub id: UserGroupId,
    pub group: Option<&'a KnownGroup>,
    /// The state of its open rotation, if it has one.
    pub open: Option<State>,
    /// Another reason to leave it out.
    pub refused: Option<Skip>,
    /// When it was rotated by the clock of a shared database, if that is less than [`RECENT`] ago by the same clock.
    pub recent: Option<Timestamp>,
}

/// The rules that groups are checked by.
#[derive(Debug, Clone)]
pub struct Rules {
    pub environment: Option<EnvironmentTag>,
    /// Maximum number of groups per batch.
    pub most: usize,
    /// Maximum number of groups that a guard allows, and the reason.
    pub guard: Option<(usize, String)>,
    /// Also includes groups rotated within the last 24 h: a second leak on one day does happen.
    pub include_recent: bool,
    pub now: Timestamp,
}

impl Rules {
    /// Why no more can be taken once this many are `ready`.
    pub(super) fn limit_reached(&self, ready: usize) -> Option<Skip> {
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
    /// When the plan was made.
    pub at: Timestamp,
    /// The last number of the directory then: what is rotated after that is left alone.
    pub noted: i64,
    /// In the order requested.
    pub ready: Vec<UserGroupId>,
    pub skipped: Vec<(UserGroupId, Skip)>,
}

impl Plan {
    /// Decides about every candidate; the first reason counts. An id requested twice is planned once.
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
            let skip =
                skip_reason(&candidate, rules).or_else(|| rules.limit_reached(plan.ready.len()));
            match skip {
                Some(skip) => plan.skipped.push((candidate.id, skip)),
                None => plan.ready.push(candidate.id),
            }
        }
        plan
    }

    /// How many groups are skipped for which reason, the most frequent first.
    pub fn reasons(&self) -> Vec<(usize, String)> {
        let mut counts = BTreeMap::<String, usize>::new();
        for (_, skip) in &self.skipped {
            *counts.entry(skip.in_general()).or_default() += 1;
        }
        let mut reasons: Vec<_> = counts
            .into_iter()
            .map(|(why, count)| (count, why))
            .collect();
        reasons.sort_by_key(|(count, _)| Reverse(*count));
        reasons
    }

    /// Keeps the first `limit` ready groups, and the skipped ones that come before them; `wanted` has all groups in
    /// order.
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

pub(super) fn skip_reason(candidate: &Candidate<'_>, rules: &Rules) -> Option<Skip> {
    let Some(group) = candidate.group else {
        return Some(Skip::NotKnown);
    };
    if !group.is_seen() {
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
    if candidate.refused.is_some() {
        return candidate.refused.clone();
    }
    if rules.include_recent {
        return None;
    }
    let by_database = candidate.recent.map(Skip::RotatedRecently);
    let Some(last) = group.last_rotated.as_ref().map(|last| last.at) else {
        return by_database;
    };
    // The clock of whoever rotated it, and ours. One of them may be a day wrong, so it does not allow what the clock of a
    // shared database forbids. What is rotated meanwhile is found by its number.
    match age::of(last, rules.now) {
        None => Some(Skip::RotatedInFuture(last)),
        Some(age) if age < RECENT => Some(Skip::RotatedRecently(last)),
        Some(_) => by_database,
    }
}
