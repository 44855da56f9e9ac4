//! The database file: private permissions, durable settings, migrations, and the meaning of its errors. Knows no
//! tables, only its schema version.

use std::{
    any::Any,
    fmt::Display,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rusqlite::{Connection, MAIN_DB, Transaction, TransactionBehavior};

use super::{Failures, Result, StoreError};
use crate::db::{
    Database,
    file::{self, Unfit},
};

/// One per version; files are only ever added.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("../../../assets/migrations/service/0001_service.sql"),
    include_str!("../../../assets/migrations/service/0002_operate.sql"),
];

/// Set by the first migration; distinguishes our file from any other SQLite file.
const APPLICATION_ID: i64 = 0x6764_6753;

/// What the thread must know about the file.
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) busy_timeout: Duration,
    pub(super) failures: Arc<Failures>,
}

impl Database for File {
    type Error = StoreError;

    fn open(&self) -> Result<Connection> {
        file::guard_logs(&self.path).map_err(|error| StoreError::File(error.to_string()))?;
        open(&self.path, self.busy_timeout)
    }

    fn commit(&self, tx: Transaction<'_>) -> Result<()> {
        tx.commit().map_err(|error| match StoreError::from(error) {
            StoreError::Unexpected(text) => StoreError::Failed(text),
            other => other,
        })
    }

    fn ends_the_connection(error: &StoreError) -> bool {
        matches!(error, StoreError::Failed(_))
    }

    fn undoes_all(error: &StoreError) -> bool {
        matches!(error, StoreError::Failed(_) | StoreError::Busy)
    }

    /// A request that panics is answered, and later requests are served.
    fn panicked(&self, _panic: Box<dyn Any + Send>) -> StoreError {
        StoreError::Failed("a piece of work panicked".into())
    }

    fn failed(&self, error: &StoreError) {
        self.failures.note(error);
    }
}

/// Creates the file if it does not exist, opens it and upgrades its schema.
pub(super) fn open_or_create(path: &Path, patience: Duration) -> Result<Connection> {
    file::make_private(path).map_err(|why| match why {
        Unfit::Io(error) => StoreError::File(error.to_string()),
        Unfit::Foreign => StoreError::Foreign(path.display().to_string()),
        Unfit::LogAlone => StoreError::LogAlone(path.display().to_string()),
    })?;
    open(path, patience)
}

/// Opens an existing file. Never creates one: SQLite would do so with wider permissions.
fn open(path: &Path, patience: Duration) -> Result<Connection> {
    let mut connection = file::open(path, patience).map_err(|error| of_file(&error, path))?;
    // SQLite opens what it cannot write for reading.
    if connection.is_readonly(MAIN_DB)? {
        return Err(unfit(path, NOT_WRITABLE));
    }
    // Checked before anything is changed: the file may be something else.
    let version = version(&connection, path)?;
    let has_log = file::enable_wal(&connection, patience);
    if !has_log.map_err(|error| of_file(&error, path))? {
        let why = "its file system does not support a write-ahead log";
        return Err(StoreError::Failed(why.into()));
    }
    connection.pragma_update(None, "trusted_schema", false)?;
    if version < MIGRATIONS.len() {
        migrate(&mut connection, path)?;
    }
    Ok(connection)
}

const NOT_WRITABLE: &str = "cannot be written; make it writable (chmod u+w), or use another file";

/// What is wrong with a file, as the rest of a sentence about it.
pub(super) fn unfit(path: &Path, why: impl Display) -> StoreError {
    StoreError::File(format!("{} {why}", path.display()))
}

fn of_file(error: &rusqlite::Error, path: &Path) -> StoreError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => StoreError::Foreign(path.display().to_string()),
        Some(rusqlite::ErrorCode::ReadOnly) => unfit(path, NOT_WRITABLE),
        Some(rusqlite::ErrorCode::CannotOpen) => unfit(path, "cannot be opened; check the disk"),
        _ => StoreError::of_sqlite(error),
    }
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Checked again under the lock: another process may have been faster.
    let version = version(&transaction, path)?;
    for migration in &MIGRATIONS[version..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    Ok(transaction.commit()?)
}

/// Number of migrations that the file has had; an error if it is not ours or newer than we know.
pub(super) fn version(connection: &Connection, path: &Path) -> Result<usize> {
    let number = |pragma: &str| {
        connection
            .pragma_query_value(None, pragma, |row| row.get::<_, i64>(0))
            .map_err(|error| of_file(&error, path))
    };
    let found = number("user_version")?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let ours = number("application_id")? == APPLICATION_ID;
    if !ours && (found != 0 || tables != 0) {
        return Err(StoreError::Foreign(path.display().to_string()));
    }
    usize::try_from(found)
        .ok()
        .filter(|version| *version <= MIGRATIONS.len())
        .ok_or(StoreError::Newer {
            found,
            known: MIGRATIONS.len() as i64,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_the_place_of_a_log_is_refused_when_the_file_is_opened_again() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("service.db");
        drop(open_or_create(&path, Duration::ZERO).expect("created"));
        let file = File {
            path: path.clone(),
            busy_timeout: Duration::ZERO,
            failures: Arc::default(),
        };
        drop(Database::open(&file).expect("opened again"));
        let target = root.path().join("target");
        std::os::unix::fs::symlink(&target, root.path().join("service.db-wal")).expect("linked");
        let refused = Database::open(&file).expect_err("refused").to_string();
        assert!(refused.contains("is not a regular file"), "{refused}");
        assert!(!target.exists());
    }
}
