//! Databases, for every room that keeps something: statements with their values, rows, and requests that read, decide and
//! write. SQLite is on a thread of its own: a connection never leaves it, what is queued is done in one transaction, and
//! answered after its commit. It knows no tables and no files.

mod fault;
mod lane;
mod postgres;
mod request;
mod session;
mod sqlite;
mod statement;
mod task;
mod value;

use std::{
    any::Any,
    io,
    panic::resume_unwind,
    sync::mpsc::Receiver,
    thread::{Builder, JoinHandle},
};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use postgres::Line;

pub(crate) use fault::Fault;
pub(crate) use postgres::{AddressFault, Hints, Password, Server, ServerFault};
pub(crate) use request::{Request, Tx};
pub(crate) use session::Session;
pub(crate) use statement::{Found, Row, Rows, Statement, Statements, values};
pub(crate) use task::{Access, Reply, Work, repeatable, task};
pub(crate) use value::{Value, ValueRef};

/// A database as its thread uses it: how it is opened, and what its failures mean.
pub(crate) trait Database: Send + 'static {
    /// Cloned for everybody whose work it undid.
    type Error: From<rusqlite::Error> + Clone + Send + 'static;

    /// Opens it again, after a failure.
    fn open(&self) -> Result<Connection, Self::Error>;

    /// Begins a transaction that holds the write lock from the start.
    fn begin<'c>(&self, connection: &'c mut Connection) -> Result<Transaction<'c>, Self::Error> {
        Ok(connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }

    fn commit(&self, tx: Transaction<'_>) -> Result<(), Self::Error>;

    /// Whether the connection is given up: after a failed fsync a later commit can report success over lost pages.
    fn ends_the_connection(error: &Self::Error) -> bool;

    /// Whether a piece of work that failed like this undoes its neighbours of the transaction, too.
    fn undoes_all(error: &Self::Error) -> bool {
        Self::ends_the_connection(error)
    }

    /// What a panic in a piece of work comes to; where nothing is said, it ends the thread.
    fn panicked(&self, panic: Box<dyn Any + Send>) -> Self::Error {
        resume_unwind(panic)
    }

    /// Hears every failure once.
    fn failed(&self, _error: &Self::Error) {}
}

/// For a file that goes with the process: many rows are written soon, and nothing outlives the machine.
pub(crate) const THROWN_AWAY: &str = "PRAGMA synchronous = OFF; PRAGMA cache_size = -24000";

/// A thread that does what is queued until this is dropped; dropping waits until all of it is done and the connection is
/// closed. `S` is the sending end of its queue: how much may wait is for its maker to say.
pub(crate) struct Worker<S>(Option<(S, JoinHandle<()>)>);

impl<S> Worker<S> {
    pub(crate) fn start<D: Database>(
        name: &str,
        session: Session<D>,
        (sender, queue): (S, Receiver<Box<dyn Work<D::Error>>>),
    ) -> io::Result<Self> {
        Self::spawn(name, sender, move || session.serve(&queue))
    }

    /// The same with a line to a server, which is opened when something is asked; each piece of work is a transaction.
    pub(crate) fn start_on_server<E: From<Fault> + 'static>(
        name: &str,
        server: Server,
        (sender, queue): (S, Receiver<Box<dyn Work<E>>>),
    ) -> io::Result<Self> {
        let line = Line::new(server)?;
        Self::spawn(name, sender, move || lane::serve(line, &queue))
    }

    fn spawn(name: &str, sender: S, serve: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let thread = Builder::new().name(name.into()).spawn(serve)?;
        Ok(Self(Some((sender, thread))))
    }

    /// `None` only while being dropped.
    pub(crate) fn queue(&self) -> Option<&S> {
        self.0.as_ref().map(|(sender, _)| sender)
    }
}

impl<S> Drop for Worker<S> {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // Whoever waited for a panic over there knows of it already.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests;
