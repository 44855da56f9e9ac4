//! The history: a table where there is room, else a paragraph a line of it.

use std::borrow::Cow;

use comfy_table::{ColumnConstraint, ContentArrangement, Width};
use jiff::Timestamp;

use super::{GAP, age, done, table, terminal_width};
use crate::{
    directory::Numbered,
    domain::{
        history::{Entry, changes_text},
        text::{visible, width, wrap},
    },
};

/// Narrower than this the story stands below its line, not beside it.
const SHORTEST_STORY: usize = 24;
const HEADER: [&str; 7] = [
    "AGE",
    "WHO",
    "ID",
    "WHAT",
    "RESULT",
    "TOKEN",
    "WHY AND WHAT",
];
const STORY: usize = HEADER.len() - 1;

/// Lines of the history.
pub(in crate::cli) fn history(lines: &[Numbered<Entry>], now: Timestamp) -> String {
    let rows: Vec<_> = lines.iter().map(|line| row(&line.value, now)).collect();
    let widest = |index: usize| {
        let cells = rows.iter().map(|row| width(&row[index]));
        cells.chain([width(HEADER[index])]).max().unwrap_or(0)
    };
    let beside: usize = (0..STORY).map(|index| widest(index) + GAP).sum();
    let room = terminal_width().map_or(usize::MAX, |terminal| terminal.saturating_sub(beside));
    if room < SHORTEST_STORY.min(widest(STORY)) {
        return paragraphs(&rows, beside.saturating_add(room));
    }
    let mut table = table(&HEADER);
    table.set_content_arrangement(ContentArrangement::Disabled);
    for row in &rows {
        table.add_row(row);
    }
    if widest(STORY) > room
        && let Some(column) = table.column_mut(STORY)
    {
        // The gap is part of a column, and the last one has no use for all of it.
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(room as u16 + 1)));
    }
    done(&table)
}

/// For narrow terminals.
fn paragraphs(rows: &[[String; HEADER.len()]], terminal: usize) -> String {
    let mut text = String::new();
    for row in rows {
        let head = row[..STORY].iter().filter(|cell| !cell.is_empty());
        let head = head.map(String::as_str).collect::<Vec<_>>().join("  ");
        let story = wrap(&row[STORY], terminal.saturating_sub(4));
        let indented = story.iter().filter(|line| !line.is_empty());
        let lines = wrap(&head, terminal).into_iter();
        for line in lines.chain(indented.map(|line| format!("    {line}"))) {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

fn row(entry: &Entry, now: Timestamp) -> [String; HEADER.len()] {
    let token = match (&entry.previous_fingerprint, &entry.fingerprint) {
        (Some(before), Some(after)) if before != after => format!("{before} -> {after}"),
        (_, Some(now)) => now.to_string(),
        (Some(before), None) => before.to_string(),
        (None, None) => String::new(),
    };
    [
        age(entry.at, now),
        visible(&entry.by).into_owned(),
        entry.user_group_id.to_string(),
        entry.operation.as_str().to_owned(),
        entry.ending.as_str().replace('_', " "),
        token,
        story(entry),
    ]
}

fn story(entry: &Entry) -> String {
    let changes = entry.changes.as_ref().map(changes_text);
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
