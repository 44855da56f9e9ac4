//! Cancelling a change: it can be cancelled until it is sent.

use tokio::sync::watch;

use super::prelude::*;

/// A request to send no change any more. It is checked right before a change is recorded as being sent; what was sent
/// before is not stopped.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<watch::Sender<bool>>);

impl Cancel {
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    async fn cancelled(&self) {
        // The sender is here, so the channel cannot close.
        drop(self.0.subscribe().wait_for(|cancelled| *cancelled).await);
    }
}

impl Operations {
    /// The same operations, whose changes are not sent once they are cancelled.
    #[must_use]
    pub fn cancelled_by(&self, cancel: Cancel) -> Self {
        Self {
            4: Some(cancel),
            ..self.clone()
        }
    }

    /// Refuses to send a change that was cancelled.
    pub(super) fn not_cancelled(
        &self,
        id: &UserGroupId,
        changed: &'static str,
    ) -> Result<(), Failure> {
        match &self.4 {
            Some(cancel) if cancel.is_cancelled() => Err(Failure::Cancelled {
                id: id.clone(),
                changed,
            }),
            _ => Ok(()),
        }
    }

    /// Does what precedes a change and can be dropped at any time, unless the change is cancelled meanwhile.
    pub(super) async fn unless_cancelled<T>(
        &self,
        id: &UserGroupId,
        changed: &'static str,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let cancelled = async {
            match &self.4 {
                Some(cancel) => cancel.cancelled().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = cancelled => Err(Failure::Cancelled { id: id.clone(), changed }),
            done = work => done,
        }
    }
}
