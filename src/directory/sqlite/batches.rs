//! Batches and their items. An item is taken together with the intent of its rotation; where it stands afterwards is
//! what the journal says.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::{fault::Fault, rows};
use crate::{
    directory::{
        Batch, BatchId, BatchItem, DirectoryError, ItemKey, NewBatch, PlaceId, RotationId, columns,
    },
    domain::{
        batch::{Counts, ItemStatus},
        group::UserGroupId,
        history::Ending,
    },
};

const TABLE: &str = "batch_items";

const ADD_BATCH: &str = "\
INSERT INTO batches (place, profile, by, reason, started_at) \
VALUES ($1, (SELECT name FROM places WHERE number = $1), $2, $3, $4) RETURNING id";

const ADD_ITEM: &str = "\
INSERT INTO batch_items (batch_id, position, user_group_id) VALUES ($1, $2, $3)";

pub(crate) fn begin(tx: &Connection, place: PlaceId, batch: &NewBatch) -> Result<BatchId, Fault> {
    let at = columns::micros(batch.at);
    let id: i64 = tx
        .prepare_cached(ADD_BATCH)?
        .query_row(params![place.0, batch.by, batch.reason, at], |row| {
            row.get(0)
        })?;
    let mut add = tx.prepare_cached(ADD_ITEM)?;
    for (position, group) in batch.groups.iter().enumerate() {
        add.execute(params![id, position as i64, group.as_str()])?;
    }
    Ok(BatchId(id))
}

const BATCHES: &str = "\
SELECT id, by, reason, started_at, ended_at FROM batches WHERE place = $1 ORDER BY id DESC";

pub(crate) fn list(connection: &Connection, place: PlaceId) -> Result<Vec<Batch>, Fault> {
    let mut statement = connection.prepare_cached(BATCHES)?;
    let mut found = statement.query([place.0])?;
    let mut batches = Vec::new();
    while let Some(row) = found.next()? {
        let id = BatchId(row.get(0)?);
        let started_at = columns::timestamp(row.get(3)?).ok_or(Fault::Row("batches"))?;
        let ended: Option<i64> = row.get(4)?;
        batches.push(Batch {
            id,
            by: row.get(1)?,
            reason: row.get(2)?,
            started_at,
            ended_at: ended.and_then(columns::timestamp),
            counts: counts(connection, id)?,
        });
    }
    Ok(batches)
}

/// Where the items of a batch stand: what the journal says of their rotations is never copied.
const STANDINGS: &str = "\
SELECT r.state, i.outcome FROM batch_items i LEFT JOIN rotations r ON r.id = i.rotation_id \
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
SELECT i.position, i.user_group_id, i.rotation_id, r.state, i.outcome, COALESCE(r.note, i.note), r.previous, \
 r.fingerprint \
FROM batch_items i LEFT JOIN rotations r ON r.id = i.rotation_id \
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

const END_ITEM: &str = "\
UPDATE batch_items SET outcome = $1, note = $2 \
WHERE batch_id = $3 AND position = $4 AND rotation_id IS NULL AND outcome IS NULL";

pub(crate) fn end_item(
    tx: &Connection,
    item: ItemKey,
    ending: Ending,
    note: &str,
) -> Result<(), Fault> {
    tx.prepare_cached(END_ITEM)?.execute(params![
        ending.as_str(),
        note,
        item.batch.0,
        item.position as i64
    ])?;
    Ok(())
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
