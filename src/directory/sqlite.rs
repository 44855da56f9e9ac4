//! The SQLite backend: what is asked of a directory as functions on a connection, and how its file is opened, written
//! and found to be another one. The texts stand beside the functions, in the part of the language that SQLite and
//! PostgreSQL share. Parameters are `$1`, `$2`, … and first appear in that order: SQLite numbers them by first appearance.

pub(super) mod annotations;
mod backup;
pub(super) mod batches;
pub(super) mod changes;
pub(super) mod console;
pub(super) mod copies;
pub(super) mod drafts;
mod edits;
pub(super) mod facts;
mod fault;
pub(super) mod fingerprints;
pub(super) mod groups;
pub(super) mod handoff;
pub(super) mod history;
pub(super) mod imports;
mod inspect;
pub(super) mod journal;
pub(super) mod mutations;
mod open;
mod packed;
pub(super) mod places;
mod rows;
mod schema;
mod select;

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

pub(super) use rusqlite::Connection;
use rusqlite::{Transaction, TransactionBehavior};

use super::{DirectoryError, PlaceId, Record, Recorded};
use crate::{
    database::{Database, Session},
    domain::token::Fingerprinter,
};
pub(super) use fault::Fault;
pub(super) use schema::beside;

pub use backup::{backup_of, backups_of, copy_to};
pub use inspect::{Contents, Inspected, foresee_in, inspect};

pub(super) fn record_all(
    tx: &Connection,
    place: PlaceId,
    records: Vec<Record>,
) -> Result<Vec<Recorded>, Fault> {
    records
        .into_iter()
        .map(|record| {
            // First, because it is the part that is refused most often.
            if let Some(step) = &record.rotation {
                journal::step(tx, place, step)?;
            }
            if let Some(step) = &record.mutation {
                mutations::step(tx, place, step)?;
            }
            if let Some(step) = &record.handoff {
                handoff::set(tx, place, step)?;
            }
            if let Some(entry) = &record.entry {
                history::add(tx, place, record.key, entry)?;
            }
            if let (Some(what), Some(entry)) = (&record.alarm, &record.entry) {
                places::raise(tx, place, what, entry)?;
            }
            record.observation.map_or_else(
                || Ok(Recorded::default()),
                |observation| {
                    let drawn = groups::ObservedUnder {
                        upon: record.upon,
                        since: record.since,
                        key: record.key,
                        created: record.created,
                    };
                    groups::observe(tx, place, observation, drawn)
                },
            )
        })
        .collect()
}

/// One directory file.
pub(super) struct File {
    path: PathBuf,
    /// Device and inode: a file that was swapped must not be mistaken for this one.
    identity: (u64, u64),
    /// A seam: tests make it fail.
    commit: fn(Transaction<'_>) -> rusqlite::Result<()>,
}

impl File {
    pub(super) fn open(path: &Path) -> Result<(Session<Self>, Fingerprinter), DirectoryError> {
        let (connection, fingerprinter) = open::open(path)?;
        let database = Self {
            path: path.to_owned(),
            identity: identity(path)?,
            commit: |tx| tx.commit(),
        };
        let session = Session {
            database,
            connection: Some(connection),
        };
        Ok((session, fingerprinter))
    }

    /// Writing into a file that was moved or deleted would remember nothing.
    fn is_the_same(&self) -> Result<(), DirectoryError> {
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
        Ok(open::open(&self.path)?.0)
    }

    fn begin<'c>(&self, connection: &'c mut Connection) -> Result<Transaction<'c>, Fault> {
        self.is_the_same()?;
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        open::still_ours(&tx)?;
        Ok(tx)
    }

    fn commit(&self, tx: Transaction<'_>) -> Result<(), Fault> {
        (self.commit)(tx).map_err(Fault::commit)
    }

    fn ends_the_connection(fault: &Fault) -> bool {
        fault.ends_the_connection()
    }
}

fn identity(path: &Path) -> Result<(u64, u64), DirectoryError> {
    let metadata = std::fs::metadata(path).map_err(|source| DirectoryError::Unusable {
        path: path.to_owned(),
        source: source.into(),
    })?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests;
