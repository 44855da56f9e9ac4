//! What waits for a person, over all places that the profiles mean: open rotations and changes, hand-offs, batches that were
//! left, groups changed elsewhere, drafts, and the ages of tokens. Reads the directory alone; no API key is asked for.

mod hidden;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;

use hidden::Hidden;

use crate::{
    directory::{Batch, DirectoryError, Mutation, MutationId, PlaceId, RotationFilter, RotationId},
    domain::{
        age::{self, TokenAge, USUAL_LIMIT, due_within},
        batch::RunnerState,
        group::UserGroupId,
        handoff::HandOffState,
        history::Operation,
        known::KnownGroup,
        rotation::State,
    },
    operations::Operations,
};

/// For so long a group that was changed elsewhere is named.
const NEWS: Duration = Duration::from_hours(7 * 24);

/// One thing that waits. The order is that of the list, the worst first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matter {
    Rotation(RotationId, State, UserGroupId),
    Change(MutationId, Operation, UserGroupId),
    HandOff {
        rotation: RotationId,
        id: UserGroupId,
        state: HandOffState,
        exit: Option<i32>,
        /// The profile that began it and hands it off; `None`: no profile of this name means the place.
        begun_in: Option<usize>,
    },
    Batch(Box<Batch>),
    /// The token is another one, and nobody here rotated it.
    ChangedElsewhere(UserGroupId),
    /// So many tokens, and how old the oldest is.
    Over(usize, Duration),
    /// So many tokens, and how long until the first is over its limit.
    Due(usize, Duration),
    /// Unsent, and how old what it began with is.
    Draft(UserGroupId, Timestamp),
    /// A place that no profile means holds so much that is open.
    NoProfile(usize),
}

impl Matter {
    fn rank(&self) -> u8 {
        match self {
            Self::Rotation(_, State::Unknown | State::Conflict, _) => 0,
            Self::Rotation(..) | Self::Change(..) => 1,
            Self::HandOff { .. } => 2,
            Self::Batch(_) => 3,
            Self::NoProfile(_) => 4,
            Self::ChangedElsewhere(_) => 5,
            Self::Over(..) => 6,
            Self::Due(..) => 7,
            Self::Draft(..) => 8,
        }
    }

    /// The filter of the list that finds the tokens it counts, by the limit of their profile; `None` where it counts none.
    pub fn filter(&self, limit: Option<Duration>) -> Option<String> {
        match self {
            Self::Over(..) => Some("old".into()),
            Self::Due(..) => Some(due(limit)),
            _ => None,
        }
    }

    fn is_counted(&self) -> bool {
        match self {
            Self::Rotation(..) | Self::Change(..) | Self::HandOff { .. } => true,
            // One that is paused may have been forgotten.
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

/// Something that waits, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concern {
    /// Which of the profiles means the place; `None`: none does.
    pub profile: Option<usize>,
    /// Name of that profile, or of the place; of a hand-off that of the profile that began it.
    pub place: String,
    pub matter: Matter,
    pub since: Option<Timestamp>,
    pub by: Option<String>,
    /// The place that holds it.
    pub held_by: PlaceId,
    /// It was put aside until then, and still stands as it did.
    pub hidden_until: Option<Timestamp>,
}

impl Concern {
    /// The same thing, however it stands by now.
    pub fn is_about(&self, other: &Self) -> bool {
        let place = (self.profile, &self.place) == (other.profile, &other.place);
        place
            && match (&self.matter, &other.matter) {
                (Matter::Rotation(one, ..), Matter::Rotation(other, ..))
                | (
                    Matter::HandOff { rotation: one, .. },
                    Matter::HandOff {
                        rotation: other, ..
                    },
                ) => one == other,
                (Matter::Change(one, ..), Matter::Change(other, ..)) => one == other,
                (Matter::Batch(one), Matter::Batch(other)) => one.id == other.id,
                (Matter::ChangedElsewhere(one), Matter::ChangedElsewhere(other))
                | (Matter::Draft(one, _), Matter::Draft(other, _)) => one == other,
                (Matter::Over(..), Matter::Over(..))
                | (Matter::Due(..), Matter::Due(..))
                | (Matter::NoProfile(_), Matter::NoProfile(_)) => true,
                _ => false,
            }
    }
}

/// How many tokens of a place are how old, by the limit of its profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ages {
    /// The fresh ones: below a third of the limit, below two, and the rest of them.
    pub fresh: [usize; 3],
    pub due: usize,
    pub over: usize,
    pub far: usize,
    pub unknown: usize,
    oldest: Duration,
    /// The age of the oldest of those that are due.
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

/// What waits, the worst first, and the ages of the tokens of every profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attention {
    pub concerns: Vec<Concern>,
    /// By profile; empty where only the counts were asked for.
    pub ages: Vec<(usize, Ages)>,
    pub profiles: usize,
}

/// What the groups of a place tell.
#[derive(Default)]
struct OfGroups {
    ages: Ages,
    changed: Vec<(UserGroupId, Timestamp)>,
}

const HOUR: u64 = 60 * 60;

/// The filter that finds what is counted as due.
fn due(limit: Option<Duration>) -> String {
    let due = due_within(limit.unwrap_or(USUAL_LIMIT));
    format!("due<={} -old", whole(due))
}

/// As a filter reads it: in days, else in hours.
fn whole(time: Duration) -> String {
    let hours = time.as_secs().div_ceil(HOUR);
    if hours.is_multiple_of(24) {
        format!("{}d", hours / 24)
    } else {
        format!("{hours}h")
    }
}

impl Operations {
    /// What waits in the places of these profiles; `first` is the one whose concerns stand first among equals. Without
    /// `whole` no group is read: enough for the counts.
    pub async fn attention(
        all: &[Self],
        first: usize,
        whole: bool,
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
                hidden: Hidden::of(operations, place).await?,
                found: &mut attention,
            };
            gathering.all(whole).await?;
        }
        if let (true, Some(any)) = (whole, all.first()) {
            for place in any.places().await? {
                if place.open > 0 && places.iter().all(|(.., known)| *known != place.id) {
                    let mut concern = Concern {
                        profile: None,
                        place: place.name,
                        matter: Matter::NoProfile(place.open as usize),
                        since: place.last_used,
                        by: None,
                        held_by: place.id,
                        hidden_until: None,
                    };
                    Hidden::of(any, place.id).await?.mark(&mut concern);
                    attention.concerns.push(concern);
                }
            }
        }
        // A stable sort: within a rank the order of the profiles stays.
        attention
            .concerns
            .sort_by_key(|concern| concern.matter.rank());
        Ok(attention)
    }
}

/// The work on one place.
struct Gathering<'a> {
    all: &'a [Operations],
    operations: &'a Operations,
    index: usize,
    place: PlaceId,
    hidden: Hidden,
    found: &'a mut Attention,
}

impl Gathering<'_> {
    fn push(&mut self, matter: Matter, since: Option<Timestamp>, by: Option<&str>) {
        let place = self.operations.profile().name.clone();
        self.push_of(place, matter, since, by);
    }

    fn push_of(
        &mut self,
        place: String,
        matter: Matter,
        since: Option<Timestamp>,
        by: Option<&str>,
    ) {
        let mut concern = Concern {
            profile: Some(self.index),
            place,
            matter,
            since,
            by: by.map(str::to_owned),
            held_by: self.place,
            hidden_until: None,
        };
        self.hidden.mark(&mut concern);
        self.found.concerns.push(concern);
    }

    async fn all(mut self, whole: bool) -> Result<(), DirectoryError> {
        self.rotations().await?;
        for change in self
            .operations
            .directory()
            .open_mutations(self.place)
            .await?
        {
            self.change(&change);
        }
        for state in [HandOffState::Failed, HandOffState::Pending] {
            self.hand_offs(state).await?;
        }
        for batch in self.operations.batches_in(self.place).await? {
            if batch.ended_at.is_none() {
                let runner = batch.runner.as_ref().filter(|runner| runner.is_alive());
                let at = runner.map_or(batch.started_at, |runner| runner.since);
                let by = runner.map_or(&batch.by, |runner| &runner.by).clone();
                self.push(Matter::Batch(Box::new(batch)), Some(at), Some(&by));
            }
        }
        if whole {
            self.groups().await?;
            for kept in self.operations.directory().drafts(self.place).await? {
                let (draft, by) = (kept.draft, kept.by);
                let matter = Matter::Draft(draft.user_group_id, draft.base_at);
                self.push(matter, Some(draft.changed_at), Some(&by));
            }
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
            // One whose process may still be at it is no concern yet.
            if !self.operations.is_rotation_in_hand(&row) {
                let at = row.sent_at.unwrap_or(row.started_at);
                let matter = Matter::Rotation(row.id, row.rotation.state, row.user_group_id);
                self.push(matter, Some(at), Some(&row.by));
            }
        }
        Ok(())
    }

    fn change(&mut self, change: &Mutation) {
        let is_left = !self.operations.is_change_in_hand(change);
        // A rotation stands in its own journal.
        if change.rotation.is_none() && is_left {
            let id = change.user_group_id.clone();
            let matter = Matter::Change(change.id, change.operation, id);
            self.push(matter, Some(change.since()), Some(&change.by));
        }
    }

    async fn hand_offs(&mut self, state: HandOffState) -> Result<(), DirectoryError> {
        let filter = RotationFilter {
            place: Some(self.place),
            handoff: Some(state),
            ..RotationFilter::default()
        };
        for row in self.operations.directory().rotations(filter).await? {
            let is_in_hand = state == HandOffState::Pending
                && self.operations.settle_window_left(&row).is_some();
            if !is_in_hand {
                let matter = Matter::HandOff {
                    rotation: row.id,
                    id: row.user_group_id,
                    state,
                    exit: row.handoff.exit,
                    begun_in: self.profile_here(&row.profile).await?,
                };
                let at = row.sent_at.unwrap_or(row.started_at);
                self.push_of(row.profile, matter, Some(at), Some(&row.by));
            }
        }
        Ok(())
    }

    /// The profile of this name, where it means this place.
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
        let limit = limit.unwrap_or(USUAL_LIMIT);
        let now = self.operations.now();
        let told = Arc::new(Mutex::new(OfGroups::default()));
        let telling = Arc::clone(&told);
        let take = move |some: Vec<KnownGroup>| {
            let mut told = telling.lock().unwrap_or_else(PoisonError::into_inner);
            for group in some {
                told.ages.add(age::age(&group, now), limit);
                let foreign = group.last_rotated.filter(|last| last.by.is_none());
                if let Some(last) = foreign.filter(|last| age::since(last.at, now) < NEWS) {
                    told.changed.push((group.id, last.at));
                }
            }
            true
        };
        self.operations
            .directory()
            .each_group(self.place, take)
            .await?;
        let told = std::mem::take(&mut *told.lock().unwrap_or_else(PoisonError::into_inner));
        for (id, at) in told.changed {
            self.push(Matter::ChangedElsewhere(id), Some(at), None);
        }
        let ages = told.ages;
        let over = ages.over + ages.far;
        if over > 0 {
            self.push(Matter::Over(over, ages.oldest), None, None);
        }
        if ages.due > 0 {
            let left = limit.saturating_sub(ages.nearest);
            self.push(Matter::Due(ages.due, left), None, None);
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
            assert_eq!(due(limit), filter);
            let query = Query::parse(filter, limit);
            assert_eq!(query.wrong, [], "{filter}");
        }
    }
}
