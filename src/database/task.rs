//! One piece of work for the thread of a database, and the way back to whoever asked.

use rusqlite::Connection;
use tokio::sync::oneshot;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads a few rows; may be done between writes.
    Short,
    /// Reads as many rows as there are.
    Long,
    Write,
}

/// A piece of work whose result only its reply knows.
pub(crate) trait Work<E>: Send {
    fn access(&self) -> Access;

    /// A write always is; a read only while somebody waits for it.
    fn is_wanted(&self) -> bool;

    /// Does the work; its result is kept until [`Work::reply`].
    fn run(&mut self, connection: &Connection) -> Result<(), E>;

    /// Hands over the result, or the error that undid it.
    fn reply(self: Box<Self>, outcome: Result<(), E>);
}

/// Where a result goes. Dropped without one, it says that the thread has stopped.
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
        // The caller may have left meanwhile.
        drop(self.send(answer));
    }
}

impl<T, E, F: FnOnce(Result<T, E>) + Send> Reply<T, E> for F {
    fn send(self, answer: Result<T, E>) {
        self(answer);
    }
}

struct Task<F, T, R> {
    access: Access,
    /// Until it was run.
    work: Option<F>,
    result: Option<T>,
    reply: R,
}

pub(crate) fn task<T: Send + 'static, E>(
    access: Access,
    work: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    reply: impl Reply<T, E> + 'static,
) -> Box<dyn Work<E>> {
    Box::new(Task {
        access,
        work: Some(work),
        result: None,
        reply,
    })
}

impl<F, T, E, R> Work<E> for Task<F, T, R>
where
    F: FnOnce(&Connection) -> Result<T, E> + Send,
    T: Send,
    R: Reply<T, E>,
{
    fn access(&self) -> Access {
        self.access
    }

    fn is_wanted(&self) -> bool {
        self.access == Access::Write || self.reply.is_awaited()
    }

    fn run(&mut self, connection: &Connection) -> Result<(), E> {
        if let Some(work) = self.work.take() {
            self.result = Some(work(connection)?);
        }
        Ok(())
    }

    fn reply(self: Box<Self>, outcome: Result<(), E>) {
        let Self { result, reply, .. } = *self;
        if let Some(answer) = outcome.map(|()| result).transpose() {
            reply.send(answer);
        }
    }
}
