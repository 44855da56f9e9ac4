//! Waiting for the end of a program.

use std::{
    process::ExitStatus,
    time::{Duration, Instant},
};

use super::Session;

impl Session {
    /// Waits until the program has ended and everything it wrote was read.
    #[track_caller]
    pub(crate) fn exit_status(&mut self, deadline: Duration) -> ExitStatus {
        self.end(deadline, |session| session.is_closed)
    }

    /// Waits for the program's end alone, where nobody reads what it wrote.
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
