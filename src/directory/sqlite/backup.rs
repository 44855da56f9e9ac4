//! The copy of a directory that is kept before its schema changes: the way back to an older groupdesk. One per version,
//! beside the file, 0600; it is whole before it has its name.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, MAIN_DB, OpenFlags};

use super::{
    fault::Fault,
    schema::{NEWEST, PATIENCE, beside},
};
use crate::{directory::DirectoryError, platform::private_files};

/// Where the copy from before a newer schema stands; `version` is the one the copy has.
pub fn backup_of(path: &Path, version: i64) -> PathBuf {
    beside(path, &format!(".backup-v{version}"))
}

/// The copies that there are, the oldest version first.
pub fn backups_of(path: &Path) -> Vec<(i64, PathBuf)> {
    let all = (1..NEWEST).map(|version| (version, backup_of(path, version)));
    all.filter(|(_, copy)| copy.symlink_metadata().is_ok())
        .collect()
}

/// The tables made anew and the log, in sizes of the file; before a newer schema its copy, too.
pub(in crate::directory) const MADE_ANEW: u64 = 2;
pub(super) const MIGRATED: u64 = 3;

/// Refuses before anything is touched where the disk has no room for so many times the file.
pub(in crate::directory) fn room(path: &Path, times: u64) -> Result<(), Fault> {
    let bytes = |path: &Path| path.metadata().map_or(0, |found| found.len());
    let needed = times * (bytes(path) + bytes(&beside(path, "-wal")));
    let folder = path.parent().unwrap_or(Path::new("/"));
    // Where nobody can tell, SQLite will.
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

/// Keeps a copy of a file of this version, in place of an older copy: what was written meanwhile by an older
/// groupdesk must be in it. The caller holds the write lock and has changed nothing yet.
pub(super) fn keep(path: &Path, version: i64) -> Result<(), Fault> {
    let kept = backup_of(path, version);
    let part = beside(&kept, ".part");
    let not_kept = |source: io::Error| DirectoryError::NotBackedUp {
        backup: kept.clone(),
        source: source.into(),
    };
    // What a crash left of an earlier attempt.
    match std::fs::remove_file(&part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(not_kept(error).into()),
        _ => {}
    }
    let done = copy(path, &part).and_then(|()| name(&part, &kept).map_err(Failed::Writing));
    if done.is_err() {
        // It may be there no more, and a next attempt removes it.
        let _ = std::fs::remove_file(&part);
    }
    done.map_err(|failed| match failed {
        Failed::Reading(error) => error.into(),
        Failed::Writing(error) => not_kept(error).into(),
    })
}

/// Copies a directory that may be in use into a new private file, whole or not at all; blocks.
pub fn copy_to(path: &Path, to: &Path) -> Result<(), DirectoryError> {
    let refused = |path: &Path, source: io::Error| DirectoryError::NotCopied {
        file: path.to_owned(),
        source: source.into(),
    };
    if let Err(error) = path.metadata() {
        return Err(refused(path, error));
    }
    let part = beside(to, ".part");
    let copied = copy(path, &part)
        .map_err(|failed| match failed {
            Failed::Reading(error) => Fault::from(error).explain(path),
            Failed::Writing(error) => refused(to, error),
        })
        // A link is made only where nothing stands.
        .and_then(|()| std::fs::hard_link(&part, to).map_err(|error| refused(to, error)));
    let _ = std::fs::remove_file(&part);
    copied
}

enum Failed {
    Reading(rusqlite::Error),
    Writing(io::Error),
}

fn copy(path: &Path, part: &Path) -> Result<(), Failed> {
    // SQLite would make it with wider modes.
    let file = private_files::new_private(part).map_err(Failed::Writing)?;
    // A connection of its own: one cannot copy amid its own transaction. What it reads was committed.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let source = Connection::open_with_flags(path, flags).map_err(Failed::Reading)?;
    source.busy_timeout(PATIENCE).map_err(Failed::Reading)?;
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

fn name(part: &Path, kept: &Path) -> io::Result<()> {
    std::fs::rename(part, kept)?;
    kept.parent()
        .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
