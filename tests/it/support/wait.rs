//! Waiting for what is seen only by asking again, with a deadline.

use std::time::{Duration, Instant};

use super::faults::Faults;

const DEADLINE: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(5);

/// Asks again until it holds; other work of the test goes on.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < end, "{what}: not within {DEADLINE:?}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// The same where nothing else has to go on.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < end, "{what}: not within {DEADLINE:?}");
        std::thread::park_timeout(PAUSE);
    }
}

/// Waits until the service has this many requests.
pub(crate) async fn received(service: &Faults, count: usize) {
    let arrived = || service.requests().len() >= count;
    eventually("the request arrives", arrived).await;
}
