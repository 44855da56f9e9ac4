//! A file of SQLite: made private before SQLite sees it, never mistaken for another file, opened so that a commit lasts,
//! and copied while it is in use. Each user knows its own schema.

use std::{
    fmt::{Display, Write},
    fs::{File, Metadata, Permissions},
    io::{self, Read},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, ErrorCode, OpenFlags,
    backup::{Backup, StepResult},
    config::DbConfig,
    ffi,
};

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

/// Why a file is not opened whose log is there without it.
pub(crate) fn log_alone(file: impl Display) -> String {
    format!(
        "{file} is empty or missing, but its log {file}-wal exists and contains the last changes; restore the file from a backup, \
         or move the log away as well, then try again"
    )
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
        // Of a file that cannot be written, on a disk that cannot either, this may fail: then it is read as it is.
        Ok(found) if is_own(&found) && !private_files::is_writable(path) => {
            let narrow = Permissions::from_mode(found.mode() & 0o700);
            drop(std::fs::set_permissions(path, narrow));
        }
        _ => private_files::private_file(path).map_err(Unfit::Io)?,
    }
    guard_logs(path).map_err(Unfit::Io)
}

/// Restricts the logs to their owner before SQLite opens them: it would follow a link in the place of one.
pub(crate) fn guard_logs(path: &Path) -> io::Result<()> {
    for suffix in ["-wal", "-shm"] {
        private_files::narrow_where_there(&with_suffix(path, suffix))?;
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
    is_own(found) && !is_accessible_to_others(found)
}

fn is_own(found: &Metadata) -> bool {
    found.is_file() && found.uid() == rustix::process::geteuid().as_raw()
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
    let connection = connect(path, flags, patience)?;
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")?;
    Ok(connection)
}

/// The same, to change nothing. Even then SQLite creates a log and its index; where that is not possible (the disk is
/// full or read-only), the file is read as it is.
pub(crate) fn read_only(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = connect(path, flags, patience)?;
    let tables = "SELECT count(*) FROM sqlite_schema";
    match connection.query_row(tables, [], |_| Ok(())) {
        Err(error) if is_unwritable(&error) => match as_is(path, patience)? {
            Some(connection) => Ok(connection),
            None => with_own_index(path, patience),
        },
        _ => Ok(connection),
    }
}

/// With the index of its log in memory, where the folder has none and takes none: no process is writing, because a writer
/// needs the index as well.
fn with_own_index(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    let connection = of_uri(path, "vfs=unix-none", patience)?;
    // Closing it changes nothing either.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE")?;
    Ok(connection)
}

/// The same, without creating anything and without a lock that would block a writer. `None` if a log contains changes
/// and its index is missing. Not for long: if there is no log, a writer that comes later is not noticed.
pub(crate) fn as_is(path: &Path, patience: Duration) -> rusqlite::Result<Option<Connection>> {
    let log = with_suffix(path, "-wal").metadata().ok();
    let how = match log {
        Some(_) if with_suffix(path, "-shm").exists() => "readonly_shm=1",
        Some(log) if log.len() > 0 => return Ok(None),
        _ => "immutable=1",
    };
    of_uri(path, how, patience).map(Some)
}

fn of_uri(path: &Path, how: &str, patience: Duration) -> rusqlite::Result<Connection> {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        let _ = write!(uri, "%{byte:02x}");
    }
    let _ = write!(uri, "?{how}");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    connect(Path::new(&uri), flags, patience)
}

/// Whether the file, its log or the index of the log cannot be written: there is no room, or it is not allowed.
pub(crate) fn is_unwritable(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    let refused = [
        ErrorCode::DiskFull,
        ErrorCode::ReadOnly,
        ErrorCode::CannotOpen,
        ErrorCode::PermissionDenied,
    ];
    code.is_some_and(|code| refused.contains(&code)) || is_without_room(error)
}

/// Whether the index of the log, a file that all processes share, had no room: that happens before anything is written.
pub(crate) fn is_without_room(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        code,
        Some(ffi::SQLITE_IOERR_SHMOPEN | ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_SHMMAP)
    )
}

fn connect(path: &Path, flags: OpenFlags, patience: Duration) -> rusqlite::Result<Connection> {
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

/// A complete copy that has the name of an unfinished one. Dropped, it gives up that name.
pub(crate) struct Part {
    /// Kept open, so that no other file gets its inode.
    file: File,
    path: PathBuf,
}

impl Part {
    fn create(path: &Path) -> io::Result<Self> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(named(path, &private_files::explained(&error)));
            }
            _ => {}
        }
        // SQLite would create it with wider permissions.
        let file = private_files::new_private(path)?;
        Ok(Self {
            file,
            path: path.to_owned(),
        })
    }

    /// Gives the copy its name; what already has that name is refused.
    pub(crate) fn link(&self, to: &Path) -> io::Result<()> {
        self.check()?;
        // A hard link is only created if nothing exists at its path.
        std::fs::hard_link(&self.path, to)?;
        // Some file systems number each name of a file by itself.
        if self.is_at(&self.path) || self.is_at(to) {
            return Ok(());
        }
        // Another copy took the name of the unfinished one in this very moment.
        let _ = std::fs::remove_file(to);
        Err(replaced())
    }

    /// Gives the copy its name, in place of what has it.
    pub(crate) fn rename(&self, to: &Path) -> io::Result<()> {
        self.check()?;
        std::fs::rename(&self.path, to)
    }

    fn check(&self) -> io::Result<()> {
        if self.is_at(&self.path) {
            Ok(())
        } else {
            Err(replaced())
        }
    }

    /// Why the copy was not written. SQLite notices that its file has another name, or none, and calls that an error of the
    /// disk.
    fn fault(&self, error: rusqlite::Error) -> CopyFault {
        let refused = |why: &dyn Display| {
            CopyFault::Writing(named(&self.path, &format_args!("cannot be written: {why}")))
        };
        match error.sqlite_error_code() {
            _ if !self.is_at(&self.path) => refused(&replaced()),
            Some(
                ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly,
            ) => refused(&error),
            _ => CopyFault::Reading(error),
        }
    }

    fn is_at(&self, path: &Path) -> bool {
        let at = |found: Metadata| (found.dev(), found.ino());
        match (self.file.metadata(), std::fs::symlink_metadata(path)) {
            (Ok(kept), Ok(found)) => at(kept) == at(found),
            _ => false,
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.is_at(&self.path) {
            return;
        }
        // A check of the copy leaves the files of an empty log. If somebody else cleaned the folder, they are gone already.
        for suffix in ["-wal", "-shm", ""] {
            let _ = std::fs::remove_file(with_suffix(&self.path, suffix));
        }
    }
}

/// Without a lock: on a network file system, it would shut SQLite out.
fn replaced() -> io::Error {
    io::Error::other("another copy to this file is in progress; wait until it is done")
}

fn named(path: &Path, error: &dyn Display) -> io::Error {
    io::Error::other(format!("{} {error}", path.display()))
}

/// Copies what is committed into a new private file with a name that only an unfinished copy has: one that a crash left
/// is replaced, and one that is still written notices it. Over a connection of its own: none can copy within its own
/// transaction. `finish` changes what the copy says of itself.
pub(crate) fn copy(
    path: &Path,
    to: &Path,
    patience: Duration,
    finish: fn(&Connection) -> rusqlite::Result<()>,
) -> Result<Part, CopyFault> {
    let part = Part::create(to).map_err(CopyFault::Writing)?;
    let source = read_only(path, patience).map_err(CopyFault::Reading)?;
    // So that a file that cannot be read is not taken for a copy that cannot be written.
    let tables = "SELECT count(*) FROM sqlite_schema";
    let read = source.query_row(tables, [], |_| Ok(()));
    read.map_err(CopyFault::Reading)?;
    let copied = open(to, patience).and_then(|mut copy| {
        // A journal would have the same name for every copy to this file; an unfinished copy is not repaired anyway.
        copy.pragma_update(None, "journal_mode", "MEMORY")?;
        // Its content uses a log, which needs no shared memory if nobody else opens the file.
        copy.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        // Before anything is written, so that nothing is ever written to the file of another copy.
        if let Err(error) = part.check() {
            return Ok(Err(named(to, &format_args!("cannot be written: {error}"))));
        }
        let step = Backup::new(&source, &mut copy)?.step(-1)?;
        if step == StepResult::Done {
            finish(&copy)?;
        }
        Ok(Ok(step))
    });
    let step = copied.map_err(|error| part.fault(error))?;
    match step.map_err(CopyFault::Writing)? {
        StepResult::Done => {}
        // More, or the lock of another connection.
        _ => return Err(CopyFault::Reading(error_of(ffi::SQLITE_BUSY))),
    }
    let synced = part.file.sync_all();
    synced.map_err(|error| CopyFault::Writing(named(to, &private_files::explained(&error))))?;
    Ok(part)
}

/// An error as SQLite would report it.
pub(crate) fn error_of(code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SQLite calls it an error of the disk.
    #[test]
    fn a_copy_whose_file_another_one_replaced_says_so() {
        let root = tempfile::tempdir().expect("a folder");
        let part = Part::create(&root.path().join("p")).expect("created");
        std::fs::remove_file(root.path().join("p")).expect("removed");
        let CopyFault::Writing(said) = part.fault(error_of(ffi::SQLITE_IOERR)) else {
            panic!("not of the copy");
        };
        assert!(said.to_string().contains("another copy"), "{said}");
    }

    #[test]
    fn of_two_copies_to_one_name_only_the_one_that_has_it_succeeds() {
        let root = tempfile::tempdir().expect("a folder");
        let (source, to) = (root.path().join("s.db"), root.path().join("to.db"));
        let part = root.path().join("to.db.part");
        let filled = Connection::open(&source).expect("opened");
        filled
            .execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (7)")
            .expect("filled");
        let copied = || {
            copy(&source, &part, Duration::from_secs(1), |_| Ok(()))
                .ok()
                .expect("copied")
        };
        let (first, second) = (copied(), copied());
        let refused = first.link(&to).expect_err("it was replaced");
        assert!(refused.to_string().contains("another copy"), "{refused}");
        assert!(first.rename(&to).is_err() && !to.exists());
        drop(first);
        second.link(&to).expect("it has the name");
        drop(second);
        assert!(!part.exists());
        let copy = read_only(&to, Duration::ZERO).expect("opened");
        let found = copy.query_row("SELECT a FROM t", [], |row| row.get::<_, i64>(0));
        assert_eq!(found.expect("read"), 7);
        let found = to.metadata().expect("there");
        assert!(!is_accessible_to_others(&found));
    }
}
