//! How the rows look: the same as those of the mapping, with a column for the type.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::{Modifier, Style},
};

use super::{
    rows::PropertyRow,
    typing::{Column, PropertyRows, Typing},
};
use crate::{
    domain::change::Mark,
    tui::{
        theme::Theme,
        widgets::{
            RowKeys,
            columns::{self, Cell, Layout},
            marked::{self, GUTTER, after_gutter},
            paint,
        },
    },
};

/// Room for typing, however short keys and values are.
const LEAST_FIELD: u16 = 12;
/// No key is worth more cells than this while values wait for room.
const WIDEST_KEY: u16 = 40;
/// As wide as the signs around the longest type.
const KIND: u16 = 12;
const WIDEST: u16 = 120;

impl PropertyRows {
    /// Draws header, rows and, if there is something to say, a last line. Returns where the terminal's cursor belongs
    /// while a cell is typed into.
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
        let foot = self.foot(theme, keys).filter(|_| area.height > 2);
        let height = area.height - 1 - u16::from(foot.is_some());
        let window = columns::centred(self.cursor, self.all.len(), height);
        let seen = &self.all[window.clone()];
        let layout = layout(seen, area.width - GUTTER);
        layout.draw_header(buffer, after_gutter(paint::row(area, 0)), theme);
        if window.len() < self.all.len() {
            marked::draw_place(buffer, area, self.cursor, self.all.len(), theme);
        }
        let mut cursor = None;
        for (line, index) in (1..).zip(window) {
            let line = paint::row(area, line);
            let is_here = focused && index == self.cursor;
            let row = &self.all[index];
            let cells = [
                Cell::new(row.key.as_str()),
                Cell::new(row.kind.word()),
                Cell::new(row.shown.as_str()),
                Cell::new(row.remark.as_deref().unwrap_or_default()),
            ];
            marked::draw_row(buffer, line, &layout, row.mark, cells, is_here, theme);
            if is_here {
                cursor = self.draw_cell(buffer, after_gutter(line), &layout, theme);
            }
        }
        if let Some((text, style)) = foot {
            let last = paint::row(area, area.height - 1);
            paint::line(buffer, last, &text, style, theme);
        }
        cursor
    }

    /// The cell under the cursor: what is typed or chosen, or bold.
    fn draw_cell(
        &self,
        buffer: &mut Buffer,
        line: Rect,
        layout: &Layout,
        theme: Theme,
    ) -> Option<Position> {
        let index = match self.column {
            Column::Key => 0,
            Column::Kind => 1,
            Column::Value => 2,
        };
        let place = layout.cell(line, index);
        let Some(typing) = self.typing.as_ref().filter(|_| !place.is_empty()) else {
            let mark = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
            buffer.set_style(place, mark);
            return None;
        };
        for x in place.left()..place.right() {
            buffer[(x, place.y)].reset();
        }
        match typing {
            Typing::Key(field) => field.draw(buffer, place, theme, true),
            Typing::Value(kind, field) => {
                let cell = layout.cell(line, 1);
                paint::line(
                    buffer,
                    cell,
                    &padded(kind.word(), cell),
                    theme.cursor_row(),
                    theme,
                );
                field.draw(buffer, place, theme, true)
            }
            Typing::Kind(kind) => {
                let text = format!("<{}>", kind.word());
                paint::line(buffer, place, &text, theme.title(), theme);
                Some(Position::new(place.x, place.y))
            }
        }
    }

    /// Why a key was not obeyed, or, for no rows, what to do.
    fn foot(&self, theme: Theme, keys: &RowKeys) -> Option<(String, Style)> {
        if let Some(refused) = &self.refused {
            let here = self.all.get(self.cursor);
            let text = match here.filter(|row| row.mark == Mark::Removed) {
                Some(_) => format!("! {refused}; {} brings it back", keys.drop),
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
            "not known here; without rows they are left as they are".into()
        };
        Some((text, theme.dim()))
    }
}

fn padded(text: &str, cell: Rect) -> String {
    format!("{text:width$}", width = usize::from(cell.width))
}

fn layout(rows: &[PropertyRow], room: u16) -> Layout {
    let keys = columns::widest(rows.iter().map(|row| row.key.as_str()), WIDEST_KEY) + 1;
    let values = columns::widest(rows.iter().map(|row| row.shown.as_str()), WIDEST) + 1;
    let remarks = rows.iter().filter_map(|row| row.remark.as_deref());
    let remark = columns::widest(remarks, WIDEST).max(1);
    let least = LEAST_FIELD.min(room / 3);
    let columns = vec![
        columns::Column::new("KEY", least, keys.max(LEAST_FIELD), 0),
        columns::Column::new("TYPE", KIND.min(room / 3), KIND, 0),
        columns::Column::new("VALUE", least, values.max(2 * LEAST_FIELD), 0),
        columns::Column::new("", 8.min(remark), remark, 1),
    ];
    Layout::fit(columns, room, 1)
}
