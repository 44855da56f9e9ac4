//! Rows with a cursor: the header, the rows of the window, `>` and the style of the cursor's row.
//!
//! The common parts of tables whose cells are edited in place: the keys between cells, and drawing the rows. The
//! mapping stores its rows itself, the properties are a view of a JSON text, so each has its own steps and undo.

use std::ops::Range;

use ratatui::{
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
    prelude::{Buffer, Modifier, Position, Rect, Style},
};

use super::{
    Cursor,
    columns::{self, Cell, Column, Layout},
    is_plain,
    paint::{self, after_cells, below},
};
use crate::{domain::Mark, tui::theme::Theme};

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

/// Rows per PgUp and PgDn.
const PAGE: usize = 10;

/// What a key between cells asks for (docs/design/console.md, "Keys").
pub(super) enum CellKey {
    /// Go to this row, which may be beyond the last one.
    Row(usize),
    Left,
    Right,
    Enter,
    Add,
    Drop,
    Undo,
    Redo,
}

impl CellKey {
    pub(super) fn of(key: KeyEvent, row: usize) -> Option<Self> {
        let held = KeyModifiers::CONTROL | KeyModifiers::ALT;
        if key.modifiers.intersects(held) {
            return None;
        }
        Some(match key.code {
            KeyCode::Up | KeyCode::Char('k') => Self::Row(row.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => Self::Row(row + 1),
            KeyCode::PageUp => Self::Row(row.saturating_sub(PAGE)),
            KeyCode::PageDown => Self::Row(row + PAGE),
            KeyCode::Home | KeyCode::Char('g') => Self::Row(0),
            KeyCode::End | KeyCode::Char('G') => Self::Row(usize::MAX),
            KeyCode::Left | KeyCode::Char('h') | KeyCode::BackTab => Self::Left,
            KeyCode::Right | KeyCode::Char('l') | KeyCode::Tab => Self::Right,
            KeyCode::Enter => Self::Enter,
            KeyCode::Char('a') if is_plain(key) => Self::Add,
            KeyCode::Char('D') => Self::Drop,
            KeyCode::Char('z') => Self::Undo,
            KeyCode::Char('Z') => Self::Redo,
            _ => return None,
        })
    }
}

/// The rows of such a table for drawing.
pub(super) struct CellRows {
    pub(super) count: usize,
    /// Index of the row with the cursor.
    pub(super) cursor: usize,
    pub(super) is_focused: bool,
    /// A last line below the rows.
    pub(super) foot: Option<(String, Style)>,
}

impl CellRows {
    /// Draws `>` and reverse for the cursor, `~ + -` in the gutter, and the last line. `layout` fits columns to rows
    /// and width; `cell` draws the cell under the cursor and returns the position of the terminal's cursor.
    pub(super) fn draw<'a, const N: usize>(
        self,
        buffer: &mut Buffer,
        area: Rect,
        theme: Theme,
        layout: impl FnOnce(Range<usize>, u16) -> Layout,
        row: impl Fn(usize) -> (Mark, [Cell<'a>; N]),
        cell: impl FnOnce(&mut Buffer, Rect, &Layout) -> Option<Position>,
    ) -> Option<Position> {
        let height = area.height - 1 - u16::from(self.foot.is_some());
        let window = columns::centred(self.cursor, self.count, height);
        let layout = layout(window.clone(), area.width - CELL_GUTTER);
        layout.draw_header(buffer, after_cells(paint::row(area, 0), CELL_GUTTER), theme);
        if window.len() < self.count {
            draw_place(buffer, area, self.cursor, self.count, theme);
        }
        let mut here = None;
        for (line, index) in (1..).zip(window) {
            let line = paint::row(area, line);
            let is_here = self.is_focused && index == self.cursor;
            let (mark, cells) = row(index);
            draw_row(buffer, line, &layout, mark, cells, is_here, theme);
            here = is_here.then_some(line).or(here);
        }
        let cursor = here.and_then(|line| cell(buffer, after_cells(line, CELL_GUTTER), &layout));
        if let Some((text, style)) = self.foot {
            let last = paint::row(area, area.height - 1);
            paint::line(buffer, last, &text, style, theme);
        }
        cursor
    }
}

/// Clears a cell that is being edited; otherwise shows that it is under the cursor. Returns whether it can be typed
/// into.
pub(super) fn clear_cell(buffer: &mut Buffer, place: Rect, is_typed: bool) -> bool {
    if !is_typed || place.is_empty() {
        let mark = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        buffer.set_style(place, mark);
        return false;
    }
    for x in place.left()..place.right() {
        buffer[(x, place.y)].reset();
    }
    true
}

/// Cursor, mark and a space.
pub(super) const CELL_GUTTER: u16 = 3;

/// Draws the position of the cursor at the end of the header if the table does not fit.
fn draw_place(buffer: &mut Buffer, area: Rect, cursor: usize, count: usize, theme: Theme) {
    let place = format!(" {}/{count}", cursor + 1);
    let x = area.right().saturating_sub(place.len() as u16);
    paint::text(buffer, x, area.y, area.width, &place, theme.dim());
}

/// The last of the cells is a remark, which is not struck out.
fn draw_row<const N: usize>(
    buffer: &mut Buffer,
    line: Rect,
    layout: &Layout,
    mark: Mark,
    mut cells: [Cell<'_>; N],
    is_here: bool,
    theme: Theme,
) {
    let style = match mark {
        _ if is_here => theme.cursor_row(),
        Mark::Removed if theme.colour => theme.removed().add_modifier(Modifier::CROSSED_OUT),
        mark => theme.change(mark),
    };
    buffer.set_style(line, style);
    let cursor = if is_here { '>' } else { ' ' };
    let gutter = format!("{cursor}{}", mark.sign());
    paint::text(buffer, line.x, line.y, CELL_GUTTER, &gutter, style);
    if let Some(remark) = cells.last_mut() {
        remark.style = remark.style.remove_modifier(Modifier::CROSSED_OUT);
    }
    layout.draw_row(buffer, after_cells(line, CELL_GUTTER), &cells, style, theme);
}
