//! Standard output and standard error, each written to by a thread of its own: a reader that does not read must not keep a
//! process that a signal asked to end.

use std::{
    io::{self, Write},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use super::signals;

/// How long a reader is waited for after a signal.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
/// How often a wait looks for a signal.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) static OUT: Stream = Stream::new(|text| all_of(&mut io::stdout().lock(), text));
pub(crate) static ERR: Stream = Stream::new(|text| all_of(&mut io::stderr().lock(), text));

/// What came of a text.
pub(crate) enum Written {
    Done(io::Result<()>),
    /// It waits for its reader, and a signal has come; it may still be written as long as the process lives.
    GivenUp,
}

struct Job {
    text: Vec<u8>,
    done: mpsc::Sender<io::Result<()>>,
}

pub(crate) struct Stream {
    write: fn(&[u8]) -> io::Result<()>,
    jobs: OnceLock<mpsc::Sender<Job>>,
    /// Its reader was waited for long enough.
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

    /// Waits until it is written, or until a signal has come and the reader had its time.
    pub(crate) fn write(&'static self, text: &str) -> Written {
        if !signals::are_caught() {
            // A signal kills the process, whatever it waits for.
            return Written::Done((self.write)(text.as_bytes()));
        }
        let jobs = self.jobs.get_or_init(|| self.start());
        let (done, ended) = mpsc::channel();
        let text = text.as_bytes().to_vec();
        let begun = Instant::now();
        // The thread lives as long as the process, unless there was too little memory for it.
        if let Err(mpsc::SendError(job)) = jobs.send(Job { text, done }) {
            return Written::Done((self.write)(&job.text));
        }
        loop {
            match ended.recv_timeout(PAUSE) {
                Ok(written) => return Written::Done(written),
                Err(RecvTimeoutError::Disconnected) => {
                    let error = io::Error::other("the writing broke off");
                    return Written::Done(Err(error));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let asked = signals::asked_at();
            let is_late = asked.is_some_and(|asked| asked.max(begun).elapsed() >= PATIENCE);
            if is_late || asked.is_some() && self.is_stuck.load(Ordering::SeqCst) {
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
                // Nobody may be waiting any more.
                drop(job.done.send(written));
            }
        });
        // Without it the channel is closed, and texts are written by who has them.
        drop(thread);
        jobs
    }
}

fn all_of(stream: &mut impl Write, text: &[u8]) -> io::Result<()> {
    stream.write_all(text)?;
    stream.flush()
}
