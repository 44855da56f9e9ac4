//! Databases, for every room that stores something: files and servers, statements with their values, rows, and
//! transactions. SQLite runs on a thread of its own: its connection never leaves the thread, queued work is done in one
//! transaction, and answers are sent after the commit. Knows no tables.

pub(crate) mod file;
mod lane;
mod postgres;
mod record;
mod session;
mod sqlstate;
mod task;
mod tx;
mod value;

use std::{
    any::Any,
    io,
    panic::resume_unwind,
    sync::mpsc::Receiver,
    thread::{Builder, JoinHandle},
};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::watch;

use postgres::ServerConnection;

pub use postgres::ServerFault;
pub(crate) use postgres::{
    AddressFault, Advice, Hints, Password, Server, TimelineCheck, quoted, timelines,
};
pub(crate) use record::{Cursor, NewRow, Read, Select, columns_of, placeholders, record, row};
pub(crate) use session::Session;
pub(crate) use task::{Access, Reply, Work, repeatable, task, wait_for_writes};
pub(crate) use tx::{Asked, Tx};
pub(crate) use value::{Fault, FromValue, Row, Rows, Statement, Value, ValueRef, values};

/// A database as used by its thread: how to open it, and what its errors mean.
pub(crate) trait Database: Send + 'static {
    /// Cloned for every caller whose work was undone by the error.
    type Error: From<rusqlite::Error> + Clone + Send + 'static;

    /// Opens it, also again after a failure.
    fn open(&self) -> Result<Connection, Self::Error>;

    /// Whether the next work uses the connection again.
    fn is_kept(&self, _connection: &Connection) -> bool {
        true
    }

    /// Begins a transaction that holds the write lock from the start.
    fn begin<'c>(&self, connection: &'c mut Connection) -> Result<Transaction<'c>, Self::Error> {
        Ok(connection.transaction_with_behavior(TransactionBehavior::Immediate)?)
    }

    fn commit(&self, tx: Transaction<'_>) -> Result<(), Self::Error>;

    /// Whether to close the connection: after a failed fsync, a later commit can report success over lost pages.
    fn ends_the_connection(error: &Self::Error) -> bool;

    /// Whether work that failed with this error also undoes the other work of the transaction.
    fn undoes_all(error: &Self::Error) -> bool {
        Self::ends_the_connection(error)
    }

    /// Converts a panic during work into an error; by default the panic ends the thread.
    fn panicked(&self, panic: Box<dyn Any + Send>) -> Self::Error {
        resume_unwind(panic)
    }

    /// Called once for every failure.
    fn failed(&self, _error: &Self::Error) {}
}

/// For a file that ends with the process: fast for many rows, and not durable if the machine crashes.
pub(crate) const EPHEMERAL: &str = "PRAGMA synchronous = OFF; PRAGMA cache_size = -24000";

/// A thread that executes queued work until this is dropped; dropping waits until all of it is done and the connection
/// is closed. `S` is the sender of its queue, so the creator chooses the capacity.
pub(crate) struct Worker<S> {
    thread: Option<(S, JoinHandle<()>)>,
    /// True once this is being dropped, so that the thread waits no longer for a server that is gone.
    is_closing: watch::Sender<bool>,
}

impl<S> Worker<S> {
    pub(crate) fn start<D: Database>(
        name: &str,
        session: Session<D>,
        (sender, queue): (S, Receiver<Box<dyn Work<D::Error>>>),
    ) -> io::Result<Self> {
        Self::spawn(name, sender, watch::Sender::default(), move || {
            session.serve(&queue);
        })
    }

    /// As `start`, with a connection to a server that is opened on first use; each piece of work is a transaction of
    /// its own.
    pub(crate) fn start_on_server<E: From<Fault> + 'static>(
        name: &str,
        server: Server,
        (sender, queue): (S, Receiver<Box<dyn Work<E>>>),
    ) -> io::Result<Self> {
        let is_closing = watch::Sender::default();
        let connection = ServerConnection::new(server, is_closing.subscribe())?;
        Self::spawn(name, sender, is_closing, move || {
            lane::serve(connection, &queue);
        })
    }

    fn spawn(
        name: &str,
        sender: S,
        is_closing: watch::Sender<bool>,
        serve: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let thread = Builder::new().name(name.into()).spawn(serve)?;
        Ok(Self {
            thread: Some((sender, thread)),
            is_closing,
        })
    }

    /// `None` only while being dropped.
    pub(crate) fn queue(&self) -> Option<&S> {
        self.thread.as_ref().map(|(sender, _)| sender)
    }
}

impl<S> Drop for Worker<S> {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.thread.take() {
            self.is_closing.send_replace(true);
            drop(sender);
            // Work may hold the last handle: the thread cannot wait for itself, and ends after what is queued.
            if thread.thread().id() != std::thread::current().id() {
                // If the thread panicked, those waiting for its answers have noticed.
                drop(thread.join());
            }
        }
    }
}

#[cfg(test)]
pub(crate) use record::with_columns;

#[cfg(test)]
mod tests;
