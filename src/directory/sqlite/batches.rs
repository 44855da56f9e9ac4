//! Batches and their items. An item is taken together with the intent of its rotation; where it stands afterwards is
//! what the journal says.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::{fault::Fault, rows};
use crate::{
    directory::{
        Batch, BatchId, BatchItem, DirectoryError, ItemKey, NewBatch, PlaceId, RotationId, columns,
        sql,
    },
    domain::{
        batch::{Counts, ItemStatus},
        group::UserGroupId,
        history::Ending,
    },
};

const TABLE: &str = "batch_items";

pub(in crate::directory) fn begin(
    tx: &Connection,
    place: PlaceId,
    batch: &NewBatch,
) -> Result<BatchId, Fault> {
    let at = columns::micros(batch.at);
    let id: i64 = tx
        .prepare_cached(sql::ADD_BATCH)?
        .query_row(params![place.0, batch.by, batch.reason, at], |row| {
            row.get(0)
        })?;
    let mut add = tx.prepare_cached(sql::ADD_ITEM)?;
    for (position, group) in batch.groups.iter().enumerate() {
        add.execute(params![id, position as i64, group.as_str()])?;
    }
    Ok(BatchId(id))
}

pub(in crate::directory) fn list(
    connection: &Connection,
    place: PlaceId,
) -> Result<Vec<Batch>, Fault> {
    let mut statement = connection.prepare_cached(sql::BATCHES)?;
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

fn counts(connection: &Connection, id: BatchId) -> Result<Counts, Fault> {
    let mut statement = connection.prepare_cached(sql::STANDINGS)?;
    let standings = statement.query_map([id.0], rows::item_status)?;
    let standings: Vec<Option<ItemStatus>> = standings.collect::<rusqlite::Result<_>>()?;
    let standings: Option<Vec<_>> = standings.into_iter().collect();
    Ok(Counts::of(standings.ok_or(Fault::Row(TABLE))?))
}

pub(in crate::directory) fn items(
    connection: &Connection,
    place: PlaceId,
    id: BatchId,
) -> Result<Vec<BatchItem>, Fault> {
    let known = connection
        .prepare_cached(sql::HAS_BATCH)?
        .exists(params![id.0, place.0])?;
    if !known {
        return Err(DirectoryError::NoBatch(id.0).into());
    }
    let mut statement = connection.prepare_cached(sql::ITEMS)?;
    let mut found = statement.query([id.0])?;
    let mut items = Vec::new();
    while let Some(row) = found.next()? {
        items.push(rows::item(id, row)?.ok_or(Fault::Row(TABLE))?);
    }
    Ok(items)
}

/// The rotation that has taken the item already; `None` where it is free.
pub(super) fn taken(
    tx: &Connection,
    item: ItemKey,
    group: &UserGroupId,
) -> Result<Option<RotationId>, Fault> {
    let found: Option<(Option<i64>, bool)> = tx
        .prepare_cached(sql::ITEM)?
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

pub(super) fn take(tx: &Connection, item: ItemKey, rotation: RotationId) -> Result<(), Fault> {
    tx.prepare_cached(sql::TAKE_ITEM)?.execute(params![
        rotation.0,
        item.batch.0,
        item.position as i64
    ])?;
    Ok(())
}

pub(in crate::directory) fn end_item(
    tx: &Connection,
    item: ItemKey,
    ending: Ending,
    note: &str,
) -> Result<(), Fault> {
    tx.prepare_cached(sql::END_ITEM)?.execute(params![
        ending.as_str(),
        note,
        item.batch.0,
        item.position as i64
    ])?;
    Ok(())
}

pub(in crate::directory) fn end(
    tx: &Connection,
    id: BatchId,
    at: Timestamp,
) -> Result<bool, Fault> {
    let mut statement = tx.prepare_cached(sql::STANDINGS)?;
    let mut found = statement.query([id.0])?;
    while let Some(row) = found.next()? {
        if let Some(ItemStatus::NotStarted | ItemStatus::UnderWay) = rows::item_status(row)? {
            return Ok(false);
        }
    }
    tx.prepare_cached(sql::END_BATCH)?
        .execute(params![columns::micros(at), id.0])?;
    Ok(true)
}
