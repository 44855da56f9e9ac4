//! The last updates of a group, as its form names them: when, who, and what.

use crate::{
    domain::history::{Ending, Entry, Operation},
    operations::Numbered,
    tui::state::message::Pending,
};

/// What the history says of the group, once it was asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastUpdates {
    pub(crate) reading: Pending,
    was_asked: bool,
    /// Newest first.
    entries: Vec<Entry>,
}

impl LastUpdates {
    /// Whether the history is yet to be asked; from now on it is not.
    pub(crate) fn asks(&mut self) -> bool {
        !std::mem::replace(&mut self.was_asked, true)
    }

    /// They may be others by now.
    pub(crate) fn forget(&mut self) {
        self.was_asked = false;
    }

    /// Takes in what the history says.
    pub(crate) fn take(&mut self, entries: &[Numbered<Entry>]) {
        let entries = entries.iter().map(|numbered| &numbered.value);
        let done = entries.filter(|entry| {
            matches!(
                (entry.operation, entry.ending),
                (Operation::Create, Ending::Created)
                    | (Operation::Update, Ending::Updated)
                    | (
                        Operation::Rotate,
                        Ending::Confirmed
                            | Ending::Rotated
                            | Ending::Recovered
                            | Ending::Superseded
                    )
            )
        });
        let mut kept: Vec<Entry> = done.cloned().collect();
        // A rotation is told when it was answered and when it was confirmed: the newer one is enough.
        kept.dedup_by(|older, newer| {
            older.operation == Operation::Rotate
                && newer.operation == Operation::Rotate
                && older.fingerprint == newer.fingerprint
        });
        kept.truncate(KEPT);
        self.entries = kept;
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// More are never shown.
const KEPT: usize = 20;
