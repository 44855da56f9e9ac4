//! A directory that a team shares, in a schema of a PostgreSQL database: how it is set up, recognised and opened.

use std::sync::mpsc;

use jiff::Timestamp;
use zeroize::Zeroizing;

use super::{
    DirectoryError,
    engine::Engine,
    location::{TeamFault, TeamLocation},
    sqlite::Fault,
};
use crate::{
    database::{Access, Tx, task, values},
    domain::token::Fingerprinter,
};

/// Begins with one file, numbered as the schema of the file that it equals.
const BEGIN: &str = include_str!("../../assets/migrations/directory/postgres/0013_begin.sql");
pub(super) const NEWEST: i64 = 13;

const ADD_KEY: &str = "INSERT INTO fingerprint_key (key) VALUES ($1)";
const ADD_VERSION: &str = "INSERT INTO schema_versions (version) VALUES ($1)";
const VERSION: &str = "SELECT MAX(version) FROM schema_versions";
const KEY: &str = "SELECT key FROM fingerprint_key";

/// Makes the schema and a key of its own, in one transaction. Blocks. Refused where the schema is there already.
pub fn set_up(team: &TeamLocation) -> Result<(), DirectoryError> {
    let mut key = Zeroizing::new([0; 32]);
    getrandom::fill(key.as_mut()).map_err(|_| DirectoryError::NoRandomness)?;
    let schema = quoted(team.schema());
    ask(&Engine::of_team(team)?, Access::Once, move |tx| {
        tx.batch(&format!("CREATE SCHEMA {schema}"))?;
        tx.batch(BEGIN)?;
        tx.write(ADD_KEY, values![&*key])?;
        tx.write(ADD_VERSION, values![NEWEST])?;
        Ok(())
    })
}

/// The same as SQL, for whoever runs the database. Its key is made there.
pub fn set_up_sql(schema: &str) -> String {
    let schema = quoted(schema);
    format!(
        "BEGIN;\nCREATE SCHEMA {schema};\nSET LOCAL search_path = {schema};\n\n{BEGIN}\n\
         INSERT INTO fingerprint_key (key)\n    \
         SELECT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');\n\
         INSERT INTO schema_versions (version) VALUES ({NEWEST});\nCOMMIT;\n"
    )
}

/// Lets a role of the database work with the directory: it reads and writes; what has happened stays, and the tables, too.
/// Blocks.
pub fn grant(team: &TeamLocation, name: &str) -> Result<(), DirectoryError> {
    let (schema, role) = (quoted(team.schema()), quoted(name));
    let text = format!(
        "GRANT USAGE ON SCHEMA {schema} TO {role}; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}; \
         REVOKE INSERT, UPDATE, DELETE ON schema_versions, installation, fingerprint_key FROM {role}"
    );
    change(team, name, text, true)
}

/// Takes all of that away. Blocks.
pub fn revoke(team: &TeamLocation, name: &str) -> Result<(), DirectoryError> {
    let (schema, role) = (quoted(team.schema()), quoted(name));
    let text = format!(
        "REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {role}; REVOKE ALL ON SCHEMA {schema} FROM {role}"
    );
    change(team, name, text, false)
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Who may not change a right is only warned, so what came of it is asked.
const MAY_WORK: &str = "\
SELECT has_schema_privilege($1::text::name, current_schema(), 'USAGE') \
 AND has_table_privilege($1::text::name, 'rotations', 'UPDATE')";

fn change(
    team: &TeamLocation,
    name: &str,
    text: String,
    is_wanted: bool,
) -> Result<(), DirectoryError> {
    let (name, at) = (name.to_owned(), team.to_string());
    let refused = move |fault| DirectoryError::Team {
        at: at.clone(),
        fault,
    };
    // Everybody there is would be meant.
    if name == "public" {
        return Err(refused(TeamFault::Nobody));
    }
    ask(&Engine::of_team(team)?, Access::Once, move |tx| {
        tx.batch(&text)?;
        let may: Option<bool> = tx.one(MAY_WORK, values![&name], |row| row.get(0))?;
        if may == Some(is_wanted) {
            Ok(())
        } else {
            Err(refused(TeamFault::RightStays).into())
        }
    })
}

/// What a server says of itself.
#[derive(Debug, Clone)]
pub struct TeamStatus {
    /// The version of PostgreSQL.
    pub server: String,
    /// As whom one is there.
    pub user: String,
    /// The version of the tables.
    pub schema: i64,
    /// `synchronous_standby_names`; empty: an answered change may be lost in a failover.
    pub synchronous: String,
    /// Lines of groupdesk to the database.
    pub sessions: i64,
    /// What time it is there.
    pub clock: Timestamp,
}

const STATUS: &str = "\
SELECT current_setting('server_version'), session_user::text, (SELECT MAX(version) FROM schema_versions), \
 current_setting('synchronous_standby_names'), (SELECT count(*) FROM pg_stat_activity \
  WHERE application_name = 'groupdesk' AND datname = current_database()), now_in_micros()";

/// Asks it. Blocks.
pub fn team_status(team: &TeamLocation) -> Result<TeamStatus, DirectoryError> {
    let status = ask(&Engine::of_team(team)?, Access::Short, |tx| {
        tx.one(STATUS, values![], |row| {
            let micros: i64 = row.get(5)?;
            Ok(TeamStatus {
                server: row.get(0)?,
                user: row.get(1)?,
                schema: row.get::<Option<i64>>(2)?.unwrap_or_default(),
                synchronous: row.get(3)?,
                sessions: row.get(4)?,
                clock: Timestamp::from_microsecond(micros).unwrap_or_default(),
            })
        })
    })?;
    status.ok_or_else(|| DirectoryError::Team {
        at: team.to_string(),
        fault: TeamFault::NotSetUp,
    })
}

/// Opens what was set up. Blocks.
pub(super) fn open(team: &TeamLocation) -> Result<(Engine, Fingerprinter), DirectoryError> {
    let engine = Engine::of_team(team)?;
    let key = ask(&engine, Access::Short, |tx| {
        let version: Option<Option<i64>> = tx.one(VERSION, values![], |row| row.get(0))?;
        let key: Option<[u8; 32]> = tx.one(KEY, values![], |row| row.get(0))?;
        Ok((version.flatten(), key))
    })?;
    let fault = |fault| DirectoryError::Team {
        at: team.to_string(),
        fault,
    };
    match key {
        (Some(NEWEST), Some(key)) => Ok((engine, Fingerprinter::new(&Zeroizing::new(key)))),
        (Some(found), _) if found != NEWEST => Err(fault(TeamFault::OtherVersion {
            found,
            known: NEWEST,
        })),
        _ => Err(fault(TeamFault::NotSetUp)),
    }
}

/// Asks and waits. The threads of an engine are no tasks of a runtime.
pub(super) fn ask<T: Send + 'static>(
    engine: &Engine,
    access: Access,
    work: impl FnOnce(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
) -> Result<T, DirectoryError> {
    let (reply, answer) = mpsc::sync_channel(1);
    let reply = move |told| drop(reply.send(told));
    engine.ask_blocking(task(access, work, reply), &answer)
}
