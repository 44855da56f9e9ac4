//! Draws the rows: like those of the mapping, with a column for the type.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::{
    rows::PropertyRow,
    typing::{Column, PropertyRows, Typing},
};
use crate::{
    domain::change::Mark,
    tui::{
        kit::{
            RowKeys,
            cell_table::{CellRows, GUTTER, clear_cell},
            columns::{self, Cell, Layout},
            paint,
        },
        theme::Theme,
    },
};

/// Minimum width of a cell that is being edited, however short keys and values are.
const MIN_FIELD_WIDTH: u16 = 12;
/// Maximum width of a key while values need room.
const MAX_KEY_WIDTH: u16 = 40;
/// Width of the longest type with its signs.
const KIND: u16 = 12;
const MAX_WIDTH: u16 = 120;

impl PropertyRows {
    /// Draws header, rows and, if there is something to say, a last line. Returns the position of the terminal's
    /// cursor while a cell is being edited.
    pub(super) fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        theme: Theme,
        focused: bool,
        keys: &RowKeys,
    ) -> Option<Position> {
        if area.width <= GUTTER || area.is_empty() {
            return None;
        }
        let table = CellRows {
            count: self.all.len(),
            cursor: self.cursor,
            is_focused: focused,
            foot: self.foot(theme, keys).filter(|_| area.height > 2),
        };
        table.draw(
            buffer,
            area,
            theme,
            |window, room| layout(&self.all[window], room),
            |index| {
                let row = &self.all[index];
                let cells = [
                    Cell::new(row.key.as_str()),
                    Cell::new(row.kind.word()),
                    Cell::new(row.shown.as_str()),
                    Cell::new(row.remark.as_deref().unwrap_or_default()),
                ];
                (row.mark, cells)
            },
            |buffer, line, layout| self.draw_cell(buffer, line, layout, theme),
        )
    }

    /// Draws the cell under the cursor: the edited text, the type being chosen, or the value in bold.
    fn draw_cell(
        &self,
        buffer: &mut Buffer,
        line: Rect,
        layout: &Layout,
        theme: Theme,
    ) -> Option<Position> {
        let index = match self.column {
            Column::Key => 0,
            Column::ValueType => 1,
            Column::Value => 2,
        };
        let place = layout.cell(line, index);
        let can_be_typed = clear_cell(buffer, place, self.typing.is_some());
        match self.typing.as_ref().filter(|_| can_be_typed)? {
            Typing::Key(field) => field.draw(buffer, place, theme, true),
            Typing::Value(kind, field) => {
                let cell = layout.cell(line, 1);
                let word = padded(kind.word(), cell);
                paint::line(buffer, cell, &word, theme.cursor_row(), theme);
                field.draw(buffer, place, theme, true)
            }
            Typing::ValueType(kind) => {
                let text = format!("<{}>", kind.word());
                paint::line(buffer, place, &text, theme.title(), theme);
                Some(Position::new(place.x, place.y))
            }
        }
    }

    /// Why a key had no effect or, without rows, what to do.
    fn foot(&self, theme: Theme, keys: &RowKeys) -> Option<(String, Style)> {
        if let Some(refused) = &self.refused {
            let here = self.all.get(self.cursor);
            let text = match here.filter(|row| row.mark == Mark::Removed) {
                Some(_) => format!("! {refused}; {} restores the old value", keys.drop),
                None => format!("! {refused}"),
            };
            return Some((text, theme.error()));
        }
        if self.is_choosing() {
            return Some(("Left and Right choose the type".into(), theme.dim()));
        }
        if !self.all.is_empty() {
            return None;
        }
        let text = if self.is_known {
            format!("no properties; {} adds one", keys.add)
        } else {
            "unknown; without rows they stay unchanged".into()
        };
        Some((text, theme.dim()))
    }
}

fn padded(text: &str, cell: Rect) -> String {
    format!("{text:width$}", width = usize::from(cell.width))
}

fn layout(rows: &[PropertyRow], room: u16) -> Layout {
    let keys = columns::widest(rows.iter().map(|row| row.key.as_str()), MAX_KEY_WIDTH) + 1;
    let values = columns::widest(rows.iter().map(|row| row.shown.as_str()), MAX_WIDTH) + 1;
    let remarks = rows.iter().filter_map(|row| row.remark.as_deref());
    let remark = columns::widest(remarks, MAX_WIDTH).max(1);
    let least = MIN_FIELD_WIDTH.min(room / 3);
    let columns = vec![
        columns::Column::new("KEY", least, keys.max(MIN_FIELD_WIDTH), 0),
        columns::Column::new("TYPE", KIND.min(room / 3), KIND, 0),
        columns::Column::new("VALUE", least, values.max(2 * MIN_FIELD_WIDTH), 0),
        columns::Column::new("", 8.min(remark), remark, 1),
    ];
    Layout::fit(columns, room, 1)
}
