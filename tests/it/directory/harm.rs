//! The directory under attack: its writers are killed, its file is cut, flipped, replaced, locked and shared. What was
//! acknowledged is there and SQLite finds the file whole, or an error says what to do.

use super::beside;
use crate::support::world::try_place;

mod damaged;
mod foreign_files;
mod killed;
mod locked;
mod log;
mod migrated;
mod record;

use std::{
    fs,
    path::{Path, PathBuf},
};

use groupdesk::directory::{Directory, DirectoryError, HistoryFilter, RotationFilter, inspect};

use record::{PROFILE, note};

/// The cases of the whole row, in the long run; counted by the tests themselves and added up here.
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

/// A folder of its own, with the place of a directory in it.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("directory.db")
    }

    /// With these bytes in place of a directory, mode 0600.
    fn with(bytes: &[u8]) -> Self {
        let place = Self::new();
        put(&place.file(), bytes);
        place
    }
}

/// Puts bytes into a new file of ours.
fn put(path: &Path, bytes: &[u8]) {
    groupdesk::platform::private_files::write_new_private(path, bytes).expect("written");
}

fn bytes_of(path: &Path) -> Vec<u8> {
    fs::read(path).expect("readable")
}

/// How SQLite finds a file that nobody here has open.
fn is_whole(path: &Path) -> bool {
    inspect(path).is_ok_and(|inspected| inspected.faults == 0)
}

/// What a failure must have: the file it is about, and what to do.
#[track_caller]
fn must_be_clear(error: &DirectoryError, path: &Path) {
    let said = error.to_string();
    let folder = path.parent().expect("a folder").display().to_string();
    assert!(said.contains(&folder), "no file is named: {said}");
    let ways = [
        "groupdesk doctor",
        "move it away",
        "move the log away",
        "restore it",
        "update groupdesk",
        "close what has it open",
        "make room",
        "another file",
        "writable",
    ];
    assert!(
        ways.iter().any(|way| said.contains(way)),
        "no way out: {said}"
    );
    assert!(
        !matches!(error, DirectoryError::Stopped { .. }),
        "a thread was lost: {said}"
    );
}

/// Reads everything and writes one thing; whether all of that went well.
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

/// Whether the thing that [`exercise`] wrote is there.
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
