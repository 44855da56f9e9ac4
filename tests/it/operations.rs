//! The operations, with the real service, a proxy that interferes and a service that misbehaves.

mod annotations;
mod attention;
mod claims;
mod clock;
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

use groupdesk::{
    directory::{HistoryFilter, RotationFilter, RotationRow, replay},
    domain::{
        change::DesiredFields,
        history::{Ending, Entry, Operation},
        rotation::State,
        token::Token,
    },
    operations::{Done, Failure, Operations, UnknownIdPolicy, Warning},
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::support::{
    fields,
    proxy::{FaultyProxy, Gate, ProxyFault},
    world::{Installation, Side, World, id},
};

const ACME: &str = "acme-eu";

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
        let done = done.look_up(&id(ACME), UnknownIdPolicy::Exists).await;
        done.expect("the group is known now");
        Self { world, proxy, ana }
    }

    fn installation(&self) -> Installation {
        let installation = self.world.installation(Side::Testing);
        installation.through(self.proxy.base_url())
    }

    /// The token that the service has now.
    fn token(&self) -> String {
        self.world.stored(Side::Testing, ACME).token
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
    operations
        .look_up(&id(ACME), UnknownIdPolicy::KnownOnly)
        .await
}

async fn update(
    operations: &Operations,
    base: &DesiredFields,
    all: &DesiredFields,
) -> Result<Done, Failure> {
    let known = UnknownIdPolicy::KnownOnly;
    operations.update(&id(ACME), base, all, known).await
}

async fn rotate(operations: &Operations) -> Result<Done, Failure> {
    operations
        .rotate(&id(ACME), None, UnknownIdPolicy::KnownOnly)
        .await
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
    assert!(matches!(result, Err(Failure::Unknown { .. })), "{result:?}");
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
