//! How the table looks: `>` and reverse for the cursor, `~ + -` in the gutter, what it was or what is wrong beside it.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::{Column, MappingRow, MappingTable, Problem};
use crate::tui::{
    theme::Theme,
    widgets::{
        RowKeys,
        cell_table::{CellRows, GUTTER, clear_cell},
        columns::{self, Cell, Layout},
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
        let foot = self.foot(&rows, &problems, keys).map(|(text, is_problem)| {
            let style = if is_problem {
                theme.error()
            } else {
                theme.dim()
            };
            (text, style)
        });
        let table = CellRows {
            count: rows.len(),
            cursor: self.cursor,
            is_focused: focused,
            foot: foot.filter(|_| area.height > 3),
        };
        table.draw(
            buffer,
            area,
            theme,
            |_, room| layout(&rows, &problems, room, self.is_editing()),
            |index| {
                let row = &rows[index];
                let cells = [
                    Cell::new(row.key.as_str()),
                    Cell::new(row.value.as_str()),
                    remark(index, row, &problems, theme),
                ];
                (row.mark(), cells)
            },
            |buffer, line, layout| {
                let place = layout.cell(line, usize::from(self.column == Column::Value));
                let can_be_typed = clear_cell(buffer, place, self.is_editing());
                let field = self.editing.as_ref().filter(|_| can_be_typed);
                field?.draw(buffer, place, theme, true)
            },
        )
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
            "unknown here; without rows it is left as it is".into()
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
