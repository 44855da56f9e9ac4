//! Copies a directory file into a team's database, or the other way round: every row with its number, and the
//! fingerprint key, in one transaction that is read back and compared before the commit. The source stays unchanged, or
//! from then on only says where the directory was moved to.

use std::{
    fmt, io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{
    DirectoryError, Result, TeamLocation,
    engine::Engine,
    location::TeamFault,
    sql::{self, Connection, Fault, facts::WITHDRAW_SOLE_WRITER, mark_moved},
    tables::{MIGRATIONS, Role, as_owner},
    team,
};
use crate::{
    db::{Access, Row, Tx, Value, ValueRef, placeholders, values},
    domain::text::visible,
    platform::{clock::Clock, private_files::with_suffix},
};

/// Ordered so that every row comes after the rows it references.
const TABLES: [&str; 24] = [
    "places",
    "place_urls",
    "place_keys",
    "all_bindings",
    "place_events",
    "alarms",
    "facts",
    "user_groups",
    "fingerprints",
    "history",
    "rotations",
    "rotation_events",
    "mutations",
    "last_changes",
    "batches",
    "batch_items",
    "batch_runs",
    "scheduled_runs",
    "all_drafts",
    "imports",
    "import_rows",
    "annotations",
    "all_console_views",
    "saved_views",
];

/// Columns that the server fills itself: times by its clock, transactions, and its user names. They start again there.
const SERVER_COLUMNS: [&str; 7] = [
    "boot_clock",
    "handoff_clock",
    "changed_in",
    "author",
    "db_user",
    "db_at",
    "written_in",
];

/// Statements sent together.
const BATCH_SIZE: usize = 500;

const COLUMNS: &str = "\
SELECT column_name::text, data_type::text = 'boolean', is_identity::text = 'YES' FROM information_schema.columns \
WHERE table_schema = current_schema() AND table_name::text = $1 ORDER BY ordinal_position";

/// A rotation has a row in both.
const UNDER_WAY: &str = "\
SELECT (SELECT count(*) FROM rotations WHERE state IN ('intended', 'sent')) \
 + (SELECT count(*) FROM mutations WHERE rotation_id IS NULL AND state IN ('intended', 'sent'))";

/// Copied rows get no audit lines of their own, only this one.
const COPIED: &str = "INSERT INTO audit (who, what) VALUES (session_user, 'copy')";

/// The first environment of a team that contains anything, and the number of its groups.
const HELD: &str = "\
SELECT p.name, (SELECT count(*) FROM user_groups g WHERE g.place = p.number) FROM places p \
WHERE EXISTS (SELECT FROM user_groups WHERE place = p.number) OR EXISTS (SELECT FROM history WHERE place = p.number) \
 OR EXISTS (SELECT FROM rotations WHERE place = p.number) OR EXISTS (SELECT FROM mutations WHERE place = p.number) \
 OR EXISTS (SELECT FROM fingerprints WHERE place = p.number) OR EXISTS (SELECT FROM last_changes WHERE place = p.number) \
 OR EXISTS (SELECT FROM batches WHERE place = p.number) OR EXISTS (SELECT FROM imports WHERE place = p.number) \
 OR EXISTS (SELECT FROM annotations WHERE place = p.number) OR EXISTS (SELECT FROM all_drafts WHERE place = p.number) \
 OR EXISTS (SELECT FROM alarms WHERE place = p.number) ORDER BY p.number LIMIT 1";

/// Removes the environments of a team, none of which contains anything, and what was told about them.
const EMPTY: &str = "DELETE FROM scheduled_runs; TRUNCATE place_events; DELETE FROM places";

const FINGERPRINT_KEY: &str = "SELECT value FROM meta WHERE key = 'fingerprint_key'";

/// Number of rows copied, by table.
pub type Copied = Vec<(&'static str, u64)>;

/// Copies a file into a team's directory that was set up and is still empty. Blocks; nobody can write to the file
/// meanwhile. A failure leaves nothing behind. With `is_moved`, groupdesk refuses to open the file from then on.
pub fn copy_to_team(from: &Path, to: &TeamLocation, is_moved: bool) -> Result<Copied> {
    // Opening the file checks it and brings it to the newest schema.
    drop(sql::File::open(from, &sql::Unwritable::default())?);
    let engine = Engine::of_team(to)?;
    let (path, schema) = (from.to_owned(), to.schema().to_owned());
    let (copied, file) = engine.block(Access::WriteOnce, move |tx| {
        let file = begun(&path)?;
        let copied = copy_into_team((&Tx::of(&file), &path), tx, &schema, is_moved)?;
        Ok((copied, file))
    })?;
    // Mark the file last: if this fails, both copies are complete.
    if is_moved {
        let marked = mark_moved(&file, &to.to_string());
        let marked = marked.and_then(|()| Ok(file.execute_batch("COMMIT")?));
        marked.map_err(|fault| fault.explain(from))?;
    }
    Ok(copied)
}

/// The file, with a transaction that holds its write lock.
fn begun(path: &Path) -> Result<Connection, Fault> {
    let file = Connection::open(path)?;
    file.execute_batch("PRAGMA busy_timeout = 5000; PRAGMA synchronous = FULL; BEGIN IMMEDIATE")?;
    Ok(file)
}

fn copy_into_team(
    (file, from): (&Tx<'_>, &Path),
    team: &Tx<'_>,
    schema: &str,
    is_moved: bool,
) -> Result<Copied, Fault> {
    check_copyable(team)?;
    refuse_if_under_way(file, from.display())?;
    team.batch(&as_owner(schema))?;
    // Keep others from beginning anything there meanwhile.
    team.batch("LOCK TABLE schema_versions IN ACCESS EXCLUSIVE MODE; LOCK TABLE places IN ACCESS EXCLUSIVE MODE")?;
    if let Some((name, groups)) = team.one::<(String, i64)>(HELD, values![])? {
        let environment = visible(&name).into_owned();
        let groups = groups as usize;
        return Err(TeamFault::NotEmpty {
            environment,
            groups,
        }
        .into());
    }
    // A command that found nothing to do has left an environment without anything.
    team.batch(EMPTY)?;
    let key: Option<[u8; 32]> = file.one(FINGERPRINT_KEY, values![])?;
    let key = Zeroizing::new(key.ok_or(Fault::Row("meta"))?);
    if team.write("UPDATE fingerprint_key SET key = $1", values![&*key])? == 0 {
        // The key is kept outside the database and is a different one.
        return Err(TeamFault::WrongKey.into());
    }
    let copied = copy(file, team, team, is_moved)?;
    team.write(COPIED, values![])?;
    Ok(copied)
}

/// Copies a team's directory into a new file. Blocks. Of personal data it takes what the caller may see. A failure
/// leaves no file behind. With `is_moved`, nobody can write to the database from the start, and afterwards it says
/// where the directory was moved to.
pub fn copy_from_team(from: &TeamLocation, to: &Path, is_moved: bool) -> Result<Copied> {
    let not_copied = |source: io::Error| DirectoryError::NotCopied {
        is_source: false,
        file: to.to_owned(),
        source: source.into(),
    };
    let path = std::path::absolute(to).map_err(not_copied)?;
    if path.symlink_metadata().is_ok() {
        let there = io::Error::new(
            io::ErrorKind::AlreadyExists,
            "it already exists; use a new file",
        );
        return Err(not_copied(there));
    }
    let remove = || {
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(with_suffix(&path, suffix));
        }
    };
    sql::File::open(&path, &sql::Unwritable::default())
        .map(drop)
        .inspect_err(|_| remove())?;
    let is_whole = Arc::new(AtomicBool::new(false));
    let (at, file, whole) = (from.clone(), path.clone(), Arc::clone(&is_whole));
    let access = if is_moved {
        Access::WriteOnce
    } else {
        Access::Long
    };
    let copied = Engine::of_team(from)?.block(access, move |tx| {
        let outside = team::outside_key(&at)?;
        check_copyable(tx)?;
        if is_moved {
            tx.batch(&as_owner(at.schema()))?;
            tx.batch("LOCK TABLE schema_versions IN ACCESS EXCLUSIVE MODE")?;
        }
        refuse_if_under_way(tx, &at)?;
        let kept = tx.one::<[u8; 32]>(team::KEY, values![])?;
        let key = outside.or(kept.map(Zeroizing::new));
        let key = key.ok_or(TeamFault::NoKey)?;
        let connection = begun(&file)?;
        let target = Tx::of(&connection);
        target.write(
            "UPDATE meta SET value = $1 WHERE key = 'fingerprint_key'",
            values![&*key],
        )?;
        let copied = copy(tx, &target, tx, is_moved)?;
        connection.execute_batch("COMMIT")?;
        whole.store(true, Ordering::SeqCst);
        if is_moved {
            // Mark the database last: if this fails, both copies are complete.
            let to = file.display().to_string();
            tx.write("UPDATE installation SET moved_to = $1", values![to])?;
        }
        Ok(copied)
    });
    if copied.is_err() && !is_whole.load(Ordering::SeqCst) {
        remove();
    }
    copied
}

fn check_copyable(team: &Tx<'_>) -> Result<(), Fault> {
    let status = team::TableStatus::read(team)?;
    status.requires(Role::Admin)?;
    let moved = || Some(TeamFault::Moved(Some(status.membership.moved_to?)));
    let fault = TeamFault::of_version(status.version, MIGRATIONS);
    fault
        .or_else(moved)
        .map_or(Ok(()), |fault| Err(fault.into()))
}

/// `from` is the directory that is copied.
fn refuse_if_under_way(tx: &Tx<'_>, from: impl fmt::Display) -> Result<(), Fault> {
    let under_way: Option<i64> = tx.one(UNDER_WAY, values![])?;
    match under_way {
        Some(count @ 1..) => Err(DirectoryError::StillOpen {
            at: from.to_string(),
            count,
        }
        .into()),
        _ => Ok(()),
    }
}

/// Copies every table; `team` is whichever of the two is the server, which describes the tables.
/// Without `is_moved` both go on, and neither knows of the other's changes.
fn copy(from: &Tx<'_>, to: &Tx<'_>, team: &Tx<'_>, is_moved: bool) -> Result<Copied, Fault> {
    let mut copied = Vec::with_capacity(TABLES.len());
    for name in TABLES {
        let table = Table::of(team, name)?;
        let rows = table.copy(from, to)?;
        if table.sum(to)? != table.sum(from)? {
            return Err(TeamFault::CopyDiffers(name).into());
        }
        copied.push((name.trim_start_matches("all_"), rows));
    }
    if !is_moved {
        to.write(WITHDRAW_SOLE_WRITER, values![Clock::System.now()])?;
    }
    Ok(copied)
}

struct Column {
    name: String,
    is_flag: bool,
}

struct Table {
    name: &'static str,
    columns: Vec<Column>,
    /// The column that the server numbers.
    counted: Option<String>,
}

impl Table {
    fn of(team: &Tx<'_>, table: &'static str) -> Result<Self, Fault> {
        let (mut columns, mut counted) = (Vec::new(), None);
        team.each(COLUMNS, values![table], |(name, is_flag, is_counted)| {
            let name: String = name;
            if is_counted {
                counted = Some(name.clone());
            }
            // A server counts no writes of groups: it knows their transactions.
            let is_count = (table, &*name) == ("user_groups", "change");
            if !is_count && !SERVER_COLUMNS.contains(&name.as_str()) {
                columns.push(Column { name, is_flag });
            }
            Ok::<_, Fault>(true)
        })?;
        Ok(Self {
            name: table,
            columns,
            counted,
        })
    }

    /// Selects its rows; on a server only the caller's own personal data, in a file all.
    fn select(&self, tx: &Tx<'_>) -> String {
        let name = match (tx.sqlite(), self.name) {
            (None, "all_drafts") => "shown_drafts",
            (_, name) => name.trim_start_matches("all_"),
        };
        format!("SELECT {} FROM {name}", self.names())
    }

    fn names(&self) -> String {
        let names = self.columns.iter().map(|column| column.name.as_str());
        names.collect::<Vec<_>>().join(", ")
    }

    /// Converts a value of the file to its type on the server.
    fn value(&self, row: &Row<'_>, at: usize) -> Result<Value, Fault> {
        Ok(match row.value(at)? {
            ValueRef::Integer(number) if self.columns[at].is_flag => Value::Bool(number != 0),
            value => Value::from(value),
        })
    }

    fn copy(&self, from: &Tx<'_>, to: &Tx<'_>) -> Result<u64, Fault> {
        let count = self.columns.len();
        let (name, with_numbers) = match to.sqlite() {
            Some(_) => (self.name.trim_start_matches("all_"), ""),
            None => (self.name, " OVERRIDING SYSTEM VALUE"),
        };
        let insert = format!(
            "INSERT INTO {name} ({}){with_numbers} VALUES ({})",
            self.names(),
            placeholders(count)
        );
        let mut rows = 0;
        from.each_row(self.select(from), values![], |row| {
            let values = (0..count).map(|at| self.value(row, at));
            to.put(insert.clone(), values.collect::<Result<_, _>>()?)?;
            rows += 1;
            if rows % BATCH_SIZE as u64 == 0 {
                to.flush()?;
            }
            Ok::<_, Fault>(true)
        })?;
        to.flush()?;
        if let (None, Some(column)) = (to.sqlite(), &self.counted) {
            // The next row continues the numbering.
            let next = format!(
                "SELECT setval(pg_get_serial_sequence('{0}', '{column}'), COALESCE(MAX({column}), 1), MAX({column}) IS NOT NULL) \
                 FROM {0}",
                self.name
            );
            to.one::<()>(next, values![])?;
        }
        Ok(rows)
    }

    /// The number of rows and the sum of their hashes, independent of order.
    fn sum(&self, tx: &Tx<'_>) -> Result<(u64, u128), Fault> {
        let (mut rows, mut sum) = (0, 0_u128);
        tx.each_row(self.select(tx), values![], |row| {
            let mut hash = Sha256::new();
            for at in 0..self.columns.len() {
                let value = self.value(row, at)?;
                let (kind, bytes) = match &value {
                    Value::Null | Value::Writer => (0_u8, Vec::new()),
                    Value::Bool(flag) => (1, vec![u8::from(*flag)]),
                    Value::Integer(number) => (2, number.to_be_bytes().to_vec()),
                    Value::Text(text) => (3, text.as_bytes().to_vec()),
                    Value::Bytes(bytes) => (4, bytes.clone()),
                };
                hash.update([kind]);
                hash.update((bytes.len() as u64).to_be_bytes());
                hash.update(&bytes);
            }
            let half = hash.finalize().first_chunk().copied();
            sum = sum.wrapping_add(u128::from_be_bytes(half.unwrap_or_default()));
            rows += 1;
            Ok::<_, Fault>(true)
        })?;
        Ok((rows, sum))
    }
}
