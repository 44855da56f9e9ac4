//! Ends a run after a signal: nothing new is started, and requests in flight may finish within a time limit. A second
//! Ctrl-C leaves at once. A system that ends a session often sends its signal twice, which counts as one.

use std::time::Duration;

use tokio::time::Instant;

use super::signals::Signals;
use crate::{
    cli::output::progress::Progress, domain::batch::StopCause, operations::batch::Control,
};

/// How long requests in flight may take after a signal; shorter in tests.
fn grace_period() -> Duration {
    #[cfg(feature = "failpoints")]
    if let Ok(millis) = std::env::var("GROUPDESK_TEST_FINISHING_MS") {
        return Duration::from_millis(millis.parse().expect("a number"));
    }
    Duration::from_secs(35)
}

/// What a signal means for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShutdownRequest {
    /// The run stops, but requests in flight are still waited for.
    Finish,
    /// The run is abandoned at once.
    Abandon,
}

/// The shutdown of one run.
pub(crate) struct Shutdown<'s> {
    signals: &'s mut Signals,
    deadline: Option<Instant>,
}

impl<'s> Shutdown<'s> {
    pub(crate) fn of(signals: &'s mut Signals) -> Self {
        Self {
            signals,
            deadline: None,
        }
    }

    /// Whether a signal has come.
    pub(crate) fn is_begun(&self) -> bool {
        self.deadline.is_some()
    }

    /// Waits for a signal or for the time limit, then stops the run and says so.
    pub(crate) async fn next_request(
        &mut self,
        control: &Control,
        progress: &Progress,
    ) -> ShutdownRequest {
        let late = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let cause = tokio::select! {
            biased;
            cause = self.signals.next_cause() => cause,
            () = late => return ShutdownRequest::Abandon,
        };
        if self.is_begun() && cause == StopCause::Person {
            return ShutdownRequest::Abandon;
        }
        control.stop(cause);
        let grace_period = grace_period();
        self.deadline.get_or_insert(Instant::now() + grace_period);
        progress.alarm(format!(
            "finishing running requests, at most {} s; a second Ctrl-C exits at once",
            grace_period.as_secs_f64()
        ));
        ShutdownRequest::Finish
    }
}
