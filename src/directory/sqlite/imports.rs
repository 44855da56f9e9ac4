//! The journal of files that are sent row by row.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};

use super::fault::Fault;
use crate::directory::{Import, ImportId, PlaceId, columns};

const ADD_IMPORT: &str = "\
INSERT INTO imports (place, profile, digest, started_at, by) \
VALUES ($1, (SELECT name FROM places WHERE number = $1), $2, $3, $4) RETURNING id";

pub(crate) fn begin(
    tx: &Connection,
    place: PlaceId,
    digest: [u8; 32],
    at: Timestamp,
    by: &str,
) -> Result<Import, Fault> {
    if let Some(import) = open(tx, place, digest)? {
        return Ok(import);
    }
    let id = tx
        .prepare_cached(ADD_IMPORT)?
        .query_row(params![place.0, digest, columns::micros(at), by], |row| {
            row.get(0)
        })?;
    Ok(Import {
        id: ImportId(id),
        started_at: columns::as_kept(at),
        by: by.to_owned(),
        done: Vec::new(),
    })
}

const OPEN_IMPORT: &str = "\
SELECT id, started_at, by FROM imports \
WHERE place = $1 AND digest = $2 AND ended_at IS NULL ORDER BY id DESC LIMIT 1";

const IMPORT_ROWS: &str = "SELECT number FROM import_rows WHERE import_id = $1 ORDER BY number";

/// What was begun and not finished.
pub(crate) fn open(
    connection: &Connection,
    place: PlaceId,
    digest: [u8; 32],
) -> Result<Option<Import>, Fault> {
    let found: Option<(i64, i64, String)> = connection
        .prepare_cached(OPEN_IMPORT)?
        .query_row(params![place.0, digest], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((id, started, by)) = found else {
        return Ok(None);
    };
    let mut statement = connection.prepare_cached(IMPORT_ROWS)?;
    let done = statement.query_map([id], |row| row.get::<_, i64>(0))?;
    let done: Vec<i64> = done.collect::<Result<_, _>>()?;
    Ok(Some(Import {
        id: ImportId(id),
        started_at: columns::timestamp(started).ok_or(Fault::Row("imports"))?,
        by,
        done: done.into_iter().map(|number| number as usize).collect(),
    }))
}

const END_ROW: &str = "\
INSERT INTO import_rows (import_id, number, outcome) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";

pub(crate) fn end_row(
    tx: &Connection,
    import: ImportId,
    row: usize,
    outcome: &str,
) -> Result<(), Fault> {
    tx.prepare_cached(END_ROW)?
        .execute(params![import.0, row as i64, outcome])?;
    Ok(())
}

const END_IMPORT: &str = "UPDATE imports SET ended_at = $1 WHERE id = $2";

pub(crate) fn end(tx: &Connection, import: ImportId, at: Timestamp) -> Result<(), Fault> {
    tx.prepare_cached(END_IMPORT)?
        .execute(params![columns::micros(at), import.0])?;
    Ok(())
}
