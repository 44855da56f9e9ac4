//! The journal of files that are sent row by row.

use super::fault::Fault;
use crate::{
    database::{Tx, values},
    directory::{Import, ImportId, PlaceId, columns},
};
use jiff::Timestamp;

const ADD_IMPORT: &str = "\
INSERT INTO imports (place, profile, digest, started_at, by) \
VALUES ($1, (SELECT name FROM places WHERE number = $1), $2, $3, $4) RETURNING id";

pub(crate) fn begin(
    tx: &Tx<'_>,
    place: PlaceId,
    digest: [u8; 32],
    at: Timestamp,
    by: &str,
) -> Result<Import, Fault> {
    if let Some(import) = open(tx, place, digest)? {
        return Ok(import);
    }
    let values = values![place.0, &digest, columns::micros(at), by];
    let id: Option<i64> = tx.one(ADD_IMPORT, values, |row| row.get(0))?;
    Ok(Import {
        id: ImportId(id.ok_or(Fault::Row("imports"))?),
        started_at: columns::at_stored_precision(at),
        by: by.to_owned(),
        done: Vec::new(),
    })
}

const OPEN_IMPORT: &str = "\
SELECT id, started_at, by FROM imports \
WHERE place = $1 AND digest = $2 AND ended_at IS NULL ORDER BY id DESC LIMIT 1";

const IMPORT_ROWS: &str = "SELECT number FROM import_rows WHERE import_id = $1 ORDER BY number";

/// The unfinished import with this digest.
pub(crate) fn open(tx: &Tx<'_>, place: PlaceId, digest: [u8; 32]) -> Result<Option<Import>, Fault> {
    let found = tx.one(OPEN_IMPORT, values![place.0, &digest], |row| {
        Ok::<_, Fault>((row.get::<i64>(0)?, row.get(1)?, row.get(2)?))
    })?;
    let Some((id, started, by)) = found else {
        return Ok(None);
    };
    let done: Vec<i64> = tx.all(IMPORT_ROWS, values![id], |row| row.get(0))?;
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
    tx: &Tx<'_>,
    import: ImportId,
    row: usize,
    outcome: &str,
) -> Result<(), Fault> {
    tx.write(END_ROW, values![import.0, row, outcome])?;
    Ok(())
}

/// Its rows are only for resuming it.
const FORGET_ROWS: &str = "DELETE FROM import_rows WHERE import_id = $1";
const END_IMPORT: &str = "UPDATE imports SET ended_at = $1 WHERE id = $2";

pub(crate) fn end(tx: &Tx<'_>, import: ImportId, at: Timestamp) -> Result<(), Fault> {
    tx.write(END_IMPORT, values![columns::micros(at), import.0])?;
    tx.write(FORGET_ROWS, values![import.0])?;
    Ok(())
}
