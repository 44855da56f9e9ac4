//! The service's storage: SQLite on one thread of its own, asked over a bounded queue. It owns durability and
//! knows none of the service's rules; those stand in `rules` and `keys` and run inside its transactions.

use std::{
    fmt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::oneshot;

mod database;
mod error;
mod task;
mod thread;

pub use error::StoreError;
pub(super) use task::Access;
use task::{Task, Work};

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
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            queue: 1_024,
            report: None,
        }
    }
}

/// The storage of the service. Clones share one thread; it ends, its queue done, with the last of them.
///
/// Open a database once per process: closing any descriptor of a file gives up the process's POSIX locks on it.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

struct Inner {
    /// `None` only while being dropped.
    queue: Option<SyncSender<Box<dyn Work>>>,
    thread: Option<JoinHandle<()>>,
    pending_writes: Arc<AtomicUsize>,
}

impl Store {
    /// Opens the database, or makes it with mode 0600 in a folder with mode 0700. Blocks.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, Options::default())
    }

    /// [`Store::open`] with other limits.
    pub fn open_with(path: &Path, options: Options) -> Result<Self, StoreError> {
        let connection = database::open_or_create(path, options.busy_timeout)?;
        let (sender, queue) = sync_channel(options.queue);
        let pending_writes = Arc::new(AtomicUsize::new(0));
        let thread = thread::Thread {
            path: path.to_owned(),
            busy_timeout: options.busy_timeout,
            report: options.report,
            connection: Some(connection),
            queue,
            pending_writes: Arc::clone(&pending_writes),
        };
        let thread = std::thread::Builder::new()
            .name("service-store".into())
            .spawn(move || thread.run())
            .map_err(|error| StoreError::File(format!("no thread for the database: {error}")))?;
        Ok(Self(Arc::new(Inner {
            queue: Some(sender),
            thread: Some(thread),
            pending_writes,
        })))
    }

    /// How many writes are queued or under way.
    pub fn pending_writes(&self) -> usize {
        self.0.pending_writes.load(Ordering::SeqCst)
    }

    /// Queues work and waits for its commit. Dropping the future does not cancel work that is queued.
    pub(super) async fn ask<T, F>(&self, access: Access, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        // A caller that has gone away is no reason to undo what is committed.
        let task = Task::new(access, work, move |result| drop(reply.send(result)));
        self.enqueue(access, |queue| match queue.try_send(Box::new(task)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => Err(StoreError::Overloaded),
            Err(TrySendError::Disconnected(_)) => Err(StoreError::Stopped),
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
        let task = Task::new(access, work, move |result| drop(reply.send(result)));
        self.enqueue(access, |queue| {
            queue.send(Box::new(task)).map_err(|_| StoreError::Stopped)
        })?;
        answer.recv().unwrap_or(Err(StoreError::Stopped))
    }

    fn enqueue(
        &self,
        access: Access,
        send: impl FnOnce(&SyncSender<Box<dyn Work>>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let queue = self.0.queue.as_ref().ok_or(StoreError::Stopped)?;
        let weight = usize::from(access == Access::Write);
        // Before sending: the thread may be done with it before we are back.
        self.0.pending_writes.fetch_add(weight, Ordering::SeqCst);
        send(queue).inspect_err(|_| {
            self.0.pending_writes.fetch_sub(weight, Ordering::SeqCst);
        })
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store")
            .field("pending_writes", &self.pending_writes())
            .finish_non_exhaustive()
    }
}

impl Drop for Inner {
    /// Lets the thread finish its queue and close the database.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been answered already; there is nothing to add.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests;
