//! Draws a page of rows: the line of the filter, the table, the details below it.
//!
//! What a list says of itself: while it is read, if that failed, if there is nothing, and if nothing matches.

use std::borrow::Cow;

use ratatui::prelude::{Buffer, Position, Rect, Style};

use super::{ListPage, Rows};
use crate::{
    search::RowQuery,
    tui::{
        keymap::Action,
        kit::{
            Cell, Column, TextPage, below, page as page_box, paint, popup, table, titled,
            titled_rows, with_details,
        },
        state::Context,
    },
};

/// Cells of the rule beside its title.
const TITLE_ROOM: usize = 8;
/// Up to this width, an id is whole while any other column is shown.
const WHOLE_ID: u16 = 40;

/// A column: its title, the limits of its width, and its cell of a row. The widest visible cell decides the width.
pub struct Col<R> {
    column: Column,
    /// It gives way to no other column up to this width.
    kept: u16,
    /// It is left out while all its cells are empty.
    is_optional: bool,
    is_spread: bool,
    cell: for<'a> fn(&'a R, &'a Context) -> Cell<'a>,
}

/// A column; those with a high priority are left out first.
pub fn col<R>(
    title: &'static str,
    (least, most): (u16, u16),
    priority: u8,
    cell: for<'a> fn(&'a R, &'a Context) -> Cell<'a>,
) -> Col<R> {
    Col {
        column: Column::new(title, least, most, priority),
        kept: least,
        is_optional: false,
        is_spread: false,
        cell,
    }
}

impl<R> Col<R> {
    #[must_use]
    pub fn right(mut self) -> Self {
        self.column = self.column.right();
        self
    }

    #[must_use]
    pub fn id(mut self) -> Self {
        self.column = self.column.id();
        self.kept = WHOLE_ID;
        self
    }

    #[must_use]
    pub fn sentence(mut self) -> Self {
        self.column = self.column.sentence();
        self
    }

    /// Up to this width it gives way to no other column.
    #[must_use]
    pub fn kept(mut self, cells: u16) -> Self {
        self.kept = cells;
        self
    }

    /// It grows up to its most, whatever its cells are.
    #[must_use]
    pub fn spread(mut self) -> Self {
        self.is_spread = true;
        self
    }

    #[must_use]
    pub fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    pub(super) fn text<'a>(&self, row: &'a R, context: &'a Context) -> Cow<'a, str> {
        (self.cell)(row, context).text
    }

    fn fitted(&self, rows: &[&R], context: &Context) -> Column {
        let cells = rows
            .iter()
            .map(|row| paint::columns(&self.text(row, context)));
        let widest = cells.max().unwrap_or(0) as u16;
        let mut column = self.column.clone();
        if self.is_optional && widest == 0 {
            (column.min, column.max) = (0, 0);
            column.title = "".into();
            return column;
        }
        let least = column.min;
        if !self.is_spread {
            column.max = widest.clamp(least, column.max);
        }
        column.min = widest.clamp(least, self.kept.max(least)).min(column.max);
        column
    }
}

impl<R: Rows> ListPage<R> {
    pub(super) fn draw_page(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        context: &Context,
    ) -> Option<Position> {
        let theme = context.theme;
        if let Some(whole) = &self.whole {
            let inner = page_box(buffer, area, &whole.title(), theme);
            let mut page = TextPage::new(inner.width, theme);
            whole.write(&mut page, context);
            page.draw(buffer, inner, self.scroll.at);
            return None;
        }
        if let Some(width) = R::BOX {
            self.draw_box(buffer, area, width, context);
            return None;
        }
        let (mut area, mut cursor) = (area, None);
        if self.filter.is_on() {
            let rows;
            (rows, cursor) = self.filter.draw(buffer, area, self.remark(context), theme);
            area = below(area, rows);
        }
        let (rows, below) = with_details(area, R::detail_rows(self, context));
        if !R::draw_rows(self, buffer, rows, context) {
            self.draw_table(buffer, rows, context);
        }
        if below.height == 0 || R::draw_below(self, buffer, below, context) {
            return cursor;
        }
        if let Some(row) = self.selected(context) {
            let mut page = TextPage::new(below.width.saturating_sub(2), theme);
            let title = self.kind.describe(row, &mut page, context);
            let room = usize::from(below.width).saturating_sub(TITLE_ROOM);
            let title = paint::words_that_fit(&title, room, theme);
            let inner = titled(buffer, below, &title, false, theme);
            page.draw_still(buffer, inner);
        }
        cursor
    }

    fn draw_box(&self, buffer: &mut Buffer, area: Rect, width: u16, context: &Context) {
        let rows = self.shown(context);
        let size = (width, rows.len() as u16 + 2);
        let inner = popup(buffer, area, size, R::PLACE.page(), context.theme);
        let height = usize::from(inner.height);
        let first = self.cursor.first(rows.len(), height);
        for (at, row) in rows.into_iter().enumerate().skip(first).take(height) {
            let line = paint::row(inner, (at - first) as u16);
            let (mark, style) = context.theme.choice(at == self.cursor.at);
            let text = format!("{mark}{}", R::line(row, context));
            buffer.set_style(line, style);
            paint::line(buffer, line, &text, style, context.theme);
        }
    }

    fn draw_table(&self, buffer: &mut Buffer, area: Rect, context: &Context) {
        let theme = context.theme;
        let rows = self.shown(context);
        let mut columns = self.kind.columns();
        let mut gone = 0;
        columns.retain(|column| {
            let is_gone = column.column.priority > 0 && gone < self.scrolled;
            gone += usize::from(is_gone);
            !is_gone
        });
        let area = titled_rows(buffer, area, &self.kind.heading(), true, theme);
        let nothing = if rows.is_empty() {
            self.nothing(context)
        } else {
            String::new()
        };
        let cells = |row: &&R::Row, is_plain| {
            let cell = |column: &Col<R::Row>| {
                let cell = (column.cell)(row, context);
                let style = if is_plain { Style::new() } else { cell.style };
                Cell::new(cell.text.into_owned()).styled(style)
            };
            columns.iter().map(cell).collect()
        };
        let fitted = |window: &[&R::Row]| {
            let fitted = columns.iter().map(|column| column.fitted(window, context));
            fitted.collect()
        };
        let rows = (&rows[..], &self.cursor);
        let key = context.keys.key(R::PLACE, Action::ScrollRight);
        let scrolled = (self.scrolled, key.as_str());
        let more =
            table::draw_scrolled(buffer, area, rows, fitted, cells, &nothing, scrolled, theme);
        self.hidden.set(more);
    }
}

impl<R: Rows> ListPage<R> {
    /// The right of line 2.
    pub(super) fn state(&self, context: &Context) -> String {
        let key = context.keys.key(R::PLACE, Action::Refresh);
        let is_stored = self.kind.job().is_some();
        if let Some(working) = R::WORKING.filter(|_| self.working.is_waiting()) {
            working.into()
        } else if self.reading.is_waiting() && self.read_at.is_none() {
            "reading".into()
        } else if let Some(at) = self
            .read_at
            .filter(|_| is_stored && context.is_directory_lost())
        {
            format!("from memory, read {}", context.when(at))
        } else if self.failed.is_some() {
            format!("not read, {key} reads again")
        } else if self.filter.is_empty() {
            R::status(self, context)
        } else {
            let (shown, all) = (self.shown(context).len(), self.unfiltered(context).len());
            let missing = R::what_is_missing(self, context);
            format!("{shown} of {all}{missing}")
        }
    }

    /// What is shown instead of rows if there are none.
    pub fn nothing(&self, context: &Context) -> String {
        let key = context.keys.key(R::PLACE, Action::Refresh);
        if self.reading.is_waiting() && self.read_at.is_none() {
            let waiting = context.waiting(self.reading.ticket());
            return waiting.map_or_else(|| "Reading the directory".into(), |line| line.whole());
        }
        if let Some(why) = &self.failed {
            return format!("Not read, {key} reads again: {why}");
        }
        if self.read_at.is_none() {
            return format!("Not read. {key} reads it");
        }
        // Without the filter there would be rows, or this is why there are none.
        let more = if !self.unfiltered(context).is_empty() {
            match R::TESTS {
                [] => String::new(),
                tests => format!("Also possible: {}", RowQuery::examples(tests)),
            }
        } else if !self.kind.all(context).is_empty() {
            R::when_none_shown(self, context)
        } else {
            self.kind.when_empty(context)
        };
        if self.filter.is_empty() || self.unfiltered(context).is_empty() {
            return more;
        }
        let clear = context.keys.key(R::PLACE, Action::Back);
        let filter = self.filter.nothing_matches(&clear);
        let parts = [filter, more];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(". ")
    }

    /// What of the filter is not understood.
    pub(super) fn remark(&self, context: &Context) -> Option<&str> {
        let query = &self.query;
        let doubtful = query.doubtful.first();
        let doubtful = doubtful.filter(|_| self.shown(context).is_empty());
        let remark = query.wrong.first().or(doubtful)?;
        let is_worth = !self.filter.is_hidden() && !self.unfiltered(context).is_empty();
        is_worth.then_some(remark.as_str())
    }
}
