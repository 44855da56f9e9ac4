//! The properties in two views of one text: as JSON, and as rows of key, type and value for a person who does not write
//! JSON. The text is the truth: a row is changed by replacing its part of the text, so nothing else is touched, and
//! undo is that of the text.

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

use self::typing::PropertyRows;
use super::{
    Reaction, RowKeys,
    json_editor::{JsonEditor, JsonProblem, parse},
};
use crate::{domain::group::Properties, tui::theme::Theme};

/// Where keys go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertiesFocus {
    Text,
    /// Between the cells of the rows.
    Rows,
    /// In a key or a value.
    Cell,
    /// In the choice of a type.
    Kind,
}

#[derive(Debug, Clone)]
pub struct PropertiesField {
    editor: JsonEditor,
    /// The view as rows, if that is the one that is shown.
    rows: Option<PropertyRows>,
    /// The judgement of the text together with what is being typed into a cell.
    typed: OnceLock<Result<Properties, JsonProblem>>,
}

impl PropertiesField {
    /// Starts with the known properties, or with no text at all.
    pub fn new(before: Option<&Properties>) -> Self {
        Self {
            editor: JsonEditor::new(before),
            rows: None,
            typed: OnceLock::new(),
        }
    }

    /// The raw text, valid or not, with what is being typed into a cell.
    pub fn text(&self) -> String {
        let text = self.editor.text();
        match self.patch(&text) {
            Some((range, new)) => [&text[..range.start], &new, &text[range.end..]].concat(),
            None => text,
        }
    }

    /// Replaces the whole text as one step, as an outside editor or a draft does; a cell that is typed into is left.
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

    /// Whether the properties differ from what was known, also by what is wrong.
    pub fn is_changed(&self) -> bool {
        match (self.editor.before(), self.value()) {
            (Some(before), Ok(value)) => before != value,
            (Some(_), Err(_)) => true,
            (None, _) => !self.is_blank(),
        }
    }

    /// The properties as they would be sent, or what is wrong with the text.
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
            Some(rows) if rows.is_choosing() => PropertiesFocus::Kind,
            Some(rows) if rows.is_typing() => PropertiesFocus::Cell,
            Some(_) => PropertiesFocus::Rows,
        }
    }

    /// Why the text cannot be shown as rows, if so.
    pub fn why_no_rows(&self) -> Option<&JsonProblem> {
        let problem = self.editor.value().err();
        problem.filter(|_| self.rows.is_none() && !self.editor.is_left_out())
    }

    /// Shows the other view. False where what is there is not valid: nothing is lost, and the view stays.
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

    /// Takes over what is being typed into a cell. False if it is not valid; it can go on being typed.
    pub fn commit(&mut self) -> bool {
        self.typed = OnceLock::new();
        match &mut self.rows {
            Some(rows) => rows.commit(&mut self.editor),
            None => true,
        }
    }

    /// Why what is typed into a cell was not taken over.
    pub fn refused(&self) -> Option<&str> {
        self.rows.as_ref()?.refused.as_deref()
    }

    /// Takes over what is being typed into a cell, even if it is not valid: then as text, where it can be mended.
    pub fn settle(&mut self) {
        if !self.commit() {
            let text = self.text();
            self.rows = None;
            self.set_text(&text);
        }
    }

    /// Moves the cursor to what is wrong. False if nothing is.
    pub fn go_to_problem(&mut self) -> bool {
        // A cell that cannot be understood has the cursor already.
        !self.commit() || self.editor.go_to_problem()
    }

    pub fn key(&mut self, key: KeyEvent) -> Reaction {
        self.typed = OnceLock::new();
        match &mut self.rows {
            Some(rows) => rows.key(key, &mut self.editor),
            None => self.editor.key(key),
        }
    }

    /// Returns where the terminal's cursor belongs, if focused.
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
