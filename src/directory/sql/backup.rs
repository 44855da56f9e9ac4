//! The copy of a directory that is kept before a schema upgrade: the way back to an older groupdesk. One per version,
//! beside the file, mode 0600. It is renamed into place only when it is complete.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, MAIN_DB, OpenFlags};

use super::{
    fault::Fault,
    schema::{BUSY_TIMEOUT, OLDER, with_suffix},
};
use crate::{directory::DirectoryError, platform::private_files};

/// Path of the copy kept before a schema upgrade; `version` is the schema version of the copy.
pub fn backup_of(path: &Path, version: i64) -> PathBuf {
    with_suffix(path, &format!(".backup-v{version}"))
}

/// Existing copies, oldest version first.
pub fn backups_of(path: &Path) -> Vec<(i64, PathBuf)> {
    let all = OLDER.map(|version| (version, backup_of(path, version)));
    all.filter(|(_, copy)| copy.symlink_metadata().is_ok())
        .collect()
}

/// Space needed for a schema upgrade, in multiples of the file size: the copy, the changed tables and the log.
pub(super) const MIGRATION_FACTOR: u64 = 3;

/// Refuses, before anything is touched, if the disk lacks space for `times` the size of the file.
pub(super) fn check_free_space(path: &Path, times: u64) -> Result<(), Fault> {
    let bytes = |path: &Path| path.metadata().map_or(0, |found| found.len());
    let needed = times * (bytes(path) + bytes(&with_suffix(path, "-wal")));
    let folder = path.parent().unwrap_or(Path::new("/"));
    // If this cannot be determined, SQLite will report a full disk.
    let Ok(disk) = rustix::fs::statvfs(folder) else {
        return Ok(());
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < needed {
        return Err(DirectoryError::NoRoom {
            path: path.to_owned(),
            needed,
            free,
        }
        .into());
    }
    Ok(())
}

/// Keeps a copy of a file of this version, replacing an older copy, because an older groupdesk may have written to the
/// file in between. The caller holds the write lock and has changed nothing yet.
pub(super) fn keep(path: &Path, version: i64) -> Result<(), Fault> {
    let kept = backup_of(path, version);
    let part = with_suffix(&kept, ".part");
    let not_kept = |source: io::Error| DirectoryError::NotBackedUp {
        backup: kept.clone(),
        source: source.into(),
    };
    // A crash may have left it from an earlier attempt.
    match std::fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(not_kept(error).into()),
        _ => {}
    }
    let done =
        copy(path, &part).and_then(|()| move_into_place(&part, &kept).map_err(Failed::Writing));
    if done.is_err() {
        // It may be gone already; otherwise the next attempt removes it.
        let _ = std::fs::remove_file(&part);
    }
    done.map_err(|failed| match failed {
        Failed::Reading(error) => error.into(),
        Failed::Writing(error) => not_kept(error).into(),
    })
}

/// Copies a directory that may be in use into a new private file, completely or not at all. Blocks.
pub fn copy_to(path: &Path, to: &Path) -> Result<(), DirectoryError> {
    let refused = |path: &Path, source: io::Error| DirectoryError::NotCopied {
        file: path.to_owned(),
        source: source.into(),
    };
    if let Err(error) = path.metadata() {
        return Err(refused(path, error));
    }
    let part = with_suffix(to, ".part");
    let copied = copy(path, &part)
        .map_err(|failed| match failed {
            Failed::Reading(error) => Fault::from(error).explain(path),
            Failed::Writing(error) => {
                // It names the unfinished file, which nobody asked for.
                let name = format!("{} ", part.display());
                let why = error.to_string().replace(&name, "it ");
                refused(to, io::Error::new(error.kind(), why))
            }
        })
        // A hard link is only created if nothing exists at its path.
        .and_then(|()| std::fs::hard_link(&part, to).map_err(|error| refused(to, error)));
    let _ = std::fs::remove_file(&part);
    copied
}

enum Failed {
    Reading(rusqlite::Error),
    Writing(io::Error),
}

fn copy(path: &Path, part: &Path) -> Result<(), Failed> {
    // SQLite would create it with wider permissions.
    let file = private_files::new_private(part).map_err(Failed::Writing)?;
    // Use a separate connection: a connection cannot copy within its own transaction. It reads only committed data.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = Connection::open_with_flags(path, flags).map_err(Failed::Reading)?;
    source.busy_timeout(BUSY_TIMEOUT).map_err(Failed::Reading)?;
    // So that a file that cannot be read is not taken for a copy that cannot be written.
    let tables = "SELECT count(*) FROM sqlite_schema";
    let read = source.query_row(tables, [], |_| Ok(()));
    read.map_err(Failed::Reading)?;
    source
        .backup(MAIN_DB, part, None::<fn(rusqlite::backup::Progress)>)
        .map_err(|error| match error.sqlite_error_code() {
            Some(
                rusqlite::ErrorCode::DiskFull
                | rusqlite::ErrorCode::SystemIoFailure
                | rusqlite::ErrorCode::CannotOpen
                | rusqlite::ErrorCode::ReadOnly,
            ) => Failed::Writing(io::Error::other(error)),
            _ => Failed::Reading(error),
        })?;
    file.sync_all().map_err(Failed::Writing)
}

fn move_into_place(part: &Path, kept: &Path) -> io::Result<()> {
    std::fs::rename(part, kept)?;
    kept.parent()
        .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
