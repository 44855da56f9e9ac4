//! Rows under a cursor that say how they stand against what was known: `>` and reverse for the cursor, `~ + -` in the
//! gutter. The rows of the mapping and those of the properties look alike by this.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Modifier, Style},
};

use super::{
    columns::{Cell, Layout},
    paint,
};
use crate::{domain::change::Mark, tui::theme::Theme};

/// Cursor, mark and a space.
pub(super) const GUTTER: u16 = 3;

pub(super) fn after_gutter(line: Rect) -> Rect {
    Rect {
        x: line.x + GUTTER,
        width: line.width - GUTTER,
        ..line
    }
}

/// Where one is, at the end of the header, in a table that does not fit.
pub(super) fn draw_place(
    buffer: &mut Buffer,
    area: Rect,
    cursor: usize,
    count: usize,
    theme: Theme,
) {
    let place = format!(" {}/{count}", cursor + 1);
    let x = area.right().saturating_sub(place.len() as u16);
    paint::text(buffer, x, area.y, area.width, &place, theme.dim());
}

/// The last of the cells is a remark: it is not part of what is struck out.
pub(super) fn draw_row<const N: usize>(
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
