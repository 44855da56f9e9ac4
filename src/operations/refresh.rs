//! Reading all known groups again: what changed elsewhere, and what had vanished. Every read is a look-up of its own; what
//! is done is what was seen since the reading began, so that an interrupted one goes on.

mod queue;

use std::{
    collections::{BTreeSet, HashSet},
    time::Duration,
};

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use super::{
    DirectoryError, Done, Failure, Guarded, Import, ImportId, Operations, UnknownIdPolicy, Warning,
    batch::concurrency::{Control, RunLimits},
};
use crate::domain::{
    batch::Halt,
    group::{EnvironmentTag, UserGroupId},
    refresh::{Counts, ReadResult},
    remote_changes::RemoteChanges,
    token::Fingerprint,
};

/// Which groups are read, and which are not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refresh {
    /// To be read: first those that were seen at the service, each part by id.
    pub ids: Vec<UserGroupId>,
    /// Seen since the reading began.
    pub done_before: usize,
    /// Only files have told of them: to read one that does not exist would create it.
    pub never_seen: usize,
    /// They are among `ids`.
    pub with_never_seen: bool,
}

impl Refresh {
    /// How many of the groups to be read were never seen at the service.
    pub fn unseen(&self) -> usize {
        if self.with_never_seen {
            self.never_seen
        } else {
            0
        }
    }
}

/// Events of a reading, in order. It never waits for a reader.
#[derive(Debug)]
pub enum RefreshEvent {
    /// The service asked to be left alone so long; nothing is sent meanwhile.
    Throttled(Duration),
    Ended(Box<GroupRead>),
    /// Nothing new is begun any more; what is in flight is finished.
    Halted(Halt),
    /// The last one.
    Finished {
        counts: Counts,
        halt: Option<Halt>,
    },
}

/// What came of one group.
#[derive(Debug)]
pub struct GroupRead {
    pub user_group_id: UserGroupId,
    /// The answer, with its token, where there was one that can be relied on.
    pub done: Option<Box<Done>>,
    pub found: ReadResult,
    pub elsewhere: RemoteChanges,
    pub previous: Option<Fingerprint>,
    pub fingerprint: Option<Fingerprint>,
    pub tag: Option<EnvironmentTag>,
    /// That tag is not the one the profile says, whatever else was found (hazard 11).
    pub wrong_environment: bool,
    pub warnings: Vec<Warning>,
    pub failure: Option<Failure>,
    pub took: Duration,
    /// All of them as they stand after it.
    pub counts: Counts,
}

/// A reading under way. It goes on when this is dropped.
#[derive(Debug)]
pub struct RefreshRun {
    pub control: Control,
    pub progress: mpsc::UnboundedReceiver<RefreshEvent>,
}

/// What stands for a reading in the journal, where a file has the digest of its rows: of all groups, or of those that a
/// filter finds.
fn digest(filter: &str) -> [u8; 32] {
    let all = Sha256::new().chain_update("read all known groups");
    all.chain_update(filter).finalize().into()
}

impl Operations {
    /// Which groups a reading would read; nothing is sent or written. `since`: those seen from then on are done;
    /// `of`: no others than these.
    pub async fn plan_refresh(
        &self,
        since: Option<Timestamp>,
        with_never_seen: bool,
        of: Option<&BTreeSet<UserGroupId>>,
    ) -> Result<Refresh, DirectoryError> {
        let (news, mut pieces) = mpsc::unbounded_channel();
        let reading = self.each_group(move |groups| {
            let ids = groups.into_iter().map(|group| (group.id, group.last_seen));
            news.send(ids.collect::<Vec<_>>()).is_ok()
        });
        reading.await?;
        let mut plan = Refresh {
            with_never_seen,
            ..Refresh::default()
        };
        let mut unseen = Vec::new();
        while let Some(piece) = pieces.recv().await {
            for (id, last_seen) in piece {
                if of.is_some_and(|of| !of.contains(&id)) {
                    continue;
                }
                match last_seen {
                    Some(at) if since.is_some_and(|since| at >= since) => plan.done_before += 1,
                    Some(_) => plan.ids.push(id),
                    None => unseen.push(id),
                }
            }
        }
        plan.never_seen = unseen.len();
        if with_never_seen {
            plan.ids.append(&mut unseen);
        }
        Ok(plan)
    }

    /// As [`Operations::plan_refresh`], of these groups in their order, each once. Where a person named them, one that is not
    /// known here, or only from a file while those are not meant, is refused; else it is left out.
    pub async fn plan_reading(
        &self,
        wanted: &[UserGroupId],
        with_never_seen: bool,
        are_named: bool,
    ) -> Result<Refresh, Failure> {
        let known = self.show_all(wanted).await.map_err(Failure::NothingSent)?;
        let mut plan = Refresh {
            with_never_seen,
            ..Refresh::default()
        };
        let mut planned = HashSet::new();
        for (id, group) in wanted.iter().zip(known) {
            if !planned.insert(id) {
                continue;
            }
            let is_seen = group
                .as_ref()
                .is_some_and(|group| group.last_seen.is_some());
            plan.never_seen += usize::from(!is_seen);
            if is_seen || with_never_seen && group.is_some() {
                plan.ids.push(id.clone());
            } else if are_named {
                self.known(id, UnknownIdPolicy::KnownOnly).await?;
            }
        }
        Ok(plan)
    }

    /// The reading of this place, of what this filter finds or of all, that was begun and is not finished.
    pub async fn open_refresh(&self, filter: &str) -> Result<Option<Import>, DirectoryError> {
        self.directory()
            .open_import(self.place().await?, digest(filter))
            .await
    }

    /// Writes down that a reading begins; one that was not finished is given up.
    pub async fn begin_refresh(&self, filter: &str) -> Result<Import, DirectoryError> {
        if let Some(before) = self.open_refresh(filter).await? {
            self.end_import(before.id).await?;
        }
        self.begin_import(digest(filter)).await
    }

    /// Refuses what the profile forbids: ids that no answer ever spoke of may be created by reading them, and who goes on
    /// past what had vanished means to create it.
    pub fn refresh_permitted(&self, plan: &Refresh, keep_going: bool) -> Result<(), Failure> {
        if keep_going || plan.unseen() > 0 {
            self.permitted(Guarded::Create)?;
            self.not_too_many(plan.unseen())?;
        }
        Ok(())
    }

    /// Reads what is left. The first group is read alone until one was found, so that with the wrong environment no more
    /// than one is created; a group that had vanished stops it, unless it is to go on. `begun`: what is to be ended in the
    /// journal with it.
    pub fn run_refresh(
        &self,
        begun: Option<ImportId>,
        plan: Refresh,
        pace: RunLimits,
        keep_going: bool,
    ) -> Result<RefreshRun, Failure> {
        self.refresh_permitted(&plan, keep_going)?;
        let control = Control::default();
        let (news, progress) = mpsc::unbounded_channel();
        let queue = queue::Queue::new(self.clone(), plan, keep_going, control.clone(), news);
        tokio::spawn(queue.run(begun, pace));
        Ok(RefreshRun { control, progress })
    }
}
