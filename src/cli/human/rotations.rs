//! Rotations and owners of tokens as tables.

use comfy_table::ContentArrangement;
use jiff::Timestamp;

use super::{age, done, table, word};
use crate::{
    domain::text::visible,
    operations::{JournalRow, Owner},
};

/// Rotations, one a line.
pub(in crate::cli) fn rotations<'a>(
    rows: impl IntoIterator<Item = &'a JournalRow>,
    now: Timestamp,
) -> String {
    let mut table = table(&["ROTATION", "STATE", "ID", "AGE", "WHO", "TOKEN", "WHY"]);
    for row in rows {
        let token = match row.rotation.fingerprint {
            Some(new) => format!("{} -> {new}", row.rotation.previous),
            None => row.rotation.previous.to_string(),
        };
        table.add_row([
            row.id.0.to_string(),
            word(row.rotation.state.as_str()),
            row.user_group_id.to_string(),
            age(row.started_at, now),
            visible(&row.by).into_owned(),
            token,
            visible(row.reason.as_deref().unwrap_or_default()).into_owned(),
        ]);
    }
    done(&table)
}

/// Groups that have or had a token, one a line.
pub(in crate::cli) fn owners(owners: &[Owner], now: Timestamp) -> String {
    let mut table = table(&["TOKEN", "PROFILE", "ID", "SEEN"]);
    table.set_content_arrangement(ContentArrangement::Disabled);
    for owner in owners {
        table.add_row([
            if owner.current { "current" } else { "former" }.to_owned(),
            visible(&owner.profile).into_owned(),
            owner.user_group_id.to_string(),
            age(owner.last_seen, now),
        ]);
    }
    done(&table)
}
