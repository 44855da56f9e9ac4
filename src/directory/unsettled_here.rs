//! Changes that this process has sent and whose end is not written down: the one thing that an error of the program itself
//! must tell of. One count for the process; a panic reads it without waiting for anybody.

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

/// Whether a change of this process may be in flight, or took effect without anything written down of it.
pub fn has_unsettled_here() -> bool {
    COUNT.load(Ordering::SeqCst) > 0
}

/// What one step of a change means for it.
pub(super) struct Noted {
    row: Row,
    begins: bool,
    ends: bool,
}

impl Noted {
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

    /// Before the step is written down: what is about to leave counts from here on, whoever is there to hear of it.
    fn of(row: Row, begins: bool, ends: bool) -> Self {
        if begins {
            change(|rows| rows.insert(row));
        }
        Self { row, begins, ends }
    }

    /// After it: a beginning that was refused sends nothing, and an end that was not written down is none.
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
