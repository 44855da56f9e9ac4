//! The operations, with the real service, a proxy that interferes and a service that misbehaves.

mod annotations;
mod attention;
mod claims;
mod concurrent;
mod create;
mod facts;
mod guards;
mod handoff;
mod handoff_records;
mod late_answers;
mod left_behind;
mod limits;
mod look_up;
mod lost_answers;
mod moments;
mod order;
mod places;
mod recover;
mod revived;
mod rotate;
mod rows;
mod schedules;
mod secret_check;
mod settle;
mod state_machine;
mod team;
mod too_large;
mod unproven_key;
mod unwritable;
mod update;

use std::{
    collections::BTreeMap,
    fs,
    future::poll_fn,
    path::{Path, PathBuf},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use futures_util::{
    future::{BoxFuture, join_all},
    stream,
};
use groupdesk::{
    config::{
        Environment, HandOffCommand,
        guard::{self, Guard, Level, Operation as Guarded, Rule},
        profile::{KeySource, Profile},
    },
    directory::{
        BatchId, BatchItem, BatchOptions, Binding, BindingAnswer, Caller, Directory,
        DirectoryError, EventKind, HandOffTaker, HistoryFilter, ItemKey, Mutation, NewBatch, Place,
        Refusal, RotationFilter, RotationId, RotationRow, RunId, replay,
    },
    domain::{
        annotation::{Annotation, AnnotationChange, InvalidAnnotation, Label, SeenNote},
        batch::{BatchKind, BulkChange, Halt, ItemEdit, ItemStatus, OnlyWhere, Plan},
        change::{DesiredFields, Difference},
        draft::{Draft, DraftFields},
        facts::{
            Fact, Facts, Field, GetBehaviour as Proven,
            OmittedField::{self, Keep},
        },
        group::{EnvironmentTag, UserGroupId},
        handoff::{HandOff, HandOffState},
        history::{Ending, Entry, Operation},
        known::{ImportResult, Known, KnownGroup, Source},
        merge::Part,
        rotation::{Event, RotateOutcome as Answered, RotateOutcome, Rotation, State},
        size::{MAX_DEPTH, MAX_GROUP_BYTES, MAX_VALUES, TooLarge},
        token::{Fingerprint, Token},
        undo,
        update::Edit,
    },
    formats::{GroupRow, Ids, Parts},
    operations::{
        Cancel, Class, Clock, Done, Failpoint, Failure, HandedOff, JUST_ROTATED, Operations,
        Permit, PlaceProblem, Recovered, RowEnd, Sending, Spare, Target, UnknownIdPolicy, Warning,
        attention::{Concern, ConcernKind},
        batch::{Control, Hold, RunLimits, Slot},
    },
    search::{ListColumn, ListView, SortBy},
};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::support::{
    assertions::{assert_has, assert_is, assert_lacks},
    at_once::{AtOnce as _, begun_run, one_at_a_time},
    clock::TestClock,
    faults::{Fault, Faults, closed_port, closing_port, http, json as answer, read_request},
    fields, long,
    postgres::{self, Server},
    proxy::{FaultyProxy, Gate, ProxyFault, Then},
    random::Random,
    undocumented::{GetBehaviour, Odd, OddService},
    wait::eventually,
    world::{ADMIN, ANA, Installation, LI, Side, Stored, World, id, opened_by, place},
};
use claims::{later, map, readable, rename, send};
use handoff::{HandOffScript, hand_off, rotated, states};
use places::{SAME, lose_rotation, place_of};
use settle::{HORIZON, MODEL_HORIZON, after, leave_behind, noon, unknown_at_noon};
use unwritable::{execute, fail_writes};

const ACME: &str = "acme-eu";
const KNOWN: UnknownIdPolicy = UnknownIdPolicy::KnownOnly;
const EXISTS: UnknownIdPolicy = UnknownIdPolicy::Exists;

/// A world with one group in each environment, and an installation that knows it and works through a proxy.
struct Scene {
    world: World,
    proxy: FaultyProxy,
    ana: Operations,
}

impl Scene {
    async fn new() -> Self {
        Self::with(|installation| installation).await
    }

    /// As [`Scene::new`], with a changed installation.
    async fn with(change: impl Fn(Installation) -> Installation) -> Self {
        let world = World::new().await;
        for side in [Side::Production, Side::Testing] {
            let properties = json!({"tier": "gold"});
            world.seed(side, ACME, "Acme Europe", &[("7", "40")], &properties);
        }
        let proxy = FaultyProxy::before(world.address()).await;
        let installation = world.installation(Side::Testing).through(proxy.base_url());
        let ana = change(installation).operations();
        let done = world.operations(Side::Testing);
        let done = done.look_up(&id(ACME), EXISTS).await;
        done.expect("the group is known now");
        Self { world, proxy, ana }
    }

    /// Somebody else, with the same directory and proxy.
    fn li(&self) -> Operations {
        self.installation().by(LI).operations()
    }

    /// Somebody else, with a directory of their own and past the proxy.
    fn elsewhere(&self) -> Operations {
        let li = self.world.installation(Side::Testing).by(LI);
        li.on(&self.world.other_directory("li")).operations()
    }

    async fn rotate_elsewhere(&self) -> Done {
        let rotated = self.elsewhere().rotate(&id(ACME), None, EXISTS).await;
        rotated.expect("rotated")
    }

    /// Puts another group into the service, and reads it.
    async fn meet(&self, group: &str) -> Done {
        let world = &self.world;
        world.seed(Side::Testing, group, group, &[], &json!({}));
        let met = self.ana.look_up(&id(group), EXISTS).await;
        met.expect("known now")
    }

    /// What happens to the next requests of this method.
    fn next<const N: usize>(&self, method: &'static str, faults: [ProxyFault; N]) {
        for fault in faults {
            self.proxy.next(method, fault);
        }
    }

    /// The usual group, as the service has it.
    fn stored(&self) -> Stored {
        self.world.stored(Side::Testing, ACME)
    }

    /// The fingerprint of the token that the service has now.
    fn current(&self) -> Fingerprint {
        let fingerprinter = self.ana.directory().fingerprinter();
        fingerprinter.of(&Token::new(self.token()))
    }

    async fn known(&self) -> KnownGroup {
        known(&self.ana).await
    }

    /// Creates and updates that are open.
    async fn open(&self) -> Vec<Mutation> {
        self.ana.open_changes().await.expect("readable")
    }

    fn installation(&self) -> Installation {
        let installation = self.world.installation(Side::Testing);
        installation.through(self.proxy.base_url())
    }

    /// The token that the service has now.
    fn token(&self) -> String {
        self.stored().token
    }

    async fn journal(&self) -> Vec<RotationRow> {
        journal(&self.ana).await
    }

    /// States of all rotations of the profile, the oldest first.
    async fn states(&self) -> Vec<State> {
        let rows = self.journal().await;
        rows.iter().rev().map(|row| row.rotation.state).collect()
    }

    /// Operations and endings in the history, the oldest first.
    async fn history(&self) -> Vec<(Operation, Ending)> {
        let entries = history(&self.ana).await;
        entries
            .iter()
            .map(|entry| (entry.operation, entry.ending))
            .collect()
    }

    /// Notes in the history, the oldest first; empty where there is none.
    async fn history_notes(&self) -> Vec<String> {
        let entries = history(&self.ana).await;
        entries
            .into_iter()
            .map(|entry| entry.note.unwrap_or_default())
            .collect()
    }

    /// What must hold whatever happened: at most one rotate request per intent, and a consistent journal.
    async fn check(&self) {
        let rows = self.journal().await;
        let fingerprinter = self.ana.directory().fingerprinter();
        let mut posts: Vec<_> = self
            .proxy
            .bodies("POST")
            .iter()
            .map(|body| fingerprinter.of(&Token::new(text(&body["current_token"]))))
            .collect();
        for row in &rows {
            if row.sent_at.is_some()
                && let Some(index) = posts.iter().position(|post| *post == row.rotation.previous)
            {
                posts.remove(index);
            }
            let events = self.ana.directory().journal_events(row.id).await;
            let replayed = replay(&events.expect("the journal is readable"));
            assert_eq!(replayed, Some(row.rotation), "the journal does not add up");
        }
        assert!(
            posts.is_empty(),
            "{} requests without an intent",
            posts.len()
        );
    }
}

/// Looks up the known group.
async fn look_up(operations: &Operations) -> Result<Done, Failure> {
    operations.look_up(&id(ACME), KNOWN).await
}

async fn known(operations: &Operations) -> KnownGroup {
    let known = operations.show(&id(ACME)).await.expect("readable");
    known.expect("known")
}

/// What is known of the usual group, changed.
async fn edit(operations: &Operations, change: impl Fn(&mut DesiredFields)) -> Edit {
    let base = DesiredFields::of(&known(operations).await);
    let mut wanted = base.clone();
    change(&mut wanted);
    Edit {
        base,
        wanted,
        ..Edit::default()
    }
}

async fn property(operations: &Operations, key: &str) -> Edit {
    edit(operations, |wanted| {
        let properties = wanted.properties.get_or_insert_default();
        properties.insert(key.to_owned(), json!(1));
    })
    .await
}

/// A request that the service never receives, without an answer.
fn lost() -> ProxyFault {
    ProxyFault::swallowed(Then::Drop)
}

/// A request that the service performs, without an answer.
fn unanswered() -> ProxyFault {
    ProxyFault::applied(Then::Drop)
}

/// An answer from the environment with this tag.
fn tagged(tag: &'static str) -> ProxyFault {
    ProxyFault::change(move |body| body["user_group"]["api_environment_tag"] = json!(tag))
}

/// A row of a file.
fn row(group: &str, fields: DesiredFields) -> GroupRow {
    GroupRow {
        id: id(group),
        fields,
        annotation: AnnotationChange::default(),
        parts: Parts::default(),
    }
}

fn only_name(name: &str) -> DesiredFields {
    DesiredFields {
        name: Some(name.into()),
        ..DesiredFields::default()
    }
}

/// Sends a row of a file, with the values that were known when it was planned.
async fn send_row(
    operations: &Operations,
    permit: &Permit,
    row: &GroupRow,
    base: Option<&DesiredFields>,
) -> RowEnd {
    let control = Control::default();
    let slot = (&control, Slot::default());
    let sent = operations.send_row(permit, None, row, base, slot, |_| {});
    Box::pin(sent).await
}

async fn update(
    operations: &Operations,
    base: &DesiredFields,
    all: &DesiredFields,
) -> Result<Done, Failure> {
    operations.update(&id(ACME), base, all, KNOWN).await
}

async fn rotate(operations: &Operations) -> Result<Done, Failure> {
    operations.rotate(&id(ACME), None, KNOWN).await
}

/// Rotates until the answer of the service waits at the gate.
async fn rotate_up_to_answer(scene: &Scene) -> (Gate, JoinHandle<Result<Done, Failure>>) {
    let gate = Gate::new();
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    let here = scene.ana.clone();
    let rotating = tokio::spawn(async move { rotate(&here).await });
    gate.reached().await;
    (gate, rotating)
}

#[track_caller]
fn assert_unknown(result: &Result<Done, Failure>) {
    assert_is!(result, Err(Failure::Unknown { .. }));
}

async fn journal(operations: &Operations) -> Vec<RotationRow> {
    let filter = RotationFilter {
        place: Some(operations.place().await.expect("readable")),
        ..RotationFilter::default()
    };
    let rows = operations.directory().rotations(filter).await;
    rows.expect("the journal is readable")
}

/// The history of the profile, the oldest first.
async fn history(operations: &Operations) -> Vec<Entry> {
    let filter = HistoryFilter {
        place: Some(operations.place().await.expect("readable")),
        ..HistoryFilter::default()
    };
    let lines = operations.directory().history(filter).await;
    let mut lines = lines.expect("the history is readable");
    lines.reverse();
    lines.into_iter().map(|line| line.value).collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn wanted(name: &str, mapping: &[(&str, &str)], properties: &Value) -> DesiredFields {
    fields::wanted(name, mapping, &properties.to_string())
}

fn exposed(done: &Done) -> &str {
    done.token().expect("a token").expose()
}

fn has(done: &Done, wanted: impl Fn(&Warning) -> bool) -> bool {
    done.warnings.iter().any(wanted)
}
