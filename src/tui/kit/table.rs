//! Rows with a cursor: the header, the rows of the window, `>` and the style of the cursor's row.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{
    columns::{Cell, Column, Layout},
    paint,
    scroll::Cursor,
};
use crate::tui::theme::Theme;

/// From the first width on, gaps are wider; in tables with flags, whose columns have fixed places, from the second.
const WIDE_WIDTH: (u16, u16) = (90, 70);
/// Width of the gutter with the cursor.
const GUTTER: u16 = 2;
/// Width of the gutter with the cursor, a mark, a flag, and a blank or the sign of a row that does not match any more.
const FLAGS: u16 = 4;

/// Cells of a row that are highlighted under the cursor: each of them is written twice when the cursor moves on.
const HIGHLIGHT_WIDTH: u16 = 100;

/// What precedes a row, beside the cursor.
#[derive(Debug, Clone, Default)]
pub struct Gutter {
    pub is_marked: bool,
    pub flag: Option<(&'static str, Style)>,
    /// It does not match the filter any more.
    pub is_unmatched: bool,
    /// Text at the end of the row that replaces its last columns.
    pub overlay: Option<(String, Style)>,
}

/// Number of blank cells between the columns of a table with flags.
pub fn gap(width: u16) -> u16 {
    if width < WIDE_WIDTH.1 { 1 } else { 2 }
}

/// The area of the columns in a table with flags.
pub fn after_flags(area: Rect) -> Rect {
    after_gutter(area, FLAGS)
}

fn after_gutter(area: Rect, gutter: u16) -> Rect {
    Rect {
        x: area.x + gutter.min(area.width),
        width: area.width.saturating_sub(gutter),
        ..area
    }
}

/// Draws a table into an area. `columns` gets the rows of the window, so that it can fit them; `cells` is told whether
/// the cursor is on the row and colours would spoil its reverse style. `hint` is shown if there are no rows.
pub fn draw<'a, R>(
    buffer: &mut Buffer,
    area: Rect,
    (rows, cursor): (&'a [R], &Cursor),
    columns: impl Fn(&'a [R]) -> Vec<Column>,
    cells: impl Fn(&'a R, bool) -> Vec<Cell<'a>>,
    hint: &str,
    theme: Theme,
) {
    let width = area.width.saturating_sub(GUTTER + 1);
    let gap = if area.width < WIDE_WIDTH.0 { 1 } else { 2 };
    let layout = |window| Layout::fit(columns(window), width, gap);
    let rows = (rows, cursor);
    draw_in(buffer, area, rows, layout, cells, None, hint, theme);
}

/// Like [`draw`], with a given layout, and with marks and flags in the gutter.
#[expect(clippy::too_many_arguments, reason = "one place draws every table")]
pub fn draw_flagged<'a, R>(
    buffer: &mut Buffer,
    area: Rect,
    (rows, cursor): (&'a [R], &Cursor),
    layout: &Layout,
    cells: impl Fn(&'a R, bool) -> Vec<Cell<'a>>,
    gutter: impl Fn(&'a R) -> Gutter,
    hint: &str,
    theme: Theme,
) {
    let rows = (rows, cursor);
    let layout = |_| layout.clone();
    draw_in(
        buffer,
        area,
        rows,
        layout,
        cells,
        Some(&gutter),
        hint,
        theme,
    );
}

/// Writes at the end of a row; removes a column that the text would overlap, so that no half value remains.
fn draw_over(buffer: &mut Buffer, row: Rect, layout: &Layout, text: &str, style: Style) {
    let width = (paint::columns(text) as u16).min(row.width);
    let x = row.right() - width;
    let met = layout.at(row, x.saturating_sub(1).max(row.x));
    let from = met.map_or(x, |column| layout.cell(row, column).x.min(x));
    let gone = usize::from(x - from);
    paint::text(
        buffer,
        from,
        row.y,
        x - from,
        &" ".repeat(gone),
        Style::new(),
    );
    paint::text(buffer, x, row.y, width, text, style);
}

#[expect(clippy::too_many_arguments, reason = "one place draws every table")]
fn draw_in<'a, R>(
    buffer: &mut Buffer,
    area: Rect,
    (rows, cursor): (&'a [R], &Cursor),
    layout: impl Fn(&'a [R]) -> Layout,
    cells: impl Fn(&'a R, bool) -> Vec<Cell<'a>>,
    gutter: Option<&dyn Fn(&'a R) -> Gutter>,
    hint: &str,
    theme: Theme,
) {
    if area.height < 2 {
        return;
    }
    let height = usize::from(area.height) - 1;
    let first = cursor.first(rows.len(), height).min(rows.len());
    let window = &rows[first..(first + height).min(rows.len())];
    let text = after_gutter(area, if gutter.is_some() { FLAGS } else { GUTTER });
    let layout = layout(window);
    layout.draw_header(buffer, paint::row(text, 0), theme);
    if window.is_empty() {
        let below = Rect {
            y: text.y + 1,
            height: text.height - 1,
            ..text
        };
        paint::wrapped(buffer, below, hint, theme.dim(), theme);
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
        let lit = whole.width.min(HIGHLIGHT_WIDTH);
        if here {
            buffer.set_style(
                Rect {
                    width: lit,
                    ..whole
                },
                style,
            );
            paint::text(buffer, whole.x, whole.y, 1, ">", style);
        }
        let is_plain = here && !theme.keeps_colours();
        let gutter = gutter.map(|gutter| gutter(row));
        if let Some(gutter) = &gutter {
            let of = |own: Style| if is_plain { style } else { style.patch(own) };
            if gutter.is_marked {
                let style = of(theme.mark());
                paint::text(buffer, whole.x + 1, whole.y, 1, "*", style);
            }
            if let Some((sign, own)) = gutter.flag {
                paint::text(buffer, whole.x + 2, whole.y, 1, sign, of(own));
            }
            if gutter.is_unmatched {
                paint::text(buffer, whole.x + 3, whole.y, 1, "-", of(theme.dim()));
            }
        }
        let row_text = paint::row(text, line);
        let lit = lit.saturating_sub(whole.width - row_text.width);
        let lit_cells = cells(row, is_plain);
        layout.draw_between(buffer, row_text, 0..lit, &lit_cells, style, theme);
        if lit < row_text.width {
            let others = cells(row, false);
            let rest = lit..row_text.width;
            layout.draw_between(buffer, row_text, rest, &others, Style::new(), theme);
        }
        if let Some((text, own)) = gutter.and_then(|gutter| gutter.overlay) {
            let own = if is_plain { style } else { style.patch(own) };
            draw_over(buffer, row_text, &layout, &text, own);
        }
    }
}
