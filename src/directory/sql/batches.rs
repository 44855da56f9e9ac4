//! Batches and their items, and the active scheduled rotation of a place. An item is taken together with the intent of its
//! rotation, or when its update is about to be sent; after that its state is what the journal says.

use jiff::Timestamp;

use super::{batch_text, fault::Fault};
use crate::{
    db::{self, Access, Asked, Tx, record, values},
    directory::{
        Batch, BatchId, BatchItem, BatchOptions, BatchRun, Directory, DirectoryError, Heartbeat,
        ItemKey, NewBatch, PlaceId, Result, RotationId, RunId, columns::boot_clock,
    },
    domain::{
        batch::{Counts, Halt, ItemStatus, LastRun},
        group::UserGroupId,
        handoff::HandOffState,
        history::Ending,
    },
};

impl Directory {
    /// Makes a batch and all of its items durable in one transaction.
    pub async fn begin_batch(&self, place: PlaceId, batch: NewBatch) -> Result<BatchId> {
        self.write(move |tx| {
            let values = values![
                place,
                &batch.by,
                batch.reason.as_ref(),
                batch.at,
                batch_text::kind_word(&batch.kind),
                batch_text::change_text(&batch.kind, &batch.options),
                batch.noted,
            ];
            let id: Option<BatchId> = tx.one(ADD_BATCH, values)?;
            let id = id.ok_or(Fault::Row("batches"))?;
            for (position, (group, edit)) in batch.items.iter().enumerate() {
                tx.put(ADD_ITEM, values![id, position, group, edit.as_ref()])?;
            }
            Ok(id)
        })
        .await
    }

    /// Returns all batches of a place, most recently started first.
    pub async fn batches(&self, place: PlaceId) -> Result<Vec<Batch>> {
        self.execute(Access::Long, move |c| list(c, place)).await
    }

    /// Returns the items of a batch of this place, in order.
    pub async fn batch_items(&self, place: PlaceId, id: BatchId) -> Result<Vec<BatchItem>> {
        self.execute(Access::Long, move |tx| {
            let text = "SELECT 1 FROM batches WHERE id = $1 AND place = $2";
            let known: Option<()> = tx.one(text, values![id, place])?;
            known.ok_or(DirectoryError::NoBatch(id.0))?;
            tx.all(ITEMS, values![id]).map_err(of_items)
        })
        .await
    }

    /// Records that an item ended before anything was sent. Returns whether it did: an item that has a rotation or an
    /// update, or has ended, is left unchanged.
    pub async fn end_item(&self, item: ItemKey, ending: Ending, note: String) -> Result<bool> {
        let values = values![ending, note, item.batch, item.position];
        self.changes(END_ITEM, values).await
    }

    /// Records that a run of a batch begins.
    pub async fn begin_run(&self, id: BatchId, run: BatchRun) -> Result<()> {
        self.write(move |tx| {
            add_run(tx, id, &run)?;
            Ok(tx.put(STOPPED, values![LastRun::Begun, id])?)
        })
        .await
    }

    /// Records a heartbeat of a run. Returns false if its beginning is not recorded, or others have closed it.
    pub async fn beat(&self, beat: Heartbeat) -> Result<bool> {
        self.write(move |tx| {
            let values = values![beat.at, boot_clock(), beat.is_paused, beat.batch, beat.run];
            Ok(tx.write(BEAT, values)? == 1)
        })
        .await
    }

    /// Records the end of a run and why it began nothing more, unless another run than the `gone` ones goes on; those end
    /// with it. Closes the batch if nothing is left to begin or to settle, and returns whether it did.
    pub async fn end_run(
        &self,
        (id, run): (BatchId, RunId),
        at: Timestamp,
        halt: Option<Halt>,
        gone: Vec<RunId>,
    ) -> Result<bool> {
        self.write(move |tx| {
            // Of two runs that end at the same time, the later one sees that the other has ended.
            let locked = tx.lock::<()>(BATCH, values![id])?;
            let others = tx.ask::<RunId>(OTHER_RUNS, values![id, run])?;
            locked.one()?;
            let others = others.all()?;
            let standings: Vec<ItemStatus> = tx.readable(ITEM_STATES, values![id])?;
            for run in gone.iter().chain([&run]) {
                tx.put(RUN_ENDED, values![id, *run])?;
            }
            if others.iter().all(|other| gone.contains(other)) {
                let stopped = halt.clone().map(LastRun::Stopped);
                tx.put(STOPPED, values![stopped, id])?;
            }
            let is_any = |status| standings.contains(&status);
            let ends = !is_any(ItemStatus::UnderWay) && !is_any(ItemStatus::NotStarted);
            if ends {
                tx.put(END_BATCH, values![at, id])?;
            }
            Ok(ends)
        })
        .await
    }

    /// Closes a batch of which nothing is left to begin, to settle or to confirm, for runs that are gone and could not record their
    /// end: unless one of them was heard of since, or another works on it. Returns whether it did. `closer` is recorded as a run
    /// of its own, by which everybody sees who closed it.
    pub async fn close_batch(
        &self,
        id: BatchId,
        at: Timestamp,
        gone: Vec<BatchRun>,
        closer: BatchRun,
    ) -> Result<bool> {
        self.write(move |tx| {
            let last_run = tx.lock::<Option<LastRun>>(LAST_RUN, values![id])?;
            let others = tx.ask::<(RunId, Timestamp)>(UNENDED_RUNS, values![id])?;
            let last_run = last_run.one()?.flatten();
            let others = others.all()?;
            let standings: Vec<ItemStatus> = tx.readable(ITEM_STATES, values![id])?;
            let is_gone = |(run, seen): &(RunId, Timestamp)| {
                let mut gone = gone.iter();
                gone.any(|gone| (gone.id, gone.seen) == (*run, *seen))
            };
            let is_left = |status| {
                matches!(
                    status,
                    ItemStatus::NotStarted
                        | ItemStatus::UnderWay
                        | ItemStatus::Unknown
                        | ItemStatus::Rotated
                )
            };
            if !others.iter().all(is_gone) || standings.into_iter().any(is_left) {
                return Ok(false);
            }
            add_run(tx, id, &closer)?;
            for run in others.into_iter().map(|(run, _)| run).chain([closer.id]) {
                tx.put(RUN_ENDED, values![id, run])?;
            }
            if last_run == Some(LastRun::Begun) {
                tx.put(STOPPED, values![None::<LastRun>, id])?;
            }
            Ok(tx.write(CLOSE_BATCH, values![at, id])? == 1)
        })
        .await
    }

    /// Returns what the command of a batch was told about how to run it.
    pub async fn batch_options(&self, place: PlaceId, id: BatchId) -> Result<BatchOptions> {
        let text = "SELECT change FROM batches WHERE id = $1 AND place = $2";
        let change = self.one::<Option<String>>(text, values![id, place]).await?;
        let change = change.ok_or(DirectoryError::NoBatch(id.0))?;
        Ok(batch_text::options(change.as_deref()))
    }

    /// Returns the groups that ended batches of this place did not change and no later batch of the same kind took,
    /// each with its batch, the newest batch first.
    pub async fn failed_items(&self, place: PlaceId) -> Result<Vec<(BatchId, UserGroupId)>> {
        self.execute(Access::Long, move |tx| {
            let items: Vec<(ItemStatus, BatchId, UserGroupId)> =
                tx.all(FAILED, values![place]).map_err(of_items)?;
            let items = items.into_iter().filter(|(status, ..)| {
                matches!(status, ItemStatus::NotApplied | ItemStatus::Conflict)
            });
            Ok(items.map(|(_, batch, id)| (batch, id)).collect())
        })
        .await
    }

    /// Returns the scheduled rotation of a place whose end was not recorded, if any.
    pub async fn scheduled_run(&self, place: PlaceId) -> Result<Option<BatchRun>> {
        self.one(SCHEDULED, values![place]).await
    }

    /// Records that a scheduled rotation begins, unless another one is recorded (other than the unchanged `gone` one).
    /// Returns whether it was recorded.
    pub async fn begin_scheduled_run(
        &self,
        place: PlaceId,
        run: BatchRun,
        gone: Option<BatchRun>,
    ) -> Result<bool> {
        let gone = gone.as_ref();
        let values = values![
            place,
            run.id,
            run.by,
            run.process,
            run.since,
            run.seen,
            run.boot_clock,
            gone.map(|gone| gone.id),
            gone.map(|gone| gone.seen),
        ];
        self.changes(TAKE_OVER, values).await
    }

    /// Records a heartbeat, or the end if `ends` is set. Returns false if another run has taken over.
    pub async fn beat_scheduled_run(
        &self,
        run: (PlaceId, RunId),
        at: Timestamp,
        ends: bool,
    ) -> Result<bool> {
        self.write(move |tx| {
            let (place, run) = run;
            let values = values![at, boot_clock(), ends, place, run];
            Ok(tx.write(BEAT_SCHEDULED, values)? == 1)
        })
        .await
    }
}

/// Before whatever it records of the batch: only whoever has a run of a batch may.
fn add_run(tx: &Tx<'_>, id: BatchId, run: &BatchRun) -> Result<(), Fault> {
    let values = values![
        id,
        run.id,
        &run.by,
        run.process.as_ref(),
        run.is_paused,
        run.since,
        run.seen,
        run.boot_clock.as_ref(),
    ];
    Ok(tx.put(ADD_RUN, values)?)
}

fn of_items(fault: db::Fault) -> Fault {
    fault.in_table("batch_items").into()
}

const ADD_BATCH: &str = "\
INSERT INTO batches (place, profile, by, reason, started_at, kind, change, noted) \
VALUES ($1, (SELECT name FROM places WHERE number = $1), $2, $3, $4, $5, $6, $7) RETURNING id";

const ADD_ITEM: &str = "\
INSERT INTO batch_items (batch_id, position, user_group_id, edit) VALUES ($1, $2, $3, $4)";

record!(Batch, "batches" {
    id, by, reason, started_at, ended_at or None, kind, noted = "COALESCE(noted, 0)", last_run = "stopped" or None,
} with { counts: Counts::default(), not_handed_off: 0, unwritten: 0, runs: Vec::new(), runner: None, no_retry: None });

fn list(tx: &Tx<'_>, place: PlaceId) -> Result<Vec<Batch>, Fault> {
    let text = "SELECT * FROM batches WHERE place = $1 ORDER BY id DESC";
    let mut batches: Vec<Batch> = tx.readable(text, values![place])?;
    let is_revoked = tx.sqlite().map_or(IS_REVOKED, |_| "FALSE");
    let text = RUNS.replace("is_revoked", is_revoked);
    let mut runs: Vec<(BatchId, BatchRun)> = tx.all(text, values![place])?;
    let counted: Vec<(BatchId, ItemStatus, bool, bool, usize)> =
        tx.all(COUNTED, values![place]).map_err(of_items)?;
    let mut counted = counted.into_iter().peekable();
    for batch in &mut batches {
        while let Some((_, status, is_due, is_unwritten, count)) =
            counted.next_if(|(of, ..)| *of == batch.id)
        {
            batch.counts.add(status, count);
            if is_unwritten {
                batch.unwritten += count;
            }
            if is_due && status.is_not_handed_off(HandOffState::Pending) {
                batch.not_handed_off += count;
            }
        }
        let of_it = runs.extract_if(.., |(of, _)| *of == batch.id);
        batch.runs = of_it.map(|(_, run)| run).collect();
    }
    Ok(batches)
}

/// Whether a rotation `r` has ended with a new token that is missing in the file that it goes to. One that a later rotation
/// replaced is missed by no file.
macro_rules! unwritten {
    () => {
        "(COALESCE(r.unwritten, FALSE) AND r.state IN ('confirmed', 'recovered', 'superseded') AND NOT EXISTS ( \
         SELECT 1 FROM rotations l WHERE l.place = r.place AND l.user_group_id = r.user_group_id AND l.id > r.id \
          AND l.state IN ('rotated', 'confirmed', 'recovered', 'superseded')))"
    };
}
pub(super) use unwritten;

/// How many items of each batch are in which state, and whether a hand-off of theirs is due or their token is in no file.
const COUNTED: &str = concat!(
    "SELECT b.id, r.state, COALESCE(m.ending, i.outcome), m.state, COALESCE(r.handoff IN ('pending', 'failed'), FALSE), ",
    unwritten!(),
    ", COUNT(*) \
FROM batches b JOIN batch_items i ON i.batch_id = b.id \
LEFT JOIN rotations r ON r.id = i.rotation_id LEFT JOIN mutations m ON m.id = i.mutation_id \
WHERE b.place = $1 GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY b.id DESC"
);

const RUNS: &str = "\
SELECT r.batch_id, r.run, r.by, r.process, r.paused, r.stands_since, r.seen, since(r.boot_clock), is_revoked \
FROM batch_runs r JOIN batches b ON b.id = r.batch_id \
WHERE b.place = $1 AND r.ended = FALSE AND b.ended_at IS NULL ORDER BY r.seen DESC, r.run";

/// Whether the person of a run may write no more. A name that the server does not know says nothing: an owner writes under any.
const IS_REVOKED: &str = "\
EXISTS (SELECT 1 FROM pg_roles p WHERE p.rolname = split_part(r.by, '@', 1) \
 AND NOT has_any_column_privilege(p.oid, 'rotations', 'UPDATE'))";

/// The states of the items of a batch. The states of their rotations and updates are read from the journals, never
/// copied.
const ITEM_STATES: &str = "\
SELECT * FROM batch_items i \
LEFT JOIN rotations r ON r.id = i.rotation_id LEFT JOIN mutations m ON m.id = i.mutation_id \
WHERE i.batch_id = $1";

const ITEMS: &str = "\
SELECT * FROM batch_items i LEFT JOIN rotations r ON r.id = i.rotation_id LEFT JOIN mutations m ON m.id = i.mutation_id \
WHERE i.batch_id = $1 ORDER BY i.position";

/// A group that a later batch took, for example a retry, is a matter of that batch.
const FAILED: &str = "\
SELECT r.state, COALESCE(m.ending, i.outcome), m.state, i.batch_id, i.user_group_id FROM batch_items i \
JOIN batches b ON b.id = i.batch_id \
LEFT JOIN rotations r ON r.id = i.rotation_id LEFT JOIN mutations m ON m.id = i.mutation_id \
WHERE b.place = $1 AND b.ended_at IS NOT NULL AND (r.state IS NULL OR r.state IN ('not_applied', 'conflict')) \
 AND NOT EXISTS (SELECT 1 FROM batches c JOIN batch_items later ON later.batch_id = c.id \
  WHERE c.place = b.place AND c.id > b.id AND c.kind = b.kind \
   AND (b.kind = 'rotate' OR COALESCE(c.change, '') = COALESCE(b.change, '')) \
   AND later.user_group_id = i.user_group_id) \
ORDER BY i.batch_id DESC, i.position";

/// The state of a batch item, together with the group that it names.
pub(super) const ITEM: &str = "\
SELECT rotation_id, outcome IS NOT NULL FROM batch_items \
WHERE batch_id = $1 AND position = $2 AND user_group_id = $3";

/// The rotation that has taken an item, and whether the item has ended.
pub(super) type Taken = (Option<RotationId>, bool);

/// The rotation that has already taken the item; `None` if it is free.
pub(super) fn taken(
    asked: Asked<'_, '_, Taken>,
    item: ItemKey,
) -> Result<Option<RotationId>, Fault> {
    match asked.one()? {
        Some((Some(rotation), _)) => Ok(Some(rotation)),
        Some((None, false)) => Ok(None),
        Some((None, true)) | None => Err(DirectoryError::ItemEnded(item).into()),
    }
}

pub(super) const TAKE: &str =
    "UPDATE batch_items SET rotation_id = $1 WHERE batch_id = $2 AND position = $3";

/// An update that certainly changed nothing leaves the item free: sending it again changes nothing twice.
pub(super) const TAKE_FOR_UPDATE: &str = "\
UPDATE batch_items SET mutation_id = $1 \
WHERE batch_id = $2 AND position = $3 AND rotation_id IS NULL AND outcome IS NULL \
 AND user_group_id = (SELECT user_group_id FROM mutations WHERE id = $1) \
 AND (mutation_id IS NULL OR EXISTS (SELECT 1 FROM mutations m WHERE m.id = batch_items.mutation_id \
  AND m.state = 'ended' AND m.ending IN ('refused', 'not_applied', 'unreachable')))";

const END_ITEM: &str = "\
UPDATE batch_items SET outcome = $1, note = $2 \
WHERE batch_id = $3 AND position = $4 AND rotation_id IS NULL AND mutation_id IS NULL AND outcome IS NULL";

/// One that others have closed, because it was not heard of for too long, goes on.
const ADD_RUN: &str = "\
INSERT INTO batch_runs (batch_id, run, by, process, paused, stands_since, seen, boot_clock) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
ON CONFLICT (batch_id, run) DO UPDATE SET paused = excluded.paused, seen = excluded.seen, \
 boot_clock = excluded.boot_clock, ended = FALSE";

const STOPPED: &str = "UPDATE batches SET stopped = $1 WHERE id = $2";

const BEAT: &str = "\
UPDATE batch_runs SET seen = $1, boot_clock = $2, paused = $3, \
 stands_since = CASE WHEN paused = $3 THEN stands_since ELSE $1 END \
WHERE batch_id = $4 AND run = $5 AND ended = FALSE";

const BATCH: &str = "SELECT 1 FROM batches WHERE id = $1";
const OTHER_RUNS: &str =
    "SELECT run FROM batch_runs WHERE batch_id = $1 AND run <> $2 AND ended = FALSE";

const LAST_RUN: &str = "SELECT stopped FROM batches WHERE id = $1";
const UNENDED_RUNS: &str = "SELECT run, seen FROM batch_runs WHERE batch_id = $1 AND ended = FALSE";
const CLOSE_BATCH: &str = "UPDATE batches SET ended_at = $1 WHERE id = $2 AND ended_at IS NULL";

const RUN_ENDED: &str = "UPDATE batch_runs SET ended = TRUE WHERE batch_id = $1 AND run = $2";
const END_BATCH: &str = "UPDATE batches SET ended_at = $1 WHERE id = $2";

/// One row per place, taken over when its run has ended or its process is gone.
const SCHEDULED: &str = "\
SELECT run, by, process, FALSE, stands_since, seen, since(boot_clock), FALSE FROM scheduled_runs \
WHERE place = $1 AND ended = FALSE";

/// The last two parameters identify the run that was found to be gone; if it has sent a heartbeat since, it is not.
const TAKE_OVER: &str = "\
INSERT INTO scheduled_runs (place, run, by, process, stands_since, seen, boot_clock) VALUES ($1, $2, $3, $4, $5, $6, $7) \
ON CONFLICT (place) DO UPDATE SET run = excluded.run, by = excluded.by, process = excluded.process, \
 stands_since = excluded.stands_since, seen = excluded.seen, boot_clock = excluded.boot_clock, ended = FALSE \
WHERE scheduled_runs.ended = TRUE OR scheduled_runs.run = $8 AND scheduled_runs.seen = $9";

const BEAT_SCHEDULED: &str = "\
UPDATE scheduled_runs SET seen = $1, boot_clock = $2, ended = $3 WHERE place = $4 AND run = $5 AND ended = FALSE";
