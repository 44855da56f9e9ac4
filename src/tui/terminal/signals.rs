//! The signals that the console handles, and the loss of its terminal, as futures.

use std::{
    io::{self, IsTerminal},
    os::fd::AsFd,
    thread,
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};
use tokio::{
    signal::unix::{self, SignalKind},
    sync::oneshot,
    task::JoinHandle,
};

use super::{input, tty_writer};

/// A signal that the process received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM: finish what is in progress, then exit.
    Terminate,
    /// SIGHUP, or the terminal is gone without it, as under `nohup`.
    Hangup,
    /// SIGINT from outside; in raw mode, Ctrl-C arrives as a key.
    Interrupt,
    /// SIGTSTP from outside: stop, but restore the terminal first. In raw mode, Ctrl-Z arrives as a key.
    Stop,
    /// SIGCONT: another program may have used the terminal.
    Continued,
}

/// Listens from its creation on; from then on these signals no longer end the process by themselves.
#[derive(Debug)]
pub struct Signals {
    terminate: unix::Signal,
    hangup: unix::Signal,
    interrupt: unix::Signal,
    stop: unix::Signal,
    continued: unix::Signal,
    /// Completes when the terminal is lost.
    terminal_lost: Option<oneshot::Receiver<()>>,
}

impl Signals {
    /// Needs a running tokio runtime.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: unix::signal(SignalKind::terminate())?,
            hangup: unix::signal(SignalKind::hangup())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
            stop: unix::signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?,
            continued: unix::signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
            terminal_lost: watch_standard_input()?,
        })
    }

    /// Waits for the next signal. Cancel safe: dropping the future loses no signal.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.hangup.recv() => Signal::Hangup,
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.stop.recv() => Signal::Stop,
            _ = self.continued.recv() => Signal::Continued,
            () = lost(self.terminal_lost.as_mut()) => {
                self.terminal_lost = None;
                Signal::Hangup
            }
        }
    }

    /// Waits for the next signal that asks for the end. Cancel safe: dropping the future loses no signal.
    pub async fn next_end(&mut self) {
        loop {
            match self.next().await {
                Signal::Terminate | Signal::Hangup | Signal::Interrupt => return,
                // No screen is open that would have to be restored.
                Signal::Stop => drop(stop_here()),
                Signal::Continued => {}
            }
        }
    }
}

/// Stops this process and its process group; returns when it is continued.
///
/// Sends SIGTTOU, because SIGTSTP has a handler: it stops in the same way, and is ignored in the same case, when no
/// shell could ever continue the process. Call it on the main thread: the kernel delivers the signal to that thread,
/// which then stops before it continues.
pub(crate) fn stop_here() -> io::Result<()> {
    rustix::process::kill_current_process_group(rustix::process::Signal::TTOU)
        .map_err(io::Error::from)
}

/// Listens for signals beside the event loop, which sees none while it is blocked on a terminal that does not read.
/// Ends on drop.
#[derive(Debug)]
pub(crate) struct Watch(JoinHandle<()>);

impl Watch {
    /// Calls `act` once the end is requested.
    ///
    /// Needs a multi-threaded tokio runtime; listens from now on.
    pub(crate) fn for_the_end(act: impl FnOnce(Signal) + Send + 'static) -> io::Result<Self> {
        let mut terminate = unix::signal(SignalKind::terminate())?;
        let mut hangup = unix::signal(SignalKind::hangup())?;
        let mut interrupt = unix::signal(SignalKind::interrupt())?;
        Ok(Self(tokio::spawn(async move {
            let a_person = async {
                interrupt.recv().await;
                while input::is_given_away() {
                    // That was Ctrl-C in the person's editor.
                    interrupt.recv().await;
                }
            };
            let signal = tokio::select! {
                _ = terminate.recv() => Signal::Terminate,
                _ = hangup.recv() => Signal::Hangup,
                () = a_person => Signal::Interrupt,
            };
            act(signal);
        })))
    }

    /// Stops waiting for the terminal once the end is requested.
    pub(crate) fn for_a_terminal_that_does_not_read() -> io::Result<Self> {
        Self::for_the_end(|_| tty_writer::request_end())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Completes when the terminal is lost; never, if no terminal is watched.
async fn lost(terminal_lost: Option<&mut oneshot::Receiver<()>>) {
    match terminal_lost {
        // The sender is only dropped after it has sent.
        Some(terminal_lost) => drop(terminal_lost.await),
        None => std::future::pending().await,
    }
}

/// Spawns a thread that sleeps until the other side of the terminal is closed, and does nothing else.
fn watch_standard_input() -> io::Result<Option<oneshot::Receiver<()>>> {
    let input = io::stdin();
    if !input.is_terminal() {
        return Ok(None);
    }
    let input = input.as_fd().try_clone_to_owned()?;
    let (lost, terminal_lost) = oneshot::channel();
    let watch = move || {
        // No flags: only a hang-up is reported, and no key wakes the thread.
        let mut ends = [PollFd::new(&input, PollFlags::empty())];
        while let Err(Errno::INTR) = poll(&mut ends, None) {}
        // Fails when nobody listens any more.
        let _ = lost.send(());
    };
    thread::Builder::new().name("line".into()).spawn(watch)?;
    Ok(Some(terminal_lost))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_signal_arrives_by_name() {
        let mut signals = Signals::new().expect("listening");
        // SIGCONT, because its default action does nothing to the other tests of this process.
        let own = rustix::process::getpid();
        rustix::process::kill_process(own, rustix::process::Signal::CONT).expect("sent");
        let seen = tokio::time::timeout(Duration::from_secs(30), signals.next()).await;
        assert_eq!(seen, Ok(Signal::Continued));
    }
}
