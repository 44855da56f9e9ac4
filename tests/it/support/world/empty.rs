//! An empty directory, migrated once per run; worlds start from a copy of it. Migrations are tested in
//! `tests/it/directory`, which starts without a file.

use std::{path::Path, sync::OnceLock};

use groupdesk::{
    directory::Directory,
    platform::private_files::{private_folder, write_new_private},
};
use rusqlite::Connection;

use super::copied::compact;

/// Length of the key for fingerprints, in bytes.
const KEY: usize = 32;

struct Empty {
    file: Vec<u8>,
    /// The offset of its key.
    key: usize,
}

/// Writes a copy, with a key of its own, to a path where nothing is.
pub(super) fn put(path: &Path) {
    static EMPTY: OnceLock<Empty> = OnceLock::new();
    let empty = EMPTY.get_or_init(make);
    let mut file = empty.file.clone();
    getrandom::fill(&mut file[empty.key..][..KEY]).expect("random bytes");
    private_folder(path.parent().expect("a folder")).expect("a folder");
    write_new_private(path, &file).expect("a new file");
}

fn make() -> Empty {
    let folder = crate::support::folder::temporary();
    let made = folder.path().join("made.db");
    let directory = Directory::open(&made).expect("a directory");
    let connection = Connection::open(&made).expect("a database");
    let key: Vec<u8> = connection
        .query_row(
            "SELECT value FROM meta WHERE key = 'fingerprint_key'",
            [],
            |row| row.get(0),
        )
        .expect("a key");
    let file = compact(&made);
    drop((connection, directory));
    let found: Vec<_> = file
        .windows(KEY)
        .enumerate()
        .filter(|(_, window)| *window == key)
        .map(|(at, _)| at)
        .collect();
    assert_eq!((key.len(), found.len()), (KEY, 1), "one key");
    Empty {
        file,
        key: found[0],
    }
}
