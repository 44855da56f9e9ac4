//! The operations on the rows. Every step is one replacement in the text and is checked before it is kept, so that the
//! rows are always those of a valid text; an invalid value stays in its cell, with the reason.
//!
//! The keys of the rows, the same as those of the mapping; in the choice of a type, Left and Right choose.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use super::{
    ValueType, quoted,
    rows::{self, InsertAt, Patch, PropertyRow},
};
use crate::{
    domain::Mark,
    tui::kit::{
        Reaction,
        json_editor::{JsonEditor, parse},
        table::CellKey,
        text_field::TextField,
    },
};

/// Maximum number of characters in a cell.
const LONGEST: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Key,
    ValueType,
    Value,
}

/// The cell under the cursor while it is being edited.
#[derive(Debug, Clone)]
pub(super) enum Typing {
    Key(TextField),
    ValueType(ValueType),
    Value(ValueType, TextField),
}

/// The rows of the properties, and the cursor.
#[derive(Debug, Clone)]
pub(super) struct PropertyRows {
    pub(super) all: Vec<PropertyRow>,
    pub(super) cursor: usize,
    pub(super) column: Column,
    pub(super) typing: Option<Typing>,
    /// The row is being added: after its key come its type and its value.
    pub(super) is_adding: bool,
    /// Why the last key had no effect.
    pub(super) refused: Option<String>,
    /// Whether the properties were known when the edit began.
    pub(super) is_known: bool,
}

impl PropertyRows {
    /// `None` if the text is not a valid object.
    pub(super) fn of(editor: &JsonEditor) -> Option<Self> {
        Some(Self {
            all: rows::read(editor)?,
            cursor: 0,
            column: Column::Value,
            typing: None,
            is_adding: false,
            refused: None,
            is_known: editor.is_known(),
        })
    }

    pub(super) fn is_typing(&self) -> bool {
        self.typing.is_some()
    }

    pub(super) fn is_choosing(&self) -> bool {
        matches!(self.typing, Some(Typing::ValueType(_)))
    }

    /// The replacement for what is being typed, valid or not; `None` if it changes nothing.
    pub(super) fn typed(&self, text: &str) -> Option<Patch> {
        let row = self.all.get(self.cursor)?;
        match self.typing.as_ref()? {
            Typing::ValueType(kind) if *kind == row.kind => None,
            Typing::ValueType(kind) => {
                let converted = kind.converted(row.kind, &row.shown)?;
                Some((row.entry.clone()?.value, converted))
            }
            Typing::Key(field) if field.text() == row.key => None,
            Typing::Key(field) => Some(match &row.entry {
                Some(entry) => (entry.key.clone(), quoted(field.text())),
                None => rows::insertion(text, InsertAt::Last, field.text(), "\"\""),
            }),
            Typing::Value(kind, field) if *kind == row.kind && field.text() == row.shown => None,
            Typing::Value(kind, field) => {
                let written = self.meant(*kind, field.text()).written(field.text());
                let written = written.unwrap_or_else(|_| field.text().to_owned());
                Some((row.entry.clone()?.value, written))
            }
        }
    }

    /// The type of what is typed: an object or an array in a new row is JSON, because nobody wants it as a text.
    fn meant(&self, kind: ValueType, text: &str) -> ValueType {
        let is_json =
            ValueType::of(text.trim()) == ValueType::Json && ValueType::Json.written(text).is_ok();
        match kind {
            ValueType::Text if self.is_adding && is_json => ValueType::Json,
            kind => kind,
        }
    }

    /// What is wrong with the cell that is being edited.
    fn problem(&self) -> Option<String> {
        match self.typing.as_ref()? {
            Typing::ValueType(_) => None,
            Typing::Value(kind, field) => kind.written(field.text()).err(),
            Typing::Key(field) if field.is_empty() => Some("the key is empty".into()),
            Typing::Key(field) => {
                let twin = self.all.iter().enumerate().find(|(index, row)| {
                    *index != self.cursor && row.entry.is_some() && row.key == field.text()
                });
                twin.map(|(index, _)| format!("row {} has this key already", index + 1))
            }
        }
    }

    /// Takes over the cell that is being edited; returns false if it is not valid, and editing continues.
    pub(super) fn commit(&mut self, editor: &mut JsonEditor) -> bool {
        self.refused = None;
        let text = editor.text();
        let Some(patch) = self.typed(&text) else {
            self.cancel(editor);
            return true;
        };
        if let Some(problem) = self.problem() {
            self.refused = Some(problem);
            return false;
        }
        let key = match &self.typing {
            Some(Typing::Key(field)) => Some(field.text().to_owned()),
            _ => None,
        };
        if !self.replace(patch, key.as_deref(), editor) {
            return false;
        }
        self.typing = None;
        true
    }

    /// Restores the cell that is being edited.
    pub(super) fn cancel(&mut self, editor: &JsonEditor) {
        self.typing = None;
        self.is_adding = false;
        self.refused = None;
        if self.all.last().is_some_and(PropertyRow::is_unwritten) {
            self.read(editor, None);
        }
    }

    /// Replaces a range of the text in one step, unless the text would become invalid.
    fn replace(&mut self, (range, new): Patch, key: Option<&str>, editor: &mut JsonEditor) -> bool {
        let mut text = editor.text();
        text.replace_range(range.clone(), &new);
        if let Err(problem) = parse(&text) {
            self.refused = Some(problem.text);
            return false;
        }
        editor.splice(range, &new);
        self.read(editor, key);
        true
    }

    /// Reads the rows again; the cursor stays on its key, or moves to `key`.
    pub(super) fn read(&mut self, editor: &JsonEditor, key: Option<&str>) {
        let here = self.all.get(self.cursor).map(|row| row.key.clone());
        let key = key.map(str::to_owned).or(here);
        self.all = rows::read(editor).unwrap_or_default();
        let found = self
            .all
            .iter()
            .position(|row| Some(&row.key) == key.as_ref());
        let last = self.all.len().saturating_sub(1);
        self.cursor = found.unwrap_or(self.cursor).min(last);
    }

    /// Adds a row at the end; it is written to the text once it has a key.
    pub(super) fn add(&mut self, editor: &mut JsonEditor) -> bool {
        if !self.commit(editor) {
            return false;
        }
        self.all.push(PropertyRow::unwritten());
        self.cursor = self.all.len() - 1;
        self.column = Column::Key;
        self.is_adding = true;
        self.typing = Some(Typing::Key(field("")));
        true
    }

    /// Removes the row from the text, or restores it in its old place; rows that were known remain visible.
    pub(super) fn drop_row(&mut self, editor: &mut JsonEditor) -> bool {
        let Some(row) = self.all.get(self.cursor).cloned() else {
            return false;
        };
        let text = editor.text();
        let patch = if let Some(entry) = &row.entry {
            rows::removal(&text, entry)
        } else {
            let was = editor.before().and_then(|before| before.get(&row.key));
            let above = self.all[..self.cursor].iter();
            let behind = above.rev().find_map(|row| row.entry.as_ref());
            let place = behind.map_or(InsertAt::First, InsertAt::Behind);
            was.map(|was| rows::insertion(&text, place, &row.key, &was.to_string()))
        };
        patch.is_some_and(|patch| self.replace(patch, None, editor))
    }

    /// Starts editing the cell under the cursor.
    pub(super) fn edit(&mut self, editor: &mut JsonEditor) -> bool {
        self.refused = None;
        let Some(row) = self.all.get(self.cursor) else {
            return false;
        };
        if row.mark == Mark::Removed {
            self.refused = Some("this row will be removed".into());
            return false;
        }
        self.typing = Some(match (self.column, row.kind) {
            (Column::Key, _) => Typing::Key(field(&row.key)),
            (Column::ValueType, kind) => Typing::ValueType(kind),
            (Column::Value, ValueType::Boolean) => {
                let other = if row.shown == "true" { "false" } else { "true" };
                let value = row.entry.as_ref().map(|entry| entry.value.clone());
                return value
                    .is_some_and(|value| self.replace((value, other.into()), None, editor));
            }
            (Column::Value, ValueType::Null) => {
                // Null has no value to type, so the person can only want another type.
                self.column = Column::ValueType;
                Typing::ValueType(ValueType::Null)
            }
            (Column::Value, kind) => Typing::Value(kind, field(&row.shown)),
        });
        true
    }

    /// Changes the type of the row; if its value cannot be converted, a new one must be typed first.
    pub(super) fn choose(&mut self, kind: ValueType, editor: &mut JsonEditor) {
        self.typing = None;
        let Some(row) = self.all.get(self.cursor).cloned() else {
            return;
        };
        let Some(entry) = &row.entry else {
            return;
        };
        if kind != row.kind {
            let Some(source) = kind.converted(row.kind, &row.shown) else {
                let text = match row.kind {
                    ValueType::Text if kind == ValueType::Json && !row.shown.is_empty() => {
                        quoted(&row.shown)
                    }
                    _ => row.shown.clone(),
                };
                self.refused = kind.written(&text).err().filter(|_| !text.is_empty());
                self.column = Column::Value;
                self.typing = Some(Typing::Value(kind, field(&text)));
                return;
            };
            if !self.replace((entry.value.clone(), source), None, editor) {
                return;
            }
        }
        if self.is_adding && kind.is_typed() {
            self.column = Column::Value;
            self.edit(editor);
        }
    }

    /// Undoes or redoes one step; skips steps whose text is not valid.
    pub(super) fn step(&mut self, editor: &mut JsonEditor, is_back: bool) -> bool {
        let go = |editor: &mut JsonEditor, is_back| {
            if is_back {
                editor.undo()
            } else {
                editor.redo()
            }
        };
        let mut steps = 0;
        while go(editor, is_back) {
            steps += 1;
            if editor.is_left_out() || editor.value().is_ok() {
                self.refused = None;
                self.read(editor, None);
                return true;
            }
        }
        for _ in 0..steps {
            go(editor, !is_back);
        }
        false
    }
}

pub(super) fn field(text: &str) -> TextField {
    TextField::new("", text).for_data().with_longest(LONGEST)
}

impl Column {
    const ALL: [Self; 3] = [Self::Key, Self::ValueType, Self::Value];

    /// The column this many places to the right; negative: to the left.
    fn moved(self, by: isize) -> Option<Self> {
        let at = (self as usize).checked_add_signed(by)?;
        Self::ALL.get(at).copied()
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
            KeyCode::Tab => self.leave_cell(self.column.moved(1), editor),
            KeyCode::BackTab => self.leave_cell(self.column.moved(-1), editor),
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
            CellKey::Left => self.go_across(self.column.moved(-1)),
            CellKey::Right => self.go_across(self.column.moved(1)),
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
