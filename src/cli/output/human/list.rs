//! The list: one line a group, in whatever room there is.

use std::time::Duration;

use comfy_table::{CellAlignment, ContentArrangement};
use jiff::Timestamp;

use super::{GAP, Tone, UNKNOWN, age, done, of, rows::paragraphs, table, terminal_width};
use crate::domain::{
    age::is_older,
    known::KnownGroup,
    text::{cut_middle, visible, width},
};

const SHORTEST_NAME: usize = 16;
const ROTATED: usize = 6;
const OLD: &str = " old";

/// Groups, one a line: ids whole, names cut in the middle, and what has no room left out from the right;
/// where not even both fit, the id stands below the name.
pub(crate) fn list(groups: &[KnownGroup], now: Timestamp, max_age: Option<Duration>) -> String {
    const HEADER: [&str; 8] = [
        "NAME", "ID", "TAG", "MAP", "PROPS", "TOKEN", "ROTATED~", "SEEN",
    ];
    let mut rows: Vec<[String; 8]> = groups
        .iter()
        .map(|group| row(group, now, max_age))
        .collect();
    let mut columns = HEADER.len();
    if let Some(terminal) = terminal_width() {
        let widest = |index: usize| {
            let cells = rows.iter().map(|row| width(&row[index]));
            cells.chain([width(HEADER[index])]).max().unwrap_or(0) + GAP
        };
        let widths: Vec<_> = (0..columns).map(widest).collect();
        let beside = |columns: usize| widths[1..columns].iter().sum::<usize>();
        while columns > 2 && beside(columns) + SHORTEST_NAME > terminal {
            columns -= 1;
        }
        if columns == 2 && beside(columns) + SHORTEST_NAME > terminal {
            let rows: Vec<_> = rows.into_iter().map(|[name, id, ..]| [name, id]).collect();
            return paragraphs(&rows, terminal);
        }
        let room = terminal.saturating_sub(beside(columns)).max(SHORTEST_NAME);
        for row in &mut rows {
            row[0] = cut_middle(&row[0], room, "...");
        }
    }
    let mut table = table(&HEADER[..columns]);
    table.set_content_arrangement(ContentArrangement::Disabled);
    for row in &rows {
        table.add_row(row[..columns].iter().enumerate().map(|(index, cell)| {
            let is_old = index == ROTATED && cell.ends_with(OLD);
            let tone = if is_old { Tone::Warning } else { Tone::Plain };
            tone.cell(cell)
        }));
    }
    for index in [3, 4] {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    done(&table)
}

fn row(group: &KnownGroup, now: Timestamp, max_age: Option<Duration>) -> [String; 8] {
    let is_old = max_age.is_some_and(|limit| is_older(group, limit, now));
    [
        of(group.name.as_ref(), |name| visible(name).into_owned()),
        group.id.to_string(),
        of(group.environment_tag.as_ref(), ToString::to_string),
        of(group.mapping.as_ref(), |mapping| mapping.len().to_string()),
        of(group.properties.as_ref(), |properties| {
            properties.len().to_string()
        }),
        of(group.fingerprint.as_ref(), ToString::to_string),
        group.last_rotated.as_ref().map_or(UNKNOWN.into(), |last| {
            let old = if is_old { OLD } else { "" };
            format!("{}{old}", age(last.at, now))
        }),
        group.last_seen.map_or(UNKNOWN.into(), |at| age(at, now)),
    ]
}
