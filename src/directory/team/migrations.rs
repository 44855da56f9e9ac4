//! Creates and upgrades the tables of a team's directory: only on an admin's request, and never while somebody writes.

use super::{TableStatus, outside_key};
use crate::{
    db::{Access, quoted, values},
    directory::{
        Result, TeamLocation,
        engine::Engine,
        location::TeamFault,
        sql::{random_key, under_way},
        tables::{MIGRATIONS, Migration, RIGHTS, ROLES, Role, as_owner},
    },
    domain::token::Fingerprinter,
};

const ADD_KEY: &str = "INSERT INTO fingerprint_key (key) VALUES ($1)";
const KEEP_CHECK: &str = "UPDATE installation SET key_check = $1";

const MAY_SET_UP: &str = "\
SELECT has_database_privilege(current_database(), 'CREATE'), (SELECT rolcreaterole OR rolsuper FROM pg_roles \
 WHERE rolname = session_user)";

/// Creates the roles, the schema and a fingerprint key in one transaction. Blocks. Refused if the schema exists
/// already.
pub fn set_up(team: &TeamLocation) -> Result<()> {
    let at = team.clone();
    Engine::of_team(team)?.block(Access::WriteOnce, move |tx| {
        let outside = outside_key(&at)?;
        let lacks = match tx.one::<(bool, bool)>(MAY_SET_UP, values![])? {
            Some((false, _)) => Some("CREATE on the database"),
            Some((_, false)) => Some("CREATEROLE"),
            _ => None,
        };
        if let Some(right) = lacks {
            return Err(TeamFault::NeedsRight(right).into());
        }
        tx.batch(&begin_sql(at.schema()))?;
        for migration in MIGRATIONS {
            tx.batch(&migration_sql(migration))?;
        }
        if let Some(key) = &outside {
            let check = Fingerprinter::new(key).check();
            tx.write(KEEP_CHECK, values![check])?;
        } else {
            tx.write(ADD_KEY, values![&*random_key()?])?;
        }
        tx.batch(&with_schema(RIGHTS, at.schema()))?;
        Ok(())
    })
}

/// The same as SQL, for the database administrator. The key is created there. The admin is this user, or else whoever runs
/// the SQL.
pub fn set_up_sql(schema: &str, admin: Option<&str>) -> String {
    let mut text = format!("BEGIN;\n{}", begin_sql(schema));
    for migration in MIGRATIONS {
        text.push_str(&migration_sql(migration));
    }
    text.push_str(
        "\nINSERT INTO fingerprint_key (key)\n    \
         SELECT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');\n",
    );
    let admin = admin.map_or_else(String::new, |admin| admin_sql(schema, admin));
    text + &with_schema(RIGHTS, schema) + &admin + "COMMIT;\n"
}

/// Makes this user the admin instead of whoever runs the SQL.
fn admin_sql(schema: &str, admin: &str) -> String {
    let (operator, admins) = (Role::Operator.of(schema), Role::Admin.of(schema));
    let (who, text) = (quoted(admin), admin.replace('\'', "''"));
    format!(
        "\n-- The admin is this user; the role that runs this keeps no right.\nRESET ROLE;\n\
         GRANT {operator} TO {who};\nGRANT {admins} TO {who} WITH ADMIN OPTION;\n\
         DO $$ BEGIN\n    IF session_user <> '{text}' THEN\n        REVOKE {operator}, {admins} FROM SESSION_USER;\n    \
         END IF;\nEND $$;\n"
    )
}

/// Creates the roles and the schema; what follows is done as the owner.
fn begin_sql(schema: &str) -> String {
    let (name, role) = (quoted(schema), quoted(&format!("{schema}_owner")));
    format!(
        "SET LOCAL search_path = pg_catalog, pg_temp;\n{}CREATE SCHEMA {name} AUTHORIZATION {role};\n{};\n{};\n",
        with_schema(ROLES, schema),
        as_owner(schema),
        search_path(schema)
    )
}

/// The functions keep this path. Names in the schema take precedence, and those that anybody may create, in `pg_temp`,
/// come last; in `public` none is found.
fn search_path(schema: &str) -> String {
    format!(
        "SET LOCAL search_path = {}, pg_catalog, pg_temp",
        quoted(schema)
    )
}

fn migration_sql(migration: &Migration) -> String {
    let Migration {
        version,
        text,
        reads_from,
        writes_from,
    } = migration;
    let end = if text.trim_end().ends_with(';') {
        ""
    } else {
        ";"
    };
    format!(
        "\n{text}{end}\nINSERT INTO schema_versions (version, reads_from, writes_from) VALUES ({version}, {reads_from}, {writes_from});\n"
    )
}

/// The name of a schema is plain, so it needs no quoting.
fn with_schema(text: &str, schema: &str) -> String {
    text.replace(":schema", schema)
}

/// What a migration did or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migrated {
    /// The version of the tables before.
    pub from: i64,
    pub to: i64,
    /// The oldest versions that a groupdesk must know afterwards to read, and to write.
    pub reads_from: i64,
    pub writes_from: i64,
    /// The SQL of the migration, for the database administrator; empty if nothing needs to be done.
    pub sql: String,
}

/// Upgrades the tables to the last of these versions in one transaction, during which nobody writes and no write is
/// half done. Refused while a change is in progress. Blocks. If `is_done` is false, it only returns what would be done.
pub fn migrate(
    team: &TeamLocation,
    known: &'static [Migration],
    is_done: bool,
) -> Result<Migrated> {
    let access = if is_done {
        Access::WriteOnce
    } else {
        Access::Short
    };
    let schema = team.schema().to_owned();
    Engine::of_team(team)?.block(access, move |tx| {
        let (owner, path) = (as_owner(&schema), search_path(&schema));
        let status = TableStatus::read(tx)?;
        if is_done {
            status.requires(Role::Admin)?;
            tx.batch(&owner)?;
            tx.batch(&path)?;
            tx.batch(LOCK)?;
        }
        // Read the version once nobody else can change it.
        let from = TableStatus::read(tx)?.version;
        let newest = known.last().map_or(from, |last| last.version);
        match TeamFault::of_version(from, known) {
            None | Some(TeamFault::Older { .. }) => {}
            Some(fault) => return Err(fault.into()),
        }
        let steps: Vec<_> = known.iter().filter(|step| step.version > from).collect();
        if is_done && !steps.is_empty() {
            under_way::refuse_upgrade(tx, from)?;
            for step in &steps {
                tx.batch(&migration_sql(step))?;
            }
            tx.batch(&with_schema(RIGHTS, &schema))?;
        }
        let last = steps.last().copied().or(known.last());
        let texts: Vec<_> = steps.iter().map(|step| migration_sql(step)).collect();
        let sql = if texts.is_empty() {
            String::new()
        } else {
            format!(
                "BEGIN;\n{owner};\n{path};\n{LOCK};\n{}{}{}COMMIT;\n",
                under_way::refuse_upgrade_sql(),
                texts.concat(),
                with_schema(RIGHTS, &schema)
            )
        };
        Ok(Migrated {
            from,
            to: newest,
            reads_from: last.map_or(from, |last| last.reads_from),
            writes_from: last.map_or(from, |last| last.writes_from),
            sql,
        })
    })
}

/// Every write reads this table first, and so waits here from now on.
const LOCK: &str =
    "SET LOCAL lock_timeout = '5s'; LOCK TABLE schema_versions IN ACCESS EXCLUSIVE MODE";
