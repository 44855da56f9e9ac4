//! A directory's file into the database of a team: every row with its number, and the key of its fingerprints, in one
//! transaction that is read back before it is committed. The file stays as it is.

use std::path::Path;

use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{
    DirectoryError, TeamLocation,
    engine::Engine,
    location::TeamFault,
    sqlite::{self, Connection, Fault},
    tables::{Role, as_owner},
    team,
};
use crate::database::{Access, Row, Statements, Tx, Value, ValueRef, values};

/// In an order in which every row finds those that it names.
const TABLES: [&str; 23] = [
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
    "batches",
    "batch_items",
    "batch_runs",
    "all_drafts",
    "imports",
    "import_rows",
    "annotations",
    "all_console_views",
    "saved_views",
    "hidden_concerns",
];

/// Times by the clock of the database, the transaction, and whom the server knew: they begin anew there.
const OF_THE_SERVER: [&str; 6] = [
    "boot_clock",
    "changed_in",
    "author",
    "db_user",
    "db_at",
    "written_in",
];

/// Statements that are sent together.
const TOGETHER: usize = 500;

const COLUMNS: &str = "\
SELECT column_name::text, data_type::text = 'boolean', is_identity::text = 'YES' FROM information_schema.columns \
WHERE table_schema = current_schema() AND table_name::text = $1 ORDER BY ordinal_position";

const UNDER_WAY: &str = "\
SELECT (SELECT count(*) FROM rotations WHERE state IN ('intended', 'sent')) \
 + (SELECT count(*) FROM mutations WHERE state IN ('intended', 'sent'))";

/// What came along has no other line of the audit.
const COPIED: &str = "INSERT INTO audit (who, what) VALUES (session_user, 'copy')";

const FINGERPRINT_KEY: &str = "SELECT value FROM meta WHERE key = 'fingerprint_key'";

/// How many rows of each table were copied.
pub type Copied = Vec<(&'static str, u64)>;

/// Copies a file into a directory of a team that was set up and holds nothing yet. Blocks; nobody can write to the file
/// meanwhile. What is refused or breaks off leaves nothing behind.
pub fn copy_to_team(from: &Path, to: &TeamLocation) -> Result<Copied, DirectoryError> {
    // Of the newest schema, and whole.
    drop(sqlite::File::open(from)?);
    let engine = Engine::of_team(to)?;
    let path = from.to_owned();
    let (at, schema) = (to.to_string(), to.schema().to_owned());
    team::ask(&engine, Access::Once, move |tx| {
        let file = Connection::open(&path)?;
        file.execute_batch("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE")?;
        let file = Tx::of(&file);
        copy(&file, tx, &at, &schema)
    })
}

fn copy(file: &Tx<'_>, team: &Tx<'_>, at: &str, schema: &str) -> Result<Copied, Fault> {
    let refused = |fault| DirectoryError::Team {
        at: at.to_owned(),
        fault,
    };
    let under_way: Option<i64> = file.one(UNDER_WAY, values![], |row| row.get(0))?;
    if under_way != Some(0) {
        return Err(DirectoryError::UnderWay.into());
    }
    let has = team::Stands::read(team)?.desk.role;
    if has < Role::Admin {
        let needs = Role::Admin;
        return Err(refused(TeamFault::NeedsRole { needs, has }).into());
    }
    team.batch(&as_owner(schema))?;
    // Nobody begins anything there meanwhile.
    team.batch("LOCK TABLE schema_versions IN ACCESS EXCLUSIVE MODE; LOCK TABLE places IN ACCESS EXCLUSIVE MODE")?;
    let held: Option<i64> = team.one("SELECT count(*) FROM places", values![], |row| row.get(0))?;
    if held != Some(0) {
        return Err(refused(TeamFault::NotEmpty).into());
    }
    let key: Option<[u8; 32]> = file.one(FINGERPRINT_KEY, values![], |row| row.get(0))?;
    let key = Zeroizing::new(key.ok_or(Fault::Row("meta"))?);
    team.write("UPDATE fingerprint_key SET key = $1", values![&*key])?;
    let mut copied = Vec::with_capacity(TABLES.len());
    for name in TABLES {
        let table = Table::of(team, name)?;
        let rows = table.copy(file, team)?;
        if table.sum(team)? != table.sum(file)? {
            return Err(refused(TeamFault::CopyDiffers(name)).into());
        }
        copied.push((name, rows));
    }
    team.write(COPIED, values![])?;
    Ok(copied)
}

struct Column {
    name: String,
    is_flag: bool,
}

struct Table {
    name: &'static str,
    columns: Vec<Column>,
    /// The column that the server counts up.
    counted: Option<String>,
}

impl Table {
    fn of(team: &Tx<'_>, name: &'static str) -> Result<Self, Fault> {
        let (mut columns, mut counted) = (Vec::new(), None);
        team.each(COLUMNS, values![name], |row| {
            let column = Column {
                name: row.get(0)?,
                is_flag: row.get(1)?,
            };
            if row.get(2)? {
                counted = Some(column.name.clone());
            }
            if !OF_THE_SERVER.contains(&column.name.as_str()) {
                columns.push(column);
            }
            Ok::<_, Fault>(())
        })?;
        Ok(Self {
            name,
            columns,
            counted,
        })
    }

    /// Its rows; what belongs to a person on a server belongs to whoever has the file.
    fn select(&self, tx: &Tx<'_>) -> String {
        let name = match tx.sqlite() {
            Some(_) => self.name.trim_start_matches("all_"),
            None => self.name,
        };
        let names: Vec<_> = self
            .columns
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        format!("SELECT {} FROM {name}", names.join(", "))
    }

    /// A value of the file as the server has it.
    fn value(&self, row: &Row<'_>, at: usize) -> Result<Value, Fault> {
        Ok(match row.value(at)? {
            ValueRef::Integer(number) if self.columns[at].is_flag => Value::Bool(number != 0),
            value => Value::from(value),
        })
    }

    fn copy(&self, file: &Tx<'_>, team: &Tx<'_>) -> Result<u64, Fault> {
        let names: Vec<_> = self
            .columns
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        let places: Vec<_> = (1..=names.len()).map(|at| format!("${at}")).collect();
        let insert = format!(
            "INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE VALUES ({})",
            self.name,
            names.join(", "),
            places.join(", ")
        );
        let (mut rows, mut together) = (0, Statements::default());
        file.each(self.select(file), values![], |row| {
            let values = (0..names.len()).map(|at| self.value(row, at));
            together.add(insert.clone(), values.collect::<Result<_, _>>()?);
            rows += 1;
            if rows % TOGETHER as u64 == 0 {
                team.write_all(std::mem::take(&mut together))?;
            }
            Ok::<_, Fault>(())
        })?;
        team.write_all(together)?;
        if let Some(column) = &self.counted {
            // What comes next has a number of its own.
            let next = format!(
                "SELECT setval(pg_get_serial_sequence('{0}', '{column}'), COALESCE(MAX({column}), 1), MAX({column}) IS NOT NULL) \
                 FROM {0}",
                self.name
            );
            team.one(next, values![], |_| Ok::<_, Fault>(()))?;
        }
        Ok(rows)
    }

    /// Rows and the sum of their hashes, whatever their order.
    fn sum(&self, tx: &Tx<'_>) -> Result<(u64, u128), Fault> {
        let (mut rows, mut sum) = (0, 0_u128);
        tx.each(self.select(tx), values![], |row| {
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
            let digest = hash.finalize();
            let (half, _) = digest.split_at(16);
            sum = sum.wrapping_add(
                half.iter()
                    .fold(0, |sum, byte| sum << 8 | u128::from(*byte)),
            );
            rows += 1;
            Ok::<_, Fault>(())
        })?;
        Ok((rows, sum))
    }
}
