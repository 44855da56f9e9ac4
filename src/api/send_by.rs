//! The deadline for sending a request. A machine that slept between the intent and the connection would send after
//! others have settled that nothing was sent (docs/design/rotation.md, "Send-by"). Checked when the connection, and
//! TLS, is established and before the first byte of the request.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tower_service::Service;

/// Tells whether it is too late to send.
#[derive(Clone)]
pub struct SendBy(Arc<dyn Fn() -> bool + Send + Sync>);

impl SendBy {
    pub fn new(is_late: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_late))
    }

    fn is_late(&self) -> bool {
        (self.0)()
    }

    /// Applies to the connection that `request` makes: each write makes its own, in its own task.
    pub(super) async fn during<T>(send_by: Option<Self>, request: impl Future<Output = T>) -> T {
        SEND_BY.scope(send_by, request).await
    }
}

tokio::task_local! {
    static SEND_BY: Option<SendBy>;
}

/// The connection is established, but it is too late to use it.
#[derive(Debug, thiserror::Error)]
#[error("the deadline for sending has passed")]
pub(super) struct TooLate;

/// Makes connections with this, and checks the deadline once one is established.
#[derive(Debug, Clone)]
pub(super) struct CheckSendBy<S>(pub(super) S);

type Error = Box<dyn std::error::Error + Send + Sync>;

impl<S, R> Service<R> for CheckSendBy<S>
where
    S: Service<R, Error = Error>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let connecting = self.0.call(request);
        // Read it now: a connection in the background is made outside the task of the request.
        let send_by = SEND_BY.try_with(Clone::clone).ok().flatten();
        Box::pin(async move {
            let connection = connecting.await?;
            match send_by {
                Some(send_by) if send_by.is_late() => Err(TooLate.into()),
                _ => Ok(connection),
            }
        })
    }
}
