//! A directory that a team shares, in a schema of a PostgreSQL database: how it is set up, recognised and opened.

use std::sync::mpsc;

use zeroize::Zeroizing;

use super::{
    DirectoryError,
    location::{TeamFault, TeamLocation},
    sqlite::Fault,
};
use crate::{
    database::{Lane, Tx, values},
    domain::token::Fingerprinter,
};

/// Begins with one file, numbered as the schema of the file that it equals.
const BEGIN: &str = include_str!("../../assets/migrations/directory/postgres/0013_begin.sql");
pub(super) const NEWEST: i64 = 13;

const ADD_KEY: &str = "INSERT INTO fingerprint_key (key) VALUES ($1)";
const ADD_VERSION: &str = "INSERT INTO schema_versions (version) VALUES ($1)";
const VERSION: &str = "SELECT MAX(version) FROM schema_versions";
const KEY: &str = "SELECT key FROM fingerprint_key";

/// Its lines: reads of a few rows wait for no write.
pub(super) struct Lanes {
    pub(super) reads: Lane,
    pub(super) writes: Lane,
}

impl Lanes {
    fn start(team: &TeamLocation) -> std::io::Result<Self> {
        let server = team.server.clone().with_new_writer();
        Ok(Self {
            reads: Lane::start("directory-reads", server.clone())?,
            writes: Lane::start("directory", server)?,
        })
    }
}

/// Makes the schema and a key of its own, in one transaction. Blocks. Refused where the schema is there already.
pub fn set_up(team: &TeamLocation) -> Result<(), DirectoryError> {
    let mut key = Zeroizing::new([0; 32]);
    getrandom::fill(key.as_mut()).map_err(|_| DirectoryError::NoRandomness)?;
    let (lanes, schema) = (started(team)?, team.server.schema().to_owned());
    ask(team, |reply| {
        let work = move |tx: &Tx<'_>| {
            tx.batch(&format!("CREATE SCHEMA \"{schema}\""))?;
            tx.batch(BEGIN)?;
            tx.write(ADD_KEY, values![&*key])?;
            tx.write(ADD_VERSION, values![NEWEST])?;
            Ok::<_, Fault>(())
        };
        lanes.writes.write_once(work, reply);
    })
}

/// Opens what was set up. Blocks.
pub(super) fn open(team: &TeamLocation) -> Result<(Lanes, Fingerprinter), DirectoryError> {
    let lanes = started(team)?;
    let key = ask(team, |reply| {
        let work = |tx: &Tx<'_>| {
            let version: Option<Option<i64>> = tx.one(VERSION, values![], |row| row.get(0))?;
            let key: Option<[u8; 32]> = tx.one(KEY, values![], |row| row.get(0))?;
            Ok::<_, Fault>((version.flatten(), key))
        };
        lanes.reads.read(work, reply);
    })?;
    let fault = |fault| DirectoryError::Team {
        at: team.to_string(),
        fault,
    };
    match key {
        (Some(NEWEST), Some(key)) => Ok((lanes, Fingerprinter::new(&Zeroizing::new(key)))),
        (Some(found), _) if found != NEWEST => Err(fault(TeamFault::OtherVersion {
            found,
            known: NEWEST,
        })),
        _ => Err(fault(TeamFault::NotSetUp)),
    }
}

fn started(team: &TeamLocation) -> Result<Lanes, DirectoryError> {
    Lanes::start(team).map_err(|source| DirectoryError::Unusable {
        path: team.to_string().into(),
        source: source.into(),
    })
}

/// Asks and waits. The threads of the lanes are no tasks of a runtime.
fn ask<T: Send + 'static>(
    team: &TeamLocation,
    send: impl FnOnce(Box<dyn FnOnce(Result<T, Fault>) + Send>),
) -> Result<T, DirectoryError> {
    let (reply, answer) = mpsc::sync_channel(1);
    send(Box::new(move |told| drop(reply.send(told))));
    let answer = answer.recv().map_err(|_| DirectoryError::Stopped {
        path: team.to_string().into(),
    })?;
    answer.map_err(|fault| fault.explain_of(team))
}
