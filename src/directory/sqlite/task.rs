//! One piece of work for the directory's thread and the way back to whoever asked.

use rusqlite::Connection;

use super::fault::Fault;
use crate::directory::{DirectoryError, Reply};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::directory) enum Access {
    /// Reads a few rows; may be done between writes.
    Short,
    /// Reads as many rows as there are.
    Long,
    Write,
}

pub(in crate::directory) trait Work {
    fn access(&self) -> Access;

    /// A write always is; a read only while somebody waits for it.
    fn is_wanted(&self) -> bool;

    /// Does the work; its result is kept until [`Work::reply`].
    fn run(&mut self, connection: &Connection) -> Result<(), Fault>;

    /// Hands over the result, or the error that undid it.
    fn reply(self: Box<Self>, outcome: Result<(), DirectoryError>);
}

pub(super) struct Task<F, T> {
    access: Access,
    /// Until it was run.
    work: Option<F>,
    result: Option<T>,
    reply: Reply<T>,
}

impl<F, T> Task<F, T>
where
    F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    T: Send + 'static,
{
    pub(super) fn work(access: Access, work: F, reply: Reply<T>) -> Box<dyn Work + Send> {
        Box::new(Self {
            access,
            work: Some(work),
            result: None,
            reply,
        })
    }
}

impl<F, T> Work for Task<F, T>
where
    F: FnOnce(&Connection) -> Result<T, Fault>,
{
    fn access(&self) -> Access {
        self.access
    }

    fn is_wanted(&self) -> bool {
        self.access == Access::Write || !self.reply.is_closed()
    }

    fn run(&mut self, connection: &Connection) -> Result<(), Fault> {
        if let Some(work) = self.work.take() {
            self.result = Some(work(connection)?);
        }
        Ok(())
    }

    fn reply(self: Box<Self>, outcome: Result<(), DirectoryError>) {
        let Self { result, reply, .. } = *self;
        // Without a result the sender is dropped, which says that the thread has stopped.
        if let Some(answer) = outcome.map(|()| result).transpose() {
            // The caller may have left meanwhile.
            drop(reply.send(answer));
        }
    }
}
