//! Who is changing which group right now: open intents, hand-offs included, whose process may still be working on them.

use std::sync::LazyLock;

use super::prelude::*;
use crate::{
    directory::{HandOffTaker, RunId},
    domain::{
        active_change::{ActiveChange, ChangeKind},
        rotation::settle_window,
    },
};

impl Operations {
    /// Returns what is being changed in this place, given its open rotations; open creates and updates are read here.
    pub async fn at_work(
        &self,
        rotations: &[RotationRow],
    ) -> Result<Vec<ActiveChange>, DirectoryError> {
        let changes = self.open_changes().await?;
        let rotating = rotations.iter().filter_map(|row| self.rotating(row));
        let changing = changes.iter().filter_map(|change| self.changing(change));
        Ok(rotating.chain(changing).collect())
    }

    fn rotating(&self, row: &RotationRow) -> Option<ActiveChange> {
        let kind = match row.rotation.state {
            _ if !self.is_rotation_in_progress(row) => return None,
            State::Rotated => ChangeKind::Confirming,
            _ => ChangeKind::Rotating,
        };
        let left = self.settle_window_left(row)?;
        let window = self.settle_window_of(row.settles_in);
        Some(ActiveChange {
            id: row.user_group_id.clone(),
            kind,
            by: row.by.clone(),
            age: window.saturating_sub(left),
            left,
        })
    }

    fn changing(&self, change: &Mutation) -> Option<ActiveChange> {
        // A rotation is listed from its own journal.
        let kind = match change.operation {
            _ if change.rotation.is_some() || !self.is_change_in_progress(change) => return None,
            Operation::Create => ChangeKind::Creating,
            Operation::Update => ChangeKind::Updating,
            Operation::Get => ChangeKind::FirstRead,
            Operation::Rotate | Operation::HandOff => return None,
        };
        let left = self.window_left(change);
        let window = self.settle_window_of(change.settles_in);
        Some(ActiveChange {
            id: change.user_group_id.clone(),
            kind,
            by: change.by.clone(),
            age: window.saturating_sub(left),
            left,
        })
    }

    /// Whether the process that began this rotation may still be working on it.
    pub(super) fn is_rotation_in_progress(&self, row: &RotationRow) -> bool {
        let moves = matches!(
            row.rotation.state,
            State::Intended | State::Sent | State::Rotated
        );
        moves && self.may_be_at_work(row)
    }

    /// Whether the process that began this rotation may be there, and the time for what it does is not over.
    fn may_be_at_work(&self, row: &RotationRow) -> bool {
        has_process(row) && self.settle_window_left(row).is_some()
    }

    /// Who may be handing the new token off: whoever has taken it, or else the process that rotated. A hand-off that has a
    /// note was tried by it; one that a guard forbids is not tried at all.
    pub(super) fn in_hand_for(&self, row: &RotationRow) -> Option<InHand> {
        if row.handoff.state != HandOffState::Pending {
            return None;
        }
        let now = self.moment();
        let (by, limit, since, is_taken) = match &row.taker {
            Some(taker) if has_ended(taker) => return None,
            Some(taker) => {
                let since = now.since_recorded(taker.boot_clock.as_ref(), taker.at);
                (&taker.by, taker.limit, since, true)
            }
            None if row.handoff.note.is_some() || !has_process(row) => return None,
            None => {
                let window = hand_off_window(self.profile());
                (&row.by, window, self.since_sent(row, &now), false)
            }
        };
        let left = limit.checked_sub(since)?;
        (!left.is_zero()).then(|| InHand {
            by: by.clone(),
            taken: is_taken.then_some(since),
            left,
        })
    }

    /// The same without what this process has rotated and not taken yet: it knows what it does itself.
    pub fn in_hand_elsewhere_for(&self, row: &RotationRow) -> Option<InHand> {
        let is_here = row.process.is_some() && row.process.as_deref() == process::this();
        let in_hand = self.in_hand_for(row);
        in_hand.filter(|in_hand| in_hand.taken.is_some() || !is_here)
    }

    /// As [`Self::is_rotation_in_progress`], for a create or an update.
    pub(super) fn is_change_in_progress(&self, change: &Mutation) -> bool {
        let moves = matches!(
            change.state,
            mutation::State::Intended | mutation::State::Sent
        );
        moves && !self.window_left(change).is_zero()
    }

    /// Whether a colleague may be working on this rotation: then nothing about it is left to this person.
    pub fn is_rotation_of_colleague(&self, row: &RotationRow) -> bool {
        row.by != self.operator() && self.is_rotation_in_progress(row)
    }

    /// As [`Self::is_rotation_of_colleague`], for a create or an update.
    pub fn is_change_of_colleague(&self, change: &Mutation) -> bool {
        change.by != self.operator() && self.is_change_in_progress(change)
    }
}

/// The hand-offs that this process runs.
static RUNNING: LazyLock<Mutex<HashSet<RunId>>> = LazyLock::new(Mutex::default);

/// A hand-off that runs until this is dropped.
pub(super) struct Running(RunId);

impl Running {
    pub(super) fn begin() -> Self {
        let run = RunId::random();
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.insert(run);
        Self(run)
    }

    pub(super) fn id(&self) -> RunId {
        self.0
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&self.0);
    }
}

/// Whether the run of a hand-off certainly is over.
fn has_ended(taker: &HandOffTaker) -> bool {
    if taker.process.is_some() && taker.process.as_deref() == process::this() {
        let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        return !running.contains(&taker.run);
    }
    taker.process.as_deref().and_then(process::has_ended) == Some(true)
}

/// Who is handing a new token off, or may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InHand {
    pub by: String,
    /// How long ago the hand-off began; `None` if its process has only rotated yet.
    pub taken: Option<Duration>,
    /// How much longer it may take.
    pub left: Duration,
}

impl fmt::Display for InHand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = visible(&self.by);
        match self.taken {
            Some(ago) => f.write_str(&hands_off(&by, ago))?,
            None => write!(f, "{by} rotated it and may be handing the new token off")?,
        }
        write!(f, ". Try again in {} s", self.left.as_secs() + 1)
    }
}

/// Who runs the command of a hand-off, and since when.
pub(super) fn hands_off(by: &str, ago: Duration) -> String {
    format!("{by} started to hand it off {} s ago", ago.as_secs())
}

/// How long a process may be handing a new token off, from the time when its rotation was sent.
pub(super) fn hand_off_window(profile: &Profile) -> Duration {
    if guard::forbidden(&profile.guards, Guarded::HandOff).is_some() {
        return Duration::ZERO;
    }
    let limit = profile.handoff.as_ref().map(|command| command.timeout);
    settle_window(profile.timeout) + limit.unwrap_or_default()
}

pub(super) fn has_process(row: &RotationRow) -> bool {
    row.process.as_deref().and_then(process::has_ended) != Some(true)
}
