//! A batch as it goes into the directory and comes out of it: a queue of single rotations (docs/design/rotation.md,
//! "Bulk"), or of single updates that make one change.

mod requests;

use jiff::Timestamp;

use super::{MutationId, RotationId};
use crate::{
    domain::{
        batch::{BatchKind, Counts, ItemEdit, ItemStatus, LastRun, Runner},
        group::UserGroupId,
        history::Ending,
        mutation,
        rotation::State,
        token::Fingerprint,
    },
    platform::boot_time::BootTime,
};

/// Number of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId(pub i64);

/// A batch to begin.
#[derive(Debug, Clone)]
pub struct NewBatch {
    pub by: String,
    pub reason: Option<String>,
    pub at: Timestamp,
    pub kind: BatchKind,
    /// In the order in which they are to be worked on; no id twice. Of an edit each says what was reviewed.
    pub items: Vec<(UserGroupId, Option<ItemEdit>)>,
}

/// Which item: its batch, and its number in it from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ItemKey {
    pub batch: BatchId,
    pub position: usize,
}

/// A batch as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    pub id: BatchId,
    pub by: String,
    pub reason: Option<String>,
    pub started_at: Timestamp,
    pub kind: BatchKind,
    /// `None` while something is left to do.
    pub ended_at: Option<Timestamp>,
    pub counts: Counts,
    /// What was written down of its last run; `None`: nothing, or it stopped at nothing.
    pub last_run: Option<LastRun>,
    /// Its runs whose end was not written down, the one heard of last first.
    pub runs: Vec<BatchRun>,
    /// Who works on it, or did until the process died; told by `operations`, which has a clock.
    pub runner: Option<Runner>,
}

impl Batch {
    /// Its last run began, and nobody wrote down how it ended.
    pub(crate) fn is_begun(&self) -> bool {
        self.last_run == Some(LastRun::Begun)
    }

    /// Somebody's process is at work on it, or is paused.
    pub fn is_run(&self) -> bool {
        self.runner.as_ref().is_some_and(Runner::is_alive)
    }

    /// Who works on it, or why its last run began nothing more.
    pub fn last_run_in_words(&self, moment: impl Fn(Timestamp) -> String) -> Option<String> {
        let runner = self.runner.as_ref().map(|runner| runner.in_words(moment));
        runner.or_else(|| self.last_run.as_ref().map(LastRun::to_string))
    }
}

/// Number of a run, drawn at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunId(pub i64);

/// A run of a batch by some process, and when that was last heard of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRun {
    pub id: RunId,
    pub by: String,
    /// The name of its process, for its own machine.
    pub process: Option<String>,
    pub is_paused: bool,
    /// Since when it runs, or is paused.
    pub since: Timestamp,
    pub seen: Timestamp,
    pub boot_clock: Option<BootTime>,
}

/// What a run says of itself now and then.
#[derive(Debug, Clone)]
pub struct RunBeat {
    pub batch: BatchId,
    pub run: RunId,
    pub is_paused: bool,
    pub at: Timestamp,
}

/// One group of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchItem {
    pub key: ItemKey,
    pub user_group_id: UserGroupId,
    /// Set together with the intent: from then on nothing is sent for this item again.
    pub rotation: Option<RotationId>,
    /// Where that rotation stands in the journal now.
    pub state: Option<State>,
    /// Its update, of an edit; set when the request is about to leave.
    pub update: Option<ItemUpdate>,
    /// Of an edit: what was reviewed, and what the row is to be. `None` where that cannot be read.
    pub edit: Option<ItemEdit>,
    /// How its update ended, or how it ended before anything was sent.
    pub ending: Option<Ending>,
    /// The last thing that was seen, in words.
    pub note: Option<String>,
    pub previous: Option<Fingerprint>,
    pub fingerprint: Option<Fingerprint>,
}

/// The update of an item, and where it stands in the journal now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemUpdate {
    pub id: MutationId,
    pub state: mutation::State,
}

impl BatchItem {
    pub fn status(&self) -> ItemStatus {
        match self.update {
            Some(update) => ItemStatus::of_update(update.state, self.ending),
            None => ItemStatus::of(self.state, self.ending),
        }
    }

    /// Its rotation or its update has an end that is not known.
    pub fn is_open(&self) -> bool {
        let update = self.update.is_some_and(|update| update.state.is_open());
        update || self.state.is_some_and(State::is_open)
    }

    /// The word of reports: of its rotation's state, or of how it ended without one.
    pub fn outcome(&self) -> &'static str {
        match (self.state, self.ending) {
            (None, None) if self.update.is_some() => match self.status() {
                ItemStatus::UnderWay => State::Sent.as_str(),
                _ => State::Unknown.as_str(),
            },
            (Some(state), _) => state.as_str(),
            (None, Some(ending)) => ending.as_str(),
            (None, None) => "not_started",
        }
    }
}
