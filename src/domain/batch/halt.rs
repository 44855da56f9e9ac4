//! Why a run begins nothing new any more, and what is known of that afterwards.

use std::fmt;

use super::ItemStatus;
use crate::domain::group::UserGroupId;

/// Who or what asked a run to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// A person, who stays.
    Person,
    /// The console was quit.
    Quit,
    /// The terminal went away, as with a connection that breaks.
    LineLost,
    /// SIGTERM, or SIGINT from outside.
    Signal,
    /// Of a scheduled run: it was not heard of for too long, and the next one began.
    TakenOver,
}

/// What was written down of the last run of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastRun {
    /// It began, and its end was not written down: it goes on, or its process was killed.
    Begun,
    Stopped(Halt),
}

impl fmt::Display for LastRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begun => f.write_str("killed"),
            Self::Stopped(halt) => halt.fmt(f),
        }
    }
}

/// Why a run began nothing new any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halt {
    /// So many failures in a row.
    Failures(usize),
    /// The answers about this group contradict each other; a person must look.
    Conflict(UserGroupId),
    /// A read of this group raised an alarm (hazards 1 and 11 of docs/design/service.md); a person must look.
    Alarm(UserGroupId),
    Asked(StopCause),
    /// Something broke off inside groupdesk.
    Internal,
    /// Nothing can be written down, no token can be kept, or there is no key: the next one would fail too.
    Cannot(String),
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failures(1) => f.write_str("stopped at a failure"),
            Self::Failures(count) => write!(f, "stopped after {count} failures in a row"),
            Self::Conflict(id) => {
                write!(f, "stopped at a conflict: a person must look at \"{id}\"")
            }
            Self::Alarm(id) => write!(f, "stopped at an alarm: a person must look at \"{id}\""),
            Self::Asked(cause) => f.write_str(match cause {
                StopCause::Person => "stopped as asked",
                StopCause::Quit => "stopped: the console was quit",
                StopCause::LineLost => "stopped: connection lost",
                StopCause::Signal => "stopped by a signal",
                StopCause::TakenOver => "stopped: another scheduled run took over",
            }),
            Self::Internal => f.write_str("stopped: internal error"),
            Self::Cannot(why) => write!(f, "stopped: {why}"),
        }
    }
}

/// Counts failures in a row, in the order in which items end.
#[derive(Debug, Clone)]
pub struct FailureStreak {
    /// Zero: never.
    stop_after: usize,
    failures: usize,
}

impl FailureStreak {
    pub fn new(stop_after: usize) -> Self {
        Self {
            stop_after,
            failures: 0,
        }
    }

    /// Whether the run must stop after an item that ended so.
    pub fn ended(&mut self, id: &UserGroupId, standing: ItemStatus) -> Option<Halt> {
        match standing {
            ItemStatus::Conflict => return Some(Halt::Conflict(id.clone())),
            ItemStatus::Confirmed | ItemStatus::Rotated => self.succeeded(),
            ItemStatus::NotApplied | ItemStatus::Unknown | ItemStatus::UnderWay => {
                return self.failed();
            }
            ItemStatus::NotStarted | ItemStatus::Abandoned => {}
        }
        None
    }

    pub fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Whether the run must stop after this one.
    pub fn failed(&mut self) -> Option<Halt> {
        self.failures += 1;
        (self.stop_after > 0 && self.failures >= self.stop_after)
            .then_some(Halt::Failures(self.failures))
    }
}
