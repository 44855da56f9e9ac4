//! The properties in two views of one text: as JSON, and as rows of key, type and value for people who do not write
//! JSON. The text is the source of truth: a row is changed by replacing its part of the text, so that nothing else is
//! touched, and undo is that of the text.
//!
//! The types that a person can choose, and how text of each is written as JSON.

mod draw;
mod rows;
#[cfg(test)]
mod tests;
mod typing;

pub use self::draw::PastedProperties;

use std::sync::OnceLock;

use ratatui::{
    crossterm::event::KeyEvent,
    prelude::{Buffer, Position, Rect},
};
use serde_json::Number;

use self::typing::{PropertyRows, Typing};
use super::{
    Reaction, RowKeys,
    json_editor::{JsonEditor, JsonProblem, parse},
};
use crate::{
    domain::Properties,
    tui::{
        kit::{
            json_editor::{one_line, parse_value},
            text_field::TextField,
        },
        theme::Theme,
    },
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueType {
    Text,
    Number,
    Boolean,
    Null,
    Json,
}

impl ValueType {
    const ALL: [Self; 5] = [
        Self::Text,
        Self::Number,
        Self::Boolean,
        Self::Null,
        Self::Json,
    ];

    /// The type of a valid JSON value.
    fn of(source: &str) -> Self {
        match source.as_bytes().first() {
            Some(b'"') => Self::Text,
            Some(b'{' | b'[') => Self::Json,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') => Self::Null,
            _ => Self::Number,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Boolean => "true/false",
            Self::Null => "null",
            Self::Json => "JSON",
        }
    }

    /// The type `by` positions later in the list, wrapping around.
    fn moved(self, by: usize) -> Self {
        Self::ALL[(self as usize + by) % Self::ALL.len()]
    }

    /// The previous type.
    fn previous(self) -> Self {
        self.moved(Self::ALL.len() - 1)
    }

    /// Whether the type has a value to type.
    fn is_typed(self) -> bool {
        matches!(self, Self::Text | Self::Number | Self::Json)
    }

    /// A value as it is shown: text without quotes, JSON on one line, a number exactly as it is written.
    fn shown(self, source: &str) -> String {
        match self {
            Self::Text => serde_json::from_str(source).unwrap_or_else(|_| source.to_owned()),
            Self::Json => one_line(source),
            Self::Number | Self::Boolean | Self::Null => source.to_owned(),
        }
    }

    /// The typed text as JSON, or what is wrong with it.
    fn written(self, text: &str) -> Result<String, String> {
        let trimmed = text.trim();
        match self {
            Self::Text => Ok(quoted(text)),
            Self::Number if is_number(trimmed) => Ok(trimmed.to_owned()),
            Self::Number => Err("not a number; write it like 12 or -1.5".into()),
            Self::Boolean if matches!(trimmed, "true" | "false") => Ok(trimmed.to_owned()),
            Self::Boolean => Err("neither true nor false".into()),
            Self::Null => Ok("null".into()),
            Self::Json => match parse_value(text) {
                Ok(_) => Ok(trimmed.to_owned()),
                Err(problem) => Err(format!("column {}: {}", problem.column, problem.text)),
            },
        }
    }

    /// Converts a value of another type to this one, if that is possible without asking.
    fn converted(self, from: Self, shown: &str) -> Option<String> {
        match self {
            Self::Text if from == Self::Null => Some(quoted("")),
            Self::Text => Some(quoted(shown)),
            Self::Number => is_number(shown.trim()).then(|| shown.trim().to_owned()),
            Self::Boolean => Some(if shown == "false" { "false" } else { "true" }.to_owned()),
            Self::Null => Some("null".into()),
            Self::Json => self
                .written(shown)
                .ok()
                .filter(|source| Self::of(source) == Self::Json),
        }
    }
}

/// The text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn is_number(text: &str) -> bool {
    serde_json::from_str::<Number>(text).is_ok()
}

#[cfg(test)]
mod kind_tests {
    use super::*;

    #[test]
    fn what_is_typed_becomes_json_of_its_type() {
        for (kind, typed, written) in [
            (ValueType::Text, "12 \"x\"", Ok("\"12 \\\"x\\\"\"")),
            (
                ValueType::Number,
                " 12345678901234567890.10 ",
                Ok("12345678901234567890.10"),
            ),
            (ValueType::Number, "1e400", Ok("1e400")),
            (
                ValueType::Number,
                "1,5",
                Err("not a number; write it like 12 or -1.5"),
            ),
            (
                ValueType::Number,
                "007",
                Err("not a number; write it like 12 or -1.5"),
            ),
            (
                ValueType::Number,
                "\"1\"",
                Err("not a number; write it like 12 or -1.5"),
            ),
            (ValueType::Json, "[1, {\"a\": 2}]", Ok("[1, {\"a\": 2}]")),
            (
                ValueType::Json,
                "1, \"b\": 2",
                Err("column 2: trailing characters"),
            ),
            (
                ValueType::Json,
                "{\"a\": 1, \"a\": 2}",
                Err("column 10: this key is in line 1 already"),
            ),
        ] {
            let written = written.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(kind.written(typed), written, "{typed}");
        }
    }

    #[test]
    fn a_value_changes_its_type_where_that_is_clear() {
        for (to, from, shown, source) in [
            (ValueType::Number, ValueType::Text, "1.10", Some("1.10")),
            (ValueType::Number, ValueType::Text, "gold", None),
            (
                ValueType::Text,
                ValueType::Number,
                "1e400",
                Some("\"1e400\""),
            ),
            (ValueType::Text, ValueType::Null, "null", Some("\"\"")),
            (ValueType::Boolean, ValueType::Text, "false", Some("false")),
            (ValueType::Json, ValueType::Text, "[1]", Some("[1]")),
            (ValueType::Json, ValueType::Text, "1", None),
            (ValueType::Null, ValueType::Text, "x", Some("null")),
        ] {
            assert_eq!(
                to.converted(from, shown).as_deref(),
                source,
                "{shown} to {to:?}"
            );
        }
        let mut kind = ValueType::Text;
        for _ in 0..5 {
            assert_eq!(kind.moved(1).previous(), kind);
            kind = kind.moved(1);
        }
        assert_eq!(kind, ValueType::Text);
    }
}
