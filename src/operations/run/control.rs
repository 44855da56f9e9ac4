//! Lets the observer of a run continue, pause or stop it, and holds the pause that a service asks for.

use std::time::Duration;

use tokio::{sync::watch, time::Instant};

use crate::domain::batch::{Halt, StopCause};

/// What a run should do with the items it has not started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RunCommand {
    #[default]
    Go,
    /// Begin nothing new until [`Control::resume`].
    Pause,
    /// Begin nothing new any more.
    Stop(StopCause),
}

impl RunCommand {
    pub fn is_stop(self) -> bool {
        matches!(self, Self::Stop(_))
    }
}

/// Controls a run. Clones control the same run; what is in flight is always finished.
#[derive(Debug, Clone)]
pub struct Control {
    command: watch::Sender<RunCommand>,
    not_before: watch::Sender<Instant>,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            command: watch::Sender::new(RunCommand::Go),
            not_before: watch::Sender::new(Instant::now()),
        }
    }
}

impl Control {
    pub fn pause(&self) {
        self.request(RunCommand::Pause);
    }

    pub fn resume(&self) {
        self.request(RunCommand::Go);
    }

    /// Stops the run for good; the first cause is kept.
    pub fn stop(&self, cause: StopCause) {
        self.request(RunCommand::Stop(cause));
    }

    /// Stops the run for good without a request from outside; the run itself reports why.
    pub fn end(&self) {
        self.stop(StopCause::Person);
    }

    /// The reason to report when a stop was requested.
    pub(crate) fn halt_reason(&self) -> Halt {
        match self.command() {
            RunCommand::Stop(cause) => Halt::Asked(cause),
            RunCommand::Go | RunCommand::Pause => Halt::Asked(StopCause::Person),
        }
    }

    pub fn command(&self) -> RunCommand {
        *self.command.borrow()
    }

    pub(crate) fn commands(&self) -> watch::Receiver<RunCommand> {
        self.command.subscribe()
    }

    fn request(&self, command: RunCommand) {
        self.command.send_if_modified(|now| {
            let changes = *now != command && !now.is_stop();
            if changes {
                *now = command;
            }
            changes
        });
    }

    /// Begins nothing new for `wait`, because the service asked for it.
    pub(crate) fn hold_for(&self, wait: Duration) {
        let until = Instant::now() + wait;
        self.not_before.send_if_modified(|now| {
            let later = until > *now;
            if later {
                *now = until;
            }
            later
        });
    }

    /// Waits until something new may be started, but not before `not_before`. Returns false if that will never be.
    pub async fn may_begin(&self, not_before: Instant) -> bool {
        // A timer takes a tick of a millisecond, even for a deadline that has passed.
        if not_before <= Instant::now() {
            return self.may_send().await;
        }
        tokio::select! {
            biased;
            () = tokio::time::sleep_until(not_before) => self.may_send().await,
            () = self.stopped() => false,
        }
    }

    /// Waits until a stop is requested.
    pub(crate) async fn stopped(&self) {
        let mut command = self.command.subscribe();
        // The sender lives in `self`, so the channel cannot close.
        drop(command.wait_for(|command| command.is_stop()).await);
    }

    /// Waits until something new may be sent. Returns false if that will never be.
    pub(crate) async fn may_send(&self) -> bool {
        let mut command = self.command.subscribe();
        loop {
            let now = *command.borrow_and_update();
            let until = *self.not_before.borrow();
            match now {
                RunCommand::Stop(_) => return false,
                RunCommand::Go if until <= Instant::now() => return true,
                // The sender lives in `self`, so the channel cannot close.
                RunCommand::Go => drop(tokio::time::timeout_at(until, command.changed()).await),
                RunCommand::Pause => drop(command.changed().await),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn what_may_begin_now_waits_for_no_timer() {
        let control = Control::default();
        let may = control.may_begin(Instant::now()).now_or_never();
        assert_eq!(may, Some(true));
        let later = Instant::now() + Duration::from_hours(1);
        assert_eq!(control.may_begin(later).now_or_never(), None);
        control.pause();
        assert_eq!(control.may_begin(Instant::now()).now_or_never(), None);
        control.stop(StopCause::Person);
        let may = control.may_begin(Instant::now()).now_or_never();
        assert_eq!(may, Some(false));
    }

    #[tokio::test]
    async fn the_longest_pause_that_was_asked_for_is_waited_for() {
        let control = Control::default();
        let begun = Instant::now();
        assert!(control.may_send().await);
        let longest = Duration::from_millis(120);
        for wait in [Duration::from_millis(1), longest, Duration::ZERO] {
            control.hold_for(wait);
        }
        assert!(control.may_send().await);
        assert!(begun.elapsed() >= longest);
        control.hold_for(Duration::from_hours(1));
        control.stop(StopCause::Person);
        assert!(!control.may_send().await, "nothing waits for a stopped run");
    }
}
