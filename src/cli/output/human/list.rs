//! The list: one line a group, in whatever room there is. Its groups come twice, some at a time: first to be measured,
//! then to be written, so that a long list is never held as a whole.

use std::time::Duration;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width};
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

const HEADER: [&str; 8] = [
    "NAME", "ID", "TAG", "MAP", "PROPS", "TOKEN", "ROTATED~", "SEEN",
];

/// Groups, one a line: ids whole, names cut in the middle, and what has no room left out from the right;
/// where not even both fit, the id stands below the name.
pub(crate) struct List {
    now: Timestamp,
    max_age: Option<Duration>,
    terminal: Option<usize>,
    /// Cells of the widest text of each column.
    widest: [usize; 8],
    has_header: bool,
}

impl List {
    pub(crate) fn new(now: Timestamp, max_age: Option<Duration>) -> Self {
        Self {
            now,
            max_age,
            terminal: terminal_width(),
            widest: HEADER.map(width),
            has_header: false,
        }
    }

    /// Makes room for groups that will be written.
    pub(crate) fn measure(&mut self, groups: &[KnownGroup]) {
        for group in groups {
            let row = row(group, self.now, self.max_age);
            for (widest, cell) in self.widest.iter_mut().zip(&row) {
                *widest = (*widest).max(width(cell));
            }
        }
    }

    /// Their lines; the first ones with the header.
    pub(crate) fn lines(&mut self, groups: &[KnownGroup]) -> String {
        let rows = groups
            .iter()
            .map(|group| row(group, self.now, self.max_age));
        let mut columns = HEADER.len();
        let mut widths = self.widest;
        if let Some(terminal) = self.terminal {
            let beside = |columns: usize| {
                let others = self.widest[1..columns].iter();
                others.map(|cells| cells + GAP).sum::<usize>()
            };
            while columns > 2 && beside(columns) + SHORTEST_NAME > terminal {
                columns -= 1;
            }
            if columns == 2 && beside(columns) + SHORTEST_NAME > terminal {
                let rows: Vec<_> = rows.map(|[name, id, ..]| [name, id]).collect();
                return paragraphs(&rows, terminal);
            }
            let room = terminal.saturating_sub(beside(columns)).max(SHORTEST_NAME);
            widths[0] = widths[0].min(room);
        }
        let is_first = !std::mem::replace(&mut self.has_header, true);
        let mut table = table(if is_first { &HEADER[..columns] } else { &[] });
        table.set_content_arrangement(ContentArrangement::Disabled);
        for mut row in rows {
            row[0] = cut_middle(&row[0], widths[0], "...");
            table.add_row(row[..columns].iter().enumerate().map(|(index, cell)| {
                let is_old = index == ROTATED && cell.ends_with(OLD);
                let tone = if is_old { Tone::Warning } else { Tone::Plain };
                tone.cell(cell)
            }));
        }
        for (index, width) in widths.into_iter().enumerate() {
            if let Some(column) = table.column_mut(index) {
                let width = Width::Fixed((width + GAP) as u16);
                column.set_constraint(ColumnConstraint::Absolute(width));
                if matches!(index, 3 | 4) {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        done(&table)
    }
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
