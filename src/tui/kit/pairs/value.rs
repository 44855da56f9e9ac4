//! A value with its type: the types that can be chosen, and how text of each is written as JSON.

use std::borrow::Cow;

use serde_json::Number;

use crate::tui::kit::json_editor::{one_line, parse_value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ValueType {
    #[default]
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

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Boolean => "true/false",
            Self::Null => "null",
            Self::Json => "JSON",
        }
    }

    /// The next type in the list, wrapping around.
    pub(super) fn next(self) -> Self {
        Self::ALL[(self as usize + 1) % Self::ALL.len()]
    }

    pub(super) fn previous(self) -> Self {
        Self::ALL[(self as usize + Self::ALL.len() - 1) % Self::ALL.len()]
    }

    /// Whether the type has a value to type.
    pub(super) fn is_typed(self) -> bool {
        matches!(self, Self::Text | Self::Number | Self::Json)
    }
}

/// A text without quotes; a value of any other type as it is written in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Typed {
    pub(super) value_type: ValueType,
    pub(super) text: String,
}

impl Typed {
    pub(super) fn new(value_type: ValueType, text: impl Into<String>) -> Self {
        Self {
            value_type,
            text: text.into(),
        }
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::new(ValueType::Text, text)
    }

    /// Of a valid JSON value.
    pub(super) fn of(source: &str) -> Self {
        let text = match ValueType::of(source) {
            ValueType::Text => serde_json::from_str(source).ok(),
            _ => None,
        };
        Self::new(
            ValueType::of(source),
            text.unwrap_or_else(|| source.to_owned()),
        )
    }

    /// As it is shown and typed: JSON on one line, a number exactly as it is written.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        match self.value_type {
            ValueType::Json => one_line(&self.text).into(),
            _ => self.text.as_str().into(),
        }
    }

    /// As JSON, valid or not.
    pub(super) fn written(&self) -> String {
        match self.value_type {
            ValueType::Text => quoted(&self.text),
            _ => self.text.trim().to_owned(),
        }
    }

    /// Beside another value: without quotes only if that cannot be mistaken for another type.
    pub(super) fn beside(&self, other: &Self) -> String {
        match other.value_type {
            ValueType::Text if self.value_type == ValueType::Text => self.text.clone(),
            _ => self.written(),
        }
    }

    pub(super) fn problem(&self) -> Option<String> {
        match self.value_type {
            ValueType::Number if serde_json::from_str::<Number>(self.text.trim()).is_err() => {
                Some("not a number; write it like 12 or -1.5".into())
            }
            ValueType::Json => {
                let problem = parse_value(&self.text).err()?;
                Some(format!("column {}: {}", problem.column, problem.text))
            }
            _ => None,
        }
    }

    /// With another type, if that is possible without asking.
    pub(super) fn converted(&self, to: ValueType) -> Option<Self> {
        if to == self.value_type {
            return Some(self.clone());
        }
        let shown = self.shown();
        let text = match to {
            ValueType::Text if self.value_type == ValueType::Null => "",
            ValueType::Text => &shown,
            ValueType::Boolean if shown == "false" => "false",
            ValueType::Boolean => "true",
            ValueType::Null => "null",
            ValueType::Number | ValueType::Json => shown.trim(),
        };
        let value = Self::new(to, text);
        let is_of_type = to != ValueType::Json || ValueType::of(text) == to;
        (is_of_type && value.problem().is_none()).then_some(value)
    }

    /// With another type to which it cannot be converted, as a beginning.
    pub(super) fn to_correct(&self, to: ValueType) -> Self {
        match self.value_type {
            ValueType::Text if to == ValueType::Json && !self.text.is_empty() => {
                Self::new(to, self.written())
            }
            _ => Self::new(to, self.shown()),
        }
    }

    /// What is meant in a new row: an object or an array is JSON, because it is hardly meant as a text.
    pub(super) fn meant(self) -> Self {
        match self.value_type {
            ValueType::Text => self.converted(ValueType::Json).unwrap_or(self),
            _ => self,
        }
    }

    /// The other one of true and false.
    pub(super) fn toggled(&self) -> Self {
        let other = if self.text == "true" { "false" } else { "true" };
        Self::new(ValueType::Boolean, other)
    }
}

/// The text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
