//! Standard output and standard error, each written by its own thread, so that a reader that does not read cannot keep
//! alive a process that a signal asked to end.

use std::{
    io::Write,
    sync::mpsc::{self, RecvTimeoutError},
    time::Instant,
};

use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, stat};

use super::signals;

use crate::cli::prelude::*;

/// How long to wait for a reader after a signal.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
/// How often a waiting write checks for a signal.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) static OUT: Stream = Stream::new(|text| all_of(&mut io::stdout().lock(), text));
pub(crate) static ERR: Stream = Stream::new(|text| all_of(&mut io::stderr().lock(), text));

/// The result of writing a text.
pub(crate) enum Written {
    Done(io::Result<()>),
    /// The reader is blocking and a signal has come. The text may still be written as long as the process lives.
    GivenUp,
}

struct Job {
    text: Vec<u8>,
    done: mpsc::Sender<io::Result<()>>,
}

pub(crate) struct Stream {
    write: fn(&[u8]) -> io::Result<()>,
    jobs: OnceLock<mpsc::Sender<Job>>,
    /// The reader was waited for long enough once.
    is_stuck: AtomicBool,
}

impl Stream {
    const fn new(write: fn(&[u8]) -> io::Result<()>) -> Self {
        Self {
            write,
            jobs: OnceLock::new(),
            is_stuck: AtomicBool::new(false),
        }
    }

    /// Waits until the text is written, or until a signal has come and the reader had its time.
    pub(crate) fn write(&'static self, text: &str) -> Written {
        if !signals::are_caught() {
            // A signal kills the process, whatever it is waiting for.
            return Written::Done((self.write)(text.as_bytes()));
        }
        let jobs = self.jobs.get_or_init(|| self.start());
        let (done, ended) = mpsc::channel();
        let text = text.as_bytes().to_vec();
        let begun = Instant::now();
        // The thread lives as long as the process, unless it could not be started for lack of memory.
        if let Err(mpsc::SendError(job)) = jobs.send(Job { text, done }) {
            return Written::Done((self.write)(&job.text));
        }
        loop {
            match ended.recv_timeout(PAUSE) {
                Ok(written) => return Written::Done(written),
                Err(RecvTimeoutError::Disconnected) => {
                    let error = io::Error::other("writing was interrupted");
                    return Written::Done(Err(error));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let signalled = signals::signalled_at();
            let is_late =
                signalled.is_some_and(|signalled| signalled.max(begun).elapsed() >= PATIENCE);
            if is_late || signalled.is_some() && self.is_stuck.load(Ordering::SeqCst) {
                self.is_stuck.store(true, Ordering::SeqCst);
                return Written::GivenUp;
            }
        }
    }

    fn start(&'static self) -> mpsc::Sender<Job> {
        let (jobs, received) = mpsc::channel::<Job>();
        let thread = std::thread::Builder::new().spawn(move || {
            for job in received {
                let written = (self.write)(&job.text);
                self.is_stuck.store(false, Ordering::SeqCst);
                // The receiver may be gone.
                drop(job.done.send(written));
            }
        });
        // If the thread was not started, the channel is closed and callers write the text themselves.
        drop(thread);
        jobs
    }
}

/// Whether standard output was closed when the process began. The runtime puts the null device there, open for reading
/// and writing, and what is written is lost without an error.
pub(crate) fn out_was_closed() -> bool {
    let out = io::stdout();
    let is_both = fcntl_getfl(&out).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR);
    let is_null = || {
        let (null, out) = (stat("/dev/null").ok()?, fstat(&out).ok()?);
        let is_device = FileType::from_raw_mode(out.st_mode) == FileType::CharacterDevice;
        Some(is_device && out.st_rdev == null.st_rdev)
    };
    is_both && is_null().unwrap_or(false)
}

fn all_of(stream: &mut impl Write, text: &[u8]) -> io::Result<()> {
    stream.write_all(text)?;
    stream.flush()
}
