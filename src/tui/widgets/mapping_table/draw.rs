//! How the table looks: `>` and reverse for the cursor, `~ + -` in the gutter, what it was or what is wrong beside it.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::{Modifier, Style},
};

use super::{Column, MappingRow, MappingTable, Problem};
use crate::tui::{
    theme::Theme,
    widgets::{
        RowKeys,
        columns::{self, Cell, Layout},
        marked::{self, GUTTER, after_gutter},
        paint,
    },
};

/// From this width on the columns are as wide as typing needs.
const ROOMY: u16 = 50;
/// Room for typing, however short the ids are.
const LEAST_FIELD: u16 = 12;
/// No id is worth more cells than this while others wait for room.
const WIDEST: u16 = 120;

impl MappingTable {
    /// Draws header, rows and, if there is something wrong, a last line that says what. Returns where the terminal's
    /// cursor belongs while a cell is typed into.
    pub fn draw(
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
        let rows = self.rows();
        let problems = super::check::problems(&rows);
        let layout = layout(&rows, &problems, area.width - GUTTER, self.is_editing());
        layout.draw_header(buffer, after_gutter(paint::row(area, 0)), theme);
        let foot = self
            .foot(&rows, &problems, keys)
            .filter(|_| area.height > 3);
        let height = area.height - 1 - u16::from(foot.is_some());
        let window = columns::centred(self.cursor, rows.len(), height);
        if window.len() < rows.len() {
            marked::draw_place(buffer, area, self.cursor, rows.len(), theme);
        }
        let mut cursor = None;
        for (line, index) in (1..).zip(window) {
            let line = paint::row(area, line);
            let is_here = focused && index == self.cursor;
            let row = &rows[index];
            let cells = [
                Cell::new(row.key.as_str()),
                Cell::new(row.value.as_str()),
                remark(index, row, &problems, theme),
            ];
            marked::draw_row(buffer, line, &layout, row.mark(), cells, is_here, theme);
            if is_here {
                cursor = self.draw_cell(buffer, after_gutter(line), &layout, theme);
            }
        }
        if let Some((text, is_problem)) = foot {
            let style = if is_problem {
                theme.error()
            } else {
                theme.dim()
            };
            let last = paint::row(area, area.height - 1);
            paint::line(buffer, last, &text, style, theme);
        }
        cursor
    }

    /// The cell under the cursor: the field that is typed into, or bold.
    fn draw_cell(
        &self,
        buffer: &mut Buffer,
        line: Rect,
        layout: &Layout,
        theme: Theme,
    ) -> Option<Position> {
        let index = usize::from(self.column == Column::Value);
        let place = layout.cell(line, index);
        let Some(field) = &self.editing else {
            let mark = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
            buffer.set_style(place, mark);
            return None;
        };
        if place.is_empty() {
            return None;
        }
        for x in place.left()..place.right() {
            buffer[(x, place.y)].reset();
        }
        field.draw(buffer, place, theme, true)
    }

    /// What stands in the last line, and whether it is a problem: a refused paste, else what is wrong at the cursor,
    /// else what is wrong first; for a table without rows, what to do.
    fn foot(
        &self,
        rows: &[MappingRow],
        problems: &[Problem],
        keys: &RowKeys,
    ) -> Option<(String, bool)> {
        if let Some(refused) = &self.refused_paste {
            return Some((format!("! {refused}"), true));
        }
        let here = problems.iter().find(|problem| problem.row == self.cursor);
        if let Some(problem) = here.or(problems.first()) {
            return Some((format!("! {problem}"), true));
        }
        if !rows.is_empty() {
            return None;
        }
        let text = if self.is_known() {
            format!("no rows; {} adds one", keys.add)
        } else {
            "not known here; without rows it is left as it is".into()
        };
        Some((text, false))
    }
}

fn layout(rows: &[MappingRow], problems: &[Problem], room: u16, editing: bool) -> Layout {
    // One cell more than the text while typing, for the cursor behind it.
    // Where there is room, it is kept when nobody types, so that nothing jumps when somebody begins to.
    let (least, cursor) = if editing || room >= ROOMY {
        (LEAST_FIELD, 1)
    } else {
        (6, 0)
    };
    let keys = columns::widest(rows.iter().map(|row| row.key.as_str()), WIDEST) + cursor;
    let values = columns::widest(rows.iter().map(|row| row.value.as_str()), WIDEST) + cursor;
    let remarks: Vec<String> = rows.iter().filter_map(MappingRow::remark).collect();
    let remarks = remarks.iter().map(String::as_str);
    let texts = problems.iter().map(|problem| problem.text.as_str());
    let remark = columns::widest(remarks.chain(texts), WIDEST);
    let columns = vec![
        columns::Column::new("SCHEMA ID", least, keys.max(9), 0),
        columns::Column::new("DATA SOURCE ID", least, values.max(14), 0),
        columns::Column::new("", 8.min(remark.max(1)), remark.max(1), 1),
    ];
    Layout::fit(columns, room, 2)
}

fn remark<'a>(index: usize, row: &MappingRow, problems: &'a [Problem], theme: Theme) -> Cell<'a> {
    let problem = problems.iter().find(|problem| problem.row == index);
    match (problem, row.remark()) {
        (Some(problem), _) => Cell::new(problem.text.as_str()).styled(theme.error()),
        (None, Some(text)) => Cell::new(text),
        (None, None) => Cell::new(""),
    }
}
