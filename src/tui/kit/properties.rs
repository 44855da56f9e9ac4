//! The properties in two views of one text: as JSON, and as rows of key, type and value for people who do not write
//! JSON. The text is the source of truth: a row is changed by replacing its part of the text, so that nothing else is
//! touched, and undo is that of the text.

mod draw;
mod keys;
mod kind;
mod paste;
mod rows;
#[cfg(test)]
mod tests;
mod typing;

pub use self::{paste::PastedProperties, typing::Column};

use std::sync::OnceLock;

use ratatui::{
    buffer::Buffer,
    crossterm::event::KeyEvent,
    layout::{Position, Rect},
};

use self::typing::{PropertyRows, Typing};
use super::{
    Reaction, RowKeys,
    json_editor::{JsonEditor, JsonProblem, parse},
};
use crate::{
    domain::group::Properties,
    tui::{kit::text_field::TextField, theme::Theme},
};

/// What receives the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertiesFocus {
    Text,
    /// The rows, between cells.
    Rows,
    /// A key or a value that is being edited.
    Cell,
    /// The choice of a type.
    ValueType,
}

#[derive(Debug, Clone)]
pub struct PropertiesField {
    editor: JsonEditor,
    /// The rows, if that view is shown.
    rows: Option<PropertyRows>,
    /// The result of parsing the text together with the cell that is being edited.
    typed: OnceLock<Result<Properties, JsonProblem>>,
}

impl PropertiesField {
    /// Starts with the known properties, or with an empty text.
    pub fn new(before: Option<&Properties>) -> Self {
        Self {
            editor: JsonEditor::new(before),
            rows: None,
            typed: OnceLock::new(),
        }
    }

    /// The cell that is being edited.
    pub fn cell(&mut self) -> Option<&mut TextField> {
        match self.rows.as_mut()?.typing.as_mut()? {
            Typing::Key(field) | Typing::Value(_, field) => Some(field),
            Typing::ValueType(_) => None,
        }
    }

    /// The raw text, valid or not, with the cell that is being edited.
    pub fn text(&self) -> String {
        let text = self.editor.text();
        match self.patch(&text) {
            Some((range, new)) => [&text[..range.start], &new, &text[range.end..]].concat(),
            None => text,
        }
    }

    /// Replaces the whole text in one step, for example by that of an external editor or a draft; leaves a cell that
    /// is being edited.
    pub fn set_text(&mut self, text: &str) {
        self.editor.set_text(text);
        let was_rows = self.rows.take().is_some();
        if was_rows {
            self.rows = PropertyRows::of(&self.editor);
        }
        self.typed = OnceLock::new();
    }

    pub fn is_blank(&self) -> bool {
        self.editor.is_blank() && self.patch("").is_none()
    }

    /// Whether the properties differ from what was known; an invalid text counts as a difference.
    pub fn is_changed(&self) -> bool {
        match (self.editor.before(), self.value()) {
            (Some(before), Ok(value)) => before != value,
            (Some(_), Err(_)) => true,
            (None, _) => !self.is_blank(),
        }
    }

    /// The properties as they would be sent, or the problem of the text.
    pub fn value(&self) -> Result<&Properties, &JsonProblem> {
        match &self.rows {
            Some(rows) if rows.is_typing() => {
                self.typed.get_or_init(|| parse(&self.text())).as_ref()
            }
            Some(_) | None => self.editor.value(),
        }
    }

    pub fn place(&self) -> PropertiesFocus {
        match &self.rows {
            None => PropertiesFocus::Text,
            Some(rows) if rows.is_choosing() => PropertiesFocus::ValueType,
            Some(rows) if rows.is_typing() => PropertiesFocus::Cell,
            Some(_) => PropertiesFocus::Rows,
        }
    }

    /// Why the text cannot be shown as rows; `None` if it can.
    pub fn why_no_rows(&self) -> Option<&JsonProblem> {
        let problem = self.editor.value().err();
        problem.filter(|_| self.rows.is_none() && !self.editor.is_left_out())
    }

    /// Switches to the other view. Returns false if the content is not valid: nothing is lost, and the view stays.
    pub fn switch(&mut self) -> bool {
        if self.rows.is_some() {
            let committed = self.commit();
            if committed {
                self.rows = None;
            }
            committed
        } else {
            self.rows = PropertyRows::of(&self.editor);
            self.rows.is_some()
        }
    }

    /// Takes over the cell that is being edited. Returns false if it is not valid; editing continues.
    pub fn commit(&mut self) -> bool {
        self.typed = OnceLock::new();
        match &mut self.rows {
            Some(rows) => rows.commit(&mut self.editor),
            None => true,
        }
    }

    /// Why the cell that is being edited was not taken over.
    pub fn refused(&self) -> Option<&str> {
        self.rows.as_ref()?.refused.as_deref()
    }

    /// Takes over the cell that is being edited; if it is not valid, switches to the text, where it can be corrected.
    pub fn settle(&mut self) {
        if !self.commit() {
            let text = self.text();
            self.rows = None;
            self.set_text(&text);
        }
    }

    /// Moves the cursor to the problem. Returns false if there is none.
    pub fn go_to_problem(&mut self) -> bool {
        // If a cell is not valid, the cursor is there already.
        !self.commit() || self.editor.go_to_problem()
    }

    pub fn key(&mut self, key: KeyEvent) -> Reaction {
        self.typed = OnceLock::new();
        match &mut self.rows {
            Some(rows) => rows.key(key, &mut self.editor),
            None => self.editor.key(key),
        }
    }

    /// Returns the position of the terminal's cursor, if focused.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        theme: Theme,
        focused: bool,
        keys: &RowKeys,
    ) -> Option<Position> {
        match &self.rows {
            Some(rows) => rows.draw(buffer, area, theme, focused, keys),
            None => self.editor.draw(buffer, area, theme, focused),
        }
    }

    fn patch(&self, text: &str) -> Option<rows::Patch> {
        self.rows.as_ref()?.typed(text)
    }
}
