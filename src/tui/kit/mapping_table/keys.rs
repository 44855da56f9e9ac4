//! The keys of the table: in a cell they type, between cells they move and act (docs/design/console.md, "Keys").

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use super::{Column, MappingRow, MappingTable};
use crate::tui::kit::{Reaction, cell_table::CellKey, text_field::TextField};

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
                let row = self
                    .rows
                    .get(self.cursor)
                    .filter(|_| self.rows.len() == rows);
                if self.column == Column::Key && row.is_some_and(|row| row.value.is_empty()) {
                    self.column = Column::Value;
                    self.edit();
                }
                Reaction::Changed
            }
            KeyCode::Tab if self.column == Column::Key => {
                let is_new = self
                    .rows
                    .get(self.cursor)
                    .is_some_and(MappingRow::is_new_and_empty);
                let is_blank = self.editing.as_ref().is_some_and(TextField::is_empty);
                if is_new && is_blank {
                    return Reaction::Refused;
                }
                self.commit();
                self.column = Column::Value;
                self.edit();
                Reaction::Changed
            }
            KeyCode::BackTab if self.column == Column::Value => {
                self.commit();
                self.column = Column::Key;
                self.edit();
                Reaction::Changed
            }
            KeyCode::Tab | KeyCode::BackTab => {
                self.commit();
                Reaction::Ignored
            }
            KeyCode::Up | KeyCode::Down => {
                self.commit();
                self.key_between_cells(key);
                Reaction::Changed
            }
            _ => self
                .editing
                .as_mut()
                .map_or(Reaction::Ignored, |field| field.key(key)),
        }
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
