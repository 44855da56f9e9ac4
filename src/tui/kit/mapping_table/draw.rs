//! Draws the table: `>` and reverse for the cursor, `~ + -` in the gutter, and the old value or the problem
//! beside a row.
//!
//! The keys of the table: in a cell they type, between cells they move and act (docs/design/console.md, "Keys").

use ratatui::{
    crossterm::event::{KeyCode, KeyEvent, KeyEventKind},
    prelude::{Buffer, Position, Rect, Style},
};

use super::{Column, MappingRow, MappingTable, Problem};
use crate::tui::{
    kit::{
        Reaction, RowKeys,
        columns::{self, Cell, Layout},
        table::{CELL_GUTTER, CellKey, CellRows, clear_cell},
        text_field::TextField,
    },
    theme::Theme,
};

/// From this width on, columns are always as wide as editing needs.
const ROOMY_WIDTH: u16 = 50;
/// Minimum width of a cell that is being edited, however short the ids are.
const MIN_FIELD_WIDTH: u16 = 12;
/// Maximum width of an id while other columns need room.
const MAX_WIDTH: u16 = 120;

impl MappingTable {
    /// Draws header, rows and, if there is a problem, a last line about it. Returns the position of the terminal's
    /// cursor while a cell is being edited.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        theme: Theme,
        focused: bool,
        keys: &RowKeys,
    ) -> Option<Position> {
        if area.width <= CELL_GUTTER || area.is_empty() {
            return None;
        }
        let rows = self.rows();
        let problems = super::problems(&rows);
        let foot = self.foot(&rows, &problems, keys, theme);
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

    /// The last line: a rejected paste, otherwise the problem at the cursor, otherwise the first problem; for a table
    /// without rows, what to do.
    fn foot(
        &self,
        rows: &[MappingRow],
        problems: &[Problem],
        keys: &RowKeys,
        theme: Theme,
    ) -> Option<(String, Style)> {
        let here = problems.iter().find(|problem| problem.row == self.cursor);
        let problem = here.or(problems.first()).map(ToString::to_string);
        let refused = self.refused_paste.as_ref().map(ToString::to_string);
        if let Some(wrong) = refused.or(problem) {
            return Some((format!("! {wrong}"), theme.error()));
        }
        let text = if self.is_known() {
            format!("no rows; {} adds one", keys.add)
        } else {
            "unknown; stays unchanged unless you add rows".into()
        };
        rows.is_empty().then_some((text, theme.dim()))
    }
}

fn layout(rows: &[MappingRow], problems: &[Problem], room: u16, editing: bool) -> Layout {
    // While editing, one cell more than the text, for the cursor after it. If there is room, it is reserved all the
    // time, so that nothing jumps when editing starts.
    let (least, cursor) = if editing || room >= ROOMY_WIDTH {
        (MIN_FIELD_WIDTH, 1)
    } else {
        (6, 0)
    };
    let keys = columns::widest(rows.iter().map(|row| row.key.as_str()), MAX_WIDTH) + cursor;
    let values = columns::widest(rows.iter().map(|row| row.value.as_str()), MAX_WIDTH) + cursor;
    let remarks: Vec<String> = rows.iter().filter_map(MappingRow::remark).collect();
    let remarks = remarks.iter().map(String::as_str);
    let texts = problems.iter().map(|problem| problem.text.as_str());
    let remark = columns::widest(remarks.chain(texts), MAX_WIDTH);
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

impl MappingTable {
    pub fn key(&mut self, key: KeyEvent) -> Reaction {
        if key.kind == KeyEventKind::Release {
            Reaction::Ignored
        } else if self.is_editing() {
            self.key_in_cell(key)
        } else {
            self.key_between_cells(key)
        }
    }

    fn key_in_cell(&mut self, key: KeyEvent) -> Reaction {
        match key.code {
            KeyCode::Esc => {
                self.cancel();
                Reaction::Changed
            }
            KeyCode::Enter => {
                let rows = self.rows.len();
                self.commit();
                // A new row is typed in one go: schema id, Enter, data source id, Enter.
                let row = self.rows.get(self.cursor);
                let row = row.filter(|_| self.rows.len() == rows);
                if self.column == Column::Key && row.is_some_and(|row| row.value.is_empty()) {
                    return self.edit_other(Column::Value);
                }
                Reaction::Changed
            }
            KeyCode::Tab if self.column == Column::Key => {
                let row = self.rows.get(self.cursor);
                let is_new = row.is_some_and(MappingRow::is_new_and_empty);
                let is_blank = self.editing.as_ref().is_some_and(TextField::is_empty);
                if is_new && is_blank {
                    return Reaction::Refused;
                }
                self.edit_other(Column::Value)
            }
            KeyCode::BackTab if self.column == Column::Value => self.edit_other(Column::Key),
            KeyCode::Tab | KeyCode::BackTab => {
                self.commit();
                Reaction::Ignored
            }
            KeyCode::Up | KeyCode::Down => {
                self.commit();
                self.key_between_cells(key);
                Reaction::Changed
            }
            _ => {
                let field = self.editing.as_mut();
                field.map_or(Reaction::Ignored, |field| field.key(key))
            }
        }
    }

    /// Takes over the cell, and edits the other one of the row.
    fn edit_other(&mut self, column: Column) -> Reaction {
        self.commit();
        self.column = column;
        self.edit();
        Reaction::Changed
    }

    fn key_between_cells(&mut self, key: KeyEvent) -> Reaction {
        let Some(key) = CellKey::of(key, self.cursor) else {
            return Reaction::Ignored;
        };
        match key {
            CellKey::Row(row) => self.go(row),
            CellKey::Left => self.go_across(Column::Key),
            CellKey::Right => self.go_across(Column::Value),
            CellKey::Enter if !self.rows.is_empty() => {
                if self.edit() {
                    Reaction::Moved
                } else {
                    Reaction::Refused
                }
            }
            CellKey::Enter | CellKey::Add => {
                self.add();
                Reaction::Changed
            }
            CellKey::Drop => Reaction::changed(self.drop_row()),
            CellKey::Undo => Reaction::changed(self.undo()),
            CellKey::Redo => Reaction::changed(self.redo()),
        }
    }

    fn go(&mut self, row: usize) -> Reaction {
        let row = row.min(self.rows.len().saturating_sub(1));
        let moved = row != self.cursor;
        self.cursor = row;
        Reaction::moved(moved)
    }

    /// Within a row only: Tab in the last cell is left to the form, so that two presses lead out of any table.
    fn go_across(&mut self, column: Column) -> Reaction {
        let moved = column != self.column && !self.rows.is_empty();
        if moved {
            self.column = column;
        }
        Reaction::moved(moved)
    }
}
