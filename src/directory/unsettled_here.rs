//! Counts changes that this process has sent and whose outcome is not recorded: the one thing that a report of an
//! internal error must mention. There is one count per process, and a panic reads it without waiting for a lock.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{MutationStep, Record, RotationStep};
use crate::domain::{mutation, rotation};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Row {
    Mutation(i64),
    Rotation(i64),
}

static ROWS: Mutex<BTreeSet<Row>> = Mutex::new(BTreeSet::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Whether a change of this process may be in flight, or may have taken effect without being recorded.
pub fn has_unsettled_here() -> bool {
    COUNT.load(Ordering::SeqCst) > 0
}

/// How one step of a change affects the count.
pub(super) struct CountedStep {
    row: Row,
    begins: bool,
    ends: bool,
}

impl CountedStep {
    pub(super) fn of_all(records: &[Record]) -> Vec<Self> {
        let steps = records.iter().flat_map(|record| {
            let rotation = record.rotation.as_ref().map(Self::of_rotation);
            let mutation = record.mutation.as_ref().map(Self::of_mutation);
            rotation.into_iter().chain(mutation)
        });
        steps.collect()
    }

    fn of_rotation(step: &RotationStep) -> Self {
        let after = step.after.state;
        Self::of(
            Row::Rotation(step.id.0),
            after == rotation::State::Sent,
            // A new token in the answer is an outcome; reading it back changes nothing.
            !after.is_open() || after == rotation::State::Rotated,
        )
    }

    pub(super) fn of_mutation(step: &MutationStep) -> Self {
        Self::of(
            Row::Mutation(step.id.0),
            step.to == mutation::State::Sent,
            !step.to.is_open(),
        )
    }

    /// Called before the step is written: a request about to be sent counts from here on, even if its caller has gone.
    fn of(row: Row, begins: bool, ends: bool) -> Self {
        if begins {
            change(|rows| rows.insert(row));
        }
        Self { row, begins, ends }
    }

    /// Called after the write: a beginning that was refused sends nothing, and an end that was not recorded does not
    /// count.
    pub(super) fn written(self, is_written: bool) {
        let is_over = if is_written { self.ends } else { self.begins };
        if is_over {
            change(|rows| rows.remove(&self.row));
        }
    }
}

fn change(how: impl FnOnce(&mut BTreeSet<Row>) -> bool) {
    let mut rows = ROWS.lock().unwrap_or_else(PoisonError::into_inner);
    how(&mut rows);
    COUNT.store(rows.len(), Ordering::SeqCst);
}
