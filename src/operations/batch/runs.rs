//! Which process is at work on a batch: a run says every few seconds that it is there, also while it is paused, so that
//! others can tell it from one that died. It decides nothing: each item is taken with its intent, whoever runs it.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use tokio::{sync::watch, time::MissedTickBehavior};

use super::{Control, RunCommand};
use crate::{
    directory::{Batch, BatchId, BatchRun, DirectoryError, PlaceId, RunBeat, RunId},
    domain::batch::{BEAT, Halt, Runner, RunnerState, SILENCE},
    operations::Operations,
    platform::{clock::Moment, process},
};

/// This run of a batch, as it is told in the directory.
pub(super) struct ThisRun {
    operations: Operations,
    batch: BatchId,
    id: RunId,
}

impl ThisRun {
    /// Does the work of the run and tells of it meanwhile; what it ends with is written down. Where the work breaks off inside,
    /// that is how it ended.
    pub(super) async fn of(
        operations: &Operations,
        batch: BatchId,
        control: &Control,
        work: impl Future<Output = Option<Halt>>,
    ) -> Option<Halt> {
        let begun = begun(operations);
        let run = Self {
            operations: operations.clone(),
            batch,
            id: begun.id,
        };
        // Where that cannot be written, no item can be begun either.
        drop(operations.directory().begin_run(batch, begun).await);
        let work = AssertUnwindSafe(work).catch_unwind();
        let halt = tokio::select! {
            done = work => done.unwrap_or(Some(Halt::Internal)),
            () = run.beat(control.commands()) => None,
        };
        match run.end(halt.clone()).await {
            Ok(_) => halt,
            Err(error) => halt.or(Some(Halt::Cannot(error.to_string()))),
        }
    }

    /// For ever.
    async fn beat(&self, mut commands: watch::Receiver<RunCommand>) {
        let mut ticks = tokio::time::interval(BEAT);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            let changed = tokio::select! {
                _ = ticks.tick() => Ok(()),
                changed = commands.changed() => changed,
            };
            let beat = RunBeat {
                batch: self.batch,
                run: self.id,
                is_paused: *commands.borrow_and_update() == RunCommand::Pause,
                at: self.operations.now(),
            };
            // One that cannot be written is followed by the next.
            drop(self.operations.directory().beat(beat).await);
            if changed.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    async fn end(&self, halt: Option<Halt>) -> Result<bool, DirectoryError> {
        let operations = &self.operations;
        let stands = operations.batch(self.batch).await?;
        let now = operations.0.clock.moment();
        let others = stands.runs.iter().filter(|run| run.id != self.id);
        let goes_on = others
            .map(|run| runner(run, &now))
            .any(|other| other.is_alive());
        let run = (self.batch, self.id);
        let directory = operations.directory();
        directory
            .end_run(run, operations.now(), halt, goes_on)
            .await
    }
}

impl Operations {
    /// The batches of a place with who works on each.
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

    /// One that is alive before those that died; those only where nothing was written down after them.
    fn find_runner(&self, batch: &mut Batch) {
        if batch.ended_at.is_some() || batch.runs.is_empty() {
            return;
        }
        let now = self.0.clock.moment();
        let mut runners = batch.runs.iter().map(|run| runner(run, &now));
        let first = runners.next();
        let alive = first.clone().into_iter().chain(runners);
        let alive = alive.filter(Runner::is_alive);
        // One that runs says more than one that is paused.
        let alive = alive.min_by_key(|runner| runner.state == RunnerState::Paused);
        batch.runner = alive.or(first.filter(|_| batch.is_begun()));
    }
}

/// A run of this process that begins now.
pub(super) fn begun(operations: &Operations) -> BatchRun {
    let mut number = [0; 8];
    // Without randomness two runs may be taken for one.
    let _ = getrandom::fill(&mut number);
    let now = operations.now();
    BatchRun {
        id: RunId(i64::from_le_bytes(number)),
        by: operations.operator().to_owned(),
        process: process::this().map(str::to_owned),
        is_paused: false,
        since: now,
        seen: now,
        boot_clock: operations.0.clock.moment().boot,
    }
}

/// How its process is.
pub(super) fn runner(run: &BatchRun, now: &Moment) -> Runner {
    let silent = now.since_recorded(run.boot_clock.as_ref(), run.seen);
    let state = match run.process.as_deref().and_then(process::has_ended) {
        Some(true) => RunnerState::Killed,
        _ if silent >= SILENCE => RunnerState::Silent,
        _ if run.is_paused => RunnerState::Paused,
        _ => RunnerState::Running,
    };
    Runner {
        by: run.by.clone(),
        state,
        since: run.since,
        seen: run.seen,
        until_silent: SILENCE.saturating_sub(silent),
    }
}
