//! The history: who did what, as one line or one paragraph per entry.

use std::borrow::Cow;

use jiff::Timestamp;

use super::{passed, passed_title, rows, word};
use crate::{
    directory::{Mutation, Numbered},
    domain::{
        history::{Entry, changes_text},
        text::visible,
        when,
    },
};

const RESULT: usize = 4;

/// Entries of the history.
pub(crate) fn history(lines: &[Numbered<Entry>], now: Timestamp) -> String {
    let lines: Vec<_> = lines.iter().map(|line| row(&line.value, now)).collect();
    let header = [
        passed_title(),
        "BY",
        "ID",
        "WHAT",
        "RESULT",
        "FINGERPRINT",
        "DETAILS",
    ];
    rows(header, &lines, Some(RESULT))
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
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("  ")
}

const STATE: usize = 5;

/// Creates and updates whose outcome is open.
pub(crate) fn changes(changes: &[Mutation], now: Timestamp) -> String {
    let lines: Vec<_> = changes
        .iter()
        .map(|change| change_row(change, now))
        .collect();
    let header = [
        "NUMBER",
        passed_title(),
        "BY",
        "ID",
        "WHAT",
        "STATE",
        "CHANGES",
    ];
    rows(header, &lines, Some(STATE))
}

fn change_row(change: &Mutation, now: Timestamp) -> [String; 7] {
    let text = change
        .changes
        .as_ref()
        .map(|changes| changes_text(changes, "->"));
    [
        format!("m{}", change.id.0),
        passed(change.since(), now),
        visible(&change.by).into_owned(),
        change.user_group_id.to_string(),
        change.operation.as_str().to_owned(),
        word(change.state.as_str()),
        text.map_or_else(String::new, |text| visible(&text).into_owned()),
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
    let changes = entry
        .changes
        .as_ref()
        .map(|changes| changes_text(changes, "->"));
    [
        entry.reason.as_deref(),
        changes.as_deref(),
        entry.note.as_deref(),
    ]
    .into_iter()
    .flatten()
    .map(visible)
    .collect::<Vec<Cow<str>>>()
    .join("; ")
}
