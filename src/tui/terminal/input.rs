//! Keyboard input: a dedicated thread waits for it, so that a burst of keys arrives at once and an idle console does
//! not wake up. Size changes arrive on the same stream.
//!
//! Not crossterm's events: it keeps an unbounded amount of a paste or sequence that has no end, and with its stream
//! thirty keys in one write cost thirty frames.

mod decode;

use std::{
    io::{self, PipeReader, PipeWriter, Read, Write},
    pin::Pin,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    thread,
    time::Duration,
};

use crossterm::event::Event;
use futures_util::Stream;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use tokio::{
    signal::unix::{self, SignalKind},
    sync::mpsc::{self, Receiver, Sender},
};

use decode::Decoder;
pub use decode::{InputEvent, LONGEST_PASTE};

/// Capacity of the event queue; when it is full, the reading thread blocks, and after it the terminal.
const QUEUE: usize = 1_024;

/// The receiver while no console is open. The process has one keyboard and one thread that reads it.
static AT_REST: Mutex<Option<Receiver<io::Result<InputEvent>>>> = Mutex::new(None);

/// Whether the thread may read, and whether it is reading.
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
/// Wakes the reading thread.
static WAKE: Mutex<Option<PipeWriter>> = Mutex::new(None);

/// How long the thread may take to release the keyboard.
const PATIENCE: Duration = Duration::from_secs(5);
/// More than a terminal delivers in one read.
const CHUNK: usize = 16 * 1024;

/// Stops reading, so that another program has the keyboard for itself; returns once the thread does not read any more.
pub fn pause() -> io::Result<()> {
    let mut gate = gate();
    gate.is_shut = true;
    if !gate.is_reading {
        return Ok(());
    }
    if let Some(wake) = WAKE.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        wake.write_all(b"!")?;
    }
    let waiting = MOVED.wait_timeout_while(gate, PATIENCE, |gate| gate.is_reading);
    let (mut gate, _) = waiting.unwrap_or_else(PoisonError::into_inner);
    if gate.is_reading {
        gate.is_shut = false;
        return Err(io::Error::other("the keyboard could not be handed over"));
    }
    Ok(())
}

/// Starts reading again.
pub fn resume() {
    gate().is_shut = false;
    MOVED.notify_all();
}

/// Whether another program has the keyboard.
pub(super) fn is_given_away() -> bool {
    gate().is_shut
}

fn gate() -> MutexGuard<'static, Gate> {
    GATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Blocks until reading is allowed.
fn enter() {
    let waiting = MOVED.wait_while(gate(), |gate| gate.is_shut);
    waiting.unwrap_or_else(PoisonError::into_inner).is_reading = true;
}

fn leave() {
    gate().is_reading = false;
    MOVED.notify_all();
}

/// The input of this process's terminal; the stream ends when the terminal is gone.
#[derive(Debug)]
pub struct Input {
    keys: Option<Receiver<io::Result<InputEvent>>>,
    sizes: unix::Signal,
}

impl Input {
    /// Starts reading, or continues where the previous console stopped. Needs a running tokio runtime.
    pub fn open() -> io::Result<Self> {
        let sizes = unix::signal(SignalKind::window_change())?;
        let at_rest = at_rest().take();
        let receiver = match at_rest {
            Some(receiver) => receiver,
            None => start()?,
        };
        Ok(Self {
            keys: Some(receiver),
            sizes,
        })
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        *at_rest() = self.keys.take();
    }
}

impl Stream for Input {
    type Item = io::Result<InputEvent>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.sizes.poll_recv(context).is_ready()
            && let Ok((columns, rows)) = crossterm::terminal::size()
        {
            return Poll::Ready(Some(Ok(InputEvent::Event(Event::Resize(columns, rows)))));
        }
        match &mut self.keys {
            Some(receiver) => receiver.poll_recv(context),
            None => Poll::Ready(None),
        }
    }
}

fn at_rest() -> MutexGuard<'static, Option<Receiver<io::Result<InputEvent>>>> {
    AT_REST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start() -> io::Result<Receiver<io::Result<InputEvent>>> {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let (woken, wake) = io::pipe()?;
    *WAKE.lock().unwrap_or_else(PoisonError::into_inner) = Some(wake);
    let read = move || {
        if let Err(error) = read_on(&sender, woken) {
            // Fails when the console has ended.
            let _ = sender.blocking_send(Err(error));
        }
    };
    thread::Builder::new().name("keyboard".into()).spawn(read)?;
    Ok(receiver)
}

/// Reads until the terminal is gone, or the receiver is dropped.
fn read_on(sender: &Sender<io::Result<InputEvent>>, mut woken: PipeReader) -> io::Result<()> {
    let mut decoder = Decoder::default();
    let mut bytes = vec![0; CHUNK];
    let mut came = Vec::new();
    loop {
        enter();
        let taken = next(&mut decoder, &mut bytes, &mut woken, &mut came);
        leave();
        taken?;
        for came in came.drain(..) {
            if sender.blocking_send(Ok(came)).is_err() {
                return Ok(());
            }
        }
    }
}

/// Waits for the next bytes, a wake-up, or a timeout in a paste or after an escape.
fn next(
    decoder: &mut Decoder,
    bytes: &mut [u8],
    woken: &mut PipeReader,
    came: &mut Vec<InputEvent>,
) -> io::Result<()> {
    let input = io::stdin();
    let mut ready = [
        PollFd::new(&input, PollFlags::IN),
        PollFd::new(woken, PollFlags::IN),
    ];
    let longest = decoder
        .patience()
        .and_then(|time| Timespec::try_from(time).ok());
    let count = match poll(&mut ready, longest.as_ref()) {
        Ok(count) => count,
        Err(Errno::INTR) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let [has_input, is_called] = ready.map(|ready| !ready.revents().is_empty());
    if count == 0 {
        came.extend(decoder.silence());
    }
    if is_called {
        woken.read_exact(&mut [0])?;
    } else if has_input {
        // Not through the buffer of the standard library, which could hold back bytes that are meant for
        // another program.
        match rustix::io::read(&input, &mut *bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => decoder.take(&bytes[..length], came),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
