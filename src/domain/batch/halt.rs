//! Why a run starts nothing new, and what is recorded about that.

use std::fmt;

use crate::domain::group::UserGroupId;

/// Who or what asked a run to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopCause {
    /// An operator, who stays connected.
    Person,
    /// The console was quit.
    Quit,
    /// The terminal was closed, for example by a broken connection.
    TerminalLost,
    /// SIGTERM, or SIGINT from outside.
    Signal,
    /// For a scheduled run: its heartbeat was missing for too long, and the next one began.
    TakenOver,
}

/// What was recorded about the last run of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LastRun {
    /// It began, and its end was not recorded: it is still running, or its process was killed.
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

/// Why a run begins nothing new any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halt {
    /// This many failures in a row.
    Failures(usize),
    /// The answers about this group contradict each other; a person must look.
    Conflict(UserGroupId),
    /// A read of this group raised an alarm (hazards 1 and 11 of docs/design/service.md); a person must look.
    Alarm(UserGroupId),
    Asked(StopCause),
    /// A task inside groupdesk panicked.
    Internal,
    /// Nothing can be recorded, no token can be stored, or there is no key: the next item would fail as well.
    Cannot(String),
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failures(1) => f.write_str("stopped at a failure"),
            Self::Failures(count) => write!(f, "stopped after {count} failures in a row"),
            Self::Conflict(id) => {
                write!(f, "stopped at a conflict: investigate \"{id}\"")
            }
            Self::Alarm(id) => write!(f, "stopped at an alarm: investigate \"{id}\""),
            Self::Asked(cause) => f.write_str(match cause {
                StopCause::Person => "stopped as asked",
                StopCause::Quit => "stopped: the console was quit",
                StopCause::TerminalLost => "stopped: connection lost",
                StopCause::Signal => "stopped by a signal",
                StopCause::TakenOver => "stopped: another scheduled run took over",
            }),
            Self::Internal => f.write_str("stopped: internal error"),
            Self::Cannot(why) => write!(f, "stopped: {why}"),
        }
    }
}
