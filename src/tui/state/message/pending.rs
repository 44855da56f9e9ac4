//! The answer that a pane waits for. [`Context`](crate::tui::state::context::Context) requests and cancels it.

use std::cell::Cell;

use super::Ticket;

/// The ticket of the requested job until it is answered. In a `Cell`, so that a shared reference to a pane is enough to
/// record the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pending(Cell<Option<Ticket>>);

impl Pending {
    pub fn is_waiting(&self) -> bool {
        self.0.get().is_some()
    }

    pub fn waits_for(&self, ticket: Ticket) -> bool {
        self.0.get() == Some(ticket)
    }

    /// The job that is waited for.
    pub fn ticket(&self) -> Option<Ticket> {
        self.0.get()
    }

    /// Waits for this job from now on.
    pub fn begin(&self, ticket: Ticket) {
        self.0.set(Some(ticket));
    }

    /// Records that the job has ended, successfully or not.
    pub fn end(&self, ticket: Ticket) {
        if self.waits_for(ticket) {
            self.0.take();
        }
    }

    /// Stops waiting.
    pub fn take(&self) -> Option<Ticket> {
        self.0.take()
    }
}
