//! The signals a console must answer, and the end of its line, as something to await.

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

/// A signal that reached the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM: finish what is under way, then go.
    Terminate,
    /// SIGHUP, or the terminal is gone without one, as below `nohup`.
    Hangup,
    /// SIGINT from outside; in raw mode Ctrl-C is a key.
    Interrupt,
    /// SIGTSTP from outside: stop, but give the terminal back first. In raw mode Ctrl-Z is a key.
    Stop,
    /// SIGCONT: somebody else had the terminal.
    Continued,
}

/// Listens from the moment it is made; from then on these signals no longer end the process by themselves.
#[derive(Debug)]
pub struct Signals {
    terminate: unix::Signal,
    hangup: unix::Signal,
    interrupt: unix::Signal,
    stop: unix::Signal,
    continued: unix::Signal,
    /// The terminal, until it is lost.
    line: Option<oneshot::Receiver<()>>,
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
            line: watch_standard_input()?,
        })
    }

    /// The next signal. Dropping the future loses none.
    pub async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.hangup.recv() => Signal::Hangup,
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.stop.recv() => Signal::Stop,
            _ = self.continued.recv() => Signal::Continued,
            () = lost(self.line.as_mut()) => {
                self.line = None;
                Signal::Hangup
            }
        }
    }

    /// The next signal that asks for the end. Dropping the future loses none.
    pub async fn end(&mut self) {
        loop {
            match self.next().await {
                Signal::Terminate | Signal::Hangup | Signal::Interrupt => return,
                // No screen is open that would have to be given back.
                Signal::Stop => drop(stop_here()),
                Signal::Continued => {}
            }
        }
    }
}

/// Stops this process and its group until somebody continues it; returns then.
///
/// By SIGTTOU, because SIGTSTP is listened to: it stops as that does, and is ignored as that is where no shell could
/// ever continue it. Call it on the main thread: the kernel gives the signal to that thread, so that it stops before
/// this goes on.
pub(crate) fn stop_here() -> io::Result<()> {
    rustix::process::kill_current_process_group(rustix::process::Signal::TTOU)
        .map_err(io::Error::from)
}

/// Somebody who listens beside the loop, which hears nothing while it waits for a terminal that does not read; until it
/// is dropped.
#[derive(Debug)]
pub(crate) struct Watch(JoinHandle<()>);

impl Watch {
    /// Does this once the end is asked for.
    ///
    /// Needs a running tokio runtime of more than one thread; listens from now on.
    pub(crate) fn for_the_end(act: impl FnOnce(Signal) + Send + 'static) -> io::Result<Self> {
        let mut terminate = unix::signal(SignalKind::terminate())?;
        let mut hangup = unix::signal(SignalKind::hangup())?;
        let mut interrupt = unix::signal(SignalKind::interrupt())?;
        Ok(Self(tokio::spawn(async move {
            let a_person = async {
                interrupt.recv().await;
                while input::is_given_away() {
                    // Ctrl-C in the person's editor.
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

    /// From the end's asking on, the terminal is not waited for any more.
    pub(crate) fn for_a_terminal_that_does_not_read() -> io::Result<Self> {
        Self::for_the_end(|_| tty_writer::end_is_asked())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Never comes where no terminal is watched.
async fn lost(line: Option<&mut oneshot::Receiver<()>>) {
    match line {
        // The sender only goes after it has sent.
        Some(line) => drop(line.await),
        None => std::future::pending().await,
    }
}

/// A thread of its own that sleeps until the terminal's other side is closed, and does nothing else.
fn watch_standard_input() -> io::Result<Option<oneshot::Receiver<()>>> {
    let input = io::stdin();
    if !input.is_terminal() {
        return Ok(None);
    }
    let input = input.as_fd().try_clone_to_owned()?;
    let (lost, line) = oneshot::channel();
    let watch = move || {
        // No flag: only the end of the line is reported, and no key wakes anybody.
        let mut ends = [PollFd::new(&input, PollFlags::empty())];
        while let Err(Errno::INTR) = poll(&mut ends, None) {}
        // Nobody listens any more where this fails.
        let _ = lost.send(());
    };
    thread::Builder::new().name("line".into()).spawn(watch)?;
    Ok(Some(line))
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
