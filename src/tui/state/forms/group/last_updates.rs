//! The recent changes of a group as its form lists them: when, who, and what.

use crate::{
    domain::history::{Ending, Entry, Operation},
    operations::Numbered,
    tui::state::message::Pending,
};

/// Recent history of the group, once it was requested.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastUpdates {
    pub(crate) reading: Pending,
    was_asked: bool,
    /// Newest first.
    entries: Vec<Entry>,
}

impl LastUpdates {
    /// Whether the history has yet to be requested; marks it as requested.
    pub(crate) fn must_request(&mut self) -> bool {
        !std::mem::replace(&mut self.was_asked, true)
    }

    /// Makes the next [`Self::must_request`] return true, because the history may have changed.
    pub(crate) fn invalidate(&mut self) {
        self.was_asked = false;
    }

    /// Keeps the successful changes of these history entries.
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
        // A rotation has an entry for its answer and one for its confirmation: the newer one is enough.
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

/// Maximum number of entries that are shown.
const KEPT: usize = 20;
