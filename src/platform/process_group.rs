//! The process group of a command that was started with one of its own, so that nothing of it is left running.

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// Killed on drop, so also when the one who waits goes away.
#[derive(Debug)]
pub struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// Of a child that was started with `process_group(0)` and has not been waited for.
    pub fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(id.cast_signed())))
    }

    /// The command has ended by itself; what it started on purpose may stay.
    pub fn leave(mut self) {
        self.0 = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // Fails only when nothing of the group is left.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}
