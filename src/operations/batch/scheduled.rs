//! The scheduled rotation of a place. A run holds a row of the directory, records a heartbeat there every few seconds,
//! and starts nothing once another run has taken the row over.

use tokio::{sync::watch, task::JoinHandle, time::MissedTickBehavior};

use super::runs::{new_run, runner_of};
use crate::{
    directory::RunId,
    domain::batch::{HEARTBEAT_INTERVAL, Runner},
    operations::prelude::*,
};

/// A scheduled rotation; a place has at most one at a time. If this is dropped without [`ScheduledRun::end`], the run
/// counts as gone after [`crate::domain::batch::HEARTBEAT_TIMEOUT`], or on its own machine as soon as the process has ended.
pub struct ScheduledRun {
    operations: Operations,
    run: (PlaceId, RunId),
    beats: JoinHandle<()>,
    lost: watch::Receiver<bool>,
}

impl Drop for ScheduledRun {
    fn drop(&mut self) {
        self.beats.abort();
    }
}

impl ScheduledRun {
    /// Waits until another run has taken over because this one had not been heard of for too long.
    pub async fn taken_over(&self) {
        let mut lost = self.lost.clone();
        if lost.wait_for(|is_lost| *is_lost).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Ends the run, so that the next one may begin.
    pub async fn end(self) {
        let directory = self.operations.directory();
        let at = self.operations.now();
        // If this cannot be written, the run ends with the process.
        drop(directory.beat_scheduled_run(self.run, at, true).await);
    }
}

impl Operations {
    /// Begins a scheduled rotation of this place, or returns the one that is running.
    pub async fn begin_scheduled_run(&self) -> Result<Result<ScheduledRun, Runner>, Failure> {
        let place = self.may_record().await?;
        let directory = self.directory();
        let run = new_run(self);
        loop {
            let current = directory.scheduled_run(place).await;
            let current = current.map_err(Failure::NothingSent)?;
            let now = self.0.clock.moment();
            let alive = current.as_ref().map(|run| runner_of(run, &now));
            if let Some(alive) = alive.filter(Runner::is_alive) {
                return Ok(Err(alive));
            }
            let taken = directory
                .begin_scheduled_run(place, run.clone(), current)
                .await;
            if taken.map_err(Failure::NothingSent)? {
                break;
            }
            // Another process was faster; the next iteration names it.
        }
        let run = (place, run.id);
        let (is_lost, lost) = watch::channel(false);
        Ok(Ok(ScheduledRun {
            beats: tokio::spawn(beat(self.clone(), run, is_lost)),
            operations: self.clone(),
            run,
            lost,
        }))
    }
}

async fn beat(operations: Operations, run: (PlaceId, RunId), is_lost: watch::Sender<bool>) {
    let mut ticks = tokio::time::interval(HEARTBEAT_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let (directory, at) = (operations.directory(), operations.now());
        // A heartbeat that cannot be written is followed by the next one.
        if let Ok(false) = directory.beat_scheduled_run(run, at, false).await {
            is_lost.send_replace(true);
            return;
        }
    }
}
