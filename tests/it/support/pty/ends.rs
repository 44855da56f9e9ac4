//! Waiting for a program to end.

use std::{
    process::ExitStatus,
    time::{Duration, Instant},
};

use super::Session;

impl Session {
    /// Waits until the program has ended and all its output was read.
    #[track_caller]
    pub(crate) fn exit_status(&mut self, deadline: Duration) -> ExitStatus {
        self.end(deadline, |session| session.is_closed)
    }

    /// Waits only for the program to end, when nobody reads its output.
    #[track_caller]
    pub(crate) fn exit_unread(&mut self, deadline: Duration) -> ExitStatus {
        self.end(deadline, |_| true)
    }

    #[track_caller]
    fn end(&mut self, deadline: Duration, is_over: impl Fn(&Self) -> bool) -> ExitStatus {
        let end = Instant::now() + deadline;
        loop {
            if let Some(status) = self.status.filter(|_| is_over(self)) {
                return status;
            }
            let came = self.take_next(end);
            assert!(came, "the end: not within {deadline:?}\n{}", self.report());
        }
    }
}
