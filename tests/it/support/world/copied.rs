//! A world that many tests start from: made once per run, and copied for each of them.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use groupdesk::{
    platform::private_files::{private_folder, write_new_private},
    service::store::Store,
};
use rusqlite::Connection;

use super::{DIRECTORY, SERVICE, World};

/// A world at rest. Copies have its keys, tokens and history, and an address of their own.
pub(crate) struct Template {
    service: Vec<u8>,
    directory: Vec<u8>,
    keys: Vec<String>,
    address: SocketAddr,
}

impl Template {
    pub(crate) async fn of(world: World) -> Self {
        let file = |name: &str| compact(&world.folder().join(name));
        let template = Self {
            service: file(SERVICE),
            directory: file(DIRECTORY),
            keys: world.keys.clone(),
            address: world.address(),
        };
        world.end().await;
        template
    }

    pub(crate) async fn copy(&self) -> World {
        let folder = tempfile::tempdir().expect("a folder");
        let service = put(folder.path(), SERVICE, &self.service);
        let store = Store::open(&service).expect("a store");
        let there = |folder: &Path, address: SocketAddr| {
            put(folder, DIRECTORY, &self.directory_at(address));
        };
        World::start(folder, store, self.keys.clone(), there).await
    }

    /// The directory, with this address wherever it has that of the service.
    fn directory_at(&self, address: SocketAddr) -> Vec<u8> {
        let [old, new] = [self.address, address].map(|address| address.to_string());
        assert_eq!(old.len(), new.len(), "both ports are ephemeral ones");
        let mut bytes = self.directory.clone();
        let all = bytes.windows(old.len()).enumerate();
        let found: Vec<_> = all
            .filter(|(_, part)| *part == old.as_bytes())
            .map(|(at, _)| at)
            .collect();
        for at in found {
            bytes[at..at + new.len()].copy_from_slice(new.as_bytes());
        }
        bytes
    }
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let file = folder.join(name);
    private_folder(file.parent().expect("a folder")).expect("a folder");
    write_new_private(&file, bytes).expect("a new file");
    file
}

/// The bytes of a database in one file, without a log beside it.
pub(super) fn compact(database: &Path) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = folder.path().join("whole");
    let name = whole.to_str().expect("UTF-8");
    let connection = Connection::open(database).expect("a database");
    connection
        .execute("VACUUM INTO ?1", [name])
        .expect("copied");
    let copy = Connection::open(&whole).expect("a database");
    copy.pragma_update(None, "journal_mode", "WAL")
        .expect("a log");
    copy.close().expect("closed");
    fs::read(&whole).expect("readable")
}
