//! What an installation remembers: recorded in one transaction, kept for ever, shared by several processes, and never a
//! token.

use crate::support::{postgres, world::place};
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
        BeginResult, Directory, DirectoryError, GroupSnapshot, HistoryFilter, Noted, Record,
        RotationFilter, RotationId, RotationIntent, RotationStep, TeamLocation, replay,
    },
    domain::{
        fields::DesiredFields,
        group::{EnvironmentTag, UserGroupId},
        history::{Ending, Entry, Operation},
        known::{Observation, Returned, Source},
        rotation::{Event, RotateOutcome, Rotation, State},
        token::{Fingerprint, Token},
    },
};
use jiff::Timestamp;
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::json;

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
        let folder = tempfile::tempdir().expect("a folder");
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

fn intent(group: &str, previous: Fingerprint) -> RotationIntent {
    RotationIntent {
        user_group_id: id(group),
        previous,
        by: "ana@bastion2".into(),
        reason: Some("leaked".into()),
        at: second(0),
        profile: "eu".into(),
        hands_off: false,
        key: None,
        item: None,
        noted: None,
        spares: std::time::Duration::ZERO,
    }
}

async fn start(directory: &Directory, intent: RotationIntent) -> RotationId {
    match directory
        .begin_rotation(place(directory, "eu"), intent)
        .await
        .expect("written")
    {
        BeginResult::Started(id) => id,
        BeginResult::TakenBy(row) => panic!("taken by {row:?}"),
        BeginResult::HeldBy(holder) => panic!("held by {holder:?}"),
        BeginResult::RotatedBy(token) => panic!("rotated: {token:?}"),
    }
}

fn step(id: RotationId, before: Rotation, event: Event, at: i64) -> RotationStep {
    RotationStep {
        id,
        from: before.state,
        event,
        after: before.step(event, HORIZON).expect("in order"),
        at: second(at),
        note: None,
    }
}

fn step_record(step: RotationStep) -> Record {
    Record {
        rotation: Some(step),
        ..Record::default()
    }
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
