//! Gathers what needs attention, over all places of the given profiles. Uses only the directory; no API key is needed.

use std::{cmp::Reverse, collections::BTreeMap};

use super::{Ages, Attention, Concern, ConcernKind};
use crate::{
    domain::{
        age::{self, DEFAULT_LIMIT},
        text::person,
    },
    operations::{KeptDraft, prelude::*},
};

/// How long a group that was changed elsewhere is listed.
const NEWS: Duration = Duration::from_hours(7 * 24);

/// Findings from reading the groups of a place.
#[derive(Default)]
struct GroupFindings {
    ages: Ages,
    changed: Vec<(UserGroupId, Timestamp)>,
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
            for place in any.directory().places().await? {
                if places.iter().all(|(.., known)| *known != place.id) {
                    let bound = bound_with_another_key(all, place.id).await?;
                    let open = place.open as usize + left_open(any, place.id).await?;
                    let concerns = without_profile(&place, open, bound);
                    attention.concerns.extend(concerns);
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

/// The profile that was bound to this place, whose API key the place does not know.
async fn bound_with_another_key(
    all: &[Operations],
    place: PlaceId,
) -> Result<Option<(usize, &Operations)>, DirectoryError> {
    for (index, operations) in all.iter().enumerate() {
        if operations.place_by_name().await? == Some(place) {
            return Ok(Some((index, operations)));
        }
    }
    Ok(None)
}

/// How many batches of a place are unfinished, and new tokens in no file.
async fn left_open(any: &Operations, place: PlaceId) -> Result<usize, DirectoryError> {
    let batches = any.closed_batches_in(place).await?;
    let open = batches.iter().map(|batch| match batch.ended_at {
        Some(_) => batch.unwritten,
        None => usize::from(batch.is_anything_left()),
    });
    let tokens = any.directory().unwritten(place).await?;
    Ok(open.sum::<usize>() + tokens.len())
}

/// What needs attention in a place that no profile is bound to, at least not with its present key.
fn without_profile(
    place: &Place,
    open: usize,
    bound: Option<(usize, &Operations)>,
) -> Vec<Concern> {
    let concern = |kind, since, by| Concern {
        profile: None,
        place: place.name.clone(),
        kind,
        since,
        by,
        place_id: place.id,
    };
    let alarms = place.alarms.first().map(|first| {
        let kind = ConcernKind::Alarms(place.name.clone(), place.alarms.clone());
        concern(kind, Some(first.at), Some(first.by.clone()))
    });
    let open = (open > 0).then(|| {
        let Some((index, operations)) = bound else {
            return concern(ConcernKind::NoProfile(open), place.last_used, None);
        };
        Concern {
            profile: Some(index),
            place: operations.profile().name.clone(),
            ..concern(ConcernKind::NewKey(open), place.last_used, None)
        }
    });
    alarms.into_iter().chain(open).collect()
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
        let directory = self.operations.directory();
        for change in directory.open_mutations(self.place).await? {
            self.change(&change);
        }
        for state in [HandOffState::Failed, HandOffState::Pending] {
            self.hand_offs(state).await?;
        }
        let mut revived = HashSet::new();
        for row in directory.revived(self.place).await? {
            let at = row.sent_at.unwrap_or(row.started_at);
            revived.insert(row.user_group_id.clone());
            let kind = ConcernKind::Revived(row.id, row.user_group_id);
            self.push(kind, Some(at), Some(&row.by));
        }
        for row in directory.unwritten(self.place).await? {
            let at = row.sent_at.unwrap_or(row.started_at);
            let kind = ConcernKind::UnwrittenToken(row.id, row.user_group_id);
            self.push(kind, Some(at), Some(&row.by));
        }
        let mut batches = self.operations.closed_batches_in(self.place).await?;
        let not_done = self.operations.not_done(self.place, &batches).await?;
        if with_groups {
            let those = batches.iter_mut();
            let those = those.filter(|batch| not_done.contains_key(&batch.id));
            self.operations.look_at_retries(those).await;
        }
        for batch in batches {
            // An unfinished one writes them when it is resumed.
            if batch.unwritten > 0 && batch.ended_at.is_some() {
                let (at, by) = (batch.ended_at, batch.by.clone());
                let kind = ConcernKind::Unwritten(Box::new(batch.clone()));
                self.push(kind, at, Some(&by));
            }
            if let Some(groups) = not_done.get(&batch.id) {
                let (at, by) = (batch.ended_at, batch.by.clone());
                let kind = ConcernKind::NotDone(Box::new(batch), *groups);
                self.push(kind, at, Some(&by));
            } else if batch.ended_at.is_none() && (batch.is_run() || batch.is_anything_left()) {
                let runner = batch.runner.as_ref().filter(|runner| runner.is_alive());
                let at = runner.map_or(batch.started_at, |runner| runner.since);
                let by = runner.map_or(&batch.by, |runner| &runner.by).clone();
                self.push(ConcernKind::Batch(Box::new(batch)), Some(at), Some(&by));
            }
        }
        if with_groups {
            self.groups(&revived).await?;
            let mut drafts: BTreeMap<_, Vec<KeptDraft>> = BTreeMap::new();
            let mut all = directory.drafts(self.place).await?;
            all.sort_by_key(|kept| Reverse(kept.draft.changed_at));
            for kept in all {
                let id = kept.draft.user_group_id.clone();
                let versions = drafts.entry((id, person(&kept.by).to_owned()));
                let versions = versions.or_default();
                let mut before = versions.iter();
                if !before.any(|one| one.draft.has_same_content(&kept.draft)) {
                    versions.push(kept);
                }
            }
            for ((id, _), versions) in drafts {
                let kind = ConcernKind::Draft(id, versions.len());
                let newest = &versions[0];
                self.push(kind, Some(newest.draft.changed_at), Some(&newest.by));
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
        for row in self.operations.open_rotations_of(self.place).await? {
            // A rotation whose process may still be working on it is no concern yet.
            if !self.operations.is_rotation_in_progress(&row) {
                self.rotation(row);
            }
        }
        for row in self.operations.conflicts_of(self.place, None).await? {
            self.rotation(row);
        }
        Ok(())
    }

    fn rotation(&mut self, row: RotationRow) {
        let at = row.sent_at.unwrap_or(row.started_at);
        let kind = ConcernKind::Rotation(row.id, row.rotation.state, row.user_group_id);
        self.push(kind, Some(at), Some(&row.by));
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

    async fn hand_offs(&mut self, state: HandOffState) -> Result<(), DirectoryError> {
        for row in self.operations.hand_offs_of(self.place, state).await? {
            if self.operations.in_hand_for(&row).is_none() {
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

    async fn groups(&mut self, revived: &HashSet<UserGroupId>) -> Result<(), DirectoryError> {
        let limit = self.operations.profile().max_token_age;
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        let now = self.operations.now();
        let find = move |findings: &mut GroupFindings, group: KnownGroup| {
            findings.ages.add(age::age(&group, now), limit);
            let foreign = group.last_rotated.filter(|last| last.by.is_none());
            if let Some(last) = foreign.filter(|last| age::since(last.at, now) < NEWS) {
                findings.changed.push((group.id, last.at));
            }
        };
        let findings = self.operations.fold_groups(self.place, find).await?;
        let changed = findings.changed.into_iter();
        for (id, at) in changed.filter(|(id, _)| !revived.contains(id)) {
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
