//! Rotations and owners of tokens as tables.

use jiff::Timestamp;

use super::{age, rows, word};
use crate::{
    domain::text::visible,
    operations::{JournalRow, Owner},
};

const STATE: usize = 1;

/// Rotations, one a line.
pub(in crate::cli) fn rotations<'a>(
    journal: impl IntoIterator<Item = &'a JournalRow>,
    now: Timestamp,
) -> String {
    let lines = journal.into_iter().map(|row| {
        let token = match row.rotation.fingerprint {
            Some(new) => format!("{} -> {new}", row.rotation.previous),
            None => row.rotation.previous.to_string(),
        };
        [
            row.id.0.to_string(),
            word(row.rotation.state.as_str()),
            row.user_group_id.to_string(),
            age(row.started_at, now),
            visible(&row.by).into_owned(),
            token,
            visible(row.reason.as_deref().unwrap_or_default()).into_owned(),
        ]
    });
    let header = ["ROTATION", "STATE", "ID", "AGE", "WHO", "TOKEN", "WHY"];
    rows(header, &lines.collect::<Vec<_>>(), Some(STATE))
}

/// Groups that have or had a token, one a line.
pub(in crate::cli) fn owners(owners: &[Owner], now: Timestamp) -> String {
    let lines = owners.iter().map(|owner| {
        [
            if owner.current { "current" } else { "former" }.to_owned(),
            age(owner.last_seen, now),
            visible(&owner.profile).into_owned(),
            owner.user_group_id.to_string(),
        ]
    });
    let header = ["TOKEN", "SEEN", "PROFILE", "ID"];
    rows(header, &lines.collect::<Vec<_>>(), None)
}
