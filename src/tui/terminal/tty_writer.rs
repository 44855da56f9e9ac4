//! Writing to the terminal. A terminal that does not read is not waited for indefinitely: once the end is requested, a
//! write has one second; after that it is abandoned, together with everything that would follow.

use std::{
    fs::File,
    io::{self, PipeReader, PipeWriter},
    os::fd::AsFd,
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{Mode, OFlags, open},
    io::Errno,
    termios::{QueueSelector, tcflush, tcgetsid, tcgetwinsize, ttyname},
};

/// How long one write may take once the end is requested.
const WRITE_TIMEOUT: Duration = Duration::from_secs(1);
/// Cancels any sequence that the terminal is in the middle of (CAN).
const CANCEL: &[u8] = b"\x18";

/// When the end was requested. A static, because the process has one terminal.
static END_REQUESTED_AT: Mutex<Option<Instant>> = Mutex::new(None);
/// Whether a write took too long after that.
static IS_GIVEN_UP: AtomicBool = AtomicBool::new(false);
/// Becomes readable once the end is requested.
static END_PIPE: OnceLock<(PipeReader, PipeWriter)> = OnceLock::new();

/// From now on writes to the terminal have a deadline.
pub(super) fn request_end() {
    let mut requested = END_REQUESTED_AT
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if requested.is_some() {
        return;
    }
    *requested = Some(Instant::now());
    if let Some((_, end_pipe)) = END_PIPE.get() {
        // Cannot block or fail: the pipe is empty, and its other end is never closed.
        let _ = rustix::io::write(end_pipe, b"!");
    }
}

/// Whether the terminal does not read and is not waited for any more.
pub(crate) fn is_given_up() -> bool {
    IS_GIVEN_UP.load(Ordering::SeqCst)
}

/// The deadline of a write that began at `begun`; `None` while the end was not requested.
fn deadline(begun: Instant) -> Option<Instant> {
    let requested = *END_REQUESTED_AT
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    requested.map(|requested| requested.max(begun) + WRITE_TIMEOUT)
}

/// The terminal of this process.
pub(super) fn tty() -> io::Result<&'static TtyWriter> {
    static OUT: OnceLock<TtyWriter> = OnceLock::new();
    if let Some(out) = OUT.get() {
        return Ok(out);
    }
    let opened = TtyWriter::open()?;
    Ok(OUT.get_or_init(|| opened))
}

/// The terminal on standard output.
#[derive(Debug)]
pub(super) struct TtyWriter {
    file: File,
    /// `file` is standard output itself. It cannot be made non-blocking, because that would affect the
    /// shell's input as well.
    is_shared: bool,
}

impl TtyWriter {
    fn open() -> io::Result<Self> {
        if END_PIPE.get().is_none() {
            // If two threads create one, one of them is dropped.
            let _ = END_PIPE.set(io::pipe()?);
        }
        Ok(match reopen() {
            Some(file) => Self {
                file,
                is_shared: false,
            },
            None => Self {
                file: File::from(rustix::io::dup(io::stdout().as_fd())?),
                is_shared: true,
            },
        })
    }

    #[cfg(test)]
    pub(super) fn of(file: File) -> Self {
        Self {
            file,
            is_shared: true,
        }
    }

    /// Columns and rows; `None` if the terminal does not know them, as a serial line does not.
    pub(super) fn size(&self) -> Option<(u16, u16)> {
        let size = tcgetwinsize(&self.file).ok()?;
        (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
    }

    /// Writes all bytes.
    ///
    /// # Errors
    /// `TimedOut` when the terminal does not read and the end was requested.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        if is_given_up() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let written = self.write_until(bytes, deadline);
        if written.as_ref().is_err_and(is_late) {
            IS_GIVEN_UP.store(true, Ordering::SeqCst);
        }
        written
    }

    /// Writes the bytes that restore the terminal. If it was given up, discards queued output first and writes as much
    /// as the terminal's buffer takes.
    pub(super) fn write_last(&self, bytes: &[u8]) {
        if !is_given_up() && self.write(bytes).is_ok() {
            return;
        }
        if is_given_up() && !self.is_shared {
            // Otherwise there would be no room left, and the rest of a frame would appear after the shell's prompt.
            let _ = tcflush(&self.file, QueueSelector::OFlush);
            let last = [CANCEL, bytes].concat();
            let _ = self.write_until(&last, Some);
        }
    }

    fn write_until(
        &self,
        mut bytes: &[u8],
        deadline: impl Fn(Instant) -> Option<Instant>,
    ) -> io::Result<()> {
        let begun = Instant::now();
        while !bytes.is_empty() {
            match rustix::io::write(&self.file, bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait(deadline(begun))?,
                Err(error) => return Err(error.into()),
            }
            if deadline(begun).is_some_and(|end| Instant::now() > end) && !bytes.is_empty() {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }

    /// Waits until there is room, the end is requested, or the deadline has passed.
    fn wait(&self, end: Option<Instant>) -> io::Result<()> {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let room = PollFd::new(&self.file, PollFlags::OUT);
        let polled = match (left, END_PIPE.get()) {
            (None, Some((end_pipe, _))) => {
                poll(&mut [room, PollFd::new(end_pipe, PollFlags::IN)], None)
            }
            (left, _) => poll(&mut [room], left.as_ref()),
        };
        match polled {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

fn is_late(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::TimedOut
}

/// Opens the terminal on standard output once more, so that it can be non-blocking without affecting other processes
/// that share it: by its name, or, where the name means nothing, as in some containers, as the terminal of
/// this session.
fn reopen() -> Option<File> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let output = io::stdout();
    let named = ttyname(&output, Vec::new()).and_then(|name| open(name, flags, Mode::empty()));
    let file = named.or_else(|error| {
        // Only if it is the terminal of this session.
        tcgetsid(&output).map_err(|_| error)?;
        open("/dev/tty", flags, Mode::empty())
    });
    file.ok().map(File::from)
}
