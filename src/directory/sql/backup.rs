//! The copy of a directory that is kept before a schema upgrade: the way back to an older groupdesk. One per version,
//! beside the file, mode 0600. It is renamed into place only when it is complete.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use super::{
    facts::WITHDRAW_SOLE_WRITER,
    fault::Fault,
    schema::{BUSY_TIMEOUT, OLDER},
};
use crate::{
    db::file::{self, CopyFault, Part},
    directory::{DirectoryError, Result, columns::micros},
    platform::{clock::Clock, private_files::with_suffix},
};

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
    let done = file::copy(path, &part, BUSY_TIMEOUT, no_sole_writer)
        .and_then(|part| move_into_place(&part, &kept).map_err(CopyFault::Writing));
    done.map_err(|failed| match failed {
        CopyFault::Reading(error) => error.into(),
        CopyFault::Writing(error) => not_kept(error).into(),
    })
}

/// Copies a directory that may be in use into a new private file, completely or not at all. Blocks.
pub fn copy_to(path: &Path, to: &Path) -> Result<()> {
    let refused = |path: &Path, source: io::Error, is_source| DirectoryError::NotCopied {
        is_source,
        file: path.to_owned(),
        source: source.into(),
    };
    if let Err(error) = path.metadata() {
        return Err(refused(path, error, true));
    }
    let part = with_suffix(to, ".part");
    file::copy(path, &part, BUSY_TIMEOUT, no_sole_writer)
        .map_err(|failed| match failed {
            CopyFault::Reading(error) => Fault::from(error).explain(path),
            CopyFault::Writing(error) => {
                // It names the unfinished file, which nobody asked for.
                let name = format!("{} ", part.display());
                let why = error.to_string().replace(&name, "it ");
                refused(to, io::Error::new(error.kind(), why), false)
            }
        })
        .and_then(|part| part.link(to).map_err(|error| refused(to, error, false)))
}

/// Source and copy do not know of each other's changes.
fn no_sole_writer(copy: &Connection) -> rusqlite::Result<()> {
    if copy.table_exists(None, "facts")? {
        copy.execute(WITHDRAW_SOLE_WRITER, [micros(Clock::System.now())])?;
    }
    Ok(())
}

fn move_into_place(part: &Part, kept: &Path) -> io::Result<()> {
    part.rename(kept)?;
    kept.parent()
        .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}
