//! The directory under attack: its writers are killed, its file is cut, flipped, replaced, locked and shared.
//! Acknowledged writes are there and SQLite finds no fault, or an error says what to do.

mod damaged;
mod foreign_files;
mod killed;
mod locked;
mod log;
mod migrated;
mod recorder;

use std::{
    collections::{BTreeSet, HashMap},
    env, fs,
    io::BufReader,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use groupdesk::{
    directory::{
        Directory, DirectoryError, HistoryFilter, Record, RotationFilter, backup_of, inspect,
    },
    domain::{
        history::Entry,
        rotation::{Event, Rotation, State},
        token::Fingerprint,
    },
    search::{Row, SortBy},
};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::{
    entry, fields, history_record, intent, observation, recorded, second, start, step, step_record,
    with_suffix,
};
use crate::support::{
    assertions::{assert_is, assert_lacks},
    at_once::AllGroups as _,
    bare::{GROUPDESK, all_output, bare_after},
    cases::cases,
    folder::put,
    long,
    world::{place, try_place},
};
use migrated::{newest, program};
use recorder::{Order, PROFILE, Recorder, assert_recorded, note, present};

/// The number of cases of a long run; the modules count theirs, and they are added up here.
const AT_LEAST: usize = 300;

#[test]
fn the_cases_are_as_many_as_asked() {
    let all = killed::CASES
        + damaged::CASES
        + log::CASES
        + foreign_files::CASES
        + locked::CASES
        + migrated::CASES;
    println!("{all} cases of the directory");
    assert!(all >= AT_LEAST, "{all}");
}

/// A temporary folder for the file of a directory.
struct TempFile(tempfile::TempDir);

impl TempFile {
    fn new() -> Self {
        Self(crate::support::folder::temporary())
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("directory.db")
    }

    /// A file with these bytes, mode 0600, in place of a directory.
    fn with(bytes: &[u8]) -> Self {
        let place = Self::new();
        put(&place.file(), bytes);
        place
    }
}

fn bytes_of(path: &Path) -> Vec<u8> {
    fs::read(path).expect("readable")
}

/// Whether SQLite finds no fault in a file that nobody has open.
fn is_whole(path: &Path) -> bool {
    inspect(path, &HashMap::new()).is_ok_and(|inspected| inspected.faults == 0)
}

/// What every error must name: the file it is about, and what to do.
#[track_caller]
fn assert_error_is_clear(error: &DirectoryError, path: &Path) {
    let said = error.to_string();
    let folder = path.parent().expect("a folder").display().to_string();
    assert!(said.contains(&folder), "no file is named: {said}");
    let ways = [
        "groupdesk doctor",
        "move it away",
        "move the log away",
        "restore it",
        "update groupdesk",
        "close that program",
        "free some space",
        "another file",
        "writable",
    ];
    assert!(
        ways.iter().any(|way| said.contains(way)),
        "no advice: {said}"
    );
    assert!(
        !matches!(error, DirectoryError::Stopped { .. }),
        "a thread was lost: {said}"
    );
}

/// Reads everything and writes one record. Fails when any of that fails.
async fn exercise(path: &Path) -> Result<(), DirectoryError> {
    let directory = Directory::open(path)?;
    directory.groups(try_place(&directory, PROFILE)?).await?;
    directory.history(HistoryFilter::default()).await?;
    let rows = directory.rotations(RotationFilter::default()).await?;
    for row in rows {
        directory.journal_events(row.id).await?;
    }
    directory.drafts(try_place(&directory, PROFILE)?).await?;
    note(&directory, "after").await
}

/// Whether the record written by [`exercise`] is there.
async fn has_after(path: &Path) -> bool {
    let Ok(directory) = Directory::open(path) else {
        return false;
    };
    let history = directory.history(HistoryFilter::default()).await;
    history.is_ok_and(|entries| {
        entries
            .iter()
            .any(|entry| entry.value.user_group_id.as_str() == "after")
    })
}
