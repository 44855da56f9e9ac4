//! What can go wrong in the service's storage, in messages that say what to do. They never contain values from the
//! database.

use crate::db::file::log_alone;

/// What the storage does, or why it could not.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A storage error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The file or its folder; the text names it.
    #[error("{0}")]
    File(String),
    #[error(
        "the database has version {found}, and this program knows versions up to {known}; use a newer groupdesk"
    )]
    Newer { found: i64, known: i64 },
    #[error("{0} is not a database of the User Group Service; use another file")]
    Foreign(String),
    /// SQLite would treat the file as a new database and delete the log.
    #[error("{}", log_alone(.0))]
    LogAlone(String),
    /// Another process held the write lock for longer than the timeout.
    #[error("the database is held by another process; try again")]
    Busy,
    /// An error of the server, as the rest of a sentence about it.
    #[error("the database {0}")]
    Server(String),
    /// The same, if it proves that nothing was committed.
    #[error("the database {0}")]
    Refused(String),
    /// There is no connection to the server; nothing was committed.
    #[error(
        "the database cannot be reached; nothing was changed. Check the server and the network"
    )]
    Away,
    #[error(
        "the database has version {found} of its tables, and this groupdesk knows {known}; use the same groupdesk everywhere"
    )]
    OtherVersion { found: i64, known: i64 },
    /// The queue is full.
    #[error("too many requests are waiting for the database; try again")]
    Overloaded,
    /// SQLite or the disk failed. The transaction was rolled back, and the database is opened again.
    #[error("the database failed ({0}); check the disk and try again")]
    Failed(String),
    /// One piece of work failed; the others of its transaction are not affected.
    #[error("the database refused a statement ({0})")]
    Unexpected(String),
    #[error("the storage has stopped")]
    Stopped,
    #[error("the operating system gave no random bytes; try again")]
    NoRandomness,
    #[error("API key {0} not found")]
    UnknownKey(i64),
    /// What was asked for cannot be done; the text says why.
    #[error("{0}")]
    Unfit(String),
}

impl StoreError {
    /// Whether the file, SQLite or the disk is the cause, rather than the request.
    pub(super) fn is_of_the_storage(&self) -> bool {
        !matches!(
            self,
            Self::Overloaded
                | Self::Stopped
                | Self::NoRandomness
                | Self::UnknownKey(_)
                | Self::Unfit(_)
        )
    }

    pub(super) fn of_sqlite(error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{ConstraintViolation, DatabaseBusy, DatabaseLocked};
        match error {
            rusqlite::Error::SqliteFailure(failure, _) => match failure.code {
                DatabaseBusy | DatabaseLocked => Self::Busy,
                ConstraintViolation => Self::Unexpected(error.to_string()),
                _ => Self::Failed(error.to_string()),
            },
            _ => Self::Unexpected(error.to_string()),
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::of_sqlite(&error)
    }
}
