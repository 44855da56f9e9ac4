//! Waiting, with a deadline, for conditions that can only be polled.

use std::time::{Duration, Instant};

use super::faults::Faults;

pub(crate) const DEADLINE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(5);

/// Polls until the condition holds. Other tasks of the test keep running.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < end, "{what}: not within {DEADLINE:?}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// The same, blocking the thread.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < end, "{what}: not within {DEADLINE:?}");
        std::thread::park_timeout(PAUSE);
    }
}

/// Waits until the service has received this many requests.
pub(crate) async fn received(service: &Faults, count: usize) {
    let arrived = || service.requests().len() >= count;
    eventually("the request arrives", arrived).await;
}
