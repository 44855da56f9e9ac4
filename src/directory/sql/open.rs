//! Opens a directory file: made private before SQLite sees it, recognised before anything is written, upgraded to the
//! newest schema, and given its fingerprint key. A foreign file is left unchanged. Of a file whose directory was moved to a
//! team's database this version says where it is.

use std::{
    cell::Cell,
    path::Path,
    sync::{Mutex, PoisonError},
};

use rusqlite::{
    Connection, OptionalExtension, Transaction, TransactionBehavior, config::DbConfig, ffi,
    functions::FunctionFlags,
};
use zeroize::Zeroizing;

use super::{
    backup,
    fault::Fault,
    list,
    schema::{BUSY_TIMEOUT, NEWEST, OLDER, migrations_from},
    under_way,
};
use crate::{
    db::{
        Tx,
        file::{self, Unfit},
        values,
    },
    directory::{DirectoryError, Result},
    domain::token::Fingerprinter,
};

/// Marks the file as ours: "gdsk" in ASCII.
pub(super) const APPLICATION_ID: i64 = 0x6764_736b;

const KEY: &str = "fingerprint_key";

/// Closing any descriptor of a file drops all locks of this process on it, including SQLite's. So preparing a file and
/// opening it are one step under this lock, and an existing private file is not opened by us at all.
static OPENING: Mutex<()> = Mutex::new(());

thread_local! {
    static OPENED: Cell<u64> = const { Cell::new(0) };
    static SHARED: Cell<u64> = const { Cell::new(0) };
}

/// Number of connections opened by this thread: a directory uses one at a time, on one thread.
pub(super) fn connections_opened() -> u64 {
    OPENED.get()
}

/// Called in a write of what all consoles show of each other without a time to compare: a look at the changes that began
/// before it may arrive after it, so the next one has to report it again.
pub(super) fn shared_by_consoles_written() {
    SHARED.set(SHARED.get() + 1);
}

/// Counts such writes of this thread.
pub(super) fn writes_shared_by_consoles() -> u64 {
    SHARED.get()
}

/// A connection, and why it can only read: the disk is full, or the file must not be written.
pub(super) struct Opened {
    pub(super) connection: Connection,
    pub(super) fingerprinter: Fingerprinter,
    pub(super) unwritable: Option<Fault>,
}

pub(super) fn open(path: &Path) -> Result<Opened> {
    let _alone = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    OPENED.set(OPENED.get() + 1);
    file::make_private(path).map_err(|why| unfit(path, why))?;
    let opened = match connect(path) {
        Err(fault) if fault.is_unwritable() => connect_to_read(path, fault),
        opened => opened,
    };
    opened.map_err(|fault| fault.explain(path))
}

/// The error for a file that was left as it is.
pub(super) fn unfit(path: &Path, why: Unfit) -> DirectoryError {
    let path = path.to_owned();
    match why {
        Unfit::Io(source) => DirectoryError::unusable(path)(source),
        Unfit::Foreign => DirectoryError::NotADirectory { path },
        Unfit::LogAlone => DirectoryError::LogAlone { path },
    }
}

fn connect(path: &Path) -> Result<Opened, Fault> {
    let mut connection = equipped(file::open(path, BUSY_TIMEOUT)?)?;
    // SQLite opens a file that must not be written only to read.
    if connection.is_readonly("main")? {
        return Err(file::error_of(ffi::SQLITE_READONLY).into());
    }
    if version(&connection)? < NEWEST {
        // Before switching to the write-ahead log, so that the application id reaches the file itself with the first
        // transaction.
        migrate(&mut connection, path)?;
    }
    if !file::enable_wal(&connection, BUSY_TIMEOUT)? {
        return Err(Fault::NotShareable);
    }
    opened(connection, None)
}

/// An older file would have to be upgraded first.
fn connect_to_read(path: &Path, unwritable: Fault) -> Result<Opened, Fault> {
    match file::read_only(path, BUSY_TIMEOUT) {
        Ok(connection) if version(&connection)? == NEWEST => {
            opened(equipped(connection)?, Some(unwritable))
        }
        _ => Err(unwritable),
    }
}

fn opened(connection: Connection, unwritable: Option<Fault>) -> Result<Opened, Fault> {
    Ok(Opened {
        fingerprinter: key(&connection)?,
        connection,
        unwritable,
    })
}

fn equipped(connection: Connection) -> Result<Connection, Fault> {
    connection.set_prepared_statement_cache_capacity(64);
    // On a server `since` uses the clock of the database; here it returns the machine's time as stored.
    let of_the_machine = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("since", 1, of_the_machine, |call| {
        call.get::<Option<String>>(0)
    })?;
    // Query plans must not depend on parameters: because of the partial indexes, every binding would otherwise reparse
    // the statement.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Mark, schema version and number of tables.
const VERSION: &str = "\
SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), \
 (SELECT count(*) FROM sqlite_schema)";

/// The schema version, 0 for a new file. Refuses a foreign file, a newer version, and that of a development version.
pub(super) fn version(connection: &Connection) -> Result<i64, Fault> {
    let found: Option<(i64, i64, i64)> = Tx::of(connection).one(VERSION, values![])?;
    match found.unwrap_or_default() {
        (0, 0, 0) => Ok(0),
        (APPLICATION_ID, found, _) if found == NEWEST || OLDER.contains(&found) => Ok(found),
        (APPLICATION_ID, found @ 1..NEWEST, _) => Err(Fault::Unreleased { found }),
        (APPLICATION_ID, found, _) if found > NEWEST => Err(newer(connection, found)),
        _ => Err(Fault::NotADirectory),
    }
}

/// A newer groupdesk may have upgraded the file since it was opened here.
pub(super) fn check_version(tx: &Transaction<'_>) -> Result<(), Fault> {
    let found: Option<i64> = Tx::of(tx).one("PRAGMA user_version", values![])?;
    match found.unwrap_or_default() {
        NEWEST => Ok(()),
        found => Err(newer(tx, found)),
    }
}

const ADD_META: &str = "INSERT INTO meta (key, value) VALUES ($1, $2)";

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Check again under the lock: another process may have been faster.
    let from = version(&tx)?;
    if OLDER.contains(&from) {
        under_way::refuse_upgrade(&Tx::of(&tx), from)?;
        backup::check_free_space(path, backup::MIGRATION_FACTOR)?;
        backup::keep(path, from)?;
    }
    for migration in migrations_from(from) {
        tx.execute_batch(migration)?;
    }
    if OLDER.contains(&from) {
        list::fill_titles(&tx)?;
    }
    if from == 0 {
        tx.execute(ADD_META, rusqlite::params![KEY, random_key()?.as_slice()])?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    tx.pragma_update(None, "user_version", NEWEST)?;
    tx.commit().map_err(Fault::commit)
}

pub(in crate::directory) fn random_key() -> Result<Zeroizing<[u8; 32]>> {
    let mut key = Zeroizing::new([0; 32]);
    getrandom::fill(key.as_mut()).map_err(|_| DirectoryError::NoRandomness)?;
    Ok(key)
}

const META: &str = "SELECT value FROM meta WHERE key = $1";

pub(super) fn key(connection: &Connection) -> Result<Fingerprinter, Fault> {
    let key = connection
        .prepare_cached(META)?
        .query_row([KEY], |row| row.get::<_, [u8; 32]>(0).map(Zeroizing::new))
        .optional()?
        .ok_or(Fault::NotADirectory)?;
    Ok(Fingerprinter::new(&key))
}

/// Newer than any schema, so that older versions refuse the file as well.
const MOVED: i64 = 1_000_000;

const MOVED_TO: &str = "moved_to";

/// Marks the file within the open transaction.
pub(in crate::directory) fn mark_moved(connection: &Connection, to: &str) -> Result<(), Fault> {
    connection.execute(
        "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)",
        (MOVED_TO, to.as_bytes()),
    )?;
    connection.pragma_update(None, "user_version", MOVED)?;
    Ok(())
}

/// The error for a schema version that this groupdesk does not know.
fn newer(connection: &Connection, found: i64) -> Fault {
    let known = NEWEST;
    let text = "SELECT value FROM meta WHERE key = ?1";
    let to = connection.query_row(text, [MOVED_TO], |row| row.get::<_, Vec<u8>>(0));
    match to.optional() {
        Ok(Some(to)) if found == MOVED => {
            let to = String::from_utf8_lossy(&to).into_owned();
            Fault::Refused(DirectoryError::MovedAway { to })
        }
        _ => Fault::Newer { found, known },
    }
}
