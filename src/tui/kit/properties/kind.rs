//! The types that a person can choose, and how text of each is written as JSON.

use serde_json::Number;

use crate::tui::kit::json_editor::{one_line, parse_value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueType {
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
    pub(super) fn of(source: &str) -> Self {
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

    /// The type `by` positions later in the list, wrapping around.
    pub(super) fn moved(self, by: usize) -> Self {
        let here = Self::ALL.iter().position(|kind| *kind == self);
        Self::ALL[(here.unwrap_or(0) + by) % Self::ALL.len()]
    }

    /// The previous type.
    pub(super) fn previous(self) -> Self {
        self.moved(Self::ALL.len() - 1)
    }

    /// Whether the type has a value to type.
    pub(super) fn is_typed(self) -> bool {
        matches!(self, Self::Text | Self::Number | Self::Json)
    }

    /// A value as it is shown: text without quotes, JSON on one line, a number exactly as it is written.
    pub(super) fn shown(self, source: &str) -> String {
        match self {
            Self::Text => serde_json::from_str(source).unwrap_or_else(|_| source.to_owned()),
            Self::Json => one_line(source),
            Self::Number | Self::Boolean | Self::Null => source.to_owned(),
        }
    }

    /// The typed text as JSON, or what is wrong with it.
    pub(super) fn written(self, text: &str) -> Result<String, String> {
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
    pub(super) fn converted(self, from: Self, shown: &str) -> Option<String> {
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
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn is_number(text: &str) -> bool {
    serde_json::from_str::<Number>(text).is_ok()
}

#[cfg(test)]
mod tests {
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
