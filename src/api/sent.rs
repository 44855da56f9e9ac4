//! Whether this process has sent anything, so that a report of an internal error tells the truth about it.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::failure::CallError;

/// Requests that reached a service, or may have.
static SENT: AtomicUsize = AtomicUsize::new(0);

/// Whether a request may have reached a service.
pub fn has_sent() -> bool {
    SENT.load(Ordering::SeqCst) > 0
}

/// Counts an exchange before it begins; the count is taken back only if certainly nothing was sent.
pub(super) async fn counted<T>(
    exchange: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    SENT.fetch_add(1, Ordering::SeqCst);
    let result = exchange.await;
    if matches!(result, Err(CallError::NotSent { .. })) {
        SENT.fetch_sub(1, Ordering::SeqCst);
    }
    result
}
