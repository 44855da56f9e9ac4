//! Rows under a cursor: the header, the rows of the window, `>` and reverse for the row of the cursor.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{
    columns::{Cell, Column, Layout},
    paint,
    scroll::Cursor,
};
use crate::tui::theme::Theme;

/// From this width on there is room for wider gaps.
const WIDE: u16 = 90;
/// Columns of the gutter with the cursor.
const GUTTER: u16 = 2;
/// Columns of the gutter with the cursor and the marks.
const MARKS: u16 = 3;

/// Draws a table into an area. `columns` sees the rows of the window, so that it can fit them; `cells` is told whether
/// the cursor is on the row, whose reverse style colours would spoil. `hint` stands where there are no rows.
pub fn draw<'a, R>(
    buffer: &mut Buffer,
    area: Rect,
    (rows, cursor): (&'a [R], &Cursor),
    columns: impl Fn(&'a [R]) -> Vec<Column>,
    cells: impl Fn(&'a R, bool) -> Vec<Cell<'a>>,
    hint: &str,
    theme: Theme,
) {
    let rows = (rows, cursor);
    draw_in(buffer, area, rows, columns, cells, None, hint, theme);
}

/// As [`draw`], with a `*` in the gutter of the rows that are marked.
#[expect(clippy::too_many_arguments, reason = "one place draws every table")]
pub fn draw_marked<'a, R>(
    buffer: &mut Buffer,
    area: Rect,
    (rows, cursor): (&'a [R], &Cursor),
    columns: impl Fn(&'a [R]) -> Vec<Column>,
    cells: impl Fn(&'a R, bool) -> Vec<Cell<'a>>,
    is_marked: impl Fn(&'a R) -> bool,
    hint: &str,
    theme: Theme,
) {
    let rows = (rows, cursor);
    let marks: Option<&dyn Fn(&'a R) -> bool> = Some(&is_marked);
    draw_in(buffer, area, rows, columns, cells, marks, hint, theme);
}

#[expect(clippy::too_many_arguments, reason = "one place draws every table")]
fn draw_in<'a, R>(
    buffer: &mut Buffer,
    area: Rect,
    (rows, cursor): (&'a [R], &Cursor),
    columns: impl Fn(&'a [R]) -> Vec<Column>,
    cells: impl Fn(&'a R, bool) -> Vec<Cell<'a>>,
    is_marked: Option<&dyn Fn(&'a R) -> bool>,
    hint: &str,
    theme: Theme,
) {
    let gutter = if is_marked.is_some() { MARKS } else { GUTTER };
    if area.height < 2 {
        return;
    }
    let height = usize::from(area.height) - 1;
    let first = cursor.first(rows.len(), height).min(rows.len());
    let window = &rows[first..(first + height).min(rows.len())];
    let text = Rect {
        x: area.x + gutter.min(area.width),
        // The marks take the place of the gap at the right edge.
        width: area.width.saturating_sub(GUTTER + 1),
        ..area
    };
    let gap = if area.width < WIDE { 1 } else { 2 };
    let layout = Layout::fit(columns(window), text.width, gap);
    layout.draw_header(buffer, paint::row(text, 0), theme);
    if window.is_empty() {
        paint::line(buffer, paint::row(text, 1), hint, theme.dim(), theme);
    }
    for (index, row) in window.iter().enumerate() {
        let line = index as u16 + 1;
        let here = first + index == cursor.at;
        let style = if here {
            theme.cursor_row()
        } else {
            Style::new()
        };
        let whole = paint::row(area, line);
        if here {
            buffer.set_style(whole, style);
            paint::text(buffer, whole.x, whole.y, 1, ">", style);
        }
        if is_marked.is_some_and(|is_marked| is_marked(row)) {
            paint::text(buffer, whole.x + 1, whole.y, 1, "*", style);
        }
        layout.draw_row(
            buffer,
            paint::row(text, line),
            &cells(row, here),
            style,
            theme,
        );
    }
}
