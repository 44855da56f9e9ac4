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
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
