//! Refresh: reads all known groups again to find what changed elsewhere and what has vanished. Each read is a look-up
//! of its own. The journal of a refresh names the groups that it has read, so that an interrupted one can be continued: no
//! clock decides which they are.

mod queue;

use std::{collections::BTreeSet, io};

use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use super::{
    Import, ImportId,
    prelude::*,
    run::{self, Context, RunLimits, TokenSink},
};
use crate::domain::{
    refresh::{Counts, ReadResult},
    remote_changes::RemoteChanges,
};

/// Which groups will be read, and which will not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refresh {
    /// The groups to read: those that were seen at the service come first, and both parts are ordered by id.
    pub ids: Vec<UserGroupId>,
    /// Number of groups that an earlier run of the refresh has read.
    pub done_before: usize,
    /// Number of groups known only from files: reading one that does not exist would create it.
    pub never_seen: usize,
    /// Whether `ids` includes them.
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

/// Reading groups.
#[derive(Debug, Clone)]
pub struct Reading;

impl run::Kind for Reading {
    type Key = UserGroupId;
    type End = GroupRead;
    type Sum = run::Sum<Counts>;
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

pub type RefreshEvent = run::Event<Reading>;

/// The result for one group.
#[derive(Debug)]
pub struct GroupRead {
    pub user_group_id: UserGroupId,
    /// The answer with its token, if there was a reliable one.
    pub done: Option<Box<Done>>,
    pub found: ReadResult,
    pub elsewhere: RemoteChanges,
    pub previous: Option<Fingerprint>,
    pub fingerprint: Option<Fingerprint>,
    pub tag: Option<EnvironmentTag>,
    /// The tag is not the one that the profile expects, whatever else was found (hazard 11).
    pub wrong_environment: bool,
    pub warnings: Vec<Warning>,
    pub failure: Option<Failure>,
    /// Its token was to be kept, and could not be.
    pub not_kept: Option<io::Error>,
    pub took: Duration,
    /// Counts over all groups after this one.
    pub counts: Counts,
}

/// Identifies a refresh in the journal, where an import has the digest of its file: one for all groups, or for those
/// that a filter finds.
fn digest(filter: &str) -> [u8; 32] {
    let all = Sha256::new().chain_update("read all known groups");
    all.chain_update(filter).finalize().into()
}

/// The number of a group in the journal of a refresh, where an import has the number of a row.
fn number(id: &UserGroupId) -> usize {
    let digest: [u8; 32] = Sha256::digest(id.as_str()).into();
    let first = digest.iter().take(size_of::<usize>());
    let number = first.fold(0, |number, byte| number << 8 | usize::from(*byte));
    // The database has signed numbers and counts from 1.
    (number >> 1).max(1)
}

impl Operations {
    /// Returns which groups a refresh would read; nothing is sent or written. What `resumed` has read is
    /// done; `of` limits the refresh to these groups.
    pub async fn plan_refresh(
        &self,
        resumed: Option<&Import>,
        with_never_seen: bool,
        of: Option<&BTreeSet<UserGroupId>>,
    ) -> Result<Refresh, DirectoryError> {
        let (news, mut pieces) = mpsc::unbounded_channel();
        let reading = self.each_group_from(false, move |groups| {
            let ids = groups.into_iter().map(|group| (group.is_seen(), group.id));
            news.send(ids.collect::<Vec<_>>()).is_ok()
        });
        reading.await?;
        let mut plan = Refresh {
            with_never_seen,
            ..Refresh::default()
        };
        let done = resumed.into_iter().flat_map(|begun| &begun.done);
        let done: HashSet<usize> = done.copied().collect();
        let mut unseen = Vec::new();
        while let Some(piece) = pieces.recv().await {
            for (is_seen, id) in piece {
                if of.is_some_and(|of| !of.contains(&id)) {
                    continue;
                }
                if done.contains(&number(&id)) {
                    plan.done_before += 1;
                } else if is_seen {
                    plan.ids.push(id);
                } else {
                    unseen.push(id);
                }
            }
        }
        plan.never_seen = unseen.len();
        if with_never_seen {
            plan.ids.append(&mut unseen);
        }
        Ok(plan)
    }

    /// As [`Operations::plan_refresh`], for these groups in this order without duplicates. If the operator named them,
    /// an unknown group is refused, and so is one known only from a file unless those are included; otherwise they are
    /// left out.
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
            let is_seen = group.as_ref().is_some_and(KnownGroup::is_seen);
            plan.never_seen += usize::from(!is_seen);
            if is_seen || with_never_seen && group.is_some() {
                plan.ids.push(id.clone());
            } else if are_named {
                self.known(id, UnknownIdPolicy::KnownOnly).await?;
            }
        }
        Ok(plan)
    }

    /// Returns the unfinished refresh of this place for this filter (or for all groups), if there is one.
    pub async fn open_refresh(&self, filter: &str) -> Result<Option<Import>, DirectoryError> {
        self.open_import(digest(filter)).await
    }

    /// Records that a refresh begins; the operator's unfinished one is given up, never one of a colleague.
    pub async fn begin_refresh(&self, filter: &str) -> Result<Import, DirectoryError> {
        self.begin_import(digest(filter), true).await
    }

    /// Refuses what the profile forbids. Reading ids that were never seen may create them, and continuing past vanished
    /// groups means to create them, so both need permission to create.
    pub fn refresh_permitted(&self, plan: &Refresh, keep_going: bool) -> Result<(), Failure> {
        if keep_going || plan.unseen() > 0 {
            self.permitted(Guarded::Create)?;
            self.check_bulk_limit(plan.unseen())?;
        }
        Ok(())
    }

    /// Reads what is left, and passes the tokens to `keep`. Groups are read one at a time until the first one is found, so
    /// that in a wrong environment no more than one is created; a vanished group stops the refresh unless `keep_going` is
    /// set. `begun` is the journal entry that notes what was read and is closed when all is.
    pub fn run_refresh(
        &self,
        begun: Option<ImportId>,
        plan: Refresh,
        pace: RunLimits,
        keep_going: bool,
        keep: Option<Arc<dyn TokenSink>>,
    ) -> Result<run::Run<Reading>, Failure> {
        self.refresh_permitted(&plan, keep_going)?;
        let queue = queue::Queue::new(self.clone(), begun, plan, keep_going, keep);
        let (context, run) = Context::new(queue.counts());
        tokio::spawn(queue.run(pace, context));
        Ok(run)
    }
}
