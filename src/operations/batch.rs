//! Bulk rotation (docs/design/rotation.md, "Bulk"): a checked plan becomes a batch, which is run and can be resumed.
//! Every item is one single rotation, or one update of a bulk edit, with its own journal row; nothing here sends a
//! request itself.

mod edit_item;
mod item;
mod queue;
mod resume;
mod retry;
mod runs;
mod scheduled;

pub use resume::Resumption;
pub use scheduled::ScheduledRun;

pub use super::run::{Control, Hold, RunCommand, RunLimits, Slot, TokenSink};
use super::{
    prelude::*,
    run::{self, Context},
};
use crate::{
    directory::NewBatch,
    domain::batch::{Candidate, Counts, Plan, RECENT, Rules, Skip},
};

/// A run of a batch.
#[derive(Debug, Clone)]
pub struct Bulk;

impl run::Kind for Bulk {
    type Key = ItemKey;
    type End = Ended;
    type Sum = Report;
    type Counts = Counts;
}

impl run::Counts for Counts {
    fn done(&self) -> usize {
        self.done()
    }

    fn planned(&self) -> usize {
        self.planned()
    }
}

pub type BatchEvent = run::Event<Bulk>;
pub type Run = run::Run<Bulk>;

/// How one item ended. Holds no token.
#[derive(Debug, Clone)]
pub struct Ended {
    pub key: ItemKey,
    pub user_group_id: UserGroupId,
    pub status: ItemStatus,
    /// The outcome as in the JSON output: the state of the rotation, or how the item ended without one.
    pub outcome: &'static str,
    pub rotation: Option<RotationId>,
    pub previous: Option<Fingerprint>,
    pub fingerprint: Option<Fingerprint>,
    /// Why it did not end as requested.
    pub note: Option<String>,
    /// Where the hand-off of the new token stands.
    pub handoff: HandOffState,
    pub warnings: Vec<Warning>,
    /// The answer came from another environment than the profile expects (hazard 11).
    pub wrong_environment: bool,
    /// An earlier run had sent it; a get has settled it now.
    pub settled: bool,
    pub took: Duration,
    /// Counts over all items after this one.
    pub counts: Counts,
}

/// How a run ended; the counts come from the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub batch: BatchId,
    pub counts: Counts,
    /// Why some items were not started.
    pub halt: Option<Halt>,
}

impl Operations {
    /// Decides which of these groups can be rotated now, and why the others cannot. Nothing is sent or written.
    /// `include_recent` also allows groups that were rotated within the last 24 h.
    pub async fn plan_batch(
        &self,
        wanted: &[UserGroupId],
        include_recent: bool,
    ) -> Result<Plan, DirectoryError> {
        let rules = self.rules(include_recent);
        self.plan_with_rules(wanted, &rules, None, HashMap::new())
            .await
    }

    /// As [`Operations::plan_batch`], for groups that this batch did not rotate, or may not have rotated: these are left out.
    /// Their last rotation was checked, or included, when that batch was planned: only a later change of the token counts,
    /// by whomever and from wherever, in the order of the directory.
    pub async fn plan_retry(
        &self,
        wanted: &[UserGroupId],
        batch: BatchId,
    ) -> Result<Plan, DirectoryError> {
        let before = self.batch(batch).await?.noted;
        let rules = self.rules(true);
        let mut refused = HashMap::new();
        for item in self.batch_items(batch).await? {
            let status = item.status();
            if status != ItemStatus::NotApplied && !item.is_open() {
                let why = Skip::InBatch(status.why_not_again(batch.0));
                refused.insert(item.user_group_id, why);
            }
        }
        self.plan_with_rules(wanted, &rules, Some(before), refused)
            .await
    }

    pub(super) fn rules(&self, include_recent: bool) -> Rules {
        let guard = guard::max_groups(&self.profile().guards);
        Rules {
            environment: self.profile().environment.clone(),
            most: self.profile().max_bulk,
            guard: guard.map(|(most, reason)| (most, reason.to_owned())),
            include_recent,
            now: self.now(),
        }
    }

    async fn plan_with_rules(
        &self,
        wanted: &[UserGroupId],
        rules: &Rules,
        since: Option<i64>,
        mut refused: HashMap<UserGroupId, Skip>,
    ) -> Result<Plan, DirectoryError> {
        let noted = self.directory().last_number().await?;
        let groups = self.show_all(wanted).await?;
        let (directory, place) = (self.directory(), self.place().await?);
        let changed = match since {
            Some(number) => directory.token_changed_since(place, number).await?,
            None => HashMap::new(),
        };
        let recent = if rules.include_recent {
            HashMap::new()
        } else {
            directory.rotated_within(place, RECENT).await?
        };
        let mut open = HashMap::new();
        for row in [self.open_rotations().await?, self.conflicts().await?].concat() {
            open.entry(row.user_group_id).or_insert(row.rotation.state);
        }
        let locks = self.locks(true).await?;
        let candidates = wanted.iter().zip(&groups).map(|(id, group)| Candidate {
            id: id.clone(),
            group: group.as_ref(),
            open: open.get(id).copied(),
            refused: refused
                .remove(id)
                .or_else(|| locks.skip(id, Operation::Rotate))
                .or_else(|| {
                    let last = group.as_ref().and_then(|group| group.last_rotated.as_ref());
                    Some(match changed.get(id)?.by.clone() {
                        Some(by) => Skip::RotatedSince(by),
                        None => Skip::ChangedElsewhere(id.clone(), last.map(|last| last.at)),
                    })
                }),
            recent: recent.get(id).copied(),
        });
        let plan = Plan::of(candidates, rules);
        Ok(Plan { noted, ..plan })
    }

    /// Also enforces the limits of a plan on one that was made elsewhere.
    pub(super) fn check_bulk_limit(&self, count: usize) -> Result<(), Failure> {
        let profile = self.profile();
        let guarded = guard::max_groups(&profile.guards);
        let reason = match guarded {
            Some((most, reason)) if count > most => format!("at most {most} at once: {reason}"),
            _ if count > profile.max_bulk => format!("at most {} at once", profile.max_bulk),
            _ => return Ok(()),
        };
        Err(self.bulk_is_forbidden(reason))
    }

    pub(super) fn bulk_is_forbidden(&self, reason: String) -> Failure {
        Failure::Forbidden {
            operation: Guarded::Bulk,
            profile: self.profile().name.clone(),
            reason,
        }
    }

    /// Stores the batch of a plan durably, with options that a retry keeps; nothing is sent.
    pub async fn begin_batch(
        &self,
        plan: &Plan,
        reason: Option<String>,
        options: BatchOptions,
    ) -> Result<BatchId, Failure> {
        self.permitted(Guarded::Bulk)?;
        self.can_hand_off()?;
        let options = BatchOptions {
            hands_off: self.profile().handoff.is_some(),
            ..options
        };
        let batch = NewBatch {
            by: self.operator().to_owned(),
            reason,
            at: plan.at,
            noted: plan.noted,
            kind: BatchKind::Rotate,
            options,
            items: plan.ready.iter().map(|id| (id.clone(), None)).collect(),
        };
        self.store_batch(batch).await
    }

    pub(super) async fn store_batch(&self, batch: NewBatch) -> Result<BatchId, Failure> {
        self.check_bulk_limit(batch.items.len())?;
        self.no_secret_as_reason(batch.reason.as_deref()).await?;
        let place = self.may_record().await?;
        let begun = self.directory().begin_batch(place, batch).await;
        begun.map_err(Failure::NothingSent)
    }

    /// Runs what is left of a batch, whether for the first time or resumed. Items that already have a rotation are
    /// settled by a get if they are open, and never sent again.
    pub async fn run_batch(
        &self,
        batch: BatchId,
        pace: RunLimits,
        keep: Option<Arc<dyn TokenSink>>,
    ) -> Result<Run, Failure> {
        self.run_batch_without(batch, &[], pace, keep).await
    }

    /// As [`Operations::run_batch`], but does not begin these groups; they stay for another run.
    pub async fn run_batch_without(
        &self,
        batch: BatchId,
        left_out: &[UserGroupId],
        pace: RunLimits,
        keep: Option<Arc<dyn TokenSink>>,
    ) -> Result<Run, Failure> {
        let found = self.batch(batch).await.map_err(Failure::NothingSent)?;
        self.may(NextStep::batch(&found.kind))?;
        let items = self.batch_items(batch).await;
        let items = items.map_err(Failure::NothingSent)?;
        // What is left to send is checked again: the limits may have been tightened since the batch started.
        let left = with_status(&items, ItemStatus::NotStarted).count();
        self.check_bulk_limit(left)?;
        if left > 0 && found.kind == BatchKind::Rotate {
            self.can_hand_off()?;
        }
        // Whoever runs it waits for the directory, and so do the answers.
        let operations = self.keeping_outcomes();
        let mut queue = queue::Queue::new(operations, &found, &items, pace, keep);
        queue.leave_out(left_out);
        let (context, run) = Context::new(queue.counts());
        tokio::spawn(queue.run(context, self.clone()));
        Ok(run)
    }

    /// Returns all batches of this place, the most recently started first.
    pub async fn batches(&self) -> Result<Vec<Batch>, DirectoryError> {
        self.closed_batches_in(self.place().await?).await
    }

    /// Returns the batches of a place, after those are closed of which nothing is left.
    pub(super) async fn closed_batches_in(
        &self,
        place: PlaceId,
    ) -> Result<Vec<Batch>, DirectoryError> {
        let batches = self.batches_in(place).await?;
        if self.close_left_batches(&batches).await {
            return self.batches_in(place).await;
        }
        Ok(batches)
    }

    /// Returns all batches of the places of these profiles, the most recently started first, each with the index of a
    /// profile bound to its place (`first` if that one is). No API key is needed: a profile that was never bound has no
    /// batches.
    pub async fn batches_of_all(
        all: &[Self],
        first: usize,
    ) -> Result<Vec<(usize, Batch)>, DirectoryError> {
        let mut found = Vec::new();
        for (index, operations, place) in Self::each_place(all, first).await? {
            let mut batches = operations.closed_batches_in(place).await?;
            operations.look_at_retries(batches.iter_mut()).await;
            found.extend(batches.into_iter().map(|batch| (index, batch)));
        }
        found.sort_by_key(|(_, batch)| std::cmp::Reverse(batch.id));
        Ok(found)
    }

    /// Returns one batch of this place.
    pub async fn batch(&self, id: BatchId) -> Result<Batch, DirectoryError> {
        let batches = self.batches().await?;
        let found = batches.into_iter().find(|batch| batch.id == id);
        found.ok_or(DirectoryError::NoBatch(id.0))
    }

    /// Returns the items of a batch with their current state, in order.
    pub async fn batch_items(&self, id: BatchId) -> Result<Vec<BatchItem>, DirectoryError> {
        let items = self.directory().batch_items(self.place().await?, id);
        let mut items = items.await?;
        items.iter_mut().for_each(begin_with_the_verdict);
        Ok(items)
    }

    /// What the command of a batch was told about how to run it.
    pub async fn batch_options(&self, id: BatchId) -> Result<BatchOptions, DirectoryError> {
        self.directory()
            .batch_options(self.place().await?, id)
            .await
    }

    /// The options with which a batch is resumed or retried (`again`). One that wrote its new tokens to a file writes
    /// those of a later run to a new file, never nowhere; so does one that hands them off, where a colleague's profile does
    /// not.
    pub async fn options_again(
        &self,
        id: BatchId,
        again: &'static str,
        has_file: bool,
    ) -> Result<BatchOptions, Failure> {
        let options = self.batch_options(id).await.map_err(Failure::NothingSent)?;
        if options.token_out && !has_file {
            return Err(Failure::usage(format!(
                "batch {0} writes its new tokens to a file, and each run needs a new file; nothing was sent. To choose one: \
                 groupdesk batches {again} {0} --token-out FILE",
                id.0
            )));
        }
        let profile = self.profile();
        if options.hands_off && profile.handoff.is_none() && !has_file {
            return Err(Failure::usage(format!(
                "batch {0} hands its new tokens off, but profile {1} has no `handoff`; nothing was sent. Add it to the \
                 profile, or choose a file for the new tokens: groupdesk batches {again} {0} --token-out FILE",
                id.0,
                visible(&profile.name)
            )));
        }
        Ok(options)
    }

    /// Records that the token of an answer is in a file. If that fails, it counts as missing in the file of its batch.
    pub async fn note_written(&self, done: &Done) {
        let directory = self.directory();
        if let (Some(token), Ok(place)) = (done.token(), self.place().await) {
            let (id, token) = (done.group.id.clone(), directory.fingerprinter().of(token));
            drop(directory.note_written(place, id, token).await);
        }
    }

    /// Returns the groups of a batch that have no new token as far as is known. The plan of a retry leaves out those with an
    /// unknown outcome: only a get settles them.
    pub async fn groups_to_retry(&self, id: BatchId) -> Result<Vec<UserGroupId>, DirectoryError> {
        let mut items = self.batch_items(id).await?;
        items.retain(|item| !matches!(item.status(), ItemStatus::Confirmed | ItemStatus::Rotated));
        Ok(items.into_iter().map(|item| item.user_group_id).collect())
    }
}

fn with_status(items: &[BatchItem], status: ItemStatus) -> impl Iterator<Item = &BatchItem> {
    items.iter().filter(move |item| item.status() == status)
}

/// Lets the note of an item that is not done name its group and begin with what became of it.
fn begin_with_the_verdict(item: &mut BatchItem) {
    let changed = item.changed();
    let verdict = match item.status() {
        ItemStatus::NotApplied => format!("NOT {changed}"),
        ItemStatus::Conflict => "CONFLICT".to_owned(),
        ItemStatus::Unknown => format!("UNKNOWN whether it was {changed}"),
        ItemStatus::NotStarted
        | ItemStatus::UnderWay
        | ItemStatus::Confirmed
        | ItemStatus::Rotated
        | ItemStatus::Abandoned => return,
    };
    let id = format!("\"{}\"", item.user_group_id);
    if let Some(note) = item.note.as_mut().filter(|note| !note.contains(&id)) {
        *note = format!("{id} {verdict}: {note}");
    }
}
