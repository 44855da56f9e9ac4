//! A directory that a team shares, in a schema of a PostgreSQL database: how it is set up, recognised and opened.

use std::sync::mpsc;

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
    let schema = team.schema().to_owned();
    ask(&Engine::of_team(team)?, Access::Once, move |tx| {
        tx.batch(&format!("CREATE SCHEMA \"{schema}\""))?;
        tx.batch(BEGIN)?;
        tx.write(ADD_KEY, values![&*key])?;
        tx.write(ADD_VERSION, values![NEWEST])?;
        Ok(())
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
fn ask<T: Send + 'static>(
    engine: &Engine,
    access: Access,
    work: impl FnOnce(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
) -> Result<T, DirectoryError> {
    let (reply, answer) = mpsc::sync_channel(1);
    let reply = move |told| drop(reply.send(told));
    engine.ask_blocking(task(access, work, reply), &answer)
}
