//! The list: one line per group, in the available width. Callers pass the groups twice, in chunks: first to be
//! measured, then to be written, so that a long list is never held in memory as a whole.

use std::time::Duration;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width};
use jiff::Timestamp;

use super::{
    GAP, Tone,
    columns::{Column, Columns, Listed},
    done,
    rows::paragraphs,
    table, terminal_width,
};
use crate::domain::{
    age::is_older,
    text::{cut_middle, width},
};

const SHORTEST_NAME: usize = 16;

/// Groups, one per line. Ids are printed whole, names are cut in the middle, and columns that do not fit are dropped
/// from the right. If not even two columns fit, the second goes on a line below the first.
pub(crate) struct List {
    now: Timestamp,
    max_age: Option<Duration>,
    terminal: Option<usize>,
    columns: Vec<Column>,
    /// The column that is cut if there is too little room.
    cut: Option<usize>,
    /// The width of the widest text of each column, in cells.
    widest: Vec<usize>,
    has_header: bool,
}

impl List {
    /// A wide list takes all the room it needs.
    pub(crate) fn new(
        columns: Columns,
        is_wide: bool,
        now: Timestamp,
        max_age: Option<Duration>,
    ) -> Self {
        let columns = columns.shown;
        let place = |column: Column| columns.iter().position(|known| *known == column);
        Self {
            now,
            max_age,
            terminal: terminal_width().filter(|_| !is_wide),
            cut: place(Column::Name).or_else(|| place(Column::Note)),
            widest: columns
                .iter()
                .map(|column| width(&column.title()))
                .collect(),
            columns,
            has_header: false,
        }
    }

    /// Sets the time that ages are relative to.
    pub(crate) fn at(&mut self, now: Timestamp) {
        self.now = now;
    }

    /// Widens the columns for groups that will be written.
    pub(crate) fn measure(&mut self, groups: &[Listed]) {
        for listed in groups {
            for at in 0..self.columns.len() {
                let cells = width(&self.cell(at, listed));
                self.widest[at] = self.widest[at].max(cells);
            }
        }
    }

    fn cell(&self, at: usize, (group, beside): &Listed) -> String {
        self.columns[at].cell(group, beside.as_ref(), (self.now, self.max_age))
    }

    /// The number of columns that fit, and the width of the column that is cut; `None` if not even two fit.
    fn fitting(&self) -> Option<(usize, usize)> {
        let all = self.columns.len();
        let Some(terminal) = self.terminal else {
            return Some((all, usize::MAX));
        };
        let cut = |columns: usize| self.cut.filter(|at| *at < columns);
        let beside = |columns: usize| {
            let others = (0..columns).filter(|at| cut(columns) != Some(*at));
            let cells: usize = others.map(|at| self.widest[at] + GAP).sum();
            let gap = if cut(columns).is_some() { 0 } else { GAP };
            cells.saturating_sub(gap)
        };
        let least = |columns: usize| cut(columns).map_or(0, |_| SHORTEST_NAME);
        let mut columns = all;
        while columns > 2 && beside(columns) + least(columns) > terminal {
            columns -= 1;
        }
        let room = terminal.saturating_sub(beside(columns));
        let is_enough = columns != 2 || beside(columns) + least(columns) <= terminal;
        is_enough.then_some((columns, room.max(SHORTEST_NAME)))
    }

    /// The lines of these groups. The first call also writes the header.
    pub(crate) fn lines(&mut self, groups: &[Listed]) -> String {
        let Some((columns, room)) = self.fitting() else {
            let rows = groups
                .iter()
                .map(|listed| [self.cell(0, listed), self.cell(1, listed)]);
            return paragraphs(
                &rows.collect::<Vec<_>>(),
                self.terminal.unwrap_or(usize::MAX),
            );
        };
        let mut widths = self.widest[..columns].to_vec();
        let cut = self.cut.filter(|at| *at < columns);
        if let Some(at) = cut {
            widths[at] = widths[at].min(room);
        }
        let is_first = !std::mem::replace(&mut self.has_header, true);
        let titles: Vec<String> = self.columns[..columns].iter().map(Column::title).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        let mut table = table(if is_first { &titles } else { &[] });
        table.set_content_arrangement(ContentArrangement::Disabled);
        for listed in groups {
            table.add_row((0..columns).map(|at| {
                let mut cell = self.cell(at, listed);
                if cut == Some(at) {
                    cell = cut_middle(&cell, widths[at], "...");
                }
                let limit = self.max_age.filter(|_| self.columns[at] == Column::Age);
                let is_old = limit.is_some_and(|limit| is_older(&listed.0, limit, self.now));
                let tone = if is_old { Tone::Warning } else { Tone::Plain };
                tone.cell(&cell)
            }));
        }
        for (at, width) in widths.into_iter().enumerate() {
            if let Some(column) = table.column_mut(at) {
                let width = Width::Fixed(u16::try_from(width + GAP).unwrap_or(u16::MAX));
                column.set_constraint(ColumnConstraint::Absolute(width));
                if matches!(self.columns[at], Column::Map | Column::Props) {
                    column.set_cell_alignment(CellAlignment::Right);
                }
            }
        }
        done(&table)
    }
}
