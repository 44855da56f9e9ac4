//! What many tests start from: made once per run, and copied for each of them.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use groupdesk::{
    platform::private_files::{private_folder, write_new_private},
    service::store::{Options, Store},
};
use rusqlite::Connection;
use secrecy::ExposeSecret;
use tempfile::TempDir;

use super::{DIRECTORY, KEYS, SERVICE, World};

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
        let (folder, store) = service_from(&self.service);
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

/// A folder with the storage of a service without groups, and its keys; the storage is made once per run.
pub(super) fn empty_service() -> (TempDir, Store, Vec<String>) {
    static MADE: OnceLock<(Vec<u8>, Vec<String>)> = OnceLock::new();
    let (bytes, keys) = MADE.get_or_init(|| {
        let folder = crate::support::folder::temporary();
        let file = folder.path().join(SERVICE);
        let store = Store::open(&file, Options::default()).expect("a store");
        let keys = KEYS.map(|(side, read_only)| {
            let made = store.create_key(side.name(), Some(side.tag().as_str()), read_only);
            made.expect("a key").1.expose_secret().to_owned()
        });
        (compact(&file), keys.into())
    });
    let (folder, store) = service_from(bytes);
    (folder, store, keys.clone())
}

fn service_from(bytes: &[u8]) -> (TempDir, Store) {
    let folder = crate::support::folder::temporary();
    let file = put(folder.path(), SERVICE, bytes);
    let store = Store::open(&file, Options::default()).expect("a store");
    (folder, store)
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let file = folder.join(name);
    private_folder(file.parent().expect("a folder")).expect("a folder");
    write_new_private(&file, bytes).expect("a new file");
    file
}

/// The bytes of a database in one file, without a log beside it.
pub(super) fn compact(database: &Path) -> Vec<u8> {
    let folder = crate::support::folder::temporary();
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
