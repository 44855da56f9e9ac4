//! The active scheduled rotation of a place: one row per place, taken over when its run has ended or its process is
//! gone.

use super::{batches, fault::Fault};
use crate::{
    database::{Tx, values},
    directory::{BatchRun, PlaceId, RunId, columns},
};

const CURRENT: &str = "\
SELECT place, run, by, process, FALSE, stands_since, seen, since(boot_clock) FROM scheduled_runs \
WHERE place = $1 AND ended = FALSE";

pub(crate) fn current(tx: &Tx<'_>, place: PlaceId) -> Result<Option<BatchRun>, Fault> {
    let current = tx.one(CURRENT, values![place.0], batches::run)?;
    Ok(current.map(|(_, run)| run))
}

/// The last two parameters identify the run that was found to be gone; if it has sent a heartbeat since, it is not.
const TAKE: &str = "\
INSERT INTO scheduled_runs (place, run, by, process, stands_since, seen, boot_clock) VALUES ($1, $2, $3, $4, $5, $6, $7) \
ON CONFLICT (place) DO UPDATE SET run = excluded.run, by = excluded.by, process = excluded.process, \
 stands_since = excluded.stands_since, seen = excluded.seen, boot_clock = excluded.boot_clock, ended = FALSE \
WHERE scheduled_runs.ended = TRUE OR scheduled_runs.run = $8 AND scheduled_runs.seen = $9";

pub(crate) fn take(
    tx: &Tx<'_>,
    place: PlaceId,
    run: &BatchRun,
    gone: Option<&BatchRun>,
) -> Result<bool, Fault> {
    let values = values![
        place.0,
        run.id.0,
        &run.by,
        run.process.as_ref(),
        columns::micros(run.since),
        columns::micros(run.seen),
        run.boot_clock.as_ref().map(ToString::to_string),
        gone.map(|gone| gone.id.0),
        gone.map(|gone| columns::micros(gone.seen)),
    ];
    Ok(tx.write(TAKE, values)? == 1)
}

const BEAT: &str = "\
UPDATE scheduled_runs SET seen = $1, boot_clock = $2, ended = $3 WHERE place = $4 AND run = $5 AND ended = FALSE";

pub(crate) fn beat(
    tx: &Tx<'_>,
    (place, run): (PlaceId, RunId),
    at: jiff::Timestamp,
    ends: bool,
) -> Result<bool, Fault> {
    let values = values![
        columns::micros(at),
        columns::boot_clock(),
        ends,
        place.0,
        run.0
    ];
    Ok(tx.write(BEAT, values)? == 1)
}
