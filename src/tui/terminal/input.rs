//! What comes from the keyboard: a thread of its own waits for it, so that a burst of keys is there at once and an idle
//! console wakes for nothing.
//!
//! Not crossterm's event stream: with `use-dev-tty` it hands over one event per wake-up, so thirty keys in one write
//! cost thirty frames.

use std::{
    io,
    pin::Pin,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    thread,
    time::Duration,
};

use crossterm::event::{self, Event};
use futures_util::Stream;
use rustix::process::{Signal, getpid, kill_process};
use tokio::sync::mpsc::{self, Receiver};

/// Events that wait for the console; then the reading thread waits, and after it the terminal.
const QUEUE: usize = 1_024;

/// The receiving end while no console is open. There is one keyboard and one thread that reads it, for the process.
static AT_REST: Mutex<Option<Receiver<io::Result<Event>>>> = Mutex::new(None);

/// Whether the thread may read, and whether it does.
#[derive(Debug, Default)]
struct Gate {
    is_shut: bool,
    is_reading: bool,
}

static GATE: Mutex<Gate> = Mutex::new(Gate {
    is_shut: false,
    is_reading: false,
});
static MOVED: Condvar = Condvar::new();

/// How long the thread may take to let go of the keyboard.
const PATIENCE: Duration = Duration::from_secs(5);

/// Stops reading, so that another program has the keyboard for itself; returns once nothing is read any more.
pub fn pause() -> io::Result<()> {
    let mut gate = gate();
    gate.is_shut = true;
    if !gate.is_reading {
        return Ok(());
    }
    // crossterm waits for keys and for changes of size at once: the second wakes it without taking a key.
    kill_process(getpid(), Signal::WINCH)?;
    let waiting = MOVED.wait_timeout_while(gate, PATIENCE, |gate| gate.is_reading);
    let (mut gate, _) = waiting.unwrap_or_else(PoisonError::into_inner);
    if gate.is_reading {
        gate.is_shut = false;
        return Err(io::Error::other("the keyboard could not be handed over"));
    }
    Ok(())
}

/// Reads again.
pub fn resume() {
    gate().is_shut = false;
    MOVED.notify_all();
}

fn gate() -> MutexGuard<'static, Gate> {
    GATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until reading is allowed.
fn enter() {
    let waiting = MOVED.wait_while(gate(), |gate| gate.is_shut);
    waiting.unwrap_or_else(PoisonError::into_inner).is_reading = true;
}

/// Whether reading is still allowed.
fn leave() -> bool {
    let mut gate = gate();
    gate.is_reading = false;
    MOVED.notify_all();
    !gate.is_shut
}

/// The events of this process's terminal; ends when the terminal is gone.
#[derive(Debug)]
pub struct Input(Option<Receiver<io::Result<Event>>>);

impl Input {
    /// Starts to read, or goes on where the console before this one left off.
    pub fn open() -> io::Result<Self> {
        let at_rest = at_rest().take();
        let receiver = match at_rest {
            Some(receiver) => receiver,
            None => start()?,
        };
        Ok(Self(Some(receiver)))
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        *at_rest() = self.0.take();
    }
}

impl Stream for Input {
    type Item = io::Result<Event>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.0 {
            Some(receiver) => receiver.poll_recv(context),
            None => Poll::Ready(None),
        }
    }
}

fn at_rest() -> std::sync::MutexGuard<'static, Option<Receiver<io::Result<Event>>>> {
    AT_REST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start() -> io::Result<Receiver<io::Result<Event>>> {
    // Looks only, but listens to changes of size from now on; the thread may be late.
    event::poll(Duration::ZERO)?;
    let (sender, receiver) = mpsc::channel(QUEUE);
    let read = move || {
        loop {
            enter();
            let event = event::read();
            let is_open = leave();
            match &event {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // Our own call; the size is asked for when the gate opens.
                Ok(Event::Resize(..)) if !is_open => continue,
                _ => {}
            }
            let is_last = event.is_err();
            if sender.blocking_send(event).is_err() || is_last {
                return;
            }
        }
    };
    thread::Builder::new().name("keyboard".into()).spawn(read)?;
    Ok(receiver)
}
