//! Checks what is open, as a run over groups: the group of each open rotation, create and update is read, which settles
//! what the response shows (docs/design/rotation.md). Never sends a rotation, and reads only ids that the directory knows.

use std::collections::{BTreeMap, VecDeque};

use super::recover::{READS, Recovered, StillOpen};
use crate::operations::{
    prelude::*,
    run::{self, Consequence, Context, Event, Hold, RetryBudget, Run, RunLimits, Slot, Work},
};

/// Checking what is open.
#[derive(Debug, Clone)]
pub struct Checking;

impl run::Kind for Checking {
    type Key = UserGroupId;
    type End = Checked;
    type Sum = CheckSum;
    type Counts = CheckCounts;
}

/// The number of groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckCounts {
    pub checked: usize,
    pub not_started: usize,
}

impl run::Counts for CheckCounts {
    fn done(&self) -> usize {
        self.checked
    }

    fn planned(&self) -> usize {
        self.checked + self.not_started
    }
}

/// As text: `groups checked: 3 of 5`.
impl fmt::Display for CheckCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.checked + self.not_started;
        write!(f, "groups checked: {} of {all}", self.checked)
    }
}

/// What became of one group.
#[derive(Debug)]
pub struct Checked {
    pub rotations: Vec<Recovered>,
    /// Why the read settled nothing, with the ID, if no rotation says so: only a create or an update is open.
    pub why: Option<String>,
    /// Counts over all groups after this one.
    pub counts: CheckCounts,
}

/// How a check ended.
#[derive(Debug)]
pub struct CheckSum {
    pub halt: Option<Halt>,
    /// Rotations whose group was not checked.
    pub left: Vec<Recovered>,
    /// The creates and updates that are still open; empty if none were to be checked.
    pub changes: Result<Vec<Mutation>, DirectoryError>,
}

/// A group of which something is open.
#[derive(Clone, Default)]
struct OpenGroup {
    rotations: Vec<RotationRow>,
    /// Whether a read can settle a create or an update.
    has_change: bool,
}

/// The groups to be checked.
struct Check {
    operations: Operations,
    /// Whether a busy service is waited for.
    waits: bool,
    changes: bool,
    /// Those that are not checked yet; those that no read has begun for are `waiting`.
    left: BTreeMap<UserGroupId, OpenGroup>,
    waiting: VecDeque<UserGroupId>,
    counts: CheckCounts,
    /// The first failure to read or write the journal.
    failed: Option<DirectoryError>,
}

impl Operations {
    /// Settles the open rotations of this place (all, or those in `only`) by reading their groups; if all, also creates
    /// and updates.
    ///
    /// Intended and Sent ones count as orphaned only after the settle window: before that, their process may be alive.
    pub async fn run_check(&self, only: &[RotationId]) -> Result<Run<Checking>, Failure> {
        let mut check = Check::of_rotations(self, only).await?;
        check.waits = true;
        if only.is_empty() {
            check.add_changes().await.map_err(Failure::NothingSent)?;
        }
        let (context, run) = Context::new(check.counts());
        tokio::spawn(check.run(RunLimits::default(), context));
        Ok(run)
    }

    /// The same for rotations alone, `limit` groups at a time, without waiting for a busy service. Each result is
    /// reported as soon as it is known; nothing goes on once this is dropped.
    pub async fn recover(
        &self,
        only: &[RotationId],
        limit: usize,
        mut on_each: impl FnMut(&Recovered),
    ) -> Result<Vec<Recovered>, Failure> {
        let check = Check::of_rotations(self, only).await?;
        let mut all = Vec::new();
        let ended = check.follow(limit, |rotations| {
            rotations.iter().for_each(&mut on_each);
            all.extend(rotations);
        });
        ended.await.map_err(Failure::NothingSent)?;
        Ok(all)
    }

    /// Settles the open creates and updates that can be settled, by elapsed time and by reading known groups. Returns
    /// those that stay open and that no process may be working on.
    pub async fn settle_changes(&self) -> Result<Vec<Mutation>, DirectoryError> {
        let mut check = Check::new(self);
        check.add_changes().await?;
        let mut open = check.follow(1, |_| {}).await?;
        open.retain(|change| !self.is_change_in_progress(change));
        Ok(open)
    }

    /// Checks one group.
    async fn check_group(
        &self,
        id: &UserGroupId,
        group: OpenGroup,
        context: Context<Checking>,
        waits: bool,
    ) -> Outcome {
        let OpenGroup {
            rotations: mut rows,
            has_change,
        } = group;
        let (mut why, mut alarm, mut failure) = (None, None, None);
        let mut patience = RetryBudget::new();
        let mut reads = 0;
        while reads < READS && why.is_none() {
            let is_first = reads == 0;
            let is_due = rows.iter().any(|row| self.is_due(row, is_first));
            if !(is_due || is_first && has_change) {
                break;
            }
            if !context.control.may_send().await {
                if is_first {
                    return Ok(None);
                }
                break;
            }
            let answer = self.look_up(id, UnknownIdPolicy::KnownOnly).await;
            // Somebody waits for what is known now; without a directory nothing is.
            let hold = patience.put_off(&answer);
            if waits && context.is_held(hold.filter(|hold| *hold != Hold::Directory)) {
                continue;
            }
            reads += 1;
            match answer {
                Ok(done) if done.warnings.contains(&Warning::StaleAnswer) => {
                    why = Some(Warning::StaleAnswer.to_string());
                }
                Ok(done) => alarm = done.warnings.into_iter().find(Warning::is_alarm),
                Err(no) => {
                    why = Some(no.to_string());
                    failure = Some(no);
                }
            }
            rows = self.reload_rows(rows).await?;
        }
        let ended = rows
            .into_iter()
            .map(|row| self.recovery_result(row, why.as_deref(), alarm.as_ref()));
        Ok(Some(Read {
            rotations: ended.collect(),
            alarm,
            failure,
        }))
    }
}

/// What the check of one group found; `None` if the run was stopped before it. An error if the journal cannot be read.
type Outcome = Result<Option<Read>, DirectoryError>;

struct Read {
    rotations: Vec<Recovered>,
    alarm: Option<Warning>,
    /// Of the last read.
    failure: Option<Failure>,
}

impl Read {
    /// A group that may not exist is not read; what to do about its change is reported with that change.
    fn why(&self) -> Option<String> {
        let is_skipped = |failure: &&Failure| matches!(failure, Failure::NotKnown { .. });
        let failure = self.failure.as_ref().filter(|failure| !is_skipped(failure));
        let failure = failure.map(Failure::to_string);
        failure.or_else(|| self.alarm.as_ref().map(Warning::to_string))
    }

    /// Only what the service or the directory fails at counts: what is wrong with one group alone must not keep the
    /// groups behind it from their turn, in each check again.
    fn consequence(&self, id: &UserGroupId) -> Consequence {
        let is_elsewhere =
            |alarm: &Warning| alarm.is_wrong_environment() || *alarm == Warning::CreatedByGet;
        match &self.failure {
            // The next read might create the next group.
            _ if self.alarm.as_ref().is_some_and(is_elsewhere) => {
                Consequence::Stop(Halt::Alarm(id.clone()))
            }
            Some(Failure::Unreachable(error)) if error.is_lost() => Consequence::Bad,
            Some(failure @ Failure::Unreachable(_)) => {
                Consequence::Stop(Halt::Cannot(failure.to_string()))
            }
            Some(failure) if failure.concerns_all() => failure.into(),
            // The next group may be one that the directory knows.
            Some(Failure::NotKnown { .. }) => Consequence::Neutral,
            // There was a response.
            Some(_) | None => Consequence::Good,
        }
    }
}

impl Check {
    fn new(operations: &Operations) -> Self {
        Self {
            operations: operations.clone(),
            waits: false,
            changes: false,
            left: BTreeMap::new(),
            waiting: VecDeque::new(),
            counts: CheckCounts::default(),
            failed: None,
        }
    }

    /// The groups of these rotations, or of all that are open.
    async fn of_rotations(operations: &Operations, only: &[RotationId]) -> Result<Self, Failure> {
        let mut open = operations
            .open_rotations()
            .await
            .map_err(Failure::NothingSent)?;
        if !open.is_empty() {
            // With a key of another place nothing that is read says anything about these.
            operations.may_send(None).await?;
        } else if operations.place().await.map_err(Failure::NothingSent)? == PlaceId::NONE {
            // An unknown key finds nothing open, which says nothing about the place of this profile.
            operations.bound().await?;
        }
        open.retain(|row| only.is_empty() || only.contains(&row.id));
        let open = operations.expire_orphaned_rotations(open).await;
        let mut check = Self::new(operations);
        for row in open.map_err(Failure::NothingSent)? {
            let id = row.user_group_id.clone();
            check.left.entry(id).or_default().rotations.push(row);
        }
        Ok(check)
    }

    /// Also checks the open creates and updates of the place.
    async fn add_changes(&mut self) -> Result<(), DirectoryError> {
        self.changes = true;
        for change in self.operations.open_changes().await? {
            if self.operations.is_change_due(&change) {
                let group = self.left.entry(change.user_group_id).or_default();
                group.has_change = true;
            }
        }
        Ok(())
    }

    fn counts(&self) -> CheckCounts {
        CheckCounts {
            not_started: self.left.len(),
            ..self.counts
        }
    }

    async fn run(mut self, limits: RunLimits, context: Context<Checking>) {
        self.counts = self.counts();
        self.waiting = self.left.keys().cloned().collect();
        let halt = run::drive(&mut self, limits, &context).await;
        let why = halt.as_ref().map_or_else(String::new, Halt::to_string);
        let operations = &self.operations;
        let rows = self.left.into_values().flat_map(|group| group.rotations);
        let left = rows.map(|row| {
            let again_in = operations.settle_window_left(&row);
            Recovered::Open(StillOpen {
                row,
                why: format!("not checked, {why}"),
                again_in,
            })
        });
        let left = left.collect();
        let changes = match self.failed {
            Some(error) => Err(error),
            None if self.changes => operations.release_expired_claims().await,
            None => Ok(Vec::new()),
        };
        context.tell(Event::Finished(CheckSum {
            halt,
            left,
            changes,
        }));
    }

    /// Runs to the end, here; returns the changes that are still open.
    async fn follow(
        self,
        limit: usize,
        mut on_each: impl FnMut(Vec<Recovered>),
    ) -> Result<Vec<Mutation>, DirectoryError> {
        let limits = RunLimits {
            concurrency: limit.max(1),
            ..RunLimits::default()
        };
        let (context, mut run) = Context::<Checking>::new(self.counts());
        let following = async {
            while let Some(event) = run.progress.recv().await {
                match event {
                    Event::Ended(checked) => on_each(checked.rotations),
                    Event::Finished(sum) => {
                        on_each(sum.left);
                        return sum.changes;
                    }
                    _ => {}
                }
            }
            Ok(Vec::new())
        };
        let ((), ended) = tokio::join!(self.run(limits, context), following);
        ended
    }
}

impl Work for Check {
    type Kind = Checking;
    type Item = UserGroupId;
    type Outcome = (UserGroupId, Outcome);

    async fn next(&mut self) -> Result<Option<UserGroupId>, Halt> {
        Ok(self.waiting.pop_front())
    }

    fn begin(
        &self,
        id: UserGroupId,
        context: Context<Checking>,
        _slot: Slot,
    ) -> BoxFuture<'static, (UserGroupId, Outcome)> {
        context.tell(Event::Started(id.clone()));
        let group = self.left.get(&id).cloned().unwrap_or_default();
        let (operations, waits) = (self.operations.clone(), self.waits);
        async move {
            let outcome = operations.check_group(&id, group, context, waits).await;
            (id, outcome)
        }
        .boxed()
    }

    fn ended(
        &mut self,
        (id, outcome): (UserGroupId, Outcome),
        context: &Context<Checking>,
    ) -> Consequence {
        let read = match outcome {
            Ok(Some(found)) => found,
            Ok(None) => return Consequence::NotStarted,
            Err(error) => {
                let halt = Halt::Cannot(error.to_string());
                self.failed.get_or_insert(error);
                return Consequence::Stop(halt);
            }
        };
        self.left.remove(&id);
        self.counts.checked += 1;
        self.counts.not_started -= 1;
        let consequence = read.consequence(&id);
        let why = read.why().filter(|_| read.rotations.is_empty());
        context.tell(Event::Ended(Box::new(Checked {
            rotations: read.rotations,
            why: why.map(|why| format!("{id}: {why}")),
            counts: self.counts,
        })));
        consequence
    }
}
