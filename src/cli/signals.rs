//! The signals that ask this process to end.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::stop::Stop;

/// SIGINT, SIGTERM and SIGHUP. From its making on, none of them kills the process.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    pub(super) fn new() -> Result<Self, Stop> {
        let listen = |kind| {
            signal(kind).map_err(|error| Stop::Usage(format!("cannot listen for signals: {error}")))
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        self.next_is_a_person().await;
    }

    /// Waits for the next one; true for SIGINT. The others come from a system that ends a session, often twice.
    pub(super) async fn next_is_a_person(&mut self) -> bool {
        tokio::select! {
            _ = self.interrupt.recv() => true,
            _ = self.terminate.recv() => false,
            _ = self.hang_up.recv() => false,
        }
    }
}
