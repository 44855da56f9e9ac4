//! The answer that a pane waits for. [`Context`](crate::tui::state::context::Context) asks for it and gives it up.

use std::cell::Cell;

use super::Ticket;

/// The ticket of the job that is asked, as long as it is not answered. In a cell, so that whoever may look at a pane can
/// note that the answer has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pending(Cell<Option<Ticket>>);

impl Pending {
    pub fn is_waiting(&self) -> bool {
        self.0.get().is_some()
    }

    pub fn waits_for(&self, ticket: Ticket) -> bool {
        self.0.get() == Some(ticket)
    }

    /// The job it waits for.
    pub fn ticket(&self) -> Option<Ticket> {
        self.0.get()
    }

    /// Waits for this one from now on.
    pub fn begin(&self, ticket: Ticket) {
        self.0.set(Some(ticket));
    }

    /// The job has ended, well or not.
    pub fn end(&self, ticket: Ticket) {
        if self.waits_for(ticket) {
            self.0.take();
        }
    }

    /// Waits no longer.
    pub fn take(&self) -> Option<Ticket> {
        self.0.take()
    }
}
