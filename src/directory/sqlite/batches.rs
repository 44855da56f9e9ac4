//! Batches and their items. An item is taken together with the intent of its rotation, or when its update is about to
//! be sent; after that its state is what the journal says.

use jiff::Timestamp;

use super::{edits, fault::Fault, rows, stops};
use crate::{
    database::{Access, Results, Row, Statements, Tx, values},
    directory::{
        Batch, BatchId, BatchItem, BatchOptions, BatchRun, Directory, DirectoryError, Heartbeat,
        ItemKey, MutationId, NewBatch, PlaceId, RotationId, RunId, columns,
    },
    domain::{
        batch::{Counts, Halt, ItemStatus, LastRun},
        group::UserGroupId,
        history::Ending,
    },
    platform::boot_time::BootTime,
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
                place.0,
                &batch.by,
                batch.reason.as_ref(),
                columns::micros(batch.at),
                edits::kind_word(&batch.kind),
                edits::change_text(&batch.kind, &batch.options),
                batch.noted,
            ];
            let id: Option<i64> = tx.one(ADD_BATCH, values, |row| row.get(0))?;
            let id = id.ok_or(Fault::Row("batches"))?;
            for (position, (group, edit)) in batch.items.iter().enumerate() {
                let edit = edit.as_ref().map(edits::item_text).transpose()?;
                tx.write_later(ADD_ITEM, values![id, position, group.as_str(), edit])?;
            }
            Ok(BatchId(id))
        })
        .await
    }

    /// Returns all batches of a place, most recently begun first.
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
            let known = tx.one(HAS_BATCH, values![id.0, place.0], |_| Ok::<_, Fault>(()))?;
            known.ok_or(DirectoryError::NoBatch(id.0))?;
            tx.all(ITEMS, values![id.0], |row| {
                rows::item(id, row)?.ok_or(Fault::Row(TABLE))
            })
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
            let note = &note;
            let values = values![ending.as_str(), note, item.batch.0, item.position];
            Ok(tx.write(END_ITEM, values)? == 1)
        })
        .await
    }

    /// Records that a run of a batch begins.
    pub async fn begin_run(&self, id: BatchId, run: BatchRun) -> Result<(), DirectoryError> {
        self.write(move |tx| {
            let running = stops::text(&LastRun::Begun)?;
            tx.write(STOPPED, values![running, id.0])?;
            let values = values![
                id.0,
                run.id.0,
                &run.by,
                run.process.as_ref(),
                run.is_paused,
                columns::micros(run.since),
                columns::micros(run.seen),
                run.boot_clock.as_ref().map(ToString::to_string),
            ];
            tx.write(ADD_RUN, values)?;
            Ok(())
        })
        .await
    }

    /// Records a heartbeat of a run.
    pub async fn beat(&self, beat: Heartbeat) -> Result<(), DirectoryError> {
        self.write(move |tx| {
            let values = values![
                columns::micros(beat.at),
                columns::boot_clock(),
                beat.is_paused,
                beat.batch.0,
                beat.run.0,
            ];
            tx.write(BEAT, values)?;
            Ok(())
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
            let standings = tx.all(ITEM_STATES, values![id.0], rows::item_status)?;
            tx.write_later(RUN_ENDED, values![id.0, run.0])?;
            if !goes_on {
                let stopped = halt.clone().map(LastRun::Stopped);
                let stopped = stopped.as_ref().map(stops::text).transpose()?;
                tx.write_later(STOPPED, values![stopped, id.0])?;
            }
            let is_any = |status| standings.contains(&Some(status));
            let ends = !is_any(ItemStatus::UnderWay) && !is_any(ItemStatus::NotStarted);
            if ends {
                tx.write_later(END_BATCH, values![columns::micros(at), id.0])?;
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
            let change = tx.one(OPTIONS, values![id.0, place.0], |row| {
                Ok::<Option<String>, Fault>(row.get(0)?)
            })?;
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
            let items = tx.all(FAILED, values![place.0], |row| {
                let status = rows::item_status(row)?.ok_or(Fault::Row(TABLE))?;
                if !matches!(status, ItemStatus::NotApplied | ItemStatus::Conflict) {
                    return Ok::<_, Fault>(None);
                }
                let id = UserGroupId::parse(row.text(4)?).map_err(|_| Fault::Row(TABLE))?;
                Ok(Some((BatchId(row.get(3)?), id)))
            })?;
            Ok(items.into_iter().flatten().collect())
        })
        .await
    }
}

const TABLE: &str = "batch_items";

const ADD_BATCH: &str = "\
INSERT INTO batches (place, profile, by, reason, started_at, kind, change, noted) \
VALUES ($1, (SELECT name FROM places WHERE number = $1), $2, $3, $4, $5, $6, $7) RETURNING id";

const ADD_ITEM: &str = "\
INSERT INTO batch_items (batch_id, position, user_group_id, edit) VALUES ($1, $2, $3, $4)";

const BATCHES: &str = "\
SELECT id, by, reason, started_at, ended_at, kind, change, stopped, noted FROM batches WHERE place = $1 ORDER BY id DESC";

pub(crate) fn list(tx: &Tx<'_>, place: PlaceId) -> Result<Vec<Batch>, Fault> {
    let mut batches = tx.all(BATCHES, values![place.0], |row| {
        let started_at = columns::timestamp(row.get(3)?).ok_or(Fault::Row("batches"))?;
        let ended: Option<i64> = row.get(4)?;
        let (word, change): (String, Option<String>) = (row.get(5)?, row.get(6)?);
        let stopped: Option<String> = row.get(7)?;
        Ok::<_, Fault>(Batch {
            id: BatchId(row.get(0)?),
            by: row.get(1)?,
            reason: row.get(2)?,
            started_at,
            ended_at: ended.and_then(columns::timestamp),
            kind: edits::kind(&word, change.as_deref()).ok_or(Fault::Row("batches"))?,
            noted: row.get::<Option<i64>>(8)?.unwrap_or_default(),
            counts: Counts::default(),
            last_run: stopped.as_deref().and_then(stops::read),
            runs: Vec::new(),
            runner: None,
        })
    })?;
    let mut runs = tx.all(RUNS, values![place.0], run)?;
    for batch in &mut batches {
        batch.counts = counts(tx, batch.id)?;
        let of_it = runs.extract_if(.., |(of, _)| *of == batch.id);
        batch.runs = of_it.map(|(_, run)| run).collect();
    }
    Ok(batches)
}

const RUNS: &str = "\
SELECT r.batch_id, r.run, r.by, r.process, r.paused, r.stands_since, r.seen, since(r.boot_clock) \
FROM batch_runs r JOIN batches b ON b.id = r.batch_id \
WHERE b.place = $1 AND r.ended = FALSE AND b.ended_at IS NULL ORDER BY r.seen DESC, r.run";

pub(super) fn run(row: &Row<'_>) -> Result<(BatchId, BatchRun), Fault> {
    let time = |at| columns::timestamp(row.get(at)?).ok_or(Fault::Row("batch_runs"));
    let boot_clock: Option<String> = row.get(7)?;
    let run = BatchRun {
        id: RunId(row.get(1)?),
        by: row.get(2)?,
        process: row.get(3)?,
        is_paused: row.get(4)?,
        since: time(5)?,
        seen: time(6)?,
        boot_clock: boot_clock.and_then(|text| BootTime::parse(&text)),
    };
    Ok((BatchId(row.get(0)?), run))
}

/// The states of the items of a batch. The states of their rotations and updates are read from the journals, never
/// copied.
const ITEM_STATES: &str = "\
SELECT r.state, COALESCE(m.ending, i.outcome), m.state FROM batch_items i \
LEFT JOIN rotations r ON r.id = i.rotation_id LEFT JOIN mutations m ON m.id = i.mutation_id \
WHERE i.batch_id = $1";

fn counts(tx: &Tx<'_>, id: BatchId) -> Result<Counts, Fault> {
    let standings = tx.all(ITEM_STATES, values![id.0], |row| {
        rows::item_status(row)?.ok_or(Fault::Row(TABLE))
    })?;
    Ok(Counts::of(standings))
}

const OPTIONS: &str = "SELECT change FROM batches WHERE id = $1 AND place = $2";

const HAS_BATCH: &str = "SELECT 1 FROM batches WHERE id = $1 AND place = $2";

const ITEMS: &str = "\
SELECT i.position, i.user_group_id, i.rotation_id, r.state, COALESCE(m.ending, i.outcome), \
 COALESCE(r.note, m.note, i.note), r.previous, r.fingerprint, i.mutation_id, m.state, i.edit, \
 r.handoff, r.handoff_exit, r.handoff_note, \
 (SELECT e.note FROM rotation_events e WHERE e.rotation_id = r.id AND e.state = 'unknown' AND e.note IS NOT NULL \
  ORDER BY e.seq LIMIT 1) \
FROM batch_items i LEFT JOIN rotations r ON r.id = i.rotation_id LEFT JOIN mutations m ON m.id = i.mutation_id \
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

/// Reads the state of a batch item together with the group that it names.
pub(super) fn query(reads: &mut Statements, item: ItemKey, group: &UserGroupId) {
    reads.add(ITEM, values![item.batch.0, item.position, group.as_str()]);
}

/// The rotation that has already taken the item; `None` if it is free.
pub(super) fn taken(found: &mut Results, item: ItemKey) -> Result<Option<RotationId>, Fault> {
    let found = found
        .next()
        .first(|row| Ok::<(Option<i64>, bool), Fault>((row.get(0)?, row.get(1)?)))?;
    match found {
        Some((Some(rotation), _)) => Ok(Some(RotationId(rotation))),
        Some((None, false)) => Ok(None),
        Some((None, true)) | None => Err(ended(item).into()),
    }
}

fn ended(item: ItemKey) -> DirectoryError {
    DirectoryError::ItemEnded {
        batch: item.batch.0,
        position: item.position,
    }
}

const TAKE_ITEM: &str = "\
UPDATE batch_items SET rotation_id = $1 WHERE batch_id = $2 AND position = $3";

pub(super) fn take(writes: &mut Statements, item: ItemKey, rotation: RotationId) {
    let values = values![rotation.0, item.batch.0, item.position];
    writes.add(TAKE_ITEM, values);
}

/// An update that certainly changed nothing leaves the item free: sending it again changes nothing twice.
const TAKE_FOR_UPDATE: &str = "\
UPDATE batch_items SET mutation_id = $1 \
WHERE batch_id = $2 AND position = $3 AND rotation_id IS NULL AND outcome IS NULL \
 AND user_group_id = (SELECT user_group_id FROM mutations WHERE id = $1) \
 AND (mutation_id IS NULL OR EXISTS (SELECT 1 FROM mutations m WHERE m.id = batch_items.mutation_id \
  AND m.state = 'ended' AND m.ending IN ('refused', 'not_applied', 'unreachable')))";

pub(super) fn claim_for_update(claims: &mut Statements, item: ItemKey, update: MutationId) {
    let values = values![update.0, item.batch.0, item.position];
    claims.add(TAKE_FOR_UPDATE, values);
}

pub(super) fn taken_for_update(found: &mut Results, item: ItemKey) -> Result<(), Fault> {
    match found.next().changed {
        1 => Ok(()),
        _ => Err(ended(item).into()),
    }
}

const END_ITEM: &str = "\
UPDATE batch_items SET outcome = $1, note = $2 \
WHERE batch_id = $3 AND position = $4 AND rotation_id IS NULL AND mutation_id IS NULL AND outcome IS NULL";

const STOPPED: &str = "UPDATE batches SET stopped = $1 WHERE id = $2";

const ADD_RUN: &str = "\
INSERT INTO batch_runs (batch_id, run, by, process, paused, stands_since, seen, boot_clock) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

const BEAT: &str = "\
UPDATE batch_runs SET seen = $1, boot_clock = $2, paused = $3, \
 stands_since = CASE WHEN paused = $3 THEN stands_since ELSE $1 END \
WHERE batch_id = $4 AND run = $5 AND ended = FALSE";

const RUN_ENDED: &str = "UPDATE batch_runs SET ended = TRUE WHERE batch_id = $1 AND run = $2";
const END_BATCH: &str = "UPDATE batches SET ended_at = $1 WHERE id = $2";
