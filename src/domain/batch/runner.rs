//! Who is working on a batch, or was until the process died.

use std::time::Duration;

use jiff::Timestamp;

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
        };
        format!("{word}: {}, {when}", self.by)
    }
}
