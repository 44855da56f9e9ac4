//! What an installation remembers: recorded in one transaction, kept for ever, shared by several processes, and never a
//! token.

mod care;
mod drafts;
mod harm;
mod journal;
mod lists;
mod lists_in_file;
mod memory;
mod team;
mod watch;

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use futures_util::future::join_all;
use groupdesk::{
    directory::{
        BeginResult, Directory, DirectoryError, GroupSnapshot, HistoryFilter, Noted, Numbered,
        Record, Recorded, RotationFilter, RotationId, RotationIntent, RotationRow, RotationStep,
        Statement, TeamFault, TeamLocation, replay,
    },
    domain::{
        facts::{Basis, Fact},
        fields::DesiredFields,
        group::{EnvironmentTag, UserGroupId},
        history::{Ending, Entry, Operation},
        known::{KnownGroup, Observation, Returned, Source},
        rotation::{Event, RotateOutcome, Rotation, State},
        token::{Fingerprint, Token},
    },
};
use jiff::Timestamp;
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::json;

use crate::support::{
    assertions::assert_is,
    at_once::{AllGroups as _, begun_run},
    fields::{self, step_record},
    postgres,
    world::place,
};

const OLD: Fingerprint = fp(1);
const NEW: Fingerprint = fp(2);
const HORIZON: Duration = Duration::from_mins(1);

const fn fp(n: u8) -> Fingerprint {
    Fingerprint::from_bytes([n; 32])
}

fn id(text: &str) -> UserGroupId {
    UserGroupId::parse(text).expect("a valid ID")
}

fn second(n: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + n).expect("in range")
}

/// A directory in a folder of its own, or for tests in `team` in a shared database.
struct Opened {
    folder: tempfile::TempDir,
    team: Option<TeamLocation>,
}

impl Opened {
    fn new() -> Self {
        let folder = crate::support::folder::temporary();
        let team = postgres::team();
        Self { folder, team }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("groupdesk/directory.db")
    }

    fn open(&self) -> Directory {
        match &self.team {
            Some(team) => Directory::open(team),
            None => Directory::open(&self.path()),
        }
        .expect("it opens")
    }

    /// The only value of a query, as text.
    fn ask(&self, text: &str) -> String {
        match &self.team {
            Some(team) => postgres::server()
                .expect("a server")
                .execute(team.schema(), text),
            None => self
                .raw()
                .query_row(text, [], |row| row.get(0))
                .expect("read"),
        }
    }

    /// Runs SQL that groupdesk itself would never run.
    fn tamper(&self, text: &str) {
        match &self.team {
            Some(team) => drop(
                // In the server, tables are shared by several people's directories.
                postgres::server().expect("a server").execute(
                    team.schema(),
                    &text.replace("UPDATE drafts", "UPDATE all_drafts"),
                ),
            ),
            None => drop(self.raw().execute(text, []).expect("damaged")),
        }
    }

    fn raw(&self) -> Connection {
        Connection::open(self.path()).expect("a second connection")
    }
}

fn observation(group: &str, fingerprint: Fingerprint, at: i64) -> Observation {
    Observation {
        id: id(group),
        sent: DesiredFields::default(),
        returned: Some(Returned {
            name: None,
            team_id: None,
            properties: None,
            environment_tag: None,
            fingerprint,
        }),
        rotated_by: None,
        at: second(at),
        by: "ana@bastion2".into(),
    }
}

fn entry(profile: &str, group: &str, at: i64) -> Entry {
    Entry {
        at: second(at),
        by: "ana@bastion2".into(),
        profile: profile.into(),
        user_group_id: id(group),
        operation: Operation::Update,
        ending: Ending::Updated,
        previous_fingerprint: Some(OLD),
        fingerprint: Some(NEW),
        reason: Some("leaked in a ticket".into()),
        changes: Some(json!({"name": ["Acme", "Acme Europe"], "mapping": {"7": ["40", "213"]}})),
        note: Some("a note".into()),
    }
}

fn observation_record(observation: Observation) -> Record {
    Record {
        observation: Some(observation),
        ..Record::default()
    }
}

fn history_record(entry: Entry) -> Record {
    Record {
        entry: Some(entry),
        ..Record::default()
    }
}

/// Records for the usual profile.
async fn recorded(directory: &Directory, record: Record) -> Recorded {
    let written = directory.record(place(directory, "eu"), record).await;
    written.expect("written")
}

/// States in the usual place that only this directory writes.
async fn say_sole_writer(directory: &Directory, at: Timestamp) {
    let statement = Statement {
        fact: Fact::SoleWriter(true),
        basis: Basis::Told,
        at,
        by: "ana".into(),
    };
    let stated = directory.state_facts(place(directory, "eu"), vec![statement]);
    stated.await.expect("stated");
}

async fn is_sole_writer(directory: &Directory) -> bool {
    let facts = directory.facts(place(directory, "eu")).await;
    facts.expect("read").sole_writer.value
}

/// The whole history, the newest first.
async fn lines(directory: &Directory) -> Vec<Numbered<Entry>> {
    let lines = directory.history(HistoryFilter::default()).await;
    lines.expect("read")
}

/// The groups of the usual profile.
async fn groups(directory: &Directory) -> Vec<KnownGroup> {
    let groups = directory.groups(place(directory, "eu")).await;
    groups.expect("read")
}

async fn row(directory: &Directory, id: RotationId) -> RotationRow {
    directory.rotation(id).await.expect("read").expect("there")
}

/// A group and a history line about it.
fn both(group: &str, at: i64) -> Record {
    Record {
        observation: Some(observation(group, OLD, at)),
        ..history_record(entry("eu", group, at))
    }
}

fn named(group: &str, name: &str, at: i64) -> Record {
    let mut observation = observation(group, NEW, at);
    observation.returned.as_mut().expect("an answer").name = Some(name.into());
    observation_record(observation)
}

/// What a database says to somebody who asks too much, or too late.
fn fault_of<T>(refused: Result<T, DirectoryError>) -> TeamFault {
    match refused {
        Err(DirectoryError::Team { fault, .. }) => fault,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was done"),
    }
}

fn intent(group: &str, previous: Fingerprint) -> RotationIntent {
    RotationIntent {
        reason: Some("leaked".into()),
        ..fields::intent(group, previous, ("ana@bastion2", "eu"), second(0))
    }
}

async fn start(directory: &Directory, intent: RotationIntent) -> RotationId {
    let begun = directory.begin_rotation(place(directory, "eu"), intent);
    match begun.await.expect("written") {
        BeginResult::Started(id) => id,
        other => panic!("{other:?}"),
    }
}

fn step(id: RotationId, before: Rotation, event: Event, at: i64) -> RotationStep {
    fields::step(id, before, event, HORIZON, second(at))
}

fn mode(path: &Path) -> u32 {
    let metadata = std::fs::metadata(path).expect("it exists");
    metadata.permissions().mode() & 0o777
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// An observation with every field that a group can have.
fn full_observation() -> Observation {
    let mut full = observation("acme", OLD, 0);
    full.sent = DesiredFields {
        name: Some("Acme".into()),
        mapping: Some([("40".into(), "213".into()), ("7".into(), "é\"".into())].into()),
        properties: serde_json::from_str(r#"{"z": 12345678901234567890.10, "a": [null]}"#).ok(),
    };
    full.returned = Some(Returned {
        name: Some("Acme".into()),
        team_id: Some(-7),
        properties: None,
        environment_tag: Some(EnvironmentTag::Other("Staging".into())),
        fingerprint: OLD,
    });
    full
}
