//! Who is working on a batch, or was until the process died; why a run starts nothing new, and what is recorded about
//! that.

use std::time::Duration;

use jiff::Timestamp;

use crate::domain::group::UserGroupId;

/// Who or what asked a run to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StopCause {
    /// An operator, who stays connected.
    #[error("stopped as asked")]
    Person,
    #[error("stopped: the console was quit")]
    Quit,
    /// The terminal was closed, for example by a broken connection.
    #[error("stopped: connection lost")]
    TerminalLost,
    /// SIGTERM, or SIGINT from outside.
    #[error("stopped by a signal")]
    Signal,
    /// For a scheduled run: its heartbeat was missing for too long, and the next one began.
    #[error("stopped: another scheduled run took over")]
    TakenOver,
}

/// What was recorded about the last run of a batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LastRun {
    /// It began, and its end was not recorded: it is still running, or its process was killed.
    #[error("killed")]
    Begun,
    #[error("{0}")]
    Stopped(Halt),
}

/// Why a run begins nothing new any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    /// This many failures in a row.
    #[error("stopped {}", match .0 {
        1 => "at a failure".to_owned(),
        count => format!("after {count} failures in a row"),
    })]
    Failures(usize),
    /// The answers about this group contradict each other; investigate.
    #[error("stopped at a conflict: investigate \"{0}\"")]
    Conflict(UserGroupId),
    /// A read of this group raised an alarm (hazards 1 and 11 of docs/design/service.md); investigate.
    #[error("stopped at an alarm: investigate \"{0}\"")]
    Alarm(UserGroupId),
    #[error("{0}")]
    Asked(StopCause),
    /// A task inside groupdesk panicked.
    #[error("stopped: internal error")]
    Internal,
    /// Nothing can be recorded, no token can be stored, or there is no key: the next item would fail as well.
    #[error("stopped: {0}")]
    Cannot(String),
}

/// Interval of a run's heartbeats, also while it is paused.
pub const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);

/// A run without a heartbeat for this long counts as gone.
pub const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(30);

/// The state of the process of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnerState {
    Running,
    /// It begins nothing until somebody resumes it there.
    Paused,
    /// Its process has ended without recording the end of the run.
    Killed,
    /// No heartbeat for [`HEARTBEAT_TIMEOUT`]: killed, cut off, or asleep.
    Silent,
    /// It ended, or is silent, and its person may not work with the directory any more: it could not record its end.
    Revoked,
}

/// Whose run of a batch it is, and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runner {
    pub by: String,
    pub state: RunnerState,
    /// Since when it has been running or paused.
    pub since: Timestamp,
    /// Time of its last heartbeat.
    pub seen: Timestamp,
    /// Time until it counts as gone without another heartbeat.
    pub until_silent: Duration,
}

impl Runner {
    /// Whether its process is alive and may begin the next item.
    pub fn is_alive(&self) -> bool {
        matches!(self.state, RunnerState::Running | RunnerState::Paused)
    }

    /// For example "running: ben@bastion1, since 14:02".
    pub fn in_words(&self, moment: impl Fn(Timestamp) -> String) -> String {
        let (word, when) = match self.state {
            RunnerState::Running => ("running", format!("since {}", moment(self.since))),
            RunnerState::Paused => ("paused", format!("since {}", moment(self.since))),
            RunnerState::Killed => ("killed", format!("last seen {}", moment(self.seen))),
            RunnerState::Silent => ("gone", format!("last seen {}", moment(self.seen))),
            RunnerState::Revoked => ("access revoked", format!("last seen {}", moment(self.seen))),
        };
        format!("{word}: {}, {when}", self.by)
    }
}
