//! A batch as stored in the directory: a queue of single rotations (docs/design/rotation.md, "Bulk"), or of single
//! updates that make one change.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{MutationId, RotationId};
use crate::{
    domain::{
        batch::{BatchKind, Counts, ItemEdit, ItemStatus, LastRun, NOT_IN_FILE, Runner},
        group::UserGroupId,
        handoff::HandOff,
        history::Ending,
        mutation,
        operation_record::followed_by,
        rotation::State,
        token::Fingerprint,
    },
    platform::boot_time::BootTime,
};

/// Number of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BatchId(pub i64);

/// A batch to create.
#[derive(Debug, Clone)]
pub struct NewBatch {
    pub by: String,
    pub reason: Option<String>,
    pub at: Timestamp,
    pub kind: BatchKind,
    /// The last number of the directory when the groups were selected.
    pub noted: i64,
    pub options: BatchOptions,
    /// In the order in which they will be worked on; each id at most once. For an edit, each item has its review.
    pub items: Vec<(UserGroupId, Option<ItemEdit>)>,
}

/// What its command was told about how to run it, so that a retry keeps it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BatchOptions {
    pub concurrency: Option<u16>,
    /// Maximum number of items started per second.
    pub rate: Option<f64>,
    pub stop_after: Option<u16>,
    /// The new tokens are written to a file.
    pub token_out: bool,
    /// The profile that began it hands the new tokens off.
    pub hands_off: bool,
}

/// Identifies an item: its batch, and its position in it, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ItemKey {
    pub batch: BatchId,
    pub position: usize,
}

/// The current state of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    pub id: BatchId,
    pub by: String,
    pub reason: Option<String>,
    pub started_at: Timestamp,
    pub kind: BatchKind,
    /// The last number of the directory when the groups were selected; 0 if there were no numbers yet.
    pub noted: i64,
    /// `None` while something is left to do.
    pub ended_at: Option<Timestamp>,
    pub counts: Counts,
    /// Number of its new tokens that are not handed off yet.
    pub not_handed_off: usize,
    /// Number of its new tokens that are not in the file that it writes them to.
    pub unwritten: usize,
    /// What was recorded at the end of its last run; `None` if nothing was, or if nothing stopped it.
    pub last_run: Option<LastRun>,
    /// Runs whose end was not recorded, the one with the latest heartbeat first.
    pub runs: Vec<BatchRun>,
    /// Who is working on it, or was until the process died; filled in by `operations`, which has a clock.
    pub runner: Option<Runner>,
    /// Why a retry would take none of its groups; filled in by `operations` where a retry is proposed.
    pub no_retry: Option<String>,
}

impl Batch {
    /// Whether a retry would take any of its groups.
    pub fn can_be_retried(&self) -> bool {
        self.counts.not_applied > 0 && self.no_retry.is_none()
    }

    /// Whether its last run began but never recorded its end.
    pub(crate) fn is_begun(&self) -> bool {
        self.last_run == Some(LastRun::Begun)
    }

    /// Its counts as a sentence.
    pub fn in_words(&self) -> String {
        let counts = self.counts.in_words_of(&self.kind);
        let waiting = [
            (self.not_handed_off, "not handed off"),
            (self.unwritten, NOT_IN_FILE),
        ];
        let waiting = waiting.into_iter().filter(|(count, _)| *count > 0);
        waiting.fold(counts, |counts, (count, what)| {
            format!("{counts}; {count} {what}")
        })
    }

    /// Whether a group of it is to be begun, settled or confirmed.
    pub fn is_anything_left(&self) -> bool {
        let counts = &self.counts;
        counts.not_started + counts.unknown + counts.rotated > 0
    }

    /// Whether some process is working on it or has paused it.
    pub fn is_run(&self) -> bool {
        self.runner.as_ref().is_some_and(Runner::is_alive)
    }

    /// Describes who is working on it, or why its last run began nothing more.
    pub fn last_run_in_words(&self, moment: impl Fn(Timestamp) -> String) -> Option<String> {
        let runner = self.runner.as_ref().map(|runner| runner.in_words(moment));
        runner.or_else(|| self.last_run.as_ref().map(LastRun::to_string))
    }
}

/// Random number of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunId(pub i64);

impl RunId {
    /// The number of a new run. Without randomness, two runs may be taken for one.
    pub(crate) fn random() -> Self {
        let mut number = [0; 8];
        let _ = getrandom::fill(&mut number);
        Self(i64::from_le_bytes(number))
    }
}

/// A run of a batch by some process, and its last heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRun {
    pub id: RunId,
    pub by: String,
    /// Identifies its process on its own machine.
    pub process: Option<String>,
    pub is_paused: bool,
    /// Since when it has been running or paused.
    pub since: Timestamp,
    pub seen: Timestamp,
    pub boot_clock: Option<BootTime>,
    /// Whether its person may record nothing any more, according to a team's database.
    pub is_revoked: bool,
}

/// A heartbeat of a run.
#[derive(Debug, Clone)]
pub struct Heartbeat {
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
    /// The current state of that rotation in the journal.
    pub state: Option<State>,
    /// The update, for an edit; set when the request is about to be sent.
    pub update: Option<ItemUpdate>,
    /// For an edit: what was reviewed, and the wanted value. `None` if it cannot be read.
    pub edit: Option<ItemEdit>,
    /// How its update ended, or how it ended before anything was sent.
    pub ending: Option<Ending>,
    /// The last observation, as text.
    pub note: Option<String>,
    pub previous: Option<Fingerprint>,
    pub fingerprint: Option<Fingerprint>,
    /// Who began its rotation or update, and when it was sent.
    pub by: Option<String>,
    pub at: Option<Timestamp>,
    /// Where the hand-off of its new token stands.
    pub handoff: HandOff,
    /// Whether its new token is not in the file that the batch writes them to.
    pub unwritten: bool,
    /// Why its outcome was unknown at first, if it was.
    pub cause: Option<String>,
}

/// The update of an item, and its current state in the journal.
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

    /// What becomes of its group, as in "NOT rotated".
    pub fn changed(&self) -> &'static str {
        if self.edit.is_some() || self.update.is_some() {
            "updated"
        } else {
            "rotated"
        }
    }

    /// Whether its new token is in place but has not arrived where it was to be handed off.
    pub fn is_not_handed_off(&self) -> bool {
        self.status().is_not_handed_off(self.handoff.state)
    }

    /// What was observed, the first cause before the last observation; a token that has not arrived
    /// comes instead of both, and after them if the rotation was abandoned.
    pub fn story(&self) -> Option<String> {
        let standing = self.is_not_handed_off().then(|| self.handoff.standing());
        if standing.is_some() && self.status() != ItemStatus::Abandoned {
            return standing;
        }
        let observed = match (&self.cause, &self.note) {
            (Some(cause), Some(note)) if !note.contains(cause.as_str()) => {
                Some(followed_by(cause, note))
            }
            (cause, note) => note.clone().or(cause.clone()),
        };
        let unwritten = self.unwritten.then(|| NOT_IN_FILE.to_owned());
        let parts = [observed, standing, unwritten].into_iter().flatten();
        parts.reduce(|all, part| followed_by(&all, &part))
    }

    /// Whether its rotation or update has an unknown outcome.
    pub fn is_open(&self) -> bool {
        let update = self.update.is_some_and(|update| update.state.is_open());
        update || self.state.is_some_and(State::is_open)
    }

    /// The word used in reports: the state of its rotation, or how it ended without one.
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
