//! One piece of work for the thread of a database, and the way back to whoever asked.

use tokio::sync::oneshot;

use super::Tx;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads a few rows; may be done between writes.
    Short,
    /// The same, never from a standby: what is sent to somebody else depends on it.
    Current,
    /// Reads as many rows as there are.
    Long,
    /// May be done again from its start: nothing but the database hears of it.
    Write,
    /// A write that takes in what cannot come again, or makes the tables: where a server does not answer its commit, it is not
    /// known.
    Once,
}

impl Access {
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Once)
    }
}

/// A piece of work whose result only its reply knows.
pub(crate) trait Work<E>: Send {
    fn access(&self) -> Access;

    /// A write always is; a read only while somebody waits for it.
    fn is_wanted(&self) -> bool;

    /// Does the work; its result is kept until [`Work::reply`].
    fn run(&mut self, tx: &Tx<'_>) -> Result<(), E>;

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
    work: F,
    /// Of the last time it was run.
    result: Option<T>,
    reply: R,
}

/// What is done once.
pub(crate) fn task<T: Send + 'static, E>(
    access: Access,
    work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    reply: impl Reply<T, E> + 'static,
) -> Box<dyn Work<E>> {
    let mut work = Some(work);
    let once = move |tx: &Tx<'_>| work.take().expect("it is done once")(tx);
    repeatable(access, once, reply)
}

/// What may be done again from its start.
pub(crate) fn repeatable<T: Send + 'static, E>(
    access: Access,
    work: impl FnMut(&Tx<'_>) -> Result<T, E> + Send + 'static,
    reply: impl Reply<T, E> + 'static,
) -> Box<dyn Work<E>> {
    Box::new(Task {
        access,
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

    fn is_wanted(&self) -> bool {
        self.access.writes() || self.reply.is_awaited()
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
