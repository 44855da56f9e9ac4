//! A piece of work for the thread of a database, and the way its result returns to the caller.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::Tx;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads a few rows; may run between writes.
    Short,
    /// Reads as many rows as there are.
    Long,
    /// Writes. May be executed again from the start, so it must have no effect outside the database.
    Write,
    /// A write whose input cannot be read twice, or that creates the tables: if a server does not answer its commit,
    /// the outcome is unknown.
    WriteOnce,
}

impl Access {
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::WriteOnce)
    }
}

/// A piece of work; the type of its result is known only to its reply.
pub(crate) trait Work<E>: Send {
    fn access(&self) -> Access;

    /// Always true for a write; for a read, only while somebody waits for it.
    fn is_wanted(&self) -> bool {
        self.access().writes() || self.is_awaited()
    }

    /// Whether somebody waits for the result.
    fn is_awaited(&self) -> bool;

    fn requested_at(&self) -> Instant;

    /// Whether SQLite's thread may execute it again from the start.
    fn is_repeatable(&self) -> bool;

    /// Executes the work; the result is kept until [`Work::reply`].
    fn run(&mut self, tx: &Tx<'_>) -> Result<(), E>;

    /// Sends the result, or the error that undid the work.
    fn reply(self: Box<Self>, outcome: Result<(), E>);
}

/// Receives a result. If it is dropped without one, the thread has stopped.
pub(crate) trait Reply<T, E>: Send {
    fn is_awaited(&self) -> bool {
        true
    }

    fn send(self, answer: Result<T, E>);
}

impl<T: Send, E: Send> Reply<T, E> for oneshot::Sender<Result<T, E>> {
    fn is_awaited(&self) -> bool {
        !self.is_closed()
    }

    fn send(self, answer: Result<T, E>) {
        // The caller may be gone.
        drop(self.send(answer));
    }
}

impl<T, E, F: FnOnce(Result<T, E>) + Send> Reply<T, E> for F {
    fn send(self, answer: Result<T, E>) {
        self(answer);
    }
}

/// The writes of this process that are queued or in progress.
static WRITES: Mutex<usize> = Mutex::new(0);
static WRITTEN: Condvar = Condvar::new();

/// Counts as a write until it is dropped.
struct PendingWrite;

impl PendingWrite {
    fn new() -> Self {
        *pending() += 1;
        Self
    }
}

impl Drop for PendingWrite {
    fn drop(&mut self) {
        *pending() -= 1;
        WRITTEN.notify_all();
    }
}

fn pending() -> MutexGuard<'static, usize> {
    WRITES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until every write that was queued is done, at most so long. For the end of the process: a task that is still
/// being dropped may hold the last handle, and then nobody waits for the threads.
pub(crate) fn wait_for_writes(longest: Duration) {
    let waited = WRITTEN.wait_timeout_while(pending(), longest, |writes| *writes > 0);
    drop(waited);
}

struct Task<F, T, R> {
    access: Access,
    /// `Some` if it writes.
    _pending: Option<PendingWrite>,
    is_repeatable: bool,
    requested_at: Instant,
    work: F,
    /// The result of the latest execution.
    result: Option<T>,
    reply: R,
}

/// Work that is executed once: a read, or something that cannot be repeated.
pub(crate) fn task<T: Send + 'static, E>(
    access: Access,
    work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    reply: impl Reply<T, E> + 'static,
) -> Box<dyn Work<E>> {
    let mut work = Some(work);
    let once = move |tx: &Tx<'_>| work.take().expect("it is done once")(tx);
    repeatable((access, false), once, reply)
}

/// Work that a server may execute again from the start, and SQLite's thread only if it `is_repeatable`: otherwise it has
/// a savepoint of its own there.
pub(crate) fn repeatable<T: Send + 'static, E>(
    (access, is_repeatable): (Access, bool),
    work: impl FnMut(&Tx<'_>) -> Result<T, E> + Send + 'static,
    reply: impl Reply<T, E> + 'static,
) -> Box<dyn Work<E>> {
    Box::new(Task {
        access,
        _pending: access.writes().then(PendingWrite::new),
        is_repeatable,
        requested_at: Instant::now(),
        work,
        result: None,
        reply,
    })
}

impl<F, T, E, R> Work<E> for Task<F, T, R>
where
    F: FnMut(&Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    R: Reply<T, E>,
{
    fn access(&self) -> Access {
        self.access
    }

    fn is_repeatable(&self) -> bool {
        self.is_repeatable
    }

    fn is_awaited(&self) -> bool {
        self.reply.is_awaited()
    }

    fn requested_at(&self) -> Instant {
        self.requested_at
    }

    fn run(&mut self, tx: &Tx<'_>) -> Result<(), E> {
        self.result = Some((self.work)(tx)?);
        Ok(())
    }

    fn reply(self: Box<Self>, outcome: Result<(), E>) {
        let Self { result, reply, .. } = *self;
        if let Some(answer) = outcome.map(|()| result).transpose() {
            reply.send(answer);
        }
    }
}
