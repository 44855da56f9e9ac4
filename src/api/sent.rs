//! Whether this process has sent anything, so that a report of an internal error tells the truth about it.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::failure::CallError;

/// Requests that reached a service, or may have.
static SENT: AtomicUsize = AtomicUsize::new(0);

/// Whether a request may have reached a service.
pub fn has_sent() -> bool {
    SENT.load(Ordering::SeqCst) > 0
}

/// Exchanges that have begun and not ended.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// The exchange that a response is waited for, by its number: two that are equal are one that still waits.
pub fn waiting() -> Option<usize> {
    let waits = WAITING.load(Ordering::SeqCst) > 0;
    waits.then(|| SENT.load(Ordering::SeqCst))
}

/// One exchange that waits, also if it is given up.
struct Waiting;

impl Waiting {
    fn begin() -> Self {
        WAITING.fetch_add(1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Counts an exchange before it begins; the count is taken back only if certainly nothing was sent.
pub(super) async fn counted<T>(
    exchange: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    SENT.fetch_add(1, Ordering::SeqCst);
    let waiting = Waiting::begin();
    let result = exchange.await;
    drop(waiting);
    if matches!(result, Err(CallError::NotSent { .. })) {
        SENT.fetch_sub(1, Ordering::SeqCst);
    }
    result
}
