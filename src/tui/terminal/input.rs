//! Keyboard input: a dedicated thread waits for it, so that a burst of keys arrives at once and an idle console does
//! not wake up. Size changes arrive on the same stream.
//!
//! Not crossterm's events: it keeps an unbounded amount of a paste or sequence that has no end, and with its stream
//! thirty keys in one write cost thirty frames.

mod decode;

pub use decode::{InputEvent, MAX_PASTE_BYTES};

use std::{
    io::{self, PipeReader, PipeWriter, Read, Write},
    pin::Pin,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    thread,
    time::Duration,
};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use decode::Decoder;
use futures_util::Stream;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use tokio::{
    signal::unix::{self, SignalKind},
    sync::mpsc::{self, Receiver, Sender},
};

/// Capacity of the event queue; when it is full, the reading thread blocks, and after it the terminal.
const QUEUE_LEN: usize = 1_024;

/// The receiver while no console is open. The process has one keyboard and one thread that reads it.
static IDLE_RECEIVER: Mutex<Option<Receiver<io::Result<InputEvent>>>> = Mutex::new(None);

/// Whether the thread may read, and whether it is reading.
#[derive(Debug, Default)]
struct ReadState {
    is_paused: bool,
    is_reading: bool,
}

static READ_STATE: Mutex<ReadState> = Mutex::new(ReadState {
    is_paused: false,
    is_reading: false,
});
static READ_STATE_CHANGED: Condvar = Condvar::new();
/// Wakes the reading thread.
static WAKE: Mutex<Option<PipeWriter>> = Mutex::new(None);

/// How long the thread may take to release the keyboard.
const PAUSE_TIMEOUT: Duration = Duration::from_secs(5);
/// More than a terminal delivers in one read.
const READ_BYTES: usize = 16 * 1024;

/// Stops reading, so that another program has the keyboard for itself; returns once the thread does not read any more.
pub fn pause() -> io::Result<()> {
    let mut read_state = read_state();
    read_state.is_paused = true;
    if !read_state.is_reading {
        return Ok(());
    }
    if let Some(wake_writer) = WAKE.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        wake_writer.write_all(b"!")?;
    }
    let waiting = READ_STATE_CHANGED.wait_timeout_while(read_state, PAUSE_TIMEOUT, |read_state| {
        read_state.is_reading
    });
    let (mut read_state, _) = waiting.unwrap_or_else(PoisonError::into_inner);
    if read_state.is_reading {
        read_state.is_paused = false;
        return Err(io::Error::other("the keyboard could not be handed over"));
    }
    Ok(())
}

/// Starts reading again.
pub fn resume() {
    read_state().is_paused = false;
    READ_STATE_CHANGED.notify_all();
}

/// Whether another program has the keyboard.
pub(super) fn is_given_away() -> bool {
    read_state().is_paused
}

fn read_state() -> MutexGuard<'static, ReadState> {
    READ_STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Blocks until reading is allowed.
fn begin_read() {
    let waiting = READ_STATE_CHANGED.wait_while(read_state(), |read_state| read_state.is_paused);
    waiting.unwrap_or_else(PoisonError::into_inner).is_reading = true;
}

fn end_read() {
    read_state().is_reading = false;
    READ_STATE_CHANGED.notify_all();
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
        let idle_receiver = idle_receiver().take();
        let receiver = match idle_receiver {
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
        *idle_receiver() = self.keys.take();
    }
}

impl Stream for Input {
    type Item = io::Result<InputEvent>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.sizes.poll_recv(context).is_ready()
            && let Ok((columns, rows)) = super::size()
        {
            return Poll::Ready(Some(Ok(InputEvent::Event(Event::Resize(columns, rows)))));
        }
        match &mut self.keys {
            Some(receiver) => receiver.poll_recv(context),
            None => Poll::Ready(None),
        }
    }
}

fn idle_receiver() -> MutexGuard<'static, Option<Receiver<io::Result<InputEvent>>>> {
    IDLE_RECEIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start() -> io::Result<Receiver<io::Result<InputEvent>>> {
    let (sender, receiver) = mpsc::channel(QUEUE_LEN);
    let (wake_reader, wake_writer) = io::pipe()?;
    *WAKE.lock().unwrap_or_else(PoisonError::into_inner) = Some(wake_writer);
    let read = move || {
        if let Err(error) = read_loop(&sender, wake_reader) {
            // Fails when the console has ended.
            let _ = sender.blocking_send(Err(error));
        }
    };
    thread::Builder::new().name("keyboard".into()).spawn(read)?;
    Ok(receiver)
}

/// Reads until the terminal is gone, or the receiver is dropped.
fn read_loop(
    sender: &Sender<io::Result<InputEvent>>,
    mut wake_reader: PipeReader,
) -> io::Result<()> {
    let mut decoder = Decoder::default();
    let mut bytes = vec![0; READ_BYTES];
    let mut events = Vec::new();
    loop {
        begin_read();
        let taken = next(&mut decoder, &mut bytes, &mut wake_reader, &mut events);
        end_read();
        taken?;
        join_bursts(&mut events);
        for event in events.drain(..) {
            if sender.blocking_send(Ok(event)).is_err() {
                return Ok(());
            }
        }
    }
}

/// Waits for the next bytes, a wake-up, or a timeout in a paste or after an escape.
fn next(
    decoder: &mut Decoder,
    bytes: &mut [u8],
    wake_reader: &mut PipeReader,
    events: &mut Vec<InputEvent>,
) -> io::Result<()> {
    let input = io::stdin();
    let mut ready = [
        PollFd::new(&input, PollFlags::IN),
        PollFd::new(wake_reader, PollFlags::IN),
    ];
    let longest = decoder
        .timeout()
        .and_then(|time| Timespec::try_from(time).ok());
    let count = match poll(&mut ready, longest.as_ref()) {
        Ok(count) => count,
        Err(Errno::INTR) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let [has_input, is_called] = ready.map(|ready| !ready.revents().is_empty());
    if count == 0 {
        events.extend(decoder.on_timeout());
    }
    if is_called {
        wake_reader.read_exact(&mut [0])?;
    } else if has_input {
        // Not through the buffer of the standard library, which could hold back bytes that are meant for
        // another program.
        match rustix::io::read(&input, &mut *bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => decoder.take(&bytes[..length], events),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Characters in one read that are no typing. As many digits of a token are a part of one.
const CHARACTERS: usize = 16;
/// Fewer different ones are a key that is held down.
const DIFFERENT: usize = 5;

/// Whether these keys are a pasted text.
pub fn is_burst(keys: &[KeyEvent]) -> bool {
    let mut different = Vec::with_capacity(DIFFERENT);
    let mut count = 0;
    for key in keys {
        let held = KeyModifiers::CONTROL | KeyModifiers::ALT;
        let KeyCode::Char(c) = key.code else { continue };
        if key.modifiers.intersects(held) {
            continue;
        }
        count += 1;
        if different.len() < DIFFERENT && !different.contains(&c) {
            different.push(c);
        }
    }
    count >= CHARACTERS && different.len() >= DIFFERENT
}

/// Joins the keys of one read: a paste, or a part of one that a slow line brings in pieces. One key beside anything else was
/// not pressed alone either.
fn join_bursts(events: &mut Vec<InputEvent>) {
    if events.len() < 2 {
        return;
    }
    let mut joined = Vec::with_capacity(events.len());
    let mut keys = Vec::new();
    let end = |keys: &mut Vec<KeyEvent>, joined: &mut Vec<InputEvent>| {
        if !keys.is_empty() {
            joined.push(InputEvent::Burst(std::mem::take(keys)));
        }
    };
    for event in events.drain(..) {
        if let InputEvent::Event(Event::Key(key)) = event {
            keys.push(key);
        } else {
            end(&mut keys, &mut joined);
            joined.push(event);
        }
    }
    end(&mut keys, &mut joined);
    *events = joined;
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyModifiers};

    use super::*;

    fn keys(text: &str) -> Vec<InputEvent> {
        let key = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
        text.chars()
            .map(|c| InputEvent::Event(Event::Key(key(c))))
            .collect()
    }

    #[test]
    fn the_keys_of_one_read_come_together_and_many_different_ones_are_a_paste() {
        for (text, is_paste) in [
            ("a9f86d081884c7d65", true),
            ("the token is 12345678", true),
            ("a9f86d081884c7d", false),
            (&"j".repeat(200), false),
            (&"jk".repeat(100), false),
        ] {
            let mut events = keys(text);
            join_bursts(&mut events);
            let [InputEvent::Burst(together)] = &events[..] else {
                panic!("{text}: {events:?}");
            };
            assert_eq!(together.len(), text.len());
            assert_eq!(is_burst(together), is_paste, "{text}");
        }
        let mut one = keys("y");
        join_bursts(&mut one);
        assert_eq!(one, keys("y"));
        let mut parts = keys("a9f86d081");
        parts.push(InputEvent::PasteIsOpen);
        parts.extend(keys("884c7d659a2feaa0c55ad015"));
        join_bursts(&mut parts);
        assert_eq!(parts.len(), 3, "each side of another event by itself");
        let mut behind = vec![InputEvent::Event(Event::Paste("a".into()))];
        behind.extend(keys("y"));
        join_bursts(&mut behind);
        let [_, InputEvent::Burst(key)] = &behind[..] else {
            panic!("a key behind a paste is not alone: {behind:?}");
        };
        assert_eq!(key.len(), 1);
    }
}
