//! What needs a person's attention, over all places of the given profiles: alarms, open rotations and changes, hand-offs,
//! abandoned batches, groups changed elsewhere, drafts, and token ages. Reads only the directory; no API key is needed.

mod not_done;

use std::{
    collections::HashSet,
    mem::discriminant,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;

use crate::{
    config::{guard, profile::Profile},
    directory::{
        Alarm, Batch, DirectoryError, Mutation, MutationId, Place, PlaceId, RotationFilter,
        RotationId, RotationRow,
    },
    domain::{
        age::{self, DEFAULT_LIMIT, TokenAge, due_within},
        batch::RunnerState,
        group::UserGroupId,
        handoff::HandOffState,
        history::Operation,
        known::KnownGroup,
        rotation::State,
    },
    operations::{Guarded, NextStep, Operations, Refused},
};

/// How long a group that was changed elsewhere is listed.
const NEWS: Duration = Duration::from_hours(7 * 24);

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
    /// The token has changed, and nobody here rotated it.
    ChangedElsewhere(UserGroupId),
    /// Number of tokens over the limit, and the age of the oldest.
    Over(usize, Duration),
    /// Number of tokens that will soon be over the limit, and the time until the first one is.
    Due(usize, Duration),
    /// An unsent draft, and the time of the state it is based on.
    Draft(UserGroupId, Timestamp),
    /// A place that no profile is bound to has this many open items.
    NoProfile(usize),
}

impl ConcernKind {
    fn rank(&self) -> u8 {
        match self {
            Self::Alarms(..) => 0,
            Self::Rotation(_, State::Unknown | State::Conflict, _) => 1,
            Self::Rotation(..) | Self::Change(..) => 2,
            Self::HandOff { .. } => 3,
            Self::Batch(_) | Self::NotDone(..) => 4,
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
            | Self::ChangedElsewhere(id)
            | Self::Draft(id, _) => Some(id),
            _ => None,
        }
    }

    /// The batch that it is about.
    pub fn batch(&self) -> Option<&Batch> {
        match self {
            Self::Batch(batch) | Self::NotDone(batch, _) => Some(batch),
            _ => None,
        }
    }

    /// The number of what it is about.
    fn number(&self) -> Option<i64> {
        match self {
            Self::Rotation(id, ..) | Self::HandOff { rotation: id, .. } => Some(id.0),
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

    fn is_counted(&self) -> bool {
        match self {
            Self::Alarms(..)
            | Self::Rotation(..)
            | Self::Change(..)
            | Self::HandOff { .. }
            | Self::NotDone(..) => true,
            // A paused batch may have been forgotten.
            Self::Batch(batch) => {
                let runner = batch.runner.as_ref();
                runner.is_none_or(|runner| runner.state != RunnerState::Running)
            }
            Self::ChangedElsewhere(_)
            | Self::Over(..)
            | Self::Due(..)
            | Self::Draft(..)
            | Self::NoProfile(_) => false,
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
        self.kind.is_counted()
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
            ConcernKind::Alarms(..) | ConcernKind::Rotation(..) | ConcernKind::Change(..) => {
                NextStep::Record
            }
            ConcernKind::HandOff { .. } => NextStep::Change(&[Guarded::HandOff]),
            ConcernKind::NotDone(batch, _) if !batch.can_be_retried() => NextStep::Look,
            ConcernKind::Batch(batch) | ConcernKind::NotDone(batch, _) => {
                NextStep::batch(&batch.kind)
            }
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

    /// Whether both concern the same thing, whatever its state.
    pub fn is_about(&self, other: &Self) -> bool {
        let of = |one: &Self| (discriminant(&one.kind), one.profile, one.kind.number());
        let (place, group) = (&self.place, self.kind.group());
        of(self) == of(other) && (place, group) == (&other.place, other.kind.group())
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

/// Findings from reading the groups of a place.
#[derive(Default)]
struct GroupFindings {
    ages: Ages,
    changed: Vec<(UserGroupId, Timestamp)>,
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

impl Operations {
    /// Collects what needs attention in the places of these profiles. Among concerns of equal rank, those of `first`
    /// come first. Without `with_groups` no groups are read, which is enough for the counts.
    pub async fn attention(
        all: &[Self],
        first: usize,
        with_groups: bool,
    ) -> Result<Attention, DirectoryError> {
        let mut attention = Attention::default();
        let places = Self::each_place(all, first).await?;
        for &(index, operations, place) in &places {
            attention.profiles += 1;
            let gathering = Gathering {
                all,
                operations,
                index,
                place,
                found: &mut attention,
            };
            gathering.all(with_groups).await?;
        }
        if let (true, Some(any)) = (with_groups, all.first()) {
            for place in any.places().await? {
                if places.iter().all(|(.., known)| *known != place.id) {
                    attention.concerns.extend(without_profile(&place));
                }
            }
        }
        // The sort is stable: profiles keep their order within a rank.
        attention
            .concerns
            .sort_by_key(|concern| concern.kind.rank());
        Ok(attention)
    }
}

/// What needs attention in a place that no profile is bound to.
fn without_profile(place: &Place) -> Vec<Concern> {
    let concern = |kind, since, by| Concern {
        profile: None,
        place: place.name.clone(),
        kind,
        since,
        by,
        place_id: place.id,
    };
    let mut concerns = Vec::new();
    if let Some(first) = place.alarms.first() {
        let (at, by) = (first.at, first.by.clone());
        let kind = ConcernKind::Alarms(place.name.clone(), place.alarms.clone());
        concerns.push(concern(kind, Some(at), Some(by)));
    }
    if place.open > 0 {
        let kind = ConcernKind::NoProfile(place.open as usize);
        concerns.push(concern(kind, place.last_used, None));
    }
    concerns
}

/// State while one place is examined.
struct Gathering<'a> {
    all: &'a [Operations],
    operations: &'a Operations,
    index: usize,
    place: PlaceId,
    found: &'a mut Attention,
}

impl Gathering<'_> {
    fn push(&mut self, kind: ConcernKind, since: Option<Timestamp>, by: Option<&str>) {
        let place = self.operations.profile().name.clone();
        self.push_of(place, kind, since, by);
    }

    fn push_of(
        &mut self,
        place: String,
        kind: ConcernKind,
        since: Option<Timestamp>,
        by: Option<&str>,
    ) {
        self.found.concerns.push(Concern {
            profile: Some(self.index),
            place,
            kind,
            since,
            by: by.map(str::to_owned),
            place_id: self.place,
        });
    }

    async fn all(mut self, with_groups: bool) -> Result<(), DirectoryError> {
        self.alarms().await?;
        self.rotations().await?;
        for change in self
            .operations
            .directory()
            .open_mutations(self.place)
            .await?
        {
            self.change(&change);
        }
        let mut batches = self.operations.batches_in(self.place).await?;
        for state in [HandOffState::Failed, HandOffState::Pending] {
            self.hand_offs(state, &batches).await?;
        }
        let not_done = self.operations.not_done(self.place, &batches).await?;
        if with_groups {
            let those = batches.iter_mut();
            let those = those.filter(|batch| not_done.contains_key(&batch.id));
            self.operations.look_at_retries(those).await;
        }
        for batch in batches {
            if let Some(groups) = not_done.get(&batch.id) {
                let (at, by) = (batch.ended_at, batch.by.clone());
                let kind = ConcernKind::NotDone(Box::new(batch), *groups);
                self.push(kind, at, Some(&by));
            } else if batch.ended_at.is_none() {
                let runner = batch.runner.as_ref().filter(|runner| runner.is_alive());
                let at = runner.map_or(batch.started_at, |runner| runner.since);
                let by = runner.map_or(&batch.by, |runner| &runner.by).clone();
                self.push(ConcernKind::Batch(Box::new(batch)), Some(at), Some(&by));
            }
        }
        if with_groups {
            self.groups().await?;
            for kept in self.operations.directory().drafts(self.place).await? {
                let (draft, by) = (kept.draft, kept.by);
                let kind = ConcernKind::Draft(draft.user_group_id, draft.base_at);
                self.push(kind, Some(draft.changed_at), Some(&by));
            }
        }
        Ok(())
    }

    async fn alarms(&mut self) -> Result<(), DirectoryError> {
        let directory = self.operations.directory();
        let alarms = directory.alarms(self.place).await?;
        if let Some(first) = alarms.first() {
            let (at, by) = (first.at, first.by.clone());
            let name = directory.place_name(self.place).await?.unwrap_or_default();
            self.push(ConcernKind::Alarms(name, alarms), Some(at), Some(&by));
        }
        Ok(())
    }

    async fn rotations(&mut self) -> Result<(), DirectoryError> {
        let filter = RotationFilter {
            place: Some(self.place),
            open_only: true,
            ..RotationFilter::default()
        };
        for row in self.operations.directory().rotations(filter).await? {
            // A rotation whose process may still be working on it is no concern yet.
            if !self.operations.is_rotation_in_progress(&row) {
                let at = row.sent_at.unwrap_or(row.started_at);
                let kind = ConcernKind::Rotation(row.id, row.rotation.state, row.user_group_id);
                self.push(kind, Some(at), Some(&row.by));
            }
        }
        Ok(())
    }

    fn change(&mut self, change: &Mutation) {
        let is_left = !self.operations.is_change_in_progress(change);
        // A rotation is reported from its own journal.
        if change.rotation.is_none() && is_left {
            let id = change.user_group_id.clone();
            let kind = ConcernKind::Change(change.id, change.operation, id);
            self.push(kind, Some(change.since()), Some(&change.by));
        }
    }

    /// Rotations of batches whose process is known to be gone: nobody is about to hand their tokens off.
    async fn orphaned(&self, batches: &[Batch]) -> Result<HashSet<RotationId>, DirectoryError> {
        let mut orphaned = HashSet::new();
        for batch in batches {
            let runner = batch.runner.as_ref();
            if runner.is_some_and(|runner| runner.state == RunnerState::Killed) {
                let directory = self.operations.directory();
                let items = match directory.batch_items(self.place, batch.id).await {
                    // Environments were merged in between.
                    Err(DirectoryError::NoBatch(_)) => continue,
                    items => items?,
                };
                orphaned.extend(items.into_iter().filter_map(|item| item.rotation));
            }
        }
        Ok(orphaned)
    }

    async fn hand_offs(
        &mut self,
        state: HandOffState,
        batches: &[Batch],
    ) -> Result<(), DirectoryError> {
        let filter = RotationFilter {
            place: Some(self.place),
            handoff: Some(state),
            ..RotationFilter::default()
        };
        let rows = self.operations.directory().rotations(filter).await?;
        let guards = &self.operations.profile().guards;
        // A hand-off that has a note was tried; one that a guard forbids is not tried at all.
        let is_tried =
            state == HandOffState::Pending && guard::forbidden(guards, Guarded::HandOff).is_none();
        let may_be_in_hand = |row: &RotationRow| {
            is_tried
                && row.handoff.note.is_none()
                && self.operations.settle_window_left(row).is_some()
        };
        // Reads all items of those batches, therefore only if it matters.
        let orphaned = if rows.iter().any(may_be_in_hand) {
            self.orphaned(batches).await?
        } else {
            HashSet::new()
        };
        for row in rows {
            if !may_be_in_hand(&row) || orphaned.contains(&row.id) {
                let kind = ConcernKind::HandOff {
                    rotation: row.id,
                    id: row.user_group_id,
                    state,
                    exit: row.handoff.exit,
                    begun_in: self.profile_here(&row.profile).await?,
                };
                let at = row.sent_at.unwrap_or(row.started_at);
                self.push_of(row.profile, kind, Some(at), Some(&row.by));
            }
        }
        Ok(())
    }

    /// Index of the profile with this name, if it is bound to this place.
    async fn profile_here(&self, name: &str) -> Result<Option<usize>, DirectoryError> {
        let mut all = self.all.iter().enumerate();
        let Some((at, operations)) = all.find(|(_, one)| one.profile().name == name) else {
            return Ok(None);
        };
        let place = operations.place_by_name().await?;
        Ok((place == Some(self.place)).then_some(at))
    }

    async fn groups(&mut self) -> Result<(), DirectoryError> {
        let limit = self.operations.profile().max_token_age;
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        let now = self.operations.now();
        let findings = Arc::new(Mutex::new(GroupFindings::default()));
        let shared = Arc::clone(&findings);
        let take = move |some: Vec<KnownGroup>| {
            let mut findings = shared.lock().unwrap_or_else(PoisonError::into_inner);
            for group in some {
                findings.ages.add(age::age(&group, now), limit);
                let foreign = group.last_rotated.filter(|last| last.by.is_none());
                if let Some(last) = foreign.filter(|last| age::since(last.at, now) < NEWS) {
                    findings.changed.push((group.id, last.at));
                }
            }
            true
        };
        self.operations
            .directory()
            .each_group(self.place, take)
            .await?;
        let findings =
            std::mem::take(&mut *findings.lock().unwrap_or_else(PoisonError::into_inner));
        for (id, at) in findings.changed {
            self.push(ConcernKind::ChangedElsewhere(id), Some(at), None);
        }
        let ages = findings.ages;
        let over = ages.over + ages.far;
        if over > 0 {
            self.push(ConcernKind::Over(over, ages.oldest), None, None);
        }
        if ages.due > 0 {
            let left = limit.saturating_sub(ages.nearest);
            self.push(ConcernKind::Due(ages.due, left), None, None);
        }
        self.found.ages.push((self.index, ages));
        Ok(())
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
            assert_eq!(query.wrong, [], "{filter}");
        }
    }
}
