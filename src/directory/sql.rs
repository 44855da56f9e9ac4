//! The SQL backend: the requests of a directory as functions on a connection, and how its file is opened, written, and
//! recognised as a different one. Each SQL text is next to its function, in the dialect that SQLite and PostgreSQL
//! share. Parameters are `$1`, `$2`, …

pub(super) mod annotations;
pub(super) mod backup;
pub(super) mod batch_text;
pub(super) mod batches;
pub(super) mod changes;
pub(super) mod console;
pub(super) mod drafts;
pub(super) mod facts;
mod fault;
pub(super) mod groups;
pub(super) mod history;
pub(super) mod imports;
mod inspect;
pub(super) mod journal;
pub(super) mod list;
pub(super) mod mutations;
mod open;
pub(super) mod order;
pub(super) mod places;
mod record;
mod rows;
mod schema;
mod states;
pub(super) mod under_way;

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

pub(super) use rusqlite::Connection;
use rusqlite::{Transaction, TransactionBehavior};

use super::{DirectoryError, Result};
use crate::{
    db::{Database, Session},
    domain::token::Fingerprinter,
};
pub(super) use fault::Fault;
pub(super) use open::{mark_moved, random_key};

pub use backup::{backup_of, backups_of, copy_to};
pub use inspect::{
    CompletedProfile, Contents, Inspected, TimesAtWork, environment_names, ids_beginning, inspect,
    known_secrets_in, preview_binding_in, what_it_is,
};

/// Why the file could only be opened to read the last time, on whichever of its connections.
pub(super) type Unwritable = Arc<Mutex<Option<Fault>>>;

/// An open directory file.
pub(super) struct File {
    path: PathBuf,
    /// Device and inode: a file that was swapped must not be mistaken for this one.
    identity: (u64, u64),
    unwritable: Unwritable,
    /// Replaceable so that tests can make it fail.
    commit: fn(Transaction<'_>) -> rusqlite::Result<()>,
}

impl File {
    pub(super) fn open(
        path: &Path,
        unwritable: &Unwritable,
    ) -> Result<(Session<Self>, Fingerprinter)> {
        let opened = open::open(path)?;
        let database = Self {
            path: path.to_owned(),
            identity: identity(path)?,
            unwritable: Arc::clone(unwritable),
            commit: |tx| tx.commit(),
        };
        database.note(opened.unwritable);
        let connection = Some(opened.connection).filter(|open| database.is_kept(open));
        let session = Session {
            database,
            connection,
        };
        Ok((session, opened.fingerprinter))
    }

    fn note(&self, unwritable: Option<Fault>) {
        *lock(&self.unwritable) = unwritable;
    }

    /// Writes into a file that was moved or deleted would be lost.
    fn is_the_same(&self) -> Result<()> {
        match identity(&self.path) {
            Ok(identity) if identity == self.identity => Ok(()),
            _ => Err(DirectoryError::Gone {
                path: self.path.clone(),
            }),
        }
    }
}

impl Database for File {
    type Error = Fault;

    fn open(&self) -> Result<Connection, Fault> {
        self.is_the_same()?;
        let opened = open::open(&self.path)?;
        self.note(opened.unwritable);
        Ok(opened.connection)
    }

    /// What can only be read is opened again each time: it may be writable by then, and others may write into it. SQLite
    /// shares the index of the log within a process, so while it is open here, it could not be opened to write.
    fn is_kept(&self, connection: &Connection) -> bool {
        connection.is_readonly("main") == Ok(false)
    }

    fn begin<'c>(&self, connection: &'c mut Connection) -> Result<Transaction<'c>, Fault> {
        self.is_the_same()?;
        if let (true, Some(fault)) = (!self.is_kept(connection), &*lock(&self.unwritable)) {
            return Err(fault.clone());
        }
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        open::check_version(&tx)?;
        Ok(tx)
    }

    fn commit(&self, tx: Transaction<'_>) -> Result<(), Fault> {
        (self.commit)(tx).map_err(Fault::commit)
    }

    fn ends_the_connection(fault: &Fault) -> bool {
        fault.ends_the_connection()
    }
}

pub(super) fn lock(unwritable: &Unwritable) -> MutexGuard<'_, Option<Fault>> {
    unwritable.lock().unwrap_or_else(PoisonError::into_inner)
}

fn identity(path: &Path) -> Result<(u64, u64)> {
    let metadata = std::fs::metadata(path).map_err(DirectoryError::unusable(path))?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests;
