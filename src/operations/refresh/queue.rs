//! The groups to be read, one look-up each: the result of each, and whether the next may be read.

use std::collections::VecDeque;

use super::{GroupRead, Reading, Refresh, RefreshEvent, number};
use crate::{
    directory::ImportId,
    domain::{
        refresh::{Counts, ReadResult},
        remote_changes::RemoteChanges,
    },
    operations::{
        files::import::LOST_CREATE_REPEATS,
        prelude::*,
        run::{self, Consequence, Context, RetryBudget, RunLimits, Slot, Sum, TokenSink, Work},
    },
};

/// What every read needs.
#[derive(Clone)]
struct ReadContext {
    operations: Operations,
    /// Where the groups that were read are noted.
    begun: Option<ImportId>,
    /// Where the tokens go.
    keep: Option<Arc<dyn TokenSink>>,
    keep_going: bool,
}

pub(super) struct Queue {
    context: ReadContext,
    waiting: VecDeque<UserGroupId>,
    counts: Counts,
    /// Whether a group was found where it was expected, so that this is the right environment.
    found: bool,
}

impl Queue {
    pub(super) fn new(
        operations: Operations,
        begun: Option<ImportId>,
        plan: Refresh,
        keep_going: bool,
        keep: Option<Arc<dyn TokenSink>>,
    ) -> Self {
        Self {
            context: ReadContext {
                operations,
                begun,
                keep,
                keep_going,
            },
            counts: Counts {
                done_before: plan.done_before,
                not_started: plan.ids.len(),
                ..Counts::default()
            },
            waiting: plan.ids.into(),
            found: false,
        }
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    pub(super) async fn run(mut self, pace: RunLimits, run: Context<Reading>) {
        let mut halt = run::drive(&mut self, pace, &run).await;
        if let Some(begun) = self.context.begun
            && self.counts.is_complete()
            && let Err(error) = self.context.operations.end_import(begun).await
            && halt.is_none()
        {
            halt = Some(run.halted(Halt::Cannot(error.to_string())));
        }
        let counts = self.counts;
        run.tell(RefreshEvent::Finished(Sum { counts, halt }));
    }
}

impl Work for Queue {
    type Kind = Reading;
    type Item = UserGroupId;
    /// `None` if it was stopped before anything was sent.
    type Outcome = Option<GroupRead>;

    async fn next(&mut self) -> Result<Option<UserGroupId>, Halt> {
        Ok(self.waiting.pop_front())
    }

    /// One at a time, until the first group is found.
    fn is_alone(&self) -> bool {
        !self.found
    }

    fn begin(
        &self,
        id: UserGroupId,
        run: Context<Reading>,
        slot: Slot,
    ) -> BoxFuture<'static, Option<GroupRead>> {
        self.context.clone().read(id, run, slot).boxed()
    }

    fn ended(&mut self, read: Option<GroupRead>, run: &Context<Reading>) -> Consequence {
        let Some(mut read) = read else {
            return Consequence::NotStarted;
        };
        let is_lost = read.not_kept.is_some();
        let failed = is_lost.then_some(ReadResult::Failed);
        self.counts.ended(failed.unwrap_or(read.found));
        read.counts = self.counts;
        let consequence = self.consequence(&read);
        run.tell(RefreshEvent::Ended(Box::new(read)));
        consequence
    }
}

impl Queue {
    fn consequence(&mut self, read: &GroupRead) -> Consequence {
        if let Some(error) = &read.not_kept {
            let id = &read.user_group_id;
            let why = format!("the token of \"{id}\" was not written: {error}");
            return Consequence::Stop(Halt::Cannot(why));
        }
        match read.found {
            ReadResult::Unchanged | ReadResult::Changed | ReadResult::FirstSeen => {
                self.found = true;
                Consequence::Good
            }
            ReadResult::CreatedAgain | ReadResult::Created | ReadResult::WrongEnvironment
                if self.context.stops_at(read) =>
            {
                Consequence::Stop(Halt::Alarm(read.user_group_id.clone()))
            }
            ReadResult::CreatedAgain | ReadResult::Created | ReadResult::WrongEnvironment => {
                Consequence::Neutral
            }
            ReadResult::Failed => read.failure.as_ref().map_or(Consequence::Bad, Into::into),
        }
    }
}

impl ReadContext {
    async fn read(
        self,
        id: UserGroupId,
        run: Context<Reading>,
        mut slot: Slot,
    ) -> Option<GroupRead> {
        let begun = Instant::now();
        let mut patience = RetryBudget::new();
        let mut repeats = LOST_CREATE_REPEATS;
        // A first attempt that was sent.
        let mut lost = None;
        loop {
            if !run.control.may_send().await {
                return lost;
            }
            let mut from_here = None;
            let (seen, answer) = match self.operations.snapshot_before_get(&id).await {
                Ok(before) => {
                    let seen = before.known.clone();
                    let noted = before.open_before.noted;
                    // A group known only from files is in the plan only if a person vouched for it.
                    let unseen = seen.as_ref().is_some_and(|seen| !seen.is_seen());
                    let assurance = if unseen {
                        UnknownIdPolicy::Exists
                    } else {
                        UnknownIdPolicy::KnownOnly
                    };
                    let (of, slot) = (&self.operations, Some(&mut slot));
                    let reading = of.look_up_with_snapshot(before, &id, assurance, slot);
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
            let is_first = seen.as_ref().is_none_or(|seen| !seen.is_seen());
            let is_lost = matches!(&answer, Err(failure) if failure.is_lost_create());
            if repeats > 0 && is_first && is_lost {
                repeats -= 1;
                let none = FromHere::default();
                lost = Some(group_read(id.clone(), seen.as_ref(), answer, none));
                continue;
            }
            if run.is_held(patience.put_off(&answer)) {
                continue;
            }
            let from_here = from_here.unwrap_or_default();
            let mut read = group_read(id, seen.as_ref(), answer, from_here);
            let tag = read.tag.as_ref();
            read.wrong_environment = self.operations.tag_alarm(tag).is_some();
            read.took = begun.elapsed();
            self.keep(&mut read).await;
            self.note(&read).await;
            return Some(read);
        }
    }

    /// Whether the read raised an alarm that nothing may follow.
    fn stops_at(&self, read: &GroupRead) -> bool {
        match read.found {
            ReadResult::CreatedAgain | ReadResult::Created => {
                !self.keep_going || read.wrong_environment
            }
            ReadResult::WrongEnvironment => true,
            ReadResult::Unchanged
            | ReadResult::Changed
            | ReadResult::FirstSeen
            | ReadResult::Failed => false,
        }
    }

    /// Passes its token on, unless an alarm withholds it. A response without a token does not count as read.
    async fn keep(&self, read: &mut GroupRead) {
        if let (Some(keep), Some(done)) = (&self.keep, &read.done)
            && !done.withholds_token()
        {
            if done.token().is_some() {
                read.not_kept = run::keep(keep.clone(), done).await.err();
                if read.not_kept.is_none() {
                    self.operations.note_written(done).await;
                }
            } else {
                let why = "the response has no token; read it again";
                read.failure = Some(Failure::Unreadable(why.into()));
                read.found = ReadResult::Failed;
            }
        }
    }

    /// Notes that the group was read. If that fails it is read once more when the refresh is resumed, and what was read is
    /// recorded anyway.
    async fn note(&self, read: &GroupRead) {
        if let Some(begun) = self.begun
            && read.not_kept.is_none()
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
        not_kept: None,
        took: std::time::Duration::ZERO,
        counts: Counts::default(),
    };
    let done = match answer {
        Ok(done) if done.warnings.iter().any(Warning::is_stale) => {
            read.failure = Some(Failure::Stale(Warning::StaleAnswer));
            return read;
        }
        Ok(done) => done,
        Err(failure) => {
            read.failure = Some(failure);
            return read;
        }
    };
    let was_seen = seen.filter(|group| group.is_seen());
    read.elsewhere = seen.map_or_else(RemoteChanges::default, |seen| {
        RemoteChanges::between(seen, &done.group)
    });
    if from_here.fields {
        read.elsewhere.parts.clear();
    }
    read.elsewhere.token &= !from_here.token;
    read.previous = seen.and_then(KnownGroup::token);
    read.fingerprint = done.group.token();
    let tag = done.group.environment_tag.as_ref();
    read.tag = tag.map(|known| known.value.clone());
    read.found = if done.ending == Ending::CreatedByGet && was_seen.is_some() {
        ReadResult::CreatedAgain
    } else if done.ending == Ending::CreatedByGet {
        ReadResult::Created
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
