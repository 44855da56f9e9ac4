//! The signals that ask this process to end.

use std::{sync::LazyLock, time::Instant};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::{
        mpsc::{UnboundedReceiver, unbounded_channel},
        watch,
    },
};

use crate::cli::prelude::*;

static CAUGHT: AtomicBool = AtomicBool::new(false);
/// When the first signal came.
static SIGNALLED_AT: LazyLock<watch::Sender<Option<Instant>>> =
    LazyLock::new(watch::Sender::default);

/// Whether signals no longer kill the process.
pub(crate) fn are_caught() -> bool {
    CAUGHT.load(Ordering::SeqCst)
}

/// When the first signal came; `None` if none has.
pub(crate) fn signalled_at() -> Option<Instant> {
    *SIGNALLED_AT.borrow()
}

/// Waits for a signal. Returns at once if one has come already.
pub(crate) async fn signalled() {
    // The sender is static, so the channel cannot close.
    drop(SIGNALLED_AT.subscribe().wait_for(Option::is_some).await);
}

/// SIGINT, SIGTERM and SIGHUP. Once this exists, none of them kills the process, and none is lost.
pub(crate) struct Signals(UnboundedReceiver<StopCause>);

impl Signals {
    pub(crate) fn new() -> Result<Self, CliError> {
        Self::watched(true)
    }

    /// Leaves SIGHUP out, which has another meaning here; it does not kill the process either.
    pub(crate) fn with_hang_ups() -> Result<(Self, HangUps), CliError> {
        Ok((
            Self::watched(false)?,
            HangUps(listen(SignalKind::hangup())?),
        ))
    }

    /// One listener for both: whoever waits for the next signal, and whoever is blocked on a reader and cannot wait for a
    /// signal at the same time. Of two listeners, the second would miss what comes before it exists.
    fn watched(hang_up: bool) -> Result<Self, CliError> {
        CAUGHT.store(true, Ordering::SeqCst);
        let mut listeners = Listeners::new(hang_up)?;
        let (sender, causes) = unbounded_channel();
        tokio::spawn(async move {
            loop {
                let cause = listeners.next().await;
                SIGNALLED_AT.send_if_modified(|asked| {
                    let is_first = asked.is_none();
                    asked.get_or_insert_with(Instant::now);
                    is_first
                });
                // Fails when nobody waits for a signal any more.
                let _ = sender.send(cause);
            }
        });
        Ok(Self(causes))
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        self.next_cause().await;
    }

    /// Does what changes nothing at the service, unless a signal comes first. What is done already is not taken for
    /// interrupted.
    pub(crate) async fn unless_signalled<T>(
        &mut self,
        work: impl Future<Output = Result<T, CliError>>,
    ) -> Result<T, CliError> {
        tokio::select! {
            biased;
            done = Box::pin(work) => done,
            () = self.next() => Err(CliError::Interrupted { in_flight: false }),
        }
    }

    /// Waits for the next one; SIGINT is a person. The others come from a system that ends a session, often twice.
    pub(crate) async fn next_cause(&mut self) -> StopCause {
        match self.0.recv().await {
            Some(cause) => cause,
            // The runtime is ending, and with it the task that listens.
            None => std::future::pending().await,
        }
    }
}

struct Listeners {
    interrupt: Signal,
    terminate: Signal,
    /// `Some` if SIGHUP asks for the end.
    hang_up: Option<Signal>,
}

impl Listeners {
    fn new(hang_up: bool) -> Result<Self, CliError> {
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: hang_up.then(|| listen(SignalKind::hangup())).transpose()?,
        })
    }

    async fn next(&mut self) -> StopCause {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => StopCause::Person,
            _ = self.terminate.recv() => StopCause::Signal,
            _ = hang_up => StopCause::TerminalLost,
        }
    }
}

fn listen(kind: SignalKind) -> Result<Signal, CliError> {
    signal(kind).map_err(CliError::unexpected("cannot listen for signals"))
}

/// SIGHUP, if it asks to reload.
pub(crate) struct HangUps(Signal);

impl HangUps {
    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        self.0.recv().await;
    }
}
