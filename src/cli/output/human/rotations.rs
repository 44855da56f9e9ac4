//! Rotations and token owners as tables.

use jiff::Timestamp;

use super::{passed, passed_title, rows, word};
use crate::{
    domain::text::visible,
    operations::{RotationRow, TokenReport},
};

const STATE: usize = 1;

/// Rotations, one per line.
pub(crate) fn rotations<'a>(
    journal: impl IntoIterator<Item = &'a RotationRow>,
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
            passed(row.started_at, now),
            visible(&row.by).into_owned(),
            token,
            visible(row.reason.as_deref().unwrap_or_default()).into_owned(),
        ]
    });
    let header = [
        "ROTATION",
        "STATE",
        "ID",
        passed_title(),
        "BY",
        "FINGERPRINT",
        "REASON",
    ];
    rows(header, &lines.collect::<Vec<_>>(), Some(STATE))
}

/// Tokens and the groups that have or had them, one per line. If there are several tokens, each is identified by its
/// fingerprint.
pub(crate) fn answered_tokens(answered: &[TokenReport], now: Timestamp) -> String {
    let several = answered.len() > 1;
    let of = |answer: &TokenReport, cells: [String; 4]| {
        let [token, seen, environment, id] = cells;
        let name = if several {
            format!("{}  line {}", answer.fingerprint, answer.line)
        } else {
            String::new()
        };
        [name, token, seen, environment, id]
    };
    let lines = answered.iter().flat_map(|answer| {
        let known = answer.owners.iter().map(|owner| {
            let token = if owner.current { "current" } else { "former" };
            [
                token.to_owned(),
                passed(owner.last_seen, now),
                visible(&owner.environment).into_owned(),
                owner.user_group_id.to_string(),
            ]
        });
        let none = ["not in the directory", "", "", "-"].map(str::to_owned);
        let none = answer.owners.is_empty().then_some(none);
        known.chain(none).map(|cells| of(answer, cells))
    });
    let lines: Vec<_> = lines.collect();
    if several {
        return rows(
            ["FINGERPRINT", "TOKEN", "READ", "ENVIRONMENT", "ID"],
            &lines,
            None,
        );
    }
    let lines: Vec<_> = lines.into_iter().map(|[_, rest @ ..]| rest).collect();
    rows(["TOKEN", "READ", "ENVIRONMENT", "ID"], &lines, None)
}
