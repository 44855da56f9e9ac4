//! Rows with a cursor: the header, the rows of the window, `>` and the style of the cursor's row.

use ratatui::prelude::{Buffer, Rect, Style};

use super::{
    Cursor,
    columns::{Cell, Column, Layout},
    paint::{self, after_cells, below},
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
    after_cells(area, FLAGS)
}

/// The columns that are not shown: how many were scrolled out at the left, how many have no room, and the key that
/// shows those.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hidden<'k> {
    pub scrolled: usize,
    pub more: usize,
    pub key: &'k str,
}

impl Hidden<'_> {
    fn words(self, theme: Theme) -> String {
        let words = format!("+{} {} {}", self.more, theme.step(), self.key);
        words.trim_end().to_owned()
    }

    fn fits(self, layout: &Layout, width: u16, theme: Theme) -> bool {
        layout.titles_width() + paint::columns(&self.words(theme)) as u16 + 2 <= width
    }

    /// Writes it into the free cells of a header, and into the gutter before it.
    fn draw(self, buffer: &mut Buffer, row: Rect, titles: Rect, layout: &Layout, theme: Theme) {
        let words = self.words(theme);
        let width = paint::columns(&words) as u16;
        if self.more > 0 && self.fits(layout, titles.width, theme) {
            let at = titles.right() - width;
            paint::text(buffer, at, titles.y, width, &words, theme.dim());
        }
        if self.scrolled > 0 {
            let gutter = titles.x - row.x;
            let mut words = format!("{}{}", theme.step_back(), self.scrolled);
            if paint::columns(&words) >= usize::from(gutter) {
                // A number would touch the first title.
                theme.step_back().clone_into(&mut words);
            }
            paint::text(buffer, row.x, row.y, gutter, &words, theme.dim());
        }
    }
}

/// Draws a table into an area. `columns` gets the rows of the window, so that it can fit them; `cells` is told whether
/// the cursor is on the row and colours would spoil its reverse style. `hint` is shown if there are no rows.
pub fn draw<'a, R>(
    buffer: &mut Buffer,
    area: Rect,
    rows: (&'a [R], &Cursor),
    columns: impl Fn(&'a [R]) -> Vec<Column>,
    cells: impl Fn(&'a R, bool) -> Vec<Cell<'a>>,
    hint: &str,
    theme: Theme,
) {
    let layout = |window| (fit(columns(window), area.width), Hidden::default());
    draw_in(buffer, area, rows, layout, cells, None, hint, theme);
}

/// Columns are two cells apart, unless one cell leaves room for more in a narrow table.
fn fit(columns: Vec<Column>, width: u16) -> Layout {
    let room = width.saturating_sub(GUTTER + 1);
    let apart = Layout::fit(columns.clone(), room, 2);
    if width >= WIDE_WIDTH.0 {
        return apart;
    }
    let close = Layout::fit(columns, room, 1);
    if apart.has_widths_of(&close) {
        apart
    } else {
        close
    }
}

/// Like [`draw`], but the header says that `scrolled` columns are not shown, and how many do not fit: `key` shows those.
/// Returns the number of the latter.
#[expect(clippy::too_many_arguments, reason = "one place draws every table")]
pub fn draw_scrolled<'a, R>(
    buffer: &mut Buffer,
    area: Rect,
    rows: (&'a [R], &Cursor),
    columns: impl Fn(&'a [R]) -> Vec<Column>,
    cells: impl Fn(&'a R, bool) -> Vec<Cell<'a>>,
    hint: &str,
    (scrolled, key): (usize, &str),
    theme: Theme,
) -> usize {
    let more = std::cell::Cell::new(0);
    let layout = |window| {
        let columns = columns(window);
        let all = |layout: &Layout| Hidden {
            scrolled,
            more: layout.hidden(),
            key,
        };
        let mut layout = fit(columns.clone(), area.width);
        let room = after_cells(area, GUTTER).width;
        if all(&layout).more > 0 && !all(&layout).fits(&layout, room, theme) {
            // No title leaves room for the sign.
            let sign = paint::columns(&all(&layout).words(theme)) as u16 + 1;
            layout = fit(columns, area.width.saturating_sub(sign));
        }
        let hidden = all(&layout);
        more.set(hidden.more);
        (layout, hidden)
    };
    draw_in(buffer, area, rows, layout, cells, None, hint, theme);
    more.get()
}

/// Like [`draw`], with a given layout, and with marks and flags in the gutter.
#[expect(clippy::too_many_arguments, reason = "one place draws every table")]
pub fn draw_flagged<'a, R>(
    buffer: &mut Buffer,
    area: Rect,
    rows: (&'a [R], &Cursor),
    layout: (&Layout, Hidden<'_>),
    cells: impl Fn(&'a R, bool) -> Vec<Cell<'a>>,
    gutter: impl Fn(&'a R) -> Gutter,
    hint: &str,
    theme: Theme,
) {
    let layout = |_| (layout.0.clone(), layout.1);
    let gutter: Option<&dyn Fn(&'a R) -> Gutter> = Some(&gutter);
    draw_in(buffer, area, rows, layout, cells, gutter, hint, theme);
}

/// Writes at the end of a row; removes a column that the text would overlap, so that no half value remains.
fn draw_over(buffer: &mut Buffer, row: Rect, layout: &Layout, text: &str, style: Style) {
    let width = (paint::columns(text) as u16).min(row.width);
    let x = row.right() - width;
    let met = layout.at(row, x.saturating_sub(1).max(row.x));
    let from = met.map_or(x, |column| layout.cell(row, column).x.min(x));
    let gone = " ".repeat(usize::from(x - from));
    paint::text(buffer, from, row.y, x - from, &gone, Style::new());
    paint::text(buffer, x, row.y, width, text, style);
}

#[expect(clippy::too_many_arguments, reason = "one place draws every table")]
fn draw_in<'a, 'h, R>(
    buffer: &mut Buffer,
    area: Rect,
    (rows, cursor): (&'a [R], &Cursor),
    layout: impl Fn(&'a [R]) -> (Layout, Hidden<'h>),
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
    let text = after_cells(area, if gutter.is_some() { FLAGS } else { GUTTER });
    let (layout, hidden) = layout(window);
    let header = paint::row(text, 0);
    layout.draw_header(buffer, header, theme);
    hidden.draw(buffer, paint::row(area, 0), header, &layout, theme);
    if window.is_empty() {
        paint::wrapped(buffer, below(text, 1), hint, theme.dim(), theme);
    }
    for (index, row) in window.iter().enumerate() {
        let line = index as u16 + 1;
        let here = first + index == cursor.at;
        let (_, style) = theme.choice(here);
        let whole = paint::row(area, line);
        let lit = whole.width.min(HIGHLIGHT_WIDTH);
        if here {
            buffer.set_style(paint::first_cells(whole, lit), style);
            paint::text(buffer, whole.x, whole.y, 1, ">", style);
        }
        let is_plain = here && !theme.keeps_colours();
        let of = |own: Style| if is_plain { style } else { style.patch(own) };
        let gutter = gutter.map(|gutter| gutter(row));
        if let Some(gutter) = &gutter {
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
            draw_over(buffer, row_text, &layout, &text, of(own));
        }
    }
}
