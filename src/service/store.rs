//! The service's storage: SQLite on a thread of its own, or connections to a PostgreSQL server, with bounded queues.
//! Knows none of the service's rules; those are in `rules` and `keys` and run inside its transactions.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::oneshot;

mod error;
mod file;
mod maintenance;
mod server;

pub(super) use crate::db::Access;
use crate::db::{EPHEMERAL, Server, Session, Tx, Work, Worker, repeatable, values};
pub use error::{Result, StoreError};
use file::File;
pub use maintenance::{BackupSummary, CheckResult, backup, check};
pub use server::SharedStorage;

/// Called for every storage failure, so that `serve` can report on stderr what an answer 500 does not tell.
pub type ReportFailure = Arc<dyn Fn(&StoreError) + Send + Sync>;

/// How the storage behaves under load.
#[derive(Clone)]
pub struct Options {
    /// How long to wait for another process's write lock.
    pub busy_timeout: Duration,
    /// Capacity of the queue; more is refused with [`StoreError::Overloaded`].
    pub queue: usize,
    pub report: Option<ReportFailure>,
    /// Whether the file ends with the process, so that it need not survive a crash of the machine.
    pub is_ephemeral: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            queue: 1_024,
            report: None,
            is_ephemeral: false,
        }
    }
}

/// The storage of the service. Clones share its threads, which end, after finishing their queues, with the last clone.
///
/// Open a database only once per process: closing any descriptor of a file releases the process's POSIX locks on it.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// One for a file, several for a server.
    threads: Vec<Thread>,
    /// Set if it is not a file.
    server: Option<Server>,
    failures: Arc<Failures>,
    pending_writes: Count,
    /// Number of writes to a server since it was opened.
    writes: AtomicU64,
}

/// Failures of the storage: counted, and reported.
#[derive(Default)]
struct Failures {
    count: AtomicU64,
    report: Option<ReportFailure>,
}

impl Failures {
    fn reported_to(report: Option<ReportFailure>) -> Arc<Self> {
        let count = AtomicU64::default();
        Arc::new(Self { count, report })
    }

    /// Of other errors nothing is noted.
    fn note(&self, error: &StoreError) {
        if !error.is_of_the_storage() {
            return;
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        if let Some(report) = &self.report {
            report(error);
        }
    }
}

struct Thread {
    worker: Worker<SyncSender<Queued>>,
    /// Number of requests queued or in progress.
    waiting: Count,
}

type Queued = Box<dyn Work<StoreError>>;

/// Counts its clones: each is held until something is done or can no longer be done.
#[derive(Default, Clone)]
struct Count(Arc<()>);

impl Count {
    fn clones(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

/// After this many writes, rows that are no longer needed are removed.
const SWEEP_EVERY: u64 = 4_096;
const SWEEP_WRITES: &str = "DELETE FROM writes WHERE at < clock_timestamp() - INTERVAL '1 hour'";

impl Store {
    /// Opens the database, or creates it with mode 0600 in a folder with mode 0700. Blocks.
    pub fn open(path: &Path, options: Options) -> Result<Self> {
        let connection = file::open_or_create(path, options.busy_timeout)?;
        if options.is_ephemeral {
            connection.execute_batch(EPHEMERAL)?;
        }
        let failures = Failures::reported_to(options.report);
        let database = File {
            path: path.to_owned(),
            busy_timeout: options.busy_timeout,
            failures: Arc::clone(&failures),
        };
        let session = Session {
            database,
            connection: Some(connection),
        };
        let worker = Worker::start("service-store", session, sync_channel(options.queue));
        Ok(Self(Arc::new(Inner {
            threads: vec![thread(worker)?],
            failures,
            ..Inner::default()
        })))
    }

    /// Prepares connections to a server; they are opened on first use.
    fn of_connections(at: &SharedStorage, options: Options, count: usize) -> Result<Self> {
        let start = |_| {
            let queue = sync_channel(options.queue.div_ceil(count));
            thread(Worker::start_on_server(
                "service-store",
                at.server.clone(),
                queue,
            ))
        };
        Ok(Self(Arc::new(Inner {
            threads: (0..count).map(start).collect::<Result<_>>()?,
            server: Some(at.server.clone()),
            failures: Failures::reported_to(options.report),
            ..Inner::default()
        })))
    }

    /// Whether other processes may write at the same time over their own connections.
    pub(super) fn is_shared(&self) -> bool {
        self.0.server.is_some()
    }

    /// Number of commits whose answer was lost and whose outcome was then asked from the server before the caller was
    /// answered.
    pub fn decided_commits(&self) -> u64 {
        self.0.server.as_ref().map_or(0, Server::decided)
    }

    /// Number of connections to a server (or the one thread of a file), and how many are busy.
    pub(super) fn connections(&self) -> (usize, usize) {
        let threads = &self.0.threads;
        let is_busy = |thread: &&Thread| thread.waiting.clones() > 0;
        (threads.len(), threads.iter().filter(is_busy).count())
    }

    /// Number of writes queued or in progress.
    pub fn pending_writes(&self) -> usize {
        self.0.pending_writes.clones()
    }

    /// Number of storage failures since it was opened.
    pub fn failures(&self) -> u64 {
        self.0.failures.count.load(Ordering::Relaxed)
    }

    /// Writes something: only that proves that writes are accepted.
    pub(super) async fn probe(&self) -> Result<()> {
        const PROBE: &str = "\
INSERT INTO probe (id, at) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET at = excluded.at";
        let at = Timestamp::now().as_millisecond();
        let probe = move |tx: &Tx<'_>| Ok(tx.write(PROBE, values![at]).map(drop)?);
        self.execute(Access::Write, probe).await
    }

    /// Queues work and waits for its commit. Dropping the future does not cancel queued work. On a server the work may
    /// be executed again from the start.
    pub(super) async fn execute<T, F>(&self, access: Access, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&Tx<'_>) -> Result<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        // If the caller has gone away, what is committed stays committed.
        let (queue, task) = self.task(access, work, move |result| drop(reply.send(result)))?;
        queue.try_send(task).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Overloaded,
            TrySendError::Disconnected(_) => StoreError::Stopped,
        })?;
        answer.await.unwrap_or(Err(StoreError::Stopped))
    }

    /// As [`Store::execute`], for callers that may block; also waits for space in the queue.
    pub(super) fn execute_blocking<T, F>(&self, access: Access, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&Tx<'_>) -> Result<T> + Send + 'static,
    {
        let (reply, answer) = sync_channel(1);
        let (queue, task) = self.task(access, work, move |result| drop(reply.send(result)))?;
        queue.send(task).map_err(|_| StoreError::Stopped)?;
        answer.recv().unwrap_or(Err(StoreError::Stopped))
    }

    /// Work that is executed whether or not somebody still waits for it, for the thread with the shortest queue.
    fn task<T: Send + 'static>(
        &self,
        access: Access,
        mut work: impl FnMut(&Tx<'_>) -> Result<T> + Send + 'static,
        reply: impl FnOnce(Result<T>) + Send + 'static,
    ) -> Result<(&SyncSender<Queued>, Queued)> {
        let threads = self.0.threads.iter();
        let idlest = threads.min_by_key(|thread| thread.waiting.clones());
        let thread = idlest.ok_or(StoreError::Stopped)?;
        let queue = thread.worker.queue().ok_or(StoreError::Stopped)?;
        let is_write = access == Access::Write;
        let counted = (
            thread.waiting.clone(),
            is_write.then(|| self.0.pending_writes.clone()),
        );
        let is_counted = self.is_shared() && is_write;
        let count = || self.0.writes.fetch_add(1, Ordering::Relaxed);
        let sweeps = is_counted && count().is_multiple_of(SWEEP_EVERY);
        let work = move |tx: &Tx<'_>| {
            let done = work(tx)?;
            if sweeps {
                tx.write(SWEEP_WRITES, values![])?;
            }
            Ok(done)
        };
        // The thread of a file notes them itself.
        let failures = self.is_shared().then(|| Arc::clone(&self.0.failures));
        let task = repeatable((access, false), work, move |result: Result<T>| {
            if let (Err(error), Some(failures)) = (&result, failures) {
                failures.note(error);
            }
            drop(counted);
            reply(result);
        });
        Ok((queue, task))
    }
}

fn thread(worker: std::io::Result<Worker<SyncSender<Queued>>>) -> Result<Thread> {
    let worker =
        worker.map_err(|error| StoreError::File(format!("no thread for the database: {error}")))?;
    Ok(Thread {
        worker,
        waiting: Count::default(),
    })
}

#[cfg(test)]
mod tests;
