//! What is exchanged between the state and the work: messages in, effects out, jobs with a ticket, outcomes.
//! Plain data.
//!
//! The answer that a pane waits for. [`Context`](crate::tui::state::context::Context) requests and cancels it.

mod jobs;
mod outcome;

pub(in crate::tui) use jobs::job_table;
pub use jobs::{Job, JobSpec};
pub use outcome::{JobError, Outcome};

use std::{cell::Cell, time::Duration};

use crossterm::event::{KeyEvent, MouseEvent};

use crate::{
    domain::{
        batch::{BulkChange, StopCause},
        group::UserGroupId,
        token::Token,
    },
    operations::{
        BatchId, ChangeCursor, Changes, ClaimHolder, RecordedExchange,
        batch::{BatchEvent, RunCommand},
    },
    tui::state::{groups::Listing, outage::OutageReason},
};

/// Identifies a job. Allocated before the job starts, so that late answers are harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// The profile of a job: its index in the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProfileIndex(pub usize);

/// An event for the console.
#[derive(Debug)]
pub enum Msg {
    Key(KeyEvent),
    /// Keys that arrived at once, as a paste without brackets does.
    Burst(Vec<KeyEvent>),
    /// Bracketed paste: text for the focused field, never treated as keys.
    Paste(String),
    /// Only if the configuration enables the mouse.
    Mouse(MouseEvent),
    Resize(u16, u16),
    /// Background colour of the terminal: red, green and blue.
    Background(u8, u8, u8),
    Done(Ticket, Outcome),
    /// The first groups of a list, to be shown at once; the rest comes when the job ends.
    FirstRows(Ticket, Box<Listing>),
    /// How many groups have been read.
    ReadProgress(Ticket, usize),
    /// Events of a bulk rotation since the last message, in order; the rotation continues.
    BatchEvents(Ticket, Vec<BatchEvent>),
    /// The job waits for a group that somebody else is changing.
    Waiting(Box<ClaimHolder>),
    /// The external editor has ended: the edited text, or why nothing is taken over.
    Edited(Ticket, Result<String, String>),
    /// Requests and responses since the last message; without secrets.
    Exchanged(Vec<RecordedExchange>),
    /// Changes by others in the place of this profile.
    Changed(ProfileIndex, Box<Changes>),
    /// The directory of this profile has been unavailable for this long, and why; `None`: it is available again.
    DirectoryState(ProfileIndex, Option<(Duration, OutageReason)>),
    /// The job panicked; what it did is unknown.
    JobPanicked(Ticket),
    /// Only sent while something on the screen depends on the time.
    Tick,
    /// SIGTERM or SIGHUP.
    Leave(StopCause),
}

/// An effect for the runner to perform.
#[derive(Debug, PartialEq)]
pub enum Effect {
    Start(Ticket, ProfileIndex, Box<Job>),
    /// Drops a read; a write is never dropped.
    Cancel(Ticket),
    /// Cancels a single change, unless it has been sent; the job ends by itself and says which.
    CancelChange(Ticket),
    /// Controls what a running bulk rotation does with the items that it has not started.
    Steer(Ticket, RunCommand),
    /// Copies to the clipboard of the person's terminal (OSC 52).
    Copy(Token),
    /// Hands the terminal to the person's editor.
    OpenEditor(Ticket, EditRequest),
    /// Reports changes by others from this point on, in the place of this profile and in no other.
    Watch(ProfileIndex, ChangeCursor),
    Suspend,
    Redraw,
    Quit(ExitReason),
}

/// Why the console ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    Asked,
    /// The person asked for the demo instead.
    Demo,
    /// SIGTERM or SIGHUP, or a Ctrl-C that had to end the console at once.
    Signal,
}

/// A text for the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditRequest {
    /// The name of its file, which tells the editor the type of the content.
    pub file: &'static str,
    pub text: String,
}

/// The requested bulk edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BulkEditRequest {
    Groups(BulkChange, Vec<UserGroupId>),
    Reverse(BatchId),
    Again(BatchId),
}

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
