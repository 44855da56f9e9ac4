//! The active scheduled rotation of a place: one row per place, taken over when its run has ended or its process is
//! gone.

use jiff::Timestamp;

use crate::{
    database::{Access, values},
    directory::{BatchRun, Directory, DirectoryError, PlaceId, RunId, columns::boot_clock},
};

impl Directory {
    /// Returns the scheduled rotation of a place whose end was not recorded, if any.
    pub async fn scheduled_run(&self, place: PlaceId) -> Result<Option<BatchRun>, DirectoryError> {
        self.execute(
            Access::Short,
            move |tx| Ok(tx.one(CURRENT, values![place])?),
        )
        .await
    }

    /// Records that a scheduled rotation begins, unless another one is recorded (other than the unchanged `gone` one).
    /// Returns whether it was recorded.
    pub async fn begin_scheduled_run(
        &self,
        place: PlaceId,
        run: BatchRun,
        gone: Option<BatchRun>,
    ) -> Result<bool, DirectoryError> {
        self.write(move |tx| {
            let gone = gone.as_ref();
            let values = values![
                place,
                run.id,
                &run.by,
                run.process.as_ref(),
                run.since,
                run.seen,
                run.boot_clock.as_ref(),
                gone.map(|gone| gone.id),
                gone.map(|gone| gone.seen),
            ];
            Ok(tx.write(TAKE, values)? == 1)
        })
        .await
    }

    /// Records a heartbeat, or the end if `ends` is set. Returns false if another run has taken over.
    pub async fn beat_scheduled_run(
        &self,
        run: (PlaceId, RunId),
        at: Timestamp,
        ends: bool,
    ) -> Result<bool, DirectoryError> {
        self.write(move |tx| {
            let (place, run) = run;
            let values = values![at, boot_clock(), ends, place, run];
            Ok(tx.write(BEAT, values)? == 1)
        })
        .await
    }
}

const CURRENT: &str = "\
SELECT run, by, process, FALSE, stands_since, seen, since(boot_clock) FROM scheduled_runs \
WHERE place = $1 AND ended = FALSE";

/// The last two parameters identify the run that was found to be gone; if it has sent a heartbeat since, it is not.
const TAKE: &str = "\
INSERT INTO scheduled_runs (place, run, by, process, stands_since, seen, boot_clock) VALUES ($1, $2, $3, $4, $5, $6, $7) \
ON CONFLICT (place) DO UPDATE SET run = excluded.run, by = excluded.by, process = excluded.process, \
 stands_since = excluded.stands_since, seen = excluded.seen, boot_clock = excluded.boot_clock, ended = FALSE \
WHERE scheduled_runs.ended = TRUE OR scheduled_runs.run = $8 AND scheduled_runs.seen = $9";

const BEAT: &str = "\
UPDATE scheduled_runs SET seen = $1, boot_clock = $2, ended = $3 WHERE place = $4 AND run = $5 AND ended = FALSE";
