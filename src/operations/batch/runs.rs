//! Which process is working on a batch. A run records a heartbeat every few seconds, also while it is paused, so that
//! others can tell it from one that died. Nothing depends on it: each item is taken together with its intent, whoever
//! runs the batch.

use std::panic::AssertUnwindSafe;

use tokio::{sync::watch, time::MissedTickBehavior};

use super::{Bulk, Context, Hold, RunCommand};
use crate::{
    directory::{BatchRun, Heartbeat, RunId},
    domain::batch::{HEARTBEAT_INTERVAL, HEARTBEAT_TIMEOUT, Runner, RunnerState},
    operations::prelude::*,
    platform::clock::Moment,
};

/// This run of a batch, as recorded in the directory.
pub(super) struct RunRecord {
    operations: Operations,
    batch: BatchId,
    row: BatchRun,
}

impl RunRecord {
    /// Does the work of the run with heartbeats meanwhile, and records how it ended. A panic in the work is recorded as
    /// the end as well. Nothing is done before its begin is recorded: what becomes of the groups of a colleague's batch may
    /// be recorded only by whoever has a run of it.
    pub(super) async fn run_with_heartbeat(
        operations: &Operations,
        batch: BatchId,
        context: &Context<Bulk>,
        work: impl Future<Output = Option<Halt>>,
    ) -> Option<Halt> {
        let row = new_run(operations);
        let run = Self {
            operations: operations.clone(),
            batch,
            row: row.clone(),
        };
        while let Err(error) = operations.directory().begin_run(batch, row.clone()).await {
            if !error.may_be_repeated() {
                return Some(context.halted(Halt::Cannot(error.to_string())));
            }
            context.is_held(Some(Hold::Directory));
            if !context.control.may_send().await {
                break;
            }
        }
        let work = AssertUnwindSafe(work).catch_unwind();
        let halt = tokio::select! {
            done = work => done.unwrap_or(Some(Halt::Internal)),
            () = run.beat(context.control.commands()) => None,
        };
        let ended = run.end(halt.clone()).await;
        halt.or_else(|| Some(Halt::Cannot(ended.err()?.to_string())))
    }

    /// Sends heartbeats until it is dropped.
    async fn beat(&self, mut commands: watch::Receiver<RunCommand>) {
        let mut ticks = tokio::time::interval(HEARTBEAT_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            let changed = tokio::select! {
                _ = ticks.tick() => Ok(()),
                changed = commands.changed() => changed,
            };
            let (directory, at) = (self.operations.directory(), self.operations.now());
            let is_paused = *commands.borrow_and_update() == RunCommand::Pause;
            let beat = Heartbeat {
                batch: self.batch,
                run: self.row.id,
                is_paused,
                at,
            };
            // What cannot be written is followed by the next heartbeat.
            if let Ok(false) = directory.beat(beat).await {
                let row = BatchRun {
                    is_paused,
                    seen: at,
                    boot_clock: self.operations.moment().boot,
                    ..self.row.clone()
                };
                drop(directory.begin_run(self.batch, row).await);
            }
            if changed.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// A program that stays open waits for the directory. The end of any other is recorded by the next process.
    async fn end(&self, halt: Option<Halt>) -> Result<bool, DirectoryError> {
        loop {
            match self.end_once(halt.clone()).await {
                Err(error) if self.operations.keeps_outcomes() && error.may_be_repeated() => {}
                ended => return ended,
            }
        }
    }

    async fn end_once(&self, halt: Option<Halt>) -> Result<bool, DirectoryError> {
        let operations = &self.operations;
        let batch = operations.batch(self.batch).await?;
        let now = operations.0.clock.moment();
        let runs = batch.runs.iter();
        let gone = runs.filter(|run| !runner_of(run, &now).is_alive());
        let gone = gone.map(|run| run.id).collect();
        let run = (self.batch, self.row.id);
        let directory = operations.directory();
        directory.end_run(run, operations.now(), halt, gone).await
    }
}

impl Operations {
    /// Closes the batches of which nothing is left, and whose runs are gone without having recorded that. Returns whether
    /// any was closed.
    pub(super) async fn close_left_batches(&self, batches: &[Batch]) -> bool {
        let directory = self.directory();
        if directory.may(Role::Operator).is_err() {
            return false;
        }
        let now = self.0.clock.moment();
        let mut is_any = false;
        for batch in batches {
            let is_run = |run: &BatchRun| runner_of(run, &now).is_alive();
            let is_done = batch.ended_at.is_none() && !batch.is_anything_left();
            if is_done && !batch.runs.iter().any(is_run) {
                let closed =
                    directory.close_batch(batch.id, self.now(), batch.runs.clone(), new_run(self));
                // Whoever cannot close it shows it as it is.
                is_any |= closed.await.unwrap_or_default();
            }
        }
        is_any
    }

    /// Returns the batches of a place, each with its runner.
    pub(in crate::operations) async fn batches_in(
        &self,
        place: PlaceId,
    ) -> Result<Vec<Batch>, DirectoryError> {
        let mut batches = self.directory().batches(place).await?;
        for batch in &mut batches {
            self.find_runner(batch);
        }
        Ok(batches)
    }

    /// Picks a live run before dead ones; a dead one only if nothing was recorded after it.
    fn find_runner(&self, batch: &mut Batch) {
        if batch.ended_at.is_some() || batch.runs.is_empty() {
            return;
        }
        let now = self.0.clock.moment();
        let mut runners = batch.runs.iter().map(|run| runner_of(run, &now));
        let first = runners.next();
        let alive = first.clone().into_iter().chain(runners);
        let alive = alive.filter(Runner::is_alive);
        // A running one says more than a paused one.
        let alive = alive.min_by_key(|runner| runner.state == RunnerState::Paused);
        batch.runner = alive.or(first.filter(|_| batch.is_begun()));
    }
}

/// A run of this process that begins now.
pub(super) fn new_run(operations: &Operations) -> BatchRun {
    let now = operations.now();
    BatchRun {
        id: RunId::random(),
        by: operations.operator().to_owned(),
        process: process::this().map(str::to_owned),
        is_paused: false,
        since: now,
        seen: now,
        boot_clock: operations.0.clock.moment().boot,
        is_revoked: false,
    }
}

/// The state of the process of a run.
pub(super) fn runner_of(run: &BatchRun, now: &Moment) -> Runner {
    let silent = now.since_recorded(run.boot_clock.as_ref(), run.seen);
    let has_ended = run.process.as_deref().and_then(process::has_ended) == Some(true);
    let is_gone = has_ended || silent >= HEARTBEAT_TIMEOUT;
    let state = if is_gone && run.is_revoked {
        RunnerState::Revoked
    } else if has_ended {
        RunnerState::Killed
    } else if is_gone {
        RunnerState::Silent
    } else if run.is_paused {
        RunnerState::Paused
    } else {
        RunnerState::Running
    };
    Runner {
        by: run.by.clone(),
        state,
        since: run.since,
        seen: run.seen,
        until_silent: HEARTBEAT_TIMEOUT.saturating_sub(silent),
    }
}
