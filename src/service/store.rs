//! The service's storage: SQLite on one thread of its own, asked over a bounded queue. It knows none of the service's
//! rules; those stand in `rules` and `keys` and run inside its transactions.

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
use rusqlite::Connection;
use tokio::sync::oneshot;

mod care;
mod error;
mod file;

pub(super) use crate::database::Access;
use crate::database::{Session, THROWN_AWAY, Tx, Work, Worker, task};
pub use care::{Copied, Looked, backup, check};
pub use error::StoreError;
use file::File;

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

/// The storage of the service. Clones share one thread; it ends, its queue done, with the last of them.
///
/// Open a database once per process: closing any descriptor of a file gives up the process's POSIX locks on it.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    worker: Worker<SyncSender<Queued>>,
    pending_writes: Arc<AtomicUsize>,
    failures: Arc<AtomicU64>,
}

type Queued = Box<dyn Work<StoreError>>;

/// Counts a write until it is done or nobody can do it any more.
struct Pending(Arc<AtomicUsize>);

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

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
        let worker = Worker::start("service-store", session, sync_channel(options.queue))
            .map_err(|error| StoreError::File(format!("no thread for the database: {error}")))?;
        Ok(Self(Arc::new(Inner {
            worker,
            pending_writes: Arc::default(),
            failures,
        })))
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
        let at = Timestamp::now().as_millisecond();
        self.ask(Access::Write, move |connection| {
            connection.execute(
                "INSERT INTO probe (id, at) VALUES (1, ?1)
                 ON CONFLICT (id) DO UPDATE SET at = excluded.at",
                [at],
            )?;
            Ok(())
        })
        .await
    }

    /// Queues work and waits for its commit. Dropping the future does not cancel work that is queued.
    pub(super) async fn ask<T, F>(&self, access: Access, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        // A caller that has gone away is no reason to undo what is committed.
        let task = self.task(access, work, move |result| drop(reply.send(result)));
        self.queue()?.try_send(task).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Overloaded,
            TrySendError::Disconnected(_) => StoreError::Stopped,
        })?;
        answer.await.unwrap_or(Err(StoreError::Stopped))
    }

    /// [`Store::ask`] for callers that may block; waits for room in the queue too.
    pub(super) fn ask_blocking<T, F>(&self, access: Access, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = sync_channel(1);
        let task = self.task(access, work, move |result| drop(reply.send(result)));
        self.queue()?.send(task).map_err(|_| StoreError::Stopped)?;
        answer.recv().unwrap_or(Err(StoreError::Stopped))
    }

    /// Work that is done whether somebody still waits for it or not.
    fn task<T: Send + 'static>(
        &self,
        access: Access,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
        reply: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) -> Queued {
        let pending = (access == Access::Write).then(|| {
            self.0.pending_writes.fetch_add(1, Ordering::SeqCst);
            Pending(Arc::clone(&self.0.pending_writes))
        });
        let work = move |tx: &Tx<'_>| work(tx.sqlite().ok_or(StoreError::Stopped)?);
        task(access, work, move |result| {
            drop(pending);
            reply(result);
        })
    }

    fn queue(&self) -> Result<&SyncSender<Queued>, StoreError> {
        self.0.worker.queue().ok_or(StoreError::Stopped)
    }
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
