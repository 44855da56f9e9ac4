//! Who works on a batch right now, or did until the process died.

use std::time::Duration;

use jiff::Timestamp;

/// How often a run says that it is there, also while it is paused.
pub const BEAT: Duration = Duration::from_secs(10);

/// Who was not heard of for so long counts as gone.
pub const SILENCE: Duration = Duration::from_secs(30);

/// How the process of a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunnerState {
    Running,
    /// It begins nothing until somebody there goes on.
    Paused,
    /// Its process has ended without writing down how the run did.
    Killed,
    /// It was not heard of for [`SILENCE`]: killed, cut off, or asleep.
    Silent,
}

/// Whose run of a batch it is, and how that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runner {
    pub by: String,
    pub state: RunnerState,
    /// Since when it is running or paused.
    pub since: Timestamp,
    /// When it was last heard of.
    pub seen: Timestamp,
    /// Until it counts as gone, unless it is heard of again.
    pub until_silent: Duration,
}

impl Runner {
    /// Its process is there, and may begin the next item.
    pub fn is_alive(&self) -> bool {
        matches!(self.state, RunnerState::Running | RunnerState::Paused)
    }

    /// "running: ben@bastion1, since 14:02".
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
