//! Rows in columns: which columns fit into a width, how wide each is, and which rows fit into a height. Only the rows
//! of the window are drawn, so that a million groups cost no more than a screenful.

use std::{borrow::Cow, ops::Range};

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::paint;
use crate::tui::theme::Theme;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    #[default]
    Left,
    Right,
}

/// A column and its width requirements, in cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Column {
    pub title: Cow<'static, str>,
    pub min: u16,
    pub max: u16,
    pub align: Align,
    /// Columns with a high number are dropped first when there is little room; those with 0 never.
    pub priority: u8,
    /// Its texts are ids: long ones keep their beginning and end.
    pub is_id: bool,
    /// Its texts are sentences: long ones end after a word.
    pub is_sentence: bool,
    /// Set if the rows are sorted by this column; true: descending.
    pub order: Option<bool>,
}

impl Column {
    pub fn new(title: impl Into<Cow<'static, str>>, min: u16, max: u16, priority: u8) -> Self {
        Self {
            title: title.into(),
            min,
            max: max.max(min),
            priority,
            ..Self::default()
        }
    }

    #[must_use]
    pub fn id(mut self) -> Self {
        self.is_id = true;
        self
    }

    #[must_use]
    pub fn sentence(mut self) -> Self {
        self.is_sentence = true;
        self
    }

    #[must_use]
    pub fn right(mut self) -> Self {
        self.align = Align::Right;
        self
    }
}

/// One cell of a row; its style is applied on top of the style of the row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell<'a> {
    pub text: Cow<'a, str>,
    pub style: Style,
    /// Graphemes of the text to highlight, ascending, and the style.
    pub marks: (Vec<usize>, Style),
}

impl<'a> Cell<'a> {
    pub fn new(text: impl Into<Cow<'a, str>>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Applies a style to some graphemes of the text.
    #[must_use]
    pub fn marked(mut self, graphemes: Vec<usize>, style: Style) -> Self {
        self.marks = (graphemes, style);
        self
    }

    #[must_use]
    pub fn styled(mut self, style: Style) -> Self {
        self.style = style;
        self
    }
}

/// Columns fitted to a width.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    columns: Vec<Column>,
    /// `None`: this column does not fit.
    widths: Vec<Option<u16>>,
    gap: u16,
}

impl Layout {
    /// Adds columns by priority while their minimum widths fit, then lets all of them grow evenly up to their maximum.
    pub fn fit(columns: Vec<Column>, room: u16, gap: u16) -> Self {
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by_key(|&index| columns[index].priority);
        let mut widths = vec![None; columns.len()];
        let mut used = 0;
        for index in order {
            let column = &columns[index];
            let before = if used == 0 { 0 } else { gap };
            let left = room.saturating_sub(used + before);
            let width = if left >= column.min {
                column.min
            } else if column.priority == 0 && left > 0 {
                left
            } else {
                // A less important column must not take the space that a more important one did not get.
                break;
            };
            widths[index] = Some(width);
            used += before + width;
        }
        grow(&columns, &mut widths, room.saturating_sub(used));
        Self::of(columns, widths, gap)
    }

    /// Columns with these widths; `None` for those that are not shown.
    pub fn of(columns: Vec<Column>, widths: Vec<Option<u16>>, gap: u16) -> Self {
        Self {
            columns,
            widths,
            gap,
        }
    }

    /// Whether each column is as wide as in the other layout of the same columns.
    pub fn has_widths_of(&self, other: &Self) -> bool {
        self.widths == other.widths
    }

    /// Number of columns with content that do not fit.
    pub fn hidden(&self) -> usize {
        let columns = self.columns.iter().zip(&self.widths);
        let hidden = columns.filter(|(column, width)| width.is_none() && column.max > 0);
        hidden.count()
    }

    /// The column at this position in a row that starts at `area`.
    pub fn at(&self, area: Rect, x: u16) -> Option<usize> {
        let is_there = |column: &usize| {
            let cell = self.cell(area, *column);
            !cell.is_empty() && (cell.left()..cell.right() + self.gap).contains(&x)
        };
        (0..self.columns.len()).find(is_there)
    }

    /// Width from the first to the end of the last column, in cells.
    pub fn width(&self) -> u16 {
        let shown = self.widths.iter().flatten();
        let all: u16 = shown.map(|width| width + self.gap).sum();
        all.saturating_sub(self.gap)
    }

    /// Width from the first column to the end of the last title, in cells: a title is often shorter than its column.
    pub fn titles_width(&self) -> u16 {
        let shown = self.columns.iter().zip(&self.widths);
        let mut shown = shown.filter_map(|(column, width)| Some((column, (*width)?)));
        shown.next_back().map_or(0, |(column, width)| {
            let is_short = column.align == Align::Left && column.order.is_none();
            let title = paint::columns(&column.title) as u16;
            let blank = if is_short {
                width.saturating_sub(title)
            } else {
                0
            };
            self.width() - blank
        })
    }

    /// The area of a column in a row that starts at `area`; empty if the column does not fit.
    pub fn cell(&self, area: Rect, column: usize) -> Rect {
        let mut x = area.x;
        for (index, width) in self.widths.iter().enumerate() {
            let Some(width) = *width else {
                continue;
            };
            if index == column {
                return paint::first_cells(paint::from_column(paint::row(area, 0), x), width);
            }
            x = x.saturating_add(width + self.gap);
        }
        Rect { width: 0, ..area }
    }

    /// Draws the titles into the first row of an area.
    pub fn draw_header(&self, buffer: &mut Buffer, area: Rect, theme: Theme) {
        let columns = self.columns.iter().zip(&self.widths);
        let titles: Vec<Cell<'_>> = columns
            .map(|(column, width)| title(column, *width, theme))
            .collect();
        self.draw_row(buffer, area, &titles, theme.heading(), theme);
    }

    /// Draws one row into the first row of an area; long texts are cut at the end.
    pub fn draw_row(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        cells: &[Cell<'_>],
        style: Style,
        theme: Theme,
    ) {
        self.draw_between(buffer, area, 0..area.width, cells, style, theme);
    }

    /// Like [`Layout::draw_row`], but only the columns that begin between these cells of the area.
    pub fn draw_between(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        between: Range<u16>,
        cells: &[Cell<'_>],
        style: Style,
        theme: Theme,
    ) {
        let styled = paint::first_cells(paint::row(area, 0), between.end);
        buffer.set_style(paint::after_cells(styled, between.start), style);
        for (index, (cell, column)) in cells.iter().zip(&self.columns).enumerate() {
            let mut place = self.cell(area, index);
            if place.is_empty() || !between.contains(&(place.x - area.x)) {
                continue;
            }
            let room = place.width.into();
            let text = match (column.is_id, column.is_sentence) {
                (true, _) => paint::cut_id(&cell.text, room, theme),
                (false, true) => paint::words_that_fit(&cell.text, room, theme),
                (false, false) => paint::cut(&cell.text, room, theme),
            };
            if column.align == Align::Right {
                let free = place.width.saturating_sub(paint::columns(&text) as u16);
                place.x += free;
                place.width -= free;
            }
            let style = style.patch(cell.style);
            paint::text(buffer, place.x, place.y, place.width, &text, style);
            let (marks, style) = &cell.marks;
            if !marks.is_empty() {
                let shown = paint::sources(&cell.text, &text, theme);
                paint::overlay(buffer, place, &text, *style, |at| {
                    shown[at].is_some_and(|source| marks.binary_search(&source).is_ok())
                });
            }
        }
    }
}

/// The title of a column, with a sign if the rows are sorted by it.
fn title(column: &Column, width: Option<u16>, theme: Theme) -> Cell<'_> {
    let Some(is_falling) = column.order else {
        return Cell::new(&*column.title);
    };
    let signed = format!("{} {}", column.title, theme.order(is_falling));
    let title = if paint::columns(&signed) <= usize::from(width.unwrap_or(0)) {
        Cell::new(signed)
    } else {
        Cell::new(&*column.title)
    };
    title.styled(theme.focus())
}

/// One cell at a time in turn, so that no column starves.
fn grow(columns: &[Column], widths: &mut [Option<u16>], mut left: u16) {
    loop {
        let mut grew = false;
        for (column, width) in columns.iter().zip(widths.iter_mut()) {
            if let Some(width) = width
                && left > 0
                && *width < column.max
            {
                *width += 1;
                left -= 1;
                grew = true;
            }
        }
        if !grew {
            return;
        }
    }
}

/// The width of the widest text, but at most `limit`; for the maximum width of a column.
pub fn widest<'a>(texts: impl Iterator<Item = &'a str>, limit: u16) -> u16 {
    let widest = texts.map(paint::columns).max().unwrap_or(0);
    widest.min(usize::from(limit)) as u16
}

/// The rows to draw with the cursor in the middle if possible; for widgets that do not store their window.
pub fn centred(cursor: usize, rows: usize, height: u16) -> Range<usize> {
    let height = usize::from(height);
    let last = rows.saturating_sub(height);
    let top = cursor.saturating_sub(height / 2).min(last);
    top..(top + height).min(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::kit::testing::{THEME, screen};

    fn columns() -> Vec<Column> {
        vec![
            Column::new("NAME", 8, 20, 0),
            Column::new("ID", 6, 20, 1).id(),
            Column::new("TAG", 8, 8, 3),
            Column::new("MAP", 3, 3, 2).right(),
        ]
    }

    fn drawn(width: u16) -> String {
        let layout = Layout::fit(columns(), width, 1);
        screen(width, 2, |buffer, area| {
            layout.draw_header(buffer, area, THEME);
            let cells = ["Globex Retail", "globex\u{202e}", "Customer", "7"].map(Cell::new);
            layout.draw_row(buffer, paint::row(area, 1), &cells, Style::new(), THEME);
        })
    }

    #[test]
    fn columns_leave_by_priority_and_texts_are_cut_at_their_end() {
        insta::assert_snapshot!(drawn(60), @r"
        NAME                 ID                   TAG      MAP
        Globex Retail        globex\u{202e}       Customer   7
        ");
        insta::assert_snapshot!(drawn(28), @r"
        NAME     ID     TAG      MAP
        Globex…  glob…} Customer   7
        ");
        insta::assert_snapshot!(drawn(27), @r"
        NAME         ID         MAP
        Globex Reta… globex…2e}   7
        ");
        insta::assert_snapshot!(drawn(5), @r"
        NAME
        Glob…
        ");
    }

    #[test]
    fn rows_never_leave_their_width() {
        for width in 0..40 {
            let layout = Layout::fit(columns(), width, 2);
            let used: u16 = (0..4)
                .map(|c| layout.cell(Rect::new(0, 0, width, 1), c).right())
                .max()
                .unwrap_or(0);
            assert!(used <= width, "{used} of {width}");
            drawn(width);
        }
    }

    #[test]
    fn a_column_without_content_is_not_counted_as_hidden() {
        let mut columns = columns();
        columns.push(Column::new("", 0, 0, 4));
        assert_eq!(Layout::fit(columns.clone(), 60, 1).hidden(), 0);
        assert_eq!(Layout::fit(columns, 20, 1).hidden(), 1, "only the tag");
    }

    #[test]
    fn the_cursor_is_in_the_middle_if_it_can_be() {
        assert_eq!(centred(50, 100, 11), 45..56);
        assert_eq!(centred(0, 100, 11), 0..11);
        assert_eq!(centred(99, 100, 11), 89..100);
        assert_eq!(centred(1, 2, 5), 0..2);
        assert_eq!(centred(0, 0, 5), 0..0);
        assert_eq!(centred(3, 9, 0), 3..3);
    }
}
