//! One piece of work for the storage thread and the way back to whoever asked. The reply is sent after the commit,
//! and work that nobody waits for any more is done all the same.

use rusqlite::Connection;

use super::StoreError;

/// Whether work may write; a transaction of reads alone takes no write lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::service) enum Access {
    Read,
    Write,
}

pub(super) trait Work: Send {
    fn access(&self) -> Access;

    /// Does the work inside a transaction; its result is kept until [`Work::reply`].
    fn run(&mut self, connection: &Connection) -> Result<(), StoreError>;

    /// Hands over the result, or the error that undid it.
    fn reply(self: Box<Self>, outcome: Result<(), StoreError>);
}

pub(super) struct Task<F, T, R> {
    access: Access,
    work: Option<F>,
    result: Option<T>,
    reply: R,
}

impl<F, T, R> Task<F, T, R>
where
    F: FnOnce(&Connection) -> Result<T, StoreError> + Send,
    T: Send,
    R: FnOnce(Result<T, StoreError>) + Send,
{
    pub(super) fn new(access: Access, work: F, reply: R) -> Self {
        Self {
            access,
            work: Some(work),
            result: None,
            reply,
        }
    }
}

impl<F, T, R> Work for Task<F, T, R>
where
    F: FnOnce(&Connection) -> Result<T, StoreError> + Send,
    T: Send,
    R: FnOnce(Result<T, StoreError>) + Send,
{
    fn access(&self) -> Access {
        self.access
    }

    fn run(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let work = self.work.take().ok_or(StoreError::Stopped)?;
        self.result = Some(work(connection)?);
        Ok(())
    }

    fn reply(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Self { result, reply, .. } = *self;
        reply(outcome.and_then(|()| result.ok_or(StoreError::Stopped)));
    }
}
