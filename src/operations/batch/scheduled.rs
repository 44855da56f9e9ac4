//! The scheduled rotation of a place: whoever runs one holds a row of the directory, says there every few seconds that it is
//! there, and begins nothing more once another one took it over.

use tokio::{sync::watch, task::JoinHandle, time::MissedTickBehavior};

use super::runs::{begun, runner};
use crate::{
    directory::{PlaceId, RunId},
    domain::batch::{BEAT, Runner},
    operations::{Failure, Operations},
};

/// A scheduled rotation that no other one of the place overlaps. Dropped without [`ScheduledRun::end`] it counts as gone
/// after [`crate::domain::batch::SILENCE`], on its own machine once the process has ended.
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
    /// Waits until another one has taken its place: it was not heard of for too long.
    pub async fn taken_over(&self) {
        let mut lost = self.lost.clone();
        if lost.wait_for(|is_lost| *is_lost).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// The next one may begin.
    pub async fn end(self) {
        let directory = self.operations.directory();
        let at = self.operations.now();
        // What cannot be written ends with the process.
        drop(directory.beat_scheduled_run(self.run, at, true).await);
    }
}

impl Operations {
    /// Begins a scheduled rotation of this place; or says who is at one.
    pub async fn begin_scheduled_run(&self) -> Result<Result<ScheduledRun, Runner>, Failure> {
        let place = self.may_record().await?;
        let directory = self.directory();
        let run = begun(self);
        loop {
            let stands = directory.scheduled_run(place).await;
            let stands = stands.map_err(Failure::NothingSent)?;
            let now = self.0.clock.moment();
            let alive = stands.as_ref().map(|run| runner(run, &now));
            if let Some(alive) = alive.filter(Runner::is_alive) {
                return Ok(Err(alive));
            }
            let taken = directory
                .begin_scheduled_run(place, run.clone(), stands)
                .await;
            if taken.map_err(Failure::NothingSent)? {
                break;
            }
            // Somebody was faster, and is named next.
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
    let mut ticks = tokio::time::interval(BEAT);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let (directory, at) = (operations.directory(), operations.now());
        // One that cannot be written is followed by the next.
        if let Ok(false) = directory.beat_scheduled_run(run, at, false).await {
            is_lost.send_replace(true);
            return;
        }
    }
}
