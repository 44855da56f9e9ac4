//! The common parts of tables whose cells are edited in place: the keys between cells, and drawing the rows. The
//! mapping stores its rows itself, the properties are a view of a JSON text, so each has its own steps and undo.

use std::ops::Range;

use ratatui::{
    buffer::Buffer,
    crossterm::event::{KeyCode, KeyEvent, KeyModifiers},
    layout::{Position, Rect},
    style::{Modifier, Style},
};

use super::{
    columns::{self, Cell, Layout},
    is_plain, paint,
};
use crate::{domain::change::Mark, tui::theme::Theme};

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
        let layout = layout(window.clone(), area.width - GUTTER);
        layout.draw_header(buffer, after_gutter(paint::row(area, 0)), theme);
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
        let cursor = here.and_then(|line| cell(buffer, after_gutter(line), &layout));
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
pub(super) const GUTTER: u16 = 3;

fn after_gutter(line: Rect) -> Rect {
    Rect {
        x: line.x + GUTTER,
        width: line.width - GUTTER,
        ..line
    }
}

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
        Mark::Same => Style::new(),
        Mark::Added => theme.added(),
        Mark::Removed if theme.colour => theme.removed().add_modifier(Modifier::CROSSED_OUT),
        Mark::Removed => theme.removed(),
        Mark::Changed => theme.changed(),
    };
    let style = if is_here { theme.cursor_row() } else { style };
    buffer.set_style(line, style);
    let cursor = if is_here { '>' } else { ' ' };
    let gutter = format!("{cursor}{}", mark.sign());
    paint::text(buffer, line.x, line.y, GUTTER, &gutter, style);
    if let Some(remark) = cells.last_mut() {
        remark.style = remark.style.remove_modifier(Modifier::CROSSED_OUT);
    }
    layout.draw_row(buffer, after_gutter(line), &cells, style, theme);
}
