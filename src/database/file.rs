//! A file of SQLite: made private before SQLite sees it, never mistaken for another file, opened so that a commit lasts,
//! and copied while it is in use. Each user knows its own schema.

use std::{
    fmt::Display,
    fs::{File, Metadata},
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};

use crate::platform::private_files::{self, with_suffix};

/// Bytes of the smallest page, and so of the smallest database.
const MIN_FILE_SIZE: u64 = 512;

/// Why a file is not opened; it was left as it is.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// It cannot be created, read or kept private.
    Io(io::Error),
    /// It is something else.
    Foreign,
    /// It is empty or missing, and SQLite would delete its log, which has the last changes.
    LogAlone,
}

/// Creates the file, or restricts it to its owner, before SQLite opens it by name. A private file is not opened here:
/// closing it would drop the locks that this process has on it.
pub(crate) fn make_private(path: &Path) -> Result<(), Unfit> {
    let found = std::fs::symlink_metadata(path);
    check(path, found.as_ref().ok())?;
    match found {
        Ok(found) if is_private(&found) => {}
        Ok(found) if found.is_file() && is_foreign(path).map_err(Unfit::Io)? => {
            return Err(Unfit::Foreign);
        }
        _ => private_files::private_file(path).map_err(Unfit::Io)?,
    }
    // SQLite would follow a link in the place of its log.
    for suffix in ["-wal", "-shm"] {
        let log = with_suffix(path, suffix);
        private_files::narrow_where_there(&log).map_err(Unfit::Io)?;
    }
    Ok(())
}

/// Refuses what SQLite would take for a new database although it is none.
pub(crate) fn check(path: &Path, found: Option<&Metadata>) -> Result<(), Unfit> {
    let length = found.map_or(0, Metadata::len);
    let log = std::fs::symlink_metadata(with_suffix(path, "-wal"));
    match found {
        _ if length == 0 && log.is_ok_and(|log| log.len() > 0) => Err(Unfit::LogAlone),
        Some(found) if found.is_file() && (1..MIN_FILE_SIZE).contains(&length) => {
            Err(Unfit::Foreign)
        }
        _ => Ok(()),
    }
}

fn is_private(found: &Metadata) -> bool {
    found.is_file()
        && !is_accessible_to_others(found)
        && found.uid() == rustix::process::geteuid().as_raw()
}

fn is_accessible_to_others(found: &Metadata) -> bool {
    found.mode() & 0o077 != 0
}

/// Whether the file is not an SQLite database; checked before its permissions are changed.
fn is_foreign(path: &Path) -> io::Result<bool> {
    let mut start = Vec::with_capacity(16);
    File::open(path)?.take(16).read_to_end(&mut start)?;
    Ok(!start.is_empty() && start != b"SQLite format 3\0")
}

/// An existing file. `patience`: how long to wait for the locks of others.
pub(crate) fn open(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    // No CREATE: the file exists. No URI: a path is only a path.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")?;
    Ok(connection)
}

/// The same, to change nothing.
pub(crate) fn read_only(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(patience)?;
    Ok(connection)
}

/// Switches to the write-ahead log; returns whether the file system supports it. SQLite does not wait for the lock that
/// this needs, so it is tried again.
pub(crate) fn enable_wal(connection: &Connection, patience: Duration) -> rusqlite::Result<bool> {
    let deadline = Instant::now() + patience;
    loop {
        let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| {
            row.get::<_, String>(0)
        });
        match mode {
            Err(error) if is_busy(&error) && Instant::now() < deadline => {
                sleep(Duration::from_millis(2));
            }
            mode => return Ok(mode? == "wal"),
        }
    }
}

/// Another connection held a lock for too long.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Why there is no copy.
pub(crate) enum CopyFault {
    Reading(rusqlite::Error),
    Writing(io::Error),
}

/// Copies what is committed into a new private file with a name that only an unfinished copy has: one that a crash left
/// is replaced. Over a connection of its own: none can copy within its own transaction.
pub(crate) fn copy(path: &Path, to: &Path, patience: Duration) -> Result<(), CopyFault> {
    let named = |error: &dyn Display| {
        CopyFault::Writing(io::Error::other(format!("{} {error}", to.display())))
    };
    match std::fs::remove_file(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(named(&private_files::explained(&error)));
        }
        _ => {}
    }
    // SQLite would create it with wider permissions.
    let file = private_files::new_private(to).map_err(CopyFault::Writing)?;
    let source = read_only(path, patience).map_err(CopyFault::Reading)?;
    // So that a file that cannot be read is not taken for a copy that cannot be written.
    let tables = "SELECT count(*) FROM sqlite_schema";
    let read = source.query_row(tables, [], |_| Ok(()));
    read.map_err(CopyFault::Reading)?;
    let copied = source.backup(MAIN_DB, to, None::<fn(rusqlite::backup::Progress)>);
    copied.map_err(|error| match error.sqlite_error_code() {
        Some(
            ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::ReadOnly,
        ) => named(&format_args!("cannot be written: {error}")),
        _ => CopyFault::Reading(error),
    })?;
    file.sync_all()
        .map_err(|error| named(&private_files::explained(&error)))
}
