//! Translates SQLite errors into [`DirectoryError`]. No type of rusqlite leaves this backend.

use std::{path::Path, sync::Arc};

use rusqlite::{ErrorCode, ffi};

use crate::{
    db::{
        self, ServerFault, Tx,
        file::{is_busy, is_unwritable, is_without_room},
    },
    directory::{DirectoryError, TeamFault, TeamLocation},
};

/// Why work on a connection failed. Reported to every caller whose work it undid.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Before the commit: nothing was written.
    Sqlite(Arc<rusqlite::Error>),
    /// During the commit: it may have been written.
    Commit(Arc<rusqlite::Error>),
    /// A team's directory, or its database, refuses it.
    Team(TeamFault),
    /// A column contains another type than the schema says.
    Column,
    /// A row of this table cannot be decoded.
    Row(&'static str),
    /// Refused by one of our own rules.
    Refused(DirectoryError),
    /// The file has a newer schema than this version knows.
    Newer {
        found: i64,
        known: i64,
    },
    /// The schema is that of a development version.
    Unreleased {
        found: i64,
    },
    NotADirectory,
    /// The file system does not support a write-ahead log.
    NotShareable,
}

/// What was read beside a write that does not need it: nothing, if it is damaged. On a server a failed statement is the end
/// of the transaction, or its commit failed; SQLite ends the transaction at some errors.
pub(super) fn beside<T>(tx: &Tx<'_>, read: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Fault::Column | Fault::Row(_)) => Ok(None),
        Err(fault) => match tx.sqlite() {
            Some(file) if !file.is_autocommit() && !fault.ends_the_connection() => Ok(None),
            _ => Err(fault),
        },
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error.into())
    }
}

impl From<db::Fault> for Fault {
    fn from(fault: db::Fault) -> Self {
        match fault {
            db::Fault::Sqlite(error) => Self::Sqlite(error),
            db::Fault::Column => Self::Column,
            db::Fault::Row(table) => Self::Row(table),
            db::Fault::Server(fault) => Self::Team(fault.into()),
        }
    }
}

impl From<TeamFault> for Fault {
    fn from(fault: TeamFault) -> Self {
        Self::Team(fault)
    }
}

impl From<DirectoryError> for Fault {
    fn from(error: DirectoryError) -> Self {
        Self::Refused(error)
    }
}

impl Fault {
    pub(super) fn commit(error: rusqlite::Error) -> Self {
        Self::Commit(error.into())
    }

    /// Whether the file can perhaps still be read: nothing was written, because there is no room or it is not allowed.
    pub(super) fn is_unwritable(&self) -> bool {
        matches!(self, Self::Sqlite(error) if is_unwritable(error))
    }

    /// Whether the connection must be closed and opened again.
    pub(super) fn ends_the_connection(&self) -> bool {
        match self {
            Self::Commit(error) => !is_busy(error),
            Self::Sqlite(error) => matches!(
                error.sqlite_error_code(),
                Some(
                    ErrorCode::SystemIoFailure
                        | ErrorCode::DiskFull
                        | ErrorCode::DatabaseCorrupt
                        | ErrorCode::NotADatabase
                        | ErrorCode::CannotOpen
                )
            ),
            Self::Team(_)
            | Self::Column
            | Self::Row(_)
            | Self::Refused(_)
            | Self::Newer { .. }
            | Self::Unreleased { .. }
            | Self::NotADirectory
            | Self::NotShareable => false,
        }
    }

    /// As `explain`, for a team's database.
    pub(in crate::directory) fn explain_for_team(self, team: &TeamLocation) -> DirectoryError {
        let fault = match self {
            Self::Refused(error) => return error,
            Self::Row(table) => TeamFault::DamagedRow(table),
            Self::Team(fault) => fault,
            Self::Newer { found, known } => TeamFault::Newer { found, known },
            Self::Unreleased { found } => TeamFault::Unreleased { found },
            Self::Column
            | Self::Sqlite(_)
            | Self::Commit(_)
            | Self::NotADirectory
            | Self::NotShareable => TeamFault::Server(ServerFault::NotThere),
        };
        DirectoryError::of_team(team, fault)
    }

    pub(crate) fn explain(self, path: &Path) -> DirectoryError {
        let path = path.to_owned();
        match self {
            Self::Refused(error) => error,
            Self::Row(table) => DirectoryError::DamagedRow { path, table },
            Self::Newer { found, known } => DirectoryError::Newer { path, found, known },
            Self::Unreleased { found } => DirectoryError::Unreleased { path, found },
            Self::Team(_) | Self::Column | Self::NotADirectory => {
                DirectoryError::NotADirectory { path }
            }
            Self::NotShareable => DirectoryError::NotShareable { path },
            Self::Commit(error) if !is_busy(&error) => DirectoryError::Failed { path },
            Self::Commit(error) | Self::Sqlite(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    DirectoryError::Locked { path }
                }
                Some(ErrorCode::DiskFull) => DirectoryError::Full { path },
                _ if is_without_room(&error) => DirectoryError::Full { path },
                _ if is_unwritable(&error) => DirectoryError::ReadOnly { path },
                Some(ErrorCode::SystemIoFailure) => DirectoryError::Failed { path },
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                    DirectoryError::NotADirectory { path }
                }
                None if is_conversion(&error) => DirectoryError::NotADirectory { path },
                _ => other(path, &error),
            },
        }
    }
}

/// Reports only the code: SQLite's own message may quote parts of a statement.
fn other(path: std::path::PathBuf, error: &rusqlite::Error) -> DirectoryError {
    let code = error
        .sqlite_error()
        .map_or(ffi::SQLITE_MISMATCH, |error| error.extended_code);
    DirectoryError::Other {
        path,
        code,
        what: ffi::code_to_str(code),
    }
}

/// Whether a column contains another type than the schema says.
fn is_conversion(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}
