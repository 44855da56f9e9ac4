//! The SQLite backend: one connection on one thread. It keeps every transaction whole and trusts no connection
//! that failed to write.

mod fault;
mod groups;
mod handoff;
mod history;
mod journal;
mod open;
mod rows;

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::mpsc,
};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::{DirectoryError, Record, Recorded, request::Request};
use crate::domain::token::Fingerprinter;
use fault::Fault;

/// Does requests until nobody can send any more. Reads that nobody waits for are left out; writes never are.
pub(super) fn serve(mut store: Store, requests: &mpsc::Receiver<Request>) {
    macro_rules! read {
        ($reply:ident, $work:expr) => {
            if !$reply.is_closed() {
                // The caller may leave meanwhile; then nobody wants the answer.
                drop($reply.send(store.read($work)));
            }
        };
    }
    macro_rules! write {
        ($reply:ident, $work:expr) => {
            drop($reply.send(store.write($work)))
        };
    }
    for request in requests {
        match request {
            Request::Groups { profile, reply } => read!(reply, |c| groups::all(c, &profile)),
            Request::Group { profile, id, reply } => {
                read!(reply, |c| groups::one(c, &profile, &id));
            }
            Request::Record {
                profile,
                records,
                reply,
            } => write!(reply, |tx| record_all(tx, &profile, records)),
            Request::History { filter, reply } => read!(reply, |c| history::list(c, filter)),
            Request::Begin {
                profile,
                intent,
                reply,
            } => write!(reply, |tx| journal::begin(tx, &profile, &intent)),
            Request::EndHandOff {
                id,
                handoff,
                entry,
                reply,
            } => write!(reply, |tx| handoff::end(tx, id, &handoff, &entry)),
            Request::Rotation { id, reply } => read!(reply, |c| journal::one(c, id)),
            Request::Rotations { filter, reply } => read!(reply, |c| journal::list(c, filter)),
            Request::Happenings { id, reply } => read!(reply, |c| journal::happenings(c, id)),
            Request::Owners { fingerprint, reply } => {
                read!(reply, |c| groups::owners(c, fingerprint));
            }
        }
    }
}

fn record_all(
    tx: &Transaction<'_>,
    profile: &str,
    records: Vec<Record>,
) -> Result<Vec<Recorded>, Fault> {
    records
        .into_iter()
        .map(|record| {
            // First, because it is the part that is refused most often.
            if let Some(step) = &record.rotation {
                journal::step(tx, profile, step)?;
            }
            if let Some(step) = &record.handoff {
                handoff::set(tx, profile, step)?;
            }
            if let Some(entry) = &record.entry {
                history::add(tx, entry)?;
            }
            record.lesson.map_or_else(
                || Ok(Recorded::default()),
                |lesson| groups::learn(tx, profile, lesson, record.upon),
            )
        })
        .collect()
}

/// The connection to one directory file.
pub(super) struct Store {
    path: PathBuf,
    /// Device and inode: a file that was swapped must not be mistaken for this one.
    identity: (u64, u64),
    /// `None` after a failure; opened again by the next request.
    connection: Option<Connection>,
    /// A seam: tests make it fail.
    commit: fn(Transaction<'_>) -> rusqlite::Result<()>,
}

impl Store {
    pub(super) fn open(path: &Path) -> Result<(Self, Fingerprinter), DirectoryError> {
        let (connection, fingerprinter) = open::open(path)?;
        let identity = identity(path)?;
        let store = Self {
            path: path.to_owned(),
            identity,
            connection: Some(connection),
            commit: |tx| tx.commit(),
        };
        Ok((store, fingerprinter))
    }

    fn read<T>(
        &mut self,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, DirectoryError> {
        let done = work(self.connection()?);
        self.checked(done)
    }

    /// One transaction that holds the write lock from the start; all of `work`, or nothing.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T, DirectoryError> {
        self.same_file()?;
        let commit = self.commit;
        let connection = self.connection()?;
        let begun = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(Fault::from);
        let done = begun.and_then(|tx| {
            open::still_ours(&tx)?;
            let value = work(&tx)?;
            commit(tx).map_err(Fault::Commit)?;
            Ok(value)
        });
        self.checked(done)
    }

    fn connection(&mut self) -> Result<&mut Connection, DirectoryError> {
        if self.connection.is_none() {
            self.same_file()?;
            let (connection, _) = open::open(&self.path)?;
            return Ok(self.connection.insert(connection));
        }
        self.connection
            .as_mut()
            .ok_or_else(|| DirectoryError::Stopped {
                path: self.path.clone(),
            })
    }

    /// Writing into a file that was moved or deleted would remember nothing.
    fn same_file(&self) -> Result<(), DirectoryError> {
        match identity(&self.path) {
            Ok(identity) if identity == self.identity => Ok(()),
            _ => Err(DirectoryError::Gone {
                path: self.path.clone(),
            }),
        }
    }

    /// After a failed fsync a later commit can report success over lost pages: such a connection is given up.
    fn checked<T>(&mut self, done: Result<T, Fault>) -> Result<T, DirectoryError> {
        done.map_err(|fault| {
            if fault.ends_the_connection() {
                self.connection = None;
            }
            fault.explain(&self.path)
        })
    }
}

fn identity(path: &Path) -> Result<(u64, u64), DirectoryError> {
    let metadata = std::fs::metadata(path).map_err(|source| DirectoryError::Unusable {
        path: path.to_owned(),
        source,
    })?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests;
