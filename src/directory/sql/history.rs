//! The append-only history: entries are added and read, never changed, which the database enforces as well. And every
//! fingerprint that a group ever had, and so the owners of a token.

use jiff::Timestamp;

use super::fault::Fault;
use crate::{
    db::{Access, Select, Tx, Value, row, values},
    directory::{ChangeId, Directory, HistoryFilter, KeyId, Numbered, Owner, PlaceId, Result},
    domain::{group::UserGroupId, history::Entry, token::Fingerprint},
};

impl Directory {
    /// Returns history entries, most recently written first.
    pub async fn history(&self, filter: HistoryFilter) -> Result<Vec<Numbered<Entry>>> {
        let (text, values) = selected(filter);
        self.all(Access::Long, text, values).await
    }

    /// Returns the last entry about a change of this group, and those written after it, oldest first.
    pub async fn since_last_about(
        &self,
        place: PlaceId,
        id: &UserGroupId,
        change: ChangeId,
    ) -> Result<Vec<Entry>> {
        let (text, number) = match change {
            ChangeId::Mutation(id) => (since_last("mutation", "state = 'ended'"), id.0),
            ChangeId::Rotation(id) => (
                since_last("rotation", "state NOT IN ('intended', 'sent', 'unknown')"),
                id.0,
            ),
        };
        self.all(Access::Long, text, values![place, id, number])
            .await
    }

    /// Returns every group of every place that has or had the token, current owners first.
    pub async fn owners(&self, fingerprint: Fingerprint) -> Result<Vec<Owner>> {
        self.execute(Access::Short, move |tx| {
            let mut owners: Vec<Owner> = tx.all(OWNERS, values![fingerprint])?;
            for owner in &mut owners {
                owner.bound = tx.all(BOUND_TO, values![owner.place])?;
            }
            Ok(owners)
        })
        .await
    }
}

pub(super) fn add(
    tx: &Tx<'_>,
    place: PlaceId,
    key: Option<KeyId>,
    entry: &Entry,
    change: Option<ChangeId>,
) -> Result<(), Fault> {
    let (mutation, rotation) = match change {
        Some(ChangeId::Mutation(id)) => (Some(id), None),
        Some(ChangeId::Rotation(id)) => (None, Some(id)),
        None => (None, None),
    };
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
        mutation,
        rotation,
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

/// `change` is one of the columns. Its hand-off is not its end, and the journal tells whether it has ended.
fn since_last(change: &str, ended: &str) -> String {
    format!(
        "SELECT * FROM history WHERE place = $1 AND user_group_id = $2 AND number >= \
         (SELECT MAX(number) FROM history WHERE place = $1 AND user_group_id = $2 AND {change} = $3 \
         AND operation <> 'handoff' AND (ending = 'unknown' \
         OR EXISTS (SELECT 1 FROM {change}s WHERE id = $3 AND {ended}))) ORDER BY number"
    )
}

/// The number of the last entry.
pub(super) const LAST: &str = "SELECT COALESCE(MAX(number), 0) FROM history";

/// The entries added since, oldest first.
pub(super) const AFTER: &str =
    "SELECT * FROM history WHERE place = $1 AND number > $2 ORDER BY number";

/// As [`AFTER`], for what a snapshot did not see: with several writers, the numbers do not become visible in order.
pub(super) const UNSEEN: &str = "\
SELECT * FROM history WHERE place = $1 AND written_in >= pg_snapshot_xmin(($2::text)::pg_snapshot) \
 AND NOT pg_visible_in_snapshot(written_in, ($2::text)::pg_snapshot) ORDER BY number";

const BOUND_TO: &str = "SELECT profile, url FROM bindings WHERE place = $1 ORDER BY profile, url";

const KEEP_FINGERPRINT: &str = "\
INSERT INTO fingerprints (fingerprint, place, user_group_id, first_seen, last_seen) \
VALUES ($1, $2, $3, $4, $4) \
ON CONFLICT (fingerprint, place, user_group_id) DO UPDATE SET last_seen = excluded.last_seen \
WHERE fingerprints.last_seen < excluded.last_seen";

const NOTE_FINGERPRINT: &str = "\
INSERT INTO fingerprints (fingerprint, place, user_group_id, first_seen, last_seen) \
VALUES ($1, $2, $3, $4, $4) ON CONFLICT DO NOTHING";

/// Records permanently that a group had this token, which an observation may have recorded already.
pub(super) fn note_token(
    tx: &Tx<'_>,
    place: PlaceId,
    id: &UserGroupId,
    fingerprint: Fingerprint,
    at: Timestamp,
) -> Result<(), Fault> {
    Ok(tx.put(NOTE_FINGERPRINT, values![fingerprint, place, id, at])?)
}

/// Records permanently that a group had this token, and that it was seen.
pub(super) fn keep_token(
    tx: &Tx<'_>,
    place: PlaceId,
    id: &UserGroupId,
    fingerprint: Fingerprint,
    at: Timestamp,
) -> Result<(), Fault> {
    Ok(tx.put(KEEP_FINGERPRINT, values![fingerprint, place, id, at])?)
}

/// A row if the group has, or had, this token.
pub(super) const HAD: &str =
    "SELECT 1 FROM fingerprints WHERE fingerprint = $1 AND place = $2 AND user_group_id = $3";

const OWNERS: &str = "\
SELECT * FROM fingerprints f JOIN places p ON p.number = f.place \
LEFT JOIN user_groups g ON g.place = f.place AND g.user_group_id = f.user_group_id \
WHERE f.fingerprint = $1 \
ORDER BY is_current DESC, f.last_seen DESC, p.name, f.user_group_id";
