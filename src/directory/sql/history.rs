//! The append-only history: entries are added and read, never changed, which the database enforces as well.

use super::fault::Fault;
use crate::{
    db::{Access, Select, Tx, Value, row, values},
    directory::{Directory, HistoryFilter, KeyId, Numbered, PlaceId, Result},
    domain::history::Entry,
};

impl Directory {
    /// Returns history entries, most recently written first.
    pub async fn history(&self, filter: HistoryFilter) -> Result<Vec<Numbered<Entry>>> {
        let (text, values) = selected(filter);
        self.all(Access::Long, text, values).await
    }
}

pub(super) fn add(
    tx: &Tx<'_>,
    place: PlaceId,
    key: Option<KeyId>,
    entry: &Entry,
) -> Result<(), Fault> {
    let row = row! {
        at: entry.at,
        by: &entry.by,
        profile: &entry.profile,
        user_group_id: &entry.user_group_id,
        operation: entry.operation,
        ending: entry.ending,
        previous_fingerprint: entry.previous_fingerprint,
        fingerprint: entry.fingerprint,
        reason: entry.reason.as_ref(),
        changes: entry.changes.as_ref(),
        note: entry.note.as_ref(),
        place,
        key,
    };
    Ok(tx.insert("history", row)?)
}

/// The SQL of a filter, and its parameters.
pub(super) fn selected(filter: HistoryFilter) -> (String, Vec<Value>) {
    let mut select = Select::from("history")
        .and("place =", filter.place)
        .and("user_group_id =", filter.user_group_id)
        .and("number <", filter.before)
        .and("at >=", filter.since)
        .and("at <", filter.until);
    if let Some(by) = filter.by {
        if by.contains('@') {
            select = select.and("by =", Some(by));
        } else {
            let start = format!("{by}@");
            let comparison = format!("substr(by, 1, {}) =", start.chars().count());
            select = select.and(&comparison, Some(start));
        }
    }
    if !filter.operations.is_empty() {
        let words = filter.operations.iter().map(|operation| operation.as_str());
        let words: Vec<_> = words.map(|word| format!("'{word}'")).collect();
        select = select.only(&format!("operation IN ({})", words.join(", ")));
    }
    select.newest_first("number", filter.limit)
}

/// The number of the last entry.
pub(super) fn last(tx: &Tx<'_>) -> Result<i64, Fault> {
    let text = "SELECT COALESCE(MAX(number), 0) FROM history";
    Ok(tx.one(text, values![])?.unwrap_or(0))
}

const AFTER: &str = "SELECT * FROM history WHERE place = $1 AND number > $2 ORDER BY number";

/// As [`AFTER`], for what a snapshot did not see: with several writers, the numbers do not become visible in order.
const UNSEEN: &str = "\
SELECT * FROM history WHERE place = $1 AND written_in >= pg_snapshot_xmin(($2::text)::pg_snapshot) \
 AND NOT pg_visible_in_snapshot(written_in, ($2::text)::pg_snapshot) ORDER BY number";

/// The entries added since, oldest first.
pub(super) fn since(
    tx: &Tx<'_>,
    place: PlaceId,
    since: Value,
) -> Result<Vec<Numbered<Entry>>, Fault> {
    let which = tx.sqlite().map_or(UNSEEN, |_| AFTER);
    Ok(tx.all(which, values![place, since])?)
}
