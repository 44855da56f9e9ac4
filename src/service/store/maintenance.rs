//! Maintenance of the database file while a service runs: a copy, and a check of its contents. Neither changes
//! anything.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::{Map, Value};

use super::{
    Result, StoreError,
    file::{MIGRATIONS, unfit, version},
};
use crate::{
    db::file::{self, CopyFault},
    platform::private_files::{self, with_suffix},
    service::secret::{self, Hash},
};

/// The result of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupSummary {
    pub bytes: u64,
    pub groups: u64,
    pub keys: u64,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckResult {
    pub about: &'static str,
    pub is_fine: bool,
    /// For people; contains no id, token or value.
    pub found: String,
}

/// Copies the database, which may be in use, to a new private file, completely or not at all. Blocks.
pub fn backup(database: &Path, to: &Path) -> Result<BackupSummary> {
    read_only(database)?;
    let part = with_suffix(to, ".part");
    let copied =
        file::copy(database, &part, patience(), |_| Ok(())).map_err(|fault| match fault {
            CopyFault::Reading(error) => error.into(),
            CopyFault::Writing(error) => StoreError::File(error.to_string()),
        })?;
    let summary = summarize(&part)?;
    copied.link(to).map_err(|error| file_error(to, &error))?;
    Ok(summary)
}

fn summarize(part: &Path) -> Result<BackupSummary> {
    let copy = read_only(part)?;
    if let Some(wrong) = integrity(&copy)? {
        return Err(StoreError::Failed(wrong));
    }
    Ok(BackupSummary {
        bytes: part.metadata().map_or(0, |found| found.len()),
        groups: count(&copy, "SELECT count(*) FROM groups")?,
        keys: count(&copy, "SELECT count(*) FROM keys")?,
    })
}

/// Checks the file, its integrity according to SQLite, and whether its contents follow the rules. Blocks.
pub fn check(database: &Path) -> Result<Vec<CheckResult>> {
    let connection = read_only(database)?;
    let mut all = vec![modes(database), schema(&connection, database)?];
    let wrong = integrity(&connection)?;
    let is_whole = wrong.is_none();
    let found = wrong.unwrap_or_else(|| "SQLite finds nothing wrong".into());
    all.push(result("integrity", is_whole, found));
    if is_whole {
        let orphans = count(&connection, "SELECT count(*) FROM pragma_foreign_key_check")?;
        let none = "no orphaned rows";
        all.push(counted("references", orphans, none, "orphaned rows"));
        all.extend(groups(&connection)?);
        all.push(counted(
            "environments",
            count(&connection, PAIRS)?,
            "an ID is in two environments only if they are Customer and Testing",
            "IDs in two environments that are not Customer and Testing",
        ));
        all.push(keys(&connection)?);
    }
    Ok(all)
}

/// Never creates or changes a file.
fn read_only(path: &Path) -> Result<Connection> {
    let found = fs::symlink_metadata(path).map_err(|error| file_error(path, &error))?;
    if !found.is_file() {
        return Err(unfit(path, "is not a regular file; use another file"));
    }
    let connection = file::read_only(path, patience())?;
    version(&connection, path)?;
    Ok(connection)
}

fn patience() -> Duration {
    super::Options::default().busy_timeout
}

fn modes(database: &Path) -> CheckResult {
    let files = ["", "-wal", "-shm"].map(|suffix| with_suffix(database, suffix));
    let is_wide = |path: &&PathBuf| {
        let found = fs::symlink_metadata(path);
        found.is_ok_and(|found| found.mode() & 0o077 != 0)
    };
    let wide = files.iter().filter(is_wide);
    let names: Vec<_> = wide.map(|path| path.display().to_string()).collect();
    let found = if names.is_empty() {
        "only their owner reads the files".into()
    } else {
        let names = names.join(", ");
        format!("others can read {names}, which contains tokens; run chmod 600")
    };
    result("files", names.is_empty(), found)
}

fn schema(connection: &Connection, database: &Path) -> Result<CheckResult> {
    let (found, known) = (version(connection, database)?, MIGRATIONS.len());
    let found = if found < known {
        format!("version {found}; the next start of groupdesk serve upgrades it to {known}")
    } else {
        format!("version {found}")
    };
    Ok(result("schema", true, found))
}

/// What is wrong according to SQLite.
fn integrity(connection: &Connection) -> Result<Option<String>> {
    let report: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    Ok((report != "ok").then(|| format!("{report}; replace it with a backup")))
}

const PAIRS: &str = "\
SELECT count(*) FROM groups a
JOIN groups b ON b.user_group_id = a.user_group_id AND b.environment > a.environment
JOIN environments e ON e.id = a.environment JOIN environments f ON f.id = b.environment
WHERE e.tag IS NULL OR f.tag IS NULL OR e.tag = f.tag";

/// Checks the contents of groups, and that no current token is a retired one.
fn groups(connection: &Connection) -> Result<[CheckResult; 2]> {
    let mut retired =
        connection.prepare("SELECT 1 FROM retired_tokens WHERE hash = ?1 AND environment = ?2")?;
    let mut statement =
        connection.prepare("SELECT environment, token, mapping, properties FROM groups")?;
    let mut rows = statement.query([])?;
    let (mut all, mut unreadable, mut dead) = (0_u64, 0, 0);
    while let Some(row) = rows.next()? {
        let environment: i64 = row.get(0)?;
        let token: String = row.get(1)?;
        let (mapping, properties): (String, String) = (row.get(2)?, row.get(3)?);
        let mapping = serde_json::from_str::<Map<String, Value>>(&mapping);
        let is_readable = mapping.is_ok_and(|found| found.values().all(Value::is_string))
            && serde_json::from_str::<Map<String, Value>>(&properties).is_ok();
        let hash: Hash = secret::hash(token.as_bytes());
        all += 1;
        unreadable += u64::from(!is_readable);
        dead += u64::from(retired.exists((hash, environment))?);
    }
    Ok([
        counted(
            "groups",
            unreadable,
            &format!("{all}, all of them readable"),
            "groups with a mapping or properties that cannot be read",
        ),
        counted(
            "tokens",
            dead,
            "no current token was retired",
            "groups whose token was retired, which need a rotation",
        ),
    ])
}

fn keys(connection: &Connection) -> Result<CheckResult> {
    let expiry = "SELECT count(*) FROM pragma_table_info('keys') WHERE name = 'expires_at'";
    let ends = match count(connection, expiry)? {
        0 => "1 << 62",
        _ => "coalesce(expires_at, 1 << 62)",
    };
    let now = Timestamp::now().as_millisecond();
    let live = format!("SELECT count(*) FROM keys WHERE revoked_at IS NULL AND {ends} > {now}");
    let live = count(connection, &live)?;
    let all = count(connection, "SELECT count(*) FROM keys")?;
    Ok(result("keys", true, format!("{live} of {all} are valid")))
}

fn count(connection: &Connection, sql: &str) -> Result<u64> {
    Ok(connection
        .query_row(sql, [], |row| row.get::<_, i64>(0))?
        .unsigned_abs())
}

fn result(about: &'static str, is_fine: bool, found: String) -> CheckResult {
    CheckResult {
        about,
        is_fine,
        found,
    }
}

fn counted(about: &'static str, count: u64, none: &str, some: &str) -> CheckResult {
    match count {
        0 => result(about, true, none.to_owned()),
        _ => result(about, false, format!("{some}: {count}")),
    }
}

fn file_error(path: &Path, error: &io::Error) -> StoreError {
    unfit(path, private_files::explained(error))
}
