//! The service's storage: SQLite on one thread of its own, or lines to a PostgreSQL server, asked over bounded queues. It knows
//! none of the service's rules; those stand in `rules` and `keys` and run inside its transactions.

use std::{
    fmt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::oneshot;

mod care;
mod error;
mod file;
mod server;

pub(super) use crate::database::Access;
use crate::database::{Server, Session, THROWN_AWAY, Tx, Work, Worker, repeatable, values};
pub use care::{Copied, Looked, backup, check};
pub use error::StoreError;
use file::File;
pub use server::SharedStorage;

/// Hears every failure of the storage, so that `serve` can say on stderr what an answer 500 never says.
pub type ReportFailure = Arc<dyn Fn(&StoreError) + Send + Sync>;

/// How the storage behaves under pressure.
#[derive(Clone)]
pub struct Options {
    /// How long to wait for another process's write lock.
    pub busy_timeout: Duration,
    /// How much work may wait; more is refused with [`StoreError::Overloaded`].
    pub queue: usize,
    pub report: Option<ReportFailure>,
    /// The file goes with the process: nothing in it has to outlive the machine.
    pub is_thrown_away: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            queue: 1_024,
            report: None,
            is_thrown_away: false,
        }
    }
}

/// The storage of the service. Clones share its threads; they end, their queues done, with the last of them.
///
/// Open a database once per process: closing any descriptor of a file gives up the process's POSIX locks on it.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    /// One of a file, several lines to a server.
    threads: Vec<Thread>,
    /// Where it is no file.
    server: Option<Server>,
    /// Of a server; a file's thread has its own.
    report: Option<ReportFailure>,
    pending_writes: Arc<AtomicUsize>,
    failures: Arc<AtomicU64>,
    /// Writes on a server since it was opened.
    writes: AtomicU64,
}

struct Thread {
    worker: Worker<SyncSender<Queued>>,
    /// What waits for it, or is under way.
    waiting: Arc<AtomicUsize>,
}

type Queued = Box<dyn Work<StoreError>>;

/// Counts something until it is done or nobody can do it any more.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn of(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// After so many writes, rows are removed that nobody asks for any more.
const SWEEP: u64 = 4_096;
const SWEEP_WRITES: &str = "DELETE FROM writes WHERE at < clock_timestamp() - INTERVAL '1 hour'";

impl Store {
    /// Opens the database, or makes it with mode 0600 in a folder with mode 0700. Blocks.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, Options::default())
    }

    /// [`Store::open`] with other limits.
    pub fn open_with(path: &Path, options: Options) -> Result<Self, StoreError> {
        let connection = file::open_or_create(path, options.busy_timeout)?;
        if options.is_thrown_away {
            connection.execute_batch(THROWN_AWAY)?;
        }
        let failures = Arc::<AtomicU64>::default();
        let database = File {
            path: path.to_owned(),
            busy_timeout: options.busy_timeout,
            report: options.report,
            failures: Arc::clone(&failures),
        };
        let session = Session {
            database,
            connection: Some(connection),
        };
        let worker = Worker::start("service-store", session, sync_channel(options.queue));
        let threads = vec![thread(worker)?];
        Ok(Self::of_threads(threads, None, None, failures))
    }

    /// Lines to a server, opened when something is asked.
    fn of_lines(at: &SharedStorage, options: Options, count: usize) -> Result<Self, StoreError> {
        let start = |_| {
            let queue = sync_channel(options.queue.div_ceil(count));
            thread(Worker::start_on_server(
                "service-store",
                at.server.clone(),
                queue,
            ))
        };
        let threads = (0..count).map(start).collect::<Result<_, _>>()?;
        let failures = Arc::default();
        let server = Some(at.server.clone());
        Ok(Self::of_threads(threads, server, options.report, failures))
    }

    fn of_threads(
        threads: Vec<Thread>,
        server: Option<Server>,
        report: Option<ReportFailure>,
        failures: Arc<AtomicU64>,
    ) -> Self {
        Self(Arc::new(Inner {
            threads,
            server,
            report,
            pending_writes: Arc::default(),
            failures,
            writes: AtomicU64::new(0),
        }))
    }

    /// Whether other processes may work on it at the same time over lines of their own.
    pub(super) fn is_shared(&self) -> bool {
        self.0.server.is_some()
    }

    /// Commits whose answer was lost, and that a server was asked for: only then was the caller told.
    pub fn decided_commits(&self) -> u64 {
        self.0.server.as_ref().map_or(0, Server::decided)
    }

    /// Lines to a server, or the one thread of a file; and how many of them have something to do.
    pub(super) fn lines(&self) -> (usize, usize) {
        let threads = &self.0.threads;
        let is_busy = |thread: &&Thread| thread.waiting.load(Ordering::SeqCst) > 0;
        (threads.len(), threads.iter().filter(is_busy).count())
    }

    /// How many writes are queued or under way.
    pub fn pending_writes(&self) -> usize {
        self.0.pending_writes.load(Ordering::SeqCst)
    }

    /// How often the storage failed since it was opened.
    pub fn failures(&self) -> u64 {
        self.0.failures.load(Ordering::Relaxed)
    }

    /// Writes something: whether writes are taken is known for certain only then.
    pub(super) async fn probe(&self) -> Result<(), StoreError> {
        const PROBE: &str = "\
INSERT INTO probe (id, at) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET at = excluded.at";
        let at = Timestamp::now().as_millisecond();
        let probe = move |tx: &Tx<'_>| Ok(tx.write(PROBE, values![at]).map(drop)?);
        self.ask(Access::Write, probe).await
    }

    /// Queues work and waits for its commit. Dropping the future does not cancel work that is queued. On a server it may be
    /// done again from its start.
    pub(super) async fn ask<T, F>(&self, access: Access, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let thread = self.idlest()?;
        // A caller that has gone away is no reason to undo what is committed.
        let task = self.task(thread, access, work, move |result| drop(reply.send(result)));
        let queue = thread.worker.queue().ok_or(StoreError::Stopped)?;
        queue.try_send(task).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Overloaded,
            TrySendError::Disconnected(_) => StoreError::Stopped,
        })?;
        answer.await.unwrap_or(Err(StoreError::Stopped))
    }

    /// [`Store::ask`] for callers that may block; waits for room in the queue too.
    pub(super) fn ask_blocking<T, F>(&self, access: Access, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = sync_channel(1);
        let thread = self.idlest()?;
        let task = self.task(thread, access, work, move |result| drop(reply.send(result)));
        let queue = thread.worker.queue().ok_or(StoreError::Stopped)?;
        queue.send(task).map_err(|_| StoreError::Stopped)?;
        answer.recv().unwrap_or(Err(StoreError::Stopped))
    }

    /// The thread for which the least waits.
    fn idlest(&self) -> Result<&Thread, StoreError> {
        let threads = self.0.threads.iter();
        let idlest = threads.min_by_key(|thread| thread.waiting.load(Ordering::SeqCst));
        idlest.ok_or(StoreError::Stopped)
    }

    /// Work that is done whether somebody still waits for it or not.
    fn task<T: Send + 'static>(
        &self,
        thread: &Thread,
        access: Access,
        mut work: impl FnMut(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
        reply: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) -> Queued {
        let is_write = access == Access::Write;
        let counted = (
            Counted::of(&thread.waiting),
            is_write.then(|| Counted::of(&self.0.pending_writes)),
        );
        let sweeps = self.is_shared()
            && is_write
            && self
                .0
                .writes
                .fetch_add(1, Ordering::Relaxed)
                .is_multiple_of(SWEEP);
        let work = move |tx: &Tx<'_>| {
            let done = work(tx)?;
            if sweeps {
                tx.write(SWEEP_WRITES, values![])?;
            }
            Ok(done)
        };
        let failed = self.is_shared().then(|| {
            let failures = Arc::clone(&self.0.failures);
            (failures, self.0.report.clone())
        });
        repeatable(access, work, move |result: Result<T, StoreError>| {
            if let (Err(error), Some((failures, report))) = (&result, failed)
                && error.is_of_the_storage()
            {
                failures.fetch_add(1, Ordering::Relaxed);
                if let Some(report) = report {
                    report(error);
                }
            }
            drop(counted);
            reply(result);
        })
    }
}

fn thread(worker: std::io::Result<Worker<SyncSender<Queued>>>) -> Result<Thread, StoreError> {
    let worker =
        worker.map_err(|error| StoreError::File(format!("no thread for the database: {error}")))?;
    Ok(Thread {
        worker,
        waiting: Arc::default(),
    })
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("pending_writes", &self.pending_writes())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
