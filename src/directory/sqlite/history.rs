//! The append-only history: entries are added and read, never changed, which the database enforces as well.

use super::{fault::Fault, rows, select::Select};
use crate::{
    database::{Access, Statements, Tx, Value, values},
    directory::{Directory, DirectoryError, HistoryFilter, KeyId, Numbered, PlaceId, columns},
    domain::{history::Entry, token::Fingerprint},
};

impl Directory {
    /// Returns history entries, most recently written first.
    pub async fn history(
        &self,
        filter: HistoryFilter,
    ) -> Result<Vec<Numbered<Entry>>, DirectoryError> {
        self.execute(Access::Long, move |c| list(c, filter)).await
    }
}

const ADD_ENTRY: &str = "\
INSERT INTO history (at, by, profile, user_group_id, operation, ending, previous_fingerprint, fingerprint, reason, \
 changes, note, place, key) \
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";

pub(super) fn add(writes: &mut Statements, place: PlaceId, key: Option<KeyId>, entry: &Entry) {
    let values = values![
        columns::micros(entry.at),
        &entry.by,
        &entry.profile,
        entry.user_group_id.as_str(),
        entry.operation.as_str(),
        entry.ending.as_str(),
        entry
            .previous_fingerprint
            .as_ref()
            .map(Fingerprint::as_bytes),
        entry.fingerprint.as_ref().map(Fingerprint::as_bytes),
        entry.reason.as_ref(),
        entry.changes.as_ref().map(serde_json::Value::to_string),
        entry.note.as_ref(),
        place.0,
        key.map(|key| key.0),
    ];
    writes.add(ADD_ENTRY, values);
}

const HISTORY: &str = "\
SELECT number, at, by, profile, user_group_id, operation, ending, previous_fingerprint, fingerprint, reason, \
 changes, note, place FROM history";

/// The SQL of a filter, and its parameters.
pub(super) fn selected(filter: HistoryFilter) -> (String, Vec<Value>) {
    let mut select = Select::new(HISTORY);
    select.and_place(filter.place);
    select.and_text(
        "user_group_id =",
        filter.user_group_id.map(|id| id.as_str().to_owned()),
    );
    if let Some(before) = filter.before {
        select.and("number <", Value::Integer(before));
    }
    for (comparison, at) in [("at >=", filter.since), ("at <", filter.until)] {
        if let Some(at) = at {
            select.and(comparison, Value::Integer(columns::micros(at)));
        }
    }
    if let Some(by) = filter.by {
        if by.contains('@') {
            select.and_text("by =", Some(by));
        } else {
            let start = format!("{by}@");
            let comparison = format!("substr(by, 1, {}) =", start.chars().count());
            select.and_text(&comparison, Some(start));
        }
    }
    if !filter.operations.is_empty() {
        let words = filter.operations.iter().map(|operation| operation.as_str());
        let words: Vec<_> = words.map(|word| format!("'{word}'")).collect();
        select.condition(&format!("operation IN ({})", words.join(", ")));
    }
    select.newest_first("number", filter.limit)
}

/// The number of the last entry.
pub(super) fn last(tx: &Tx<'_>) -> Result<i64, Fault> {
    let text = "SELECT COALESCE(MAX(number), 0) FROM history";
    Ok(tx.one(text, values![], |row| row.get(0))?.unwrap_or(0))
}

const AFTER: &str = " WHERE place = $1 AND number > $2 ORDER BY number";

/// As [`AFTER`], for what a snapshot did not see: with several writers, the numbers do not become visible in order.
const UNSEEN: &str = " WHERE place = $1 AND written_in >= pg_snapshot_xmin(($2::text)::pg_snapshot) \
 AND NOT pg_visible_in_snapshot(written_in, ($2::text)::pg_snapshot) ORDER BY number";

/// The entries added since, oldest first.
pub(super) fn since(
    tx: &Tx<'_>,
    place: PlaceId,
    since: Value,
) -> Result<Vec<Numbered<Entry>>, Fault> {
    let which = tx.sqlite().map_or(UNSEEN, |_| AFTER);
    tx.all(
        format!("{HISTORY}{which}"),
        values![place.0, since],
        |row| rows::entry(row)?.ok_or(Fault::Row("history")),
    )
}

pub(crate) fn list(tx: &Tx<'_>, filter: HistoryFilter) -> Result<Vec<Numbered<Entry>>, Fault> {
    let (text, values) = selected(filter);
    tx.all(text, values, |row| {
        rows::entry(row)?.ok_or(Fault::Row("history"))
    })
}
