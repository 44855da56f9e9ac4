//! The keys of the rows, the same as those of the mapping; in the choice of a type, Left and Right choose.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use super::typing::{Column, PropertyRows, Typing};
use crate::tui::kit::{Reaction, cell_table::CellKey, json_editor::JsonEditor};

impl Column {
    fn next(self) -> Option<Self> {
        match self {
            Self::Key => Some(Self::ValueType),
            Self::ValueType => Some(Self::Value),
            Self::Value => None,
        }
    }

    fn previous(self) -> Option<Self> {
        match self {
            Self::Key => None,
            Self::ValueType => Some(Self::Key),
            Self::Value => Some(Self::ValueType),
        }
    }
}

impl PropertyRows {
    pub(super) fn key(&mut self, key: KeyEvent, editor: &mut JsonEditor) -> Reaction {
        if key.kind == KeyEventKind::Release {
            return Reaction::Ignored;
        }
        match &mut self.typing {
            None => self.key_between_cells(key, editor),
            Some(Typing::ValueType(kind)) => {
                let other = match key.code {
                    KeyCode::Left | KeyCode::Up => Some(kind.previous()),
                    KeyCode::Right | KeyCode::Down | KeyCode::Char(' ') => Some(kind.moved(1)),
                    _ => None,
                };
                if let Some(other) = other {
                    *kind = other;
                    self.refused = None;
                    return Reaction::Changed;
                }
                if matches!(key.code, KeyCode::Char(_)) {
                    let what = "Left and Right choose the type; Enter goes to the value";
                    self.refused = Some(what.into());
                    return Reaction::Changed;
                }
                self.key_in_cell(key, editor)
            }
            Some(Typing::Key(_) | Typing::Value(..)) => self.key_in_cell(key, editor),
        }
    }

    fn key_in_cell(&mut self, key: KeyEvent, editor: &mut JsonEditor) -> Reaction {
        match key.code {
            KeyCode::Esc => {
                self.cancel(editor);
                Reaction::Changed
            }
            KeyCode::Enter => Reaction::changed(self.enter(editor)),
            KeyCode::Tab => self.leave_cell(self.column.next(), editor),
            KeyCode::BackTab => self.leave_cell(self.column.previous(), editor),
            KeyCode::Up | KeyCode::Down => {
                if !self.commit(editor) {
                    return Reaction::Refused;
                }
                self.is_adding = false;
                self.key_between_cells(key, editor);
                Reaction::Changed
            }
            _ => match &mut self.typing {
                Some(Typing::Key(field) | Typing::Value(_, field)) => {
                    self.refused = None;
                    field.key(key)
                }
                Some(Typing::ValueType(_)) | None => Reaction::Ignored,
            },
        }
    }

    /// Takes over the cell; in a row that is being added, continues with its next cell.
    fn enter(&mut self, editor: &mut JsonEditor) -> bool {
        match &self.typing {
            Some(Typing::ValueType(kind)) => {
                self.choose(*kind, editor);
                self.is_adding &= self.is_typing();
                true
            }
            Some(Typing::Key(field)) => {
                // A row without a key never existed.
                let goes_on = self.is_adding && !field.is_empty();
                let kept = self.commit(editor);
                if kept && goes_on {
                    self.is_adding = true;
                    self.column = Column::ValueType;
                    self.edit(editor);
                }
                kept
            }
            Some(Typing::Value(..)) | None => {
                let kept = self.commit(editor);
                self.is_adding &= !kept;
                kept
            }
        }
    }

    /// Moves to another cell of the row, or out of the row at its edge.
    fn leave_cell(&mut self, to: Option<Column>, editor: &mut JsonEditor) -> Reaction {
        if matches!(&self.typing, Some(Typing::Key(field)) if self.is_adding && field.is_empty()) {
            return Reaction::Refused;
        }
        let is_adding = self.is_adding;
        if let Some(Typing::ValueType(kind)) = self.typing {
            self.choose(kind, editor);
            if self.is_typing() {
                // The new type needs a new value, and the cursor is on it already.
                return Reaction::Changed;
            }
        } else if !self.commit(editor) {
            return Reaction::Refused;
        }
        let Some(to) = to else {
            self.is_adding = false;
            return Reaction::Ignored;
        };
        if self
            .all
            .get(self.cursor)
            .is_none_or(|row| row.entry.is_none())
        {
            return Reaction::Refused;
        }
        self.is_adding = is_adding;
        self.column = to;
        let can_be_typed = self.all[self.cursor].kind.is_typed();
        if to != Column::Value || can_be_typed {
            self.edit(editor);
        }
        Reaction::Changed
    }

    fn key_between_cells(&mut self, key: KeyEvent, editor: &mut JsonEditor) -> Reaction {
        self.refused = None;
        let Some(key) = CellKey::of(key, self.cursor) else {
            return Reaction::Ignored;
        };
        match key {
            CellKey::Row(row) => self.go(row),
            CellKey::Left => self.go_across(self.column.previous()),
            CellKey::Right => self.go_across(self.column.next()),
            CellKey::Enter if !self.all.is_empty() => Reaction::changed(self.edit(editor)),
            CellKey::Enter | CellKey::Add => Reaction::changed(self.add(editor)),
            CellKey::Drop => Reaction::changed(self.drop_row(editor)),
            CellKey::Undo => Reaction::changed(self.step(editor, true)),
            CellKey::Redo => Reaction::changed(self.step(editor, false)),
        }
    }

    fn go(&mut self, row: usize) -> Reaction {
        let row = row.min(self.all.len().saturating_sub(1));
        let moved = row != self.cursor;
        self.cursor = row;
        Reaction::moved(moved)
    }

    fn go_across(&mut self, to: Option<Column>) -> Reaction {
        let to = to.filter(|_| !self.all.is_empty());
        self.column = to.unwrap_or(self.column);
        Reaction::moved(to.is_some())
    }
}
