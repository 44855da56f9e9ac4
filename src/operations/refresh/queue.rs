//! The groups to be read, one look-up each: the result of each, and whether the next may be read.

use std::collections::VecDeque;

use futures_util::{FutureExt, future::BoxFuture};
use tokio::{sync::mpsc, time::Instant};

use super::{GroupRead, Refresh, RefreshEvent, number};
use crate::{
    directory::ImportId,
    domain::{
        batch::{FailureStreak, Halt},
        group::UserGroupId,
        history::Ending,
        known::KnownGroup,
        refresh::{Counts, ReadResult},
        remote_changes::RemoteChanges,
    },
    operations::{
        Done, Failure, Operations, UnknownIdPolicy, Warning,
        batch::concurrency::{self, Control, RetryBudget, RunLimits, Slot, Work},
        files::import::LOST_CREATE_REPEATS,
    },
};

/// What every read needs.
#[derive(Clone)]
struct ReadContext {
    operations: Operations,
    /// Where the groups that were read are noted.
    begun: Option<ImportId>,
    control: Control,
    news: mpsc::UnboundedSender<RefreshEvent>,
}

pub(super) struct Queue {
    context: ReadContext,
    waiting: VecDeque<UserGroupId>,
    counts: Counts,
    streak: FailureStreak,
    keep_going: bool,
    /// Whether a group was found where it was expected, so that this is the right environment.
    found: bool,
    /// Whether to read one at a time, until the first group is found.
    alone: bool,
}

impl Queue {
    pub(super) fn new(
        operations: Operations,
        begun: Option<ImportId>,
        plan: Refresh,
        keep_going: bool,
        control: Control,
        news: mpsc::UnboundedSender<RefreshEvent>,
    ) -> Self {
        Self {
            context: ReadContext {
                operations,
                begun,
                control,
                news,
            },
            counts: Counts {
                done_before: plan.done_before,
                not_started: plan.ids.len(),
                ..Counts::default()
            },
            waiting: plan.ids.into(),
            streak: FailureStreak::new(0),
            keep_going,
            found: false,
            alone: true,
        }
    }

    pub(super) async fn run(mut self, pace: RunLimits) {
        self.streak = FailureStreak::new(pace.stop_after);
        let control = self.context.control.clone();
        let alone = RunLimits {
            concurrency: 1,
            ..pace
        };
        let mut halt = concurrency::run(&mut self, alone, &control).await;
        if halt.is_none() {
            self.alone = false;
            halt = concurrency::run(&mut self, pace, &control).await;
        }
        if let Some(begun) = self.context.begun
            && self.counts.is_complete()
        {
            let ended = self.context.operations.end_import(begun).await;
            halt = halt.or(ended.err().map(|error| Halt::Cannot(error.to_string())));
        }
        self.context.tell(RefreshEvent::Finished {
            counts: self.counts,
            halt,
        });
    }
}

/// The result of a read, and whether its slot was released before it ended; `None` if it was stopped before anything was
/// sent.
type Outcome = Option<(GroupRead, bool)>;

impl Work for Queue {
    type Item = UserGroupId;
    type Outcome = Outcome;

    fn waiting(&self) -> usize {
        if self.alone && self.found {
            0
        } else {
            self.waiting.len()
        }
    }

    fn next(&mut self) -> Option<UserGroupId> {
        self.waiting.pop_front()
    }

    fn begin(&self, id: UserGroupId, slot: Slot) -> BoxFuture<'static, Outcome> {
        self.context.clone().read(id, slot).boxed()
    }

    fn succeeded_early(&mut self) {
        self.streak.succeeded();
    }

    fn ended(&mut self, outcome: Option<Outcome>) -> Option<Halt> {
        let Some(outcome) = outcome else {
            return Some(Halt::Cannot(
                "a read was interrupted in this program".into(),
            ));
        };
        let Some((mut read, was_early)) = outcome else {
            return Some(self.context.control.halt_reason());
        };
        self.counts.ended(read.found);
        read.counts = self.counts;
        let stops = self.stops(&read, was_early);
        self.context.tell(RefreshEvent::Ended(Box::new(read)));
        stops
    }

    fn halted(&self, halt: &Halt) {
        self.context.tell(RefreshEvent::Halted(halt.clone()));
    }
}

impl Queue {
    fn stops(&mut self, read: &GroupRead, was_early: bool) -> Option<Halt> {
        let alarm = || Some(Halt::Alarm(read.user_group_id.clone()));
        match read.found {
            ReadResult::Unchanged | ReadResult::Changed | ReadResult::FirstSeen => {
                self.found = true;
                // Others may have failed since.
                if !was_early {
                    self.streak.succeeded();
                }
                None
            }
            ReadResult::CreatedAgain | ReadResult::Created
                if self.keep_going && !read.wrong_environment =>
            {
                None
            }
            ReadResult::CreatedAgain | ReadResult::Created | ReadResult::WrongEnvironment => {
                alarm()
            }
            ReadResult::Failed => match &read.failure {
                Some(failure) if concerns_all_reads(failure) => {
                    Some(Halt::Cannot(failure.to_string()))
                }
                _ => self.streak.failed(),
            },
        }
    }
}

/// Whether the next read would fail in the same way, or could not be recorded.
fn concerns_all_reads(failure: &Failure) -> bool {
    matches!(
        failure,
        Failure::Place(_)
            | Failure::Key(_)
            | Failure::KeyRefused { .. }
            | Failure::Client(_)
            | Failure::Forbidden { .. }
            | Failure::ReadOnly { .. }
            | Failure::NothingSent(_)
            | Failure::NotKept(_)
            | Failure::NotWritten(_)
    )
}

impl ReadContext {
    async fn read(self, id: UserGroupId, mut slot: Slot) -> Outcome {
        let begun = Instant::now();
        let mut patience = RetryBudget::new();
        let mut repeats = LOST_CREATE_REPEATS;
        loop {
            if !self.control.may_send().await {
                return None;
            }
            let mut from_here = None;
            let (seen, answer) = match self.operations.snapshot_before_get(&id).await {
                Ok(before) => {
                    let seen = before.known.clone();
                    let noted = before.open_before.noted;
                    // A group known only from files is in the plan only if a person vouched for it.
                    let unseen = seen.as_ref().is_some_and(|seen| seen.last_seen.is_none());
                    let assurance = if unseen {
                        UnknownIdPolicy::Exists
                    } else {
                        UnknownIdPolicy::KnownOnly
                    };
                    let reading = self.operations.look_up_with_snapshot(
                        before,
                        &id,
                        assurance,
                        Some(&mut slot),
                    );
                    let answer = Box::pin(reading).await;
                    from_here = answer.as_ref().ok().map(|lookup| FromHere {
                        fields: lookup.noted.fields > noted.fields,
                        token: lookup.noted.token > noted.token || lookup.token_is_ours,
                    });
                    (seen, answer.map(|lookup| lookup.done))
                }
                Err(error) => (None, Err(Failure::NothingSent(error))),
            };
            // Under the claim of a first read, whose answer was lost: the same read finds out what became of it.
            let is_first = seen.as_ref().is_none_or(|seen| seen.last_seen.is_none());
            let is_lost = matches!(&answer, Err(Failure::Unreachable(error)) if error.is_lost());
            if repeats > 0 && is_first && is_lost {
                repeats -= 1;
                continue;
            }
            if let Some(wait) = patience.put_off(&answer) {
                self.control.hold_for(wait);
                self.tell(RefreshEvent::Throttled(wait));
                continue;
            }
            let from_here = from_here.unwrap_or_default();
            let mut read = group_read(id, seen.as_ref(), answer, from_here);
            read.took = begun.elapsed();
            let tag = read.tag.as_ref();
            read.wrong_environment = self.operations.tag_alarm(tag).is_some();
            self.note(&read).await;
            return Some((read, slot.is_released()));
        }
    }

    /// Notes that the group was read. If that fails it is read once more when the refresh is resumed, and what was read is
    /// recorded all the same.
    async fn note(&self, read: &GroupRead) {
        if let Some(begun) = self.begun
            && !matches!(
                read.found,
                ReadResult::Failed | ReadResult::WrongEnvironment
            )
            && !read.wrong_environment
        {
            let (row, found) = (number(&read.user_group_id), read.found.as_str());
            drop(self.operations.directory().end_row(begun, row, found).await);
        }
    }

    /// Sends an event. The run does not depend on a receiver.
    fn tell(&self, news: RefreshEvent) {
        drop(self.news.send(news));
    }
}

/// What of a group was changed by this directory while it was being read: that is not news.
#[derive(Debug, Clone, Copy, Default)]
struct FromHere {
    fields: bool,
    token: bool,
}

fn group_read(
    id: UserGroupId,
    seen: Option<&KnownGroup>,
    answer: Result<Done, Failure>,
    from_here: FromHere,
) -> GroupRead {
    let mut read = GroupRead {
        user_group_id: id,
        done: None,
        found: ReadResult::Failed,
        elsewhere: RemoteChanges::default(),
        previous: None,
        fingerprint: None,
        tag: None,
        wrong_environment: false,
        warnings: Vec::new(),
        failure: None,
        took: std::time::Duration::ZERO,
        counts: Counts::default(),
    };
    let done = match answer {
        Ok(done) if done.warnings.iter().any(Warning::is_stale) => {
            read.failure = Some(Failure::Unreadable(Warning::StaleAnswer.to_string()));
            return read;
        }
        Ok(done) => done,
        Err(failure) => {
            read.failure = Some(failure);
            return read;
        }
    };
    let token = |group: &KnownGroup| group.fingerprint.as_ref().map(|known| known.value);
    let was_seen = seen.filter(|group| group.last_seen.is_some());
    read.elsewhere = seen.map_or_else(RemoteChanges::default, |seen| {
        RemoteChanges::between(seen, &done.group)
    });
    if from_here.fields {
        read.elsewhere.parts.clear();
    }
    read.elsewhere.token &= !from_here.token;
    read.previous = seen.and_then(token);
    read.fingerprint = token(&done.group);
    let tag = done.group.environment_tag.as_ref();
    read.tag = tag.map(|known| known.value.clone());
    read.found = if done.ending == Ending::CreatedByGet {
        match was_seen {
            Some(_) => ReadResult::CreatedAgain,
            None => ReadResult::Created,
        }
    } else if done.warnings.iter().any(Warning::is_wrong_environment) {
        ReadResult::WrongEnvironment
    } else if was_seen.is_none() {
        ReadResult::FirstSeen
    } else if read.elsewhere.is_empty() {
        ReadResult::Unchanged
    } else {
        ReadResult::Changed
    };
    read.warnings.clone_from(&done.warnings);
    read.done = Some(Box::new(done));
    read
}
