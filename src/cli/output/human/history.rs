//! The history: who did what, as one line or one paragraph per entry; rotations and token owners as tables.

use super::{passed, passed_title, rows, word};
use crate::{
    cli::prelude::*,
    directory::{Mutation, Numbered},
    domain::history::{Entry, changes_text},
    operations::{RotationRow, TokenReport},
};

const RESULT: usize = 4;

/// Entries of the history.
pub(crate) fn history(lines: &[Numbered<Entry>], now: Timestamp) -> String {
    let header = [
        passed_title(),
        "BY",
        "ID",
        "WHAT",
        "RESULT",
        "FINGERPRINT",
        "DETAILS",
    ];
    let lines = lines.iter().map(|line| row(&line.value, now));
    rows(header, lines, Some(RESULT))
}

/// One entry with its time, for output as it comes. Later entries are not known yet, so nothing is aligned.
pub(crate) fn history_line(entry: &Entry) -> String {
    let [_, who, id, what, result, token, story] = row(entry, entry.at);
    let at = when::second(entry.at);
    let parts = [
        at,
        who,
        visible(&id).into_owned(),
        format!("{what} {result}"),
        token,
        story,
    ];
    joined(parts.into_iter().filter(|part| !part.is_empty()), "  ")
}

const CHANGE_STATE: usize = 5;

/// Creates and updates whose outcome is open.
pub(crate) fn changes(changes: &[Mutation], now: Timestamp) -> String {
    let header = [
        "NUMBER",
        passed_title(),
        "BY",
        "ID",
        "WHAT",
        "STATE",
        "CHANGES",
    ];
    let lines = changes.iter().map(|change| change_row(change, now));
    rows(header, lines, Some(CHANGE_STATE))
}

fn change_row(change: &Mutation, now: Timestamp) -> [String; 7] {
    let changes = change.changes.as_ref();
    let text = changes.map(|changes| changes_text(changes, "->"));
    [
        format!("m{}", change.id.0),
        passed(change.since(), now),
        visible(&change.by).into_owned(),
        change.user_group_id.to_string(),
        change.operation.as_str().to_owned(),
        word(change.state.as_str()),
        visible(&text.unwrap_or_default()).into_owned(),
    ]
}

fn row(entry: &Entry, now: Timestamp) -> [String; 7] {
    let token = match (&entry.previous_fingerprint, &entry.fingerprint) {
        (Some(before), Some(after)) if before != after => format!("{before} -> {after}"),
        (_, Some(now)) => now.to_string(),
        (Some(before), None) => before.to_string(),
        (None, None) => String::new(),
    };
    [
        passed(entry.at, now),
        visible(&entry.by).into_owned(),
        entry.user_group_id.to_string(),
        entry.operation.as_str().to_owned(),
        word(entry.ending.as_str()),
        token,
        story(entry),
    ]
}

fn story(entry: &Entry) -> String {
    let changes = entry.changes.as_ref();
    let changes = changes.map(|changes| changes_text(changes, "->"));
    let (reason, note) = (entry.reason.as_deref(), entry.note.as_deref());
    let parts = [reason, changes.as_deref(), note].into_iter().flatten();
    joined(parts.map(visible), "; ")
}

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
    rows(header, lines, Some(STATE))
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
        let none = ["not in the directory", "-", "-", "-"].map(str::to_owned);
        let none = answer.owners.is_empty().then_some(none);
        known.chain(none).map(|cells| of(answer, cells))
    });
    if several {
        let header = ["FINGERPRINT", "TOKEN", "READ", "ENVIRONMENT", "ID"];
        return rows(header, lines, None);
    }
    let lines = lines.map(|[_, rest @ ..]| rest);
    rows(["TOKEN", "READ", "ENVIRONMENT", "ID"], lines, None)
}
