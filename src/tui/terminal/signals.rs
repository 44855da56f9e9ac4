//! The signals a console must answer, as something to await.

use std::io;

use tokio::signal::unix::{self, SignalKind};

/// A signal that reached the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM: finish what is under way, then go.
    Terminate,
    /// SIGHUP: the terminal is gone.
    Hangup,
    /// SIGINT from outside; in raw mode Ctrl-C is a key.
    Interrupt,
    /// SIGCONT: somebody else had the terminal.
    Continued,
}

/// Listens from the moment it is made; from then on these signals no longer end the process by themselves.
#[derive(Debug)]
pub struct Signals {
    terminate: unix::Signal,
    hangup: unix::Signal,
    interrupt: unix::Signal,
    continued: unix::Signal,
}

impl Signals {
    /// Needs a running tokio runtime.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: unix::signal(SignalKind::terminate())?,
            hangup: unix::signal(SignalKind::hangup())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
            continued: unix::signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// The next signal. Dropping the future loses none.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.hangup.recv() => Signal::Hangup,
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.continued.recv() => Signal::Continued,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_signal_arrives_by_name() {
        let mut signals = Signals::new().expect("listening");
        // SIGCONT, because its default does nothing to the other tests of this process.
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::CONT).expect("sent");
        let seen = tokio::time::timeout(Duration::from_secs(30), signals.next()).await;
        assert_eq!(seen, Ok(Signal::Continued));
    }
}
