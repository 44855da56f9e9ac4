//! Batches and their items. An item is taken together with the intent of its rotation, or when its update is about to
//! be sent; after that its state is what the journal says.

use jiff::Timestamp;

use super::{edits, fault::Fault, stops};
use crate::{
    database::{self, Access, Asked, Tx, record, row, values},
    directory::{
        Batch, BatchId, BatchItem, BatchOptions, BatchRun, Directory, DirectoryError, Heartbeat,
        ItemKey, MutationId, NewBatch, PlaceId, RotationId, RunId, columns::boot_clock,
    },
    domain::{
        batch::{Counts, Halt, ItemStatus, LastRun},
        group::UserGroupId,
        handoff::HandOffState,
        history::Ending,
        rotation::State,
    },
};

impl Directory {
    /// Makes a batch and all of its items durable in one transaction.
    pub async fn begin_batch(
        &self,
        place: PlaceId,
        batch: NewBatch,
    ) -> Result<BatchId, DirectoryError> {
        self.write(move |tx| {
            let values = values![
                place,
                &batch.by,
                batch.reason.as_ref(),
                batch.at,
                edits::kind_word(&batch.kind),
                edits::change_text(&batch.kind, &batch.options),
                batch.noted,
            ];
            let id: Option<BatchId> = tx.one(ADD_BATCH, values)?;
            let id = id.ok_or(Fault::Row("batches"))?;
            for (position, (group, edit)) in batch.items.iter().enumerate() {
                let edit = edit.as_ref().map(edits::item_text).transpose()?;
                tx.put(ADD_ITEM, values![id, position, group, edit])?;
            }
            Ok(id)
        })
        .await
    }

    /// Returns all batches of a place, most recently started first.
    pub async fn batches(&self, place: PlaceId) -> Result<Vec<Batch>, DirectoryError> {
        self.execute(Access::Long, move |c| list(c, place)).await
    }

    /// Returns the items of a batch of this place, in order.
    pub async fn batch_items(
        &self,
        place: PlaceId,
        id: BatchId,
    ) -> Result<Vec<BatchItem>, DirectoryError> {
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
    pub async fn end_item(
        &self,
        item: ItemKey,
        ending: Ending,
        note: String,
    ) -> Result<bool, DirectoryError> {
        self.write(move |tx| {
            let values = values![ending, &note, item.batch, item.position];
            Ok(tx.write(END_ITEM, values)? == 1)
        })
        .await
    }

    /// Records that a run of a batch begins.
    pub async fn begin_run(&self, id: BatchId, run: BatchRun) -> Result<(), DirectoryError> {
        self.write(move |tx| {
            let running = stops::text(&LastRun::Begun)?;
            tx.put(STOPPED, values![running, id])?;
            let row = row! {
                batch_id: id,
                run: run.id,
                by: &run.by,
                process: run.process.as_ref(),
                paused: run.is_paused,
                stands_since: run.since,
                seen: run.seen,
                boot_clock: run.boot_clock.as_ref(),
            };
            Ok(tx.insert("batch_runs", row)?)
        })
        .await
    }

    /// Records a heartbeat of a run.
    pub async fn beat(&self, beat: Heartbeat) -> Result<(), DirectoryError> {
        self.write(move |tx| {
            let values = values![beat.at, boot_clock(), beat.is_paused, beat.batch, beat.run];
            Ok(tx.put(BEAT, values)?)
        })
        .await
    }

    /// Records the end of a run and, unless another run `goes_on`, why it began nothing more. Closes the batch if
    /// nothing is left to begin or to settle, and returns whether it did.
    pub async fn end_run(
        &self,
        (id, run): (BatchId, RunId),
        at: Timestamp,
        halt: Option<Halt>,
        goes_on: bool,
    ) -> Result<bool, DirectoryError> {
        self.write(move |tx| {
            let standings: Vec<ItemStatus> = tx.readable(ITEM_STATES, values![id])?;
            tx.put(RUN_ENDED, values![id, run])?;
            if !goes_on {
                let stopped = halt.clone().map(LastRun::Stopped);
                let stopped = stopped.as_ref().map(stops::text).transpose()?;
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

    /// Returns what the command of a batch was told about how to run it.
    pub async fn batch_options(
        &self,
        place: PlaceId,
        id: BatchId,
    ) -> Result<BatchOptions, DirectoryError> {
        self.execute(Access::Short, move |tx| {
            let text = "SELECT change FROM batches WHERE id = $1 AND place = $2";
            let change: Option<Option<String>> = tx.one(text, values![id, place])?;
            let change = change.ok_or(DirectoryError::NoBatch(id.0))?;
            Ok(edits::options(change.as_deref()))
        })
        .await
    }

    /// Returns the groups that ended batches of this place did not change and no later batch of the same kind took,
    /// each with its batch, the newest batch first.
    pub async fn failed_items(
        &self,
        place: PlaceId,
    ) -> Result<Vec<(BatchId, UserGroupId)>, DirectoryError> {
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
}

fn of_items(fault: database::Fault) -> Fault {
    fault.in_table("batch_items").into()
}

const ADD_BATCH: &str = "\
INSERT INTO batches (place, profile, by, reason, started_at, kind, change, noted) \
VALUES ($1, (SELECT name FROM places WHERE number = $1), $2, $3, $4, $5, $6, $7) RETURNING id";

const ADD_ITEM: &str = "\
INSERT INTO batch_items (batch_id, position, user_group_id, edit) VALUES ($1, $2, $3, $4)";

/// A batch as it is stored.
struct Stored {
    id: BatchId,
    by: String,
    reason: Option<String>,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
    kind: String,
    change: Option<String>,
    stopped: Option<String>,
    noted: Option<i64>,
}
record!(Stored, "batches" { id, by, reason, started_at, ended_at or None, kind, change, stopped, noted });

fn list(tx: &Tx<'_>, place: PlaceId) -> Result<Vec<Batch>, Fault> {
    let text = "SELECT * FROM batches WHERE place = $1 ORDER BY id DESC";
    let batches: Vec<Stored> = tx.all(text, values![place])?;
    let mut runs: Vec<(BatchId, BatchRun)> = tx.all(RUNS, values![place])?;
    let mut waiting: Vec<(BatchId, State, u32)> = tx.all(NOT_HANDED_OFF, values![place])?;
    waiting.retain(|(_, state, _)| {
        ItemStatus::of(Some(*state), None).is_not_handed_off(HandOffState::Pending)
    });
    let batches = batches.into_iter().map(|one| {
        let waits = waiting.iter().filter(|(of, ..)| *of == one.id);
        let waits: u32 = waits.map(|(.., count)| count).sum();
        let items = tx.all(ITEM_STATES, values![one.id]).map_err(of_items)?;
        let of_it = runs.extract_if(.., |(of, _)| *of == one.id);
        Ok(Batch {
            id: one.id,
            by: one.by,
            reason: one.reason,
            started_at: one.started_at,
            ended_at: one.ended_at,
            kind: edits::kind(&one.kind, one.change.as_deref()).ok_or(Fault::Row("batches"))?,
            noted: one.noted.unwrap_or_default(),
            counts: Counts::of(items),
            not_handed_off: waits as usize,
            last_run: one.stopped.as_deref().and_then(stops::read),
            runs: of_it.map(|(_, run)| run).collect(),
            runner: None,
            no_retry: None,
        })
    });
    batches.collect()
}

const NOT_HANDED_OFF: &str = "\
SELECT b.id, r.state, COUNT(*) FROM batches b JOIN batch_items i ON i.batch_id = b.id JOIN rotations r ON r.id = i.rotation_id \
WHERE b.place = $1 AND r.handoff IN ('pending', 'failed') GROUP BY b.id, r.state";

const RUNS: &str = "\
SELECT r.batch_id, r.run, r.by, r.process, r.paused, r.stands_since, r.seen, since(r.boot_clock) \
FROM batch_runs r JOIN batches b ON b.id = r.batch_id \
WHERE b.place = $1 AND r.ended = FALSE AND b.ended_at IS NULL ORDER BY r.seen DESC, r.run";

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
  WHERE c.place = b.place AND c.id > b.id AND c.kind = b.kind AND COALESCE(c.change, '') = COALESCE(b.change, '') \
   AND later.user_group_id = i.user_group_id) \
ORDER BY i.batch_id DESC, i.position";

const ITEM: &str = "\
SELECT rotation_id, outcome IS NOT NULL FROM batch_items \
WHERE batch_id = $1 AND position = $2 AND user_group_id = $3";

/// The rotation that has taken an item, and whether the item has ended.
type Taken = (Option<RotationId>, bool);

/// The state of a batch item, together with the group that it names.
pub(super) fn ask<'t, 'c>(
    tx: &'t Tx<'c>,
    item: ItemKey,
    group: &UserGroupId,
) -> Result<Asked<'t, 'c, Taken>, Fault> {
    Ok(tx.ask(ITEM, values![item.batch, item.position, group])?)
}

/// The rotation that has already taken the item; `None` if it is free.
pub(super) fn taken(
    asked: Asked<'_, '_, Taken>,
    item: ItemKey,
) -> Result<Option<RotationId>, Fault> {
    match asked.one()? {
        Some((Some(rotation), _)) => Ok(Some(rotation)),
        Some((None, false)) => Ok(None),
        Some((None, true)) | None => Err(ended(item).into()),
    }
}

pub(super) fn ended(item: ItemKey) -> DirectoryError {
    DirectoryError::ItemEnded {
        batch: item.batch.0,
        position: item.position,
    }
}

pub(super) fn take(tx: &Tx<'_>, item: ItemKey, rotation: RotationId) -> Result<(), Fault> {
    let text = "UPDATE batch_items SET rotation_id = $1 WHERE batch_id = $2 AND position = $3";
    Ok(tx.put(text, values![rotation, item.batch, item.position])?)
}

/// An update that certainly changed nothing leaves the item free: sending it again changes nothing twice.
const TAKE_FOR_UPDATE: &str = "\
UPDATE batch_items SET mutation_id = $1 \
WHERE batch_id = $2 AND position = $3 AND rotation_id IS NULL AND outcome IS NULL \
 AND user_group_id = (SELECT user_group_id FROM mutations WHERE id = $1) \
 AND (mutation_id IS NULL OR EXISTS (SELECT 1 FROM mutations m WHERE m.id = batch_items.mutation_id \
  AND m.state = 'ended' AND m.ending IN ('refused', 'not_applied', 'unreachable')))";

pub(super) fn claim_for_update<'t, 'c>(
    tx: &'t Tx<'c>,
    item: ItemKey,
    update: MutationId,
) -> Result<Asked<'t, 'c, ()>, Fault> {
    Ok(tx.ask(TAKE_FOR_UPDATE, values![update, item.batch, item.position])?)
}

const END_ITEM: &str = "\
UPDATE batch_items SET outcome = $1, note = $2 \
WHERE batch_id = $3 AND position = $4 AND rotation_id IS NULL AND mutation_id IS NULL AND outcome IS NULL";

const STOPPED: &str = "UPDATE batches SET stopped = $1 WHERE id = $2";

const BEAT: &str = "\
UPDATE batch_runs SET seen = $1, boot_clock = $2, paused = $3, \
 stands_since = CASE WHEN paused = $3 THEN stands_since ELSE $1 END \
WHERE batch_id = $4 AND run = $5 AND ended = FALSE";

const RUN_ENDED: &str = "UPDATE batch_runs SET ended = TRUE WHERE batch_id = $1 AND run = $2";
const END_BATCH: &str = "UPDATE batches SET ended_at = $1 WHERE id = $2";
