//! The keys of the rows: in a cell they type, between cells they move and act, and in the choice of a type Left and Right
//! choose (docs/design/console.md, "Keys").
//!
//! Pasted text: inserted into the cell that is being edited, or read as rows. A paste is taken as a whole and in one
//! step, or not at all.

use std::collections::HashMap;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::{Column, Kind, Pairs, Row, Typing, value::Typed};
use crate::tui::kit::{Reaction, is_plain};

/// Rows per PgUp and PgDn.
const PAGE: usize = 10;

impl<K: Kind> Pairs<K> {
    pub(super) fn columns() -> &'static [Column] {
        if K::HAS_TYPES {
            &[Column::Key, Column::Type, Column::Value]
        } else {
            &[Column::Key, Column::Value]
        }
    }

    /// The place of the cursor's column from the left.
    pub(super) fn place(&self) -> usize {
        let mut columns = Self::columns().iter();
        columns.position(|one| *one == self.column).unwrap_or(0)
    }

    fn beside(&self, by: isize) -> Option<Column> {
        let place = self.place().checked_add_signed(by)?;
        Self::columns().get(place).copied()
    }

    pub fn key(&mut self, key: KeyEvent) -> Reaction {
        if key.kind == KeyEventKind::Release {
            return Reaction::Ignored;
        }
        let Some(typing) = &mut self.typing else {
            return self.key_between_cells(key);
        };
        if let Typing::Type(value_type) = typing {
            self.refused = None;
            match key.code {
                KeyCode::Left | KeyCode::Up => *value_type = value_type.previous(),
                KeyCode::Right | KeyCode::Down | KeyCode::Char(' ') => {
                    *value_type = value_type.next();
                }
                KeyCode::Char(_) => {
                    let what = "Left and Right choose the type; Enter goes to the value";
                    self.refused = Some(what.into());
                }
                _ => return self.key_in_cell(key),
            }
            return Reaction::Changed;
        }
        self.key_in_cell(key)
    }

    fn key_in_cell(&mut self, key: KeyEvent) -> Reaction {
        match key.code {
            KeyCode::Esc => {
                self.cancel();
                Reaction::Changed
            }
            KeyCode::Enter => Reaction::changed(self.enter()),
            KeyCode::Tab if self.is_new_and_blank() => Reaction::Refused,
            KeyCode::Tab => self.leave_cell(self.beside(1)),
            KeyCode::BackTab => self.leave_cell(self.beside(-1)),
            KeyCode::Up | KeyCode::Down => {
                if !self.commit() {
                    return Reaction::Refused;
                }
                self.key_between_cells(key);
                Reaction::Changed
            }
            _ => {
                self.refused = None;
                self.cell()
                    .map_or(Reaction::Ignored, |field| field.key(key))
            }
        }
    }

    /// Takes over the cell. A new row is typed in one go: key, Enter, type, Enter, value, Enter.
    fn enter(&mut self) -> bool {
        let goes_on = match self.typing {
            Some(Typing::Type(value_type)) => {
                self.choose(value_type);
                self.is_adding &= self.is_editing();
                return true;
            }
            Some(Typing::Key(_)) => !self.is_new_and_blank(),
            Some(Typing::Value(..)) | None => false,
        };
        if !self.commit() {
            return false;
        }
        self.is_adding &= goes_on;
        let is_missing = |row: &Row| !K::HAS_TYPES && row.value.text.is_empty();
        if goes_on && (self.is_adding || self.rows.get(self.cursor).is_some_and(is_missing)) {
            self.column = self.beside(1).unwrap_or(self.column);
            self.edit();
        }
        true
    }

    /// Takes over the cell and edits another one of the row, or leaves the row.
    fn leave_cell(&mut self, to: Option<Column>) -> Reaction {
        if let Some(Typing::Type(value_type)) = self.typing {
            self.choose(value_type);
            if self.is_editing() {
                // The new type needs a new value, and the cursor is on it already.
                return Reaction::Changed;
            }
        } else if !self.commit() {
            return Reaction::Refused;
        }
        let Some(to) = to else {
            self.is_adding = false;
            return Reaction::Ignored;
        };
        self.column = to;
        let row = self.rows.get(self.cursor);
        if to != Column::Value || row.is_some_and(|row| row.value.value_type.is_typed()) {
            self.edit();
        }
        Reaction::Changed
    }

    fn key_between_cells(&mut self, key: KeyEvent) -> Reaction {
        self.is_adding = false;
        self.refused = None;
        let held = KeyModifiers::CONTROL | KeyModifiers::ALT;
        if key.modifiers.intersects(held) {
            return Reaction::Ignored;
        }
        let row = self.cursor;
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.move_to(row.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => self.move_to(row + 1),
            KeyCode::PageUp => self.move_to(row.saturating_sub(PAGE)),
            KeyCode::PageDown => self.move_to(row + PAGE),
            KeyCode::Home | KeyCode::Char('g') => self.move_to(0),
            KeyCode::End | KeyCode::Char('G') => self.move_to(usize::MAX),
            KeyCode::Left | KeyCode::Char('h') | KeyCode::BackTab => self.move_across(-1),
            KeyCode::Right | KeyCode::Char('l') | KeyCode::Tab => self.move_across(1),
            KeyCode::Enter if !self.rows.is_empty() => Reaction::changed(self.edit()),
            KeyCode::Enter => Reaction::changed(self.add()),
            KeyCode::Char('a') if is_plain(key) => Reaction::changed(self.add()),
            KeyCode::Char('D') => Reaction::changed(self.drop_row()),
            KeyCode::Char('z') => Reaction::changed(self.undo()),
            KeyCode::Char('Z') => Reaction::changed(self.redo()),
            _ => Reaction::Ignored,
        }
    }

    fn move_to(&mut self, row: usize) -> Reaction {
        let before = self.cursor;
        self.go(row);
        Reaction::moved(self.cursor != before)
    }

    /// Within a row only: Tab in the last cell is left to the form, so that two presses lead out of any row.
    fn move_across(&mut self, by: isize) -> Reaction {
        let to = self.beside(by).filter(|_| !self.rows.is_empty());
        self.column = to.unwrap_or(self.column);
        Reaction::moved(to.is_some())
    }
}

/// What a paste did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastedPairs {
    /// It was inserted as text, without its last characters if they did not fit: this many.
    Text { cut: usize },
    /// It was read as rows; rows with the same key got its values.
    Rows { added: usize, changed: usize },
    /// Nothing was changed. Never quotes what was pasted.
    Refused(String),
}

impl<K: Kind> Pairs<K> {
    pub fn paste(&mut self, text: &str) -> PastedPairs {
        self.refused = None;
        let pasted = match &mut self.typing {
            Some(Typing::Type(_)) => {
                Err("not pasted: a type is being chosen; save it first".to_owned())
            }
            Some(Typing::Key(field) | Typing::Value(_, field)) if !K::are_rows(text) => {
                let cut = field.paste(text);
                Ok(PastedPairs::Text { cut })
            }
            Some(_) | None => K::read(text).and_then(|pairs| self.take(pairs)),
        };
        pasted.unwrap_or_else(|why| {
            self.refused = Some(why.clone());
            PastedPairs::Refused(why)
        })
    }

    fn take(&mut self, pairs: Vec<(String, Typed)>) -> Result<PastedPairs, String> {
        self.commit();
        let mut rows = self.rows.clone();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (place, row) in rows.iter().enumerate() {
            // If a key occurs more than once, the row that is not removed is preferred.
            if !row.is_dropped || !places.contains_key(&row.key) {
                places.insert(row.key.clone(), place);
            }
        }
        let (mut added, mut changed, mut last) = (0, 0, self.cursor);
        for (key, value) in pairs {
            if let Some(&place) = places.get(&key) {
                let row = &mut rows[place];
                changed += usize::from(row.is_dropped || row.value != value);
                (row.value, row.is_dropped) = (value, false);
                last = place;
            } else {
                last = rows.len();
                rows.push(Row::added(key, value));
                added += 1;
            }
        }
        let before = std::mem::replace(&mut self.cursor, last);
        if self.write(rows) {
            return Ok(PastedPairs::Rows { added, changed });
        }
        self.cursor = before;
        let why = self.refused.take().unwrap_or_default();
        Err(format!("not pasted: {why}"))
    }
}
