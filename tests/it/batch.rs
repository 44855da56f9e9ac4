//! Batches: rotating many groups (what is left out and why, what stops a run, that no token is ever sent twice, and
//! that the counts add up), editing them, and reading all groups again.

mod binary;
mod command;
mod edit;
mod engine;
mod killed;
mod lost_server;
mod refresh;
mod runs;
mod scheduled;
mod settling;
mod team;
mod unwritten;

use std::{
    collections::{BTreeSet, HashMap},
    fs::OpenOptions,
    io,
    path::Path,
    process::{Output, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use groupdesk::{
    config::{HandOffCommand, guard::Level},
    directory::{BatchId, BatchItem, BatchOptions, Directory},
    domain::{
        batch::{
            BatchKind, BulkChange, Counts, EditPlan, EditSkip, Halt, ItemStatus, LastRun, Runner,
            RunnerState, Skip, StopCause, Verdict,
        },
        change::DesiredFields,
        group::UserGroupId,
        history::Ending,
        rotation::{State, settle_window},
        token::Token,
    },
    operations::{
        Clock, Done, Failpoint, Failure, Listener, Operations, RefreshEvent, UnknownIdPolicy,
        attention::ConcernKind,
        batch::{BatchEvent, Ended, Report, Run, RunLimits, TokenSink},
    },
};
use jiff::{SignedDuration, Timestamp};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::{
    io::BufReader,
    process::{Child, Command},
    sync::mpsc,
};

use crate::support::{
    assertions::{assert_has, assert_is, assert_lacks},
    at_once::{AtOnce as _, begun_run, one_at_a_time, watch},
    bare::{GROUPDESK, args, bare, run},
    faults::http,
    fields, postgres,
    proxy::{FaultyProxy, Gate, ProxyFault, Then},
    stall::fill,
    stderr::says,
    wait::eventually,
    world::{Installation, LI, Side, World, id},
};
use binary::{assert_adds_up, pid, read, wait};

/// A world with groups `g000`, `g001`, …, all known to an installation that works through a proxy.
struct Scene {
    world: World,
    proxy: FaultyProxy,
    ana: Operations,
    groups: Vec<String>,
}

impl Scene {
    async fn new(count: usize) -> Self {
        let world = World::new().await;
        let groups: Vec<_> = (0..count).map(|number| format!("g{number:03}")).collect();
        let there = world.operations(Side::Testing);
        for group in &groups {
            world.seed(Side::Testing, group, group, &[], &json!({}));
            let met = there.look_up(&id(group), UnknownIdPolicy::Exists).await;
            met.expect("the group is known now");
        }
        let proxy = FaultyProxy::before(world.address()).await;
        let ana = world.installation(Side::Testing).through(proxy.base_url());
        Self {
            ana: ana.operations(),
            world,
            proxy,
            groups,
        }
    }

    /// Plans all groups and creates the batch.
    async fn begin(&self) -> BatchId {
        let ids: Vec<_> = self.groups.iter().map(|group| id(group)).collect();
        let plan = self.ana.plan_batch(&ids, false).await.expect("readable");
        assert_eq!(plan.skipped, []);
        let begun = self
            .ana
            .begin_batch(&plan, Some("a leak".into()), BatchOptions::default())
            .await;
        begun.expect("durable")
    }

    async fn run(&self, batch: BatchId, pace: RunLimits) -> Run {
        let run = self.ana.run_batch(batch, pace, None).await;
        run.expect("it begins")
    }

    /// Runs it to its end, one group at a time.
    async fn finish(&self, batch: BatchId) -> (Vec<Ended>, Report) {
        watch(self.run(batch, one_at_a_time()).await).await
    }

    /// Ana, once no request of now can take effect any more.
    fn after_the_window(&self) -> Installation {
        let later = Timestamp::now() + settle_window(self.ana.profile().timeout);
        let installation = self.world.installation(Side::Testing).at(later);
        installation.through(self.proxy.base_url())
    }

    async fn rotate_now(&self, group: &str) -> Result<Done, Failure> {
        let known = UnknownIdPolicy::KnownOnly;
        self.ana.rotate(&id(group), None, known).await
    }

    /// What happens to the next requests of this method.
    fn next<const N: usize>(&self, method: &'static str, faults: [ProxyFault; N]) {
        for fault in faults {
            self.proxy.next(method, fault);
        }
    }

    async fn items(&self, batch: BatchId) -> Vec<BatchItem> {
        self.ana.batch_items(batch).await.expect("readable")
    }

    /// What must hold whatever happened: the counts add up, and no token was sent twice.
    async fn check(&self, report: &Report) {
        assert_eq!(report.counts.planned(), self.groups.len());
        let items = self.items(report.batch).await;
        let counts = Counts::of(items.iter().map(BatchItem::status));
        assert_eq!(counts, report.counts);
        let batch = self.ana.batch(report.batch).await.expect("readable");
        let stopped = report.halt.clone().map(LastRun::Stopped);
        assert_eq!(batch.last_run, stopped, "why it stopped is written down");
        assert_sent_once(&self.proxy);
    }
}

/// Runs a batch by these operations, one group at a time, to its end.
async fn finish_by(operations: &Operations, batch: BatchId) -> (Vec<Ended>, Report) {
    let ran = operations.run_through(batch, one_at_a_time()).await;
    ran.expect("it begins")
}

/// A request that the service never receives, without an answer.
fn lost() -> ProxyFault {
    ProxyFault::swallowed(Then::Drop)
}

/// The same, answered with this status.
fn answered(status: &str) -> ProxyFault {
    ProxyFault::swallowed(Then::Instead(http(status, &["Retry-After: 0"], "{}")))
}

fn assert_sent_once(proxy: &FaultyProxy) {
    let mut sent: HashMap<String, usize> = HashMap::new();
    for body in proxy.bodies("POST") {
        let token = body["current_token"].as_str().expect("a token").to_owned();
        *sent.entry(token).or_default() += 1;
    }
    assert!(
        sent.values().all(|times| *times == 1),
        "a token was sent twice"
    );
}
