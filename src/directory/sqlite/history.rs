//! The append-only history: lines are added and read, never changed (the database refuses it too).

use rusqlite::{Connection, params, params_from_iter};

use super::{fault::Fault, rows};
use crate::{
    directory::{HistoryFilter, KeyId, Numbered, PlaceId, columns, sql},
    domain::{history::Entry, token::Fingerprint},
};

pub(super) fn add(
    tx: &Connection,
    place: PlaceId,
    key: Option<KeyId>,
    entry: &Entry,
) -> Result<(), Fault> {
    tx.prepare_cached(sql::ADD_ENTRY)?.execute(params![
        columns::micros(entry.at),
        entry.by,
        entry.profile,
        entry.user_group_id.as_str(),
        entry.operation.as_str(),
        entry.ending.as_str(),
        entry
            .previous_fingerprint
            .as_ref()
            .map(Fingerprint::as_bytes),
        entry.fingerprint.as_ref().map(Fingerprint::as_bytes),
        entry.reason,
        entry.changes.as_ref().map(serde_json::Value::to_string),
        entry.note,
        place.0,
        key.map(|key| key.0),
    ])?;
    Ok(())
}

pub(in crate::directory) fn list(
    connection: &Connection,
    filter: HistoryFilter,
) -> Result<Vec<Numbered<Entry>>, Fault> {
    let (text, parameters) = sql::history(filter);
    let mut statement = connection.prepare_cached(&text)?;
    let mut found = statement.query(params_from_iter(parameters))?;
    let mut entries = Vec::new();
    while let Some(row) = found.next()? {
        entries.push(rows::entry(row)?.ok_or(Fault::Row("history"))?);
    }
    Ok(entries)
}
