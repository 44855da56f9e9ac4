//! Batches and their items. An item is taken together with the intent of its rotation, or when its update is about to leave;
//! where it stands afterwards is what the journal says.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::{edits, fault::Fault, rows};
use crate::{
    directory::{
        Batch, BatchId, BatchItem, DirectoryError, ItemKey, MutationId, NewBatch, PlaceId,
        RotationId, columns,
    },
    domain::{
        batch::{Counts, ItemStatus},
        group::UserGroupId,
        history::Ending,
    },
};

const TABLE: &str = "batch_items";

const ADD_BATCH: &str = "\
INSERT INTO batches (place, profile, by, reason, started_at, kind, change) \
VALUES ($1, (SELECT name FROM places WHERE number = $1), $2, $3, $4, $5, $6) RETURNING id";

const ADD_ITEM: &str = "\
INSERT INTO batch_items (batch_id, position, user_group_id, edit) VALUES ($1, $2, $3, $4)";

pub(crate) fn begin(tx: &Connection, place: PlaceId, batch: &NewBatch) -> Result<BatchId, Fault> {
    let at = columns::micros(batch.at);
    let id: i64 = tx.prepare_cached(ADD_BATCH)?.query_row(
        params![
            place.0,
            batch.by,
            batch.reason,
            at,
            edits::kind_word(&batch.kind),
            edits::change_text(&batch.kind)
        ],
        |row| row.get(0),
    )?;
    let mut add = tx.prepare_cached(ADD_ITEM)?;
    for (position, (group, edit)) in batch.items.iter().enumerate() {
        let edit = edit.as_ref().map(edits::item_text).transpose()?;
        add.execute(params![id, position as i64, group.as_str(), edit])?;
    }
    Ok(BatchId(id))
}

const BATCHES: &str = "\
SELECT id, by, reason, started_at, ended_at, kind, change FROM batches WHERE place = $1 ORDER BY id DESC";

pub(crate) fn list(connection: &Connection, place: PlaceId) -> Result<Vec<Batch>, Fault> {
    let mut statement = connection.prepare_cached(BATCHES)?;
    let mut found = statement.query([place.0])?;
    let mut batches = Vec::new();
    while let Some(row) = found.next()? {
        let id = BatchId(row.get(0)?);
        let started_at = columns::timestamp(row.get(3)?).ok_or(Fault::Row("batches"))?;
        let ended: Option<i64> = row.get(4)?;
        let (word, change): (String, Option<String>) = (row.get(5)?, row.get(6)?);
        batches.push(Batch {
            id,
            by: row.get(1)?,
            reason: row.get(2)?,
            started_at,
            ended_at: ended.and_then(columns::timestamp),
            kind: edits::kind(&word, change.as_deref()).ok_or(Fault::Row("batches"))?,
            counts: counts(connection, id)?,
        });
    }
    Ok(batches)
}

/// Where the items of a batch stand: what the journals say of their rotations and updates is never copied.
const STANDINGS: &str = "\
SELECT r.state, COALESCE(m.ending, i.outcome), m.state FROM batch_items i \
LEFT JOIN rotations r ON r.id = i.rotation_id LEFT JOIN mutations m ON m.id = i.mutation_id \
WHERE i.batch_id = $1";

fn counts(connection: &Connection, id: BatchId) -> Result<Counts, Fault> {
    let mut statement = connection.prepare_cached(STANDINGS)?;
    let standings = statement.query_map([id.0], rows::item_status)?;
    let standings: Vec<Option<ItemStatus>> = standings.collect::<rusqlite::Result<_>>()?;
    let standings: Option<Vec<_>> = standings.into_iter().collect();
    Ok(Counts::of(standings.ok_or(Fault::Row(TABLE))?))
}

const HAS_BATCH: &str = "SELECT 1 FROM batches WHERE id = $1 AND place = $2";

const ITEMS: &str = "\
SELECT i.position, i.user_group_id, i.rotation_id, r.state, COALESCE(m.ending, i.outcome), \
 COALESCE(r.note, m.note, i.note), r.previous, r.fingerprint, i.mutation_id, m.state, i.edit \
FROM batch_items i LEFT JOIN rotations r ON r.id = i.rotation_id LEFT JOIN mutations m ON m.id = i.mutation_id \
WHERE i.batch_id = $1 ORDER BY i.position";

pub(crate) fn items(
    connection: &Connection,
    place: PlaceId,
    id: BatchId,
) -> Result<Vec<BatchItem>, Fault> {
    let known = connection
        .prepare_cached(HAS_BATCH)?
        .exists(params![id.0, place.0])?;
    if !known {
        return Err(DirectoryError::NoBatch(id.0).into());
    }
    let mut statement = connection.prepare_cached(ITEMS)?;
    let mut found = statement.query([id.0])?;
    let mut items = Vec::new();
    while let Some(row) = found.next()? {
        items.push(rows::item(id, row)?.ok_or(Fault::Row(TABLE))?);
    }
    Ok(items)
}

const ITEM: &str = "\
SELECT rotation_id, outcome IS NOT NULL FROM batch_items \
WHERE batch_id = $1 AND position = $2 AND user_group_id = $3";

/// The rotation that has taken the item already; `None` where it is free.
pub(super) fn taken(
    tx: &Connection,
    item: ItemKey,
    group: &UserGroupId,
) -> Result<Option<RotationId>, Fault> {
    let found: Option<(Option<i64>, bool)> = tx
        .prepare_cached(ITEM)?
        .query_row(
            params![item.batch.0, item.position as i64, group.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    match found {
        Some((Some(rotation), _)) => Ok(Some(RotationId(rotation))),
        Some((None, false)) => Ok(None),
        Some((None, true)) | None => Err(DirectoryError::ItemEnded {
            batch: item.batch.0,
            position: item.position,
        }
        .into()),
    }
}

const TAKE_ITEM: &str = "\
UPDATE batch_items SET rotation_id = $1 WHERE batch_id = $2 AND position = $3";

pub(super) fn take(tx: &Connection, item: ItemKey, rotation: RotationId) -> Result<(), Fault> {
    tx.prepare_cached(TAKE_ITEM)?.execute(params![
        rotation.0,
        item.batch.0,
        item.position as i64
    ])?;
    Ok(())
}

/// An update that certainly changed nothing leaves the item free: to send it again changes nothing twice.
const TAKE_FOR_UPDATE: &str = "\
UPDATE batch_items SET mutation_id = $1 \
WHERE batch_id = $2 AND position = $3 AND rotation_id IS NULL AND outcome IS NULL \
 AND user_group_id = (SELECT user_group_id FROM mutations WHERE id = $1) \
 AND (mutation_id IS NULL OR EXISTS (SELECT 1 FROM mutations m WHERE m.id = batch_items.mutation_id \
  AND m.state = 'ended' AND m.ending IN ('refused', 'not_applied', 'unreachable')))";

pub(super) fn take_for_update(
    tx: &Connection,
    item: ItemKey,
    update: MutationId,
) -> Result<(), Fault> {
    let taken = tx.prepare_cached(TAKE_FOR_UPDATE)?.execute(params![
        update.0,
        item.batch.0,
        item.position as i64
    ])?;
    if taken == 1 {
        return Ok(());
    }
    Err(DirectoryError::ItemEnded {
        batch: item.batch.0,
        position: item.position,
    }
    .into())
}

const END_ITEM: &str = "\
UPDATE batch_items SET outcome = $1, note = $2 \
WHERE batch_id = $3 AND position = $4 AND rotation_id IS NULL AND mutation_id IS NULL AND outcome IS NULL";

pub(crate) fn end_item(
    tx: &Connection,
    item: ItemKey,
    ending: Ending,
    note: &str,
) -> Result<bool, Fault> {
    let ended = tx.prepare_cached(END_ITEM)?.execute(params![
        ending.as_str(),
        note,
        item.batch.0,
        item.position as i64
    ])?;
    Ok(ended == 1)
}

const END_BATCH: &str = "UPDATE batches SET ended_at = $1 WHERE id = $2";

pub(crate) fn end(tx: &Connection, id: BatchId, at: Timestamp) -> Result<bool, Fault> {
    let mut statement = tx.prepare_cached(STANDINGS)?;
    let mut found = statement.query([id.0])?;
    while let Some(row) = found.next()? {
        if let Some(ItemStatus::NotStarted | ItemStatus::UnderWay) = rows::item_status(row)? {
            return Ok(false);
        }
    }
    tx.prepare_cached(END_BATCH)?
        .execute(params![columns::micros(at), id.0])?;
    Ok(true)
}
