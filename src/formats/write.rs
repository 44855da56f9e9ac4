//! Rows as text, in each of the formats. Reading the text gives the same rows, and writing them the same text.

use super::{COLUMNS, GroupRow, json};
use crate::domain::known::KnownGroup;

/// How rows stand in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One object on each line.
    JsonLines,
    /// One array.
    Json,
    Csv,
}

impl Format {
    /// What stands before the first row.
    pub fn head(self) -> String {
        match self {
            Self::JsonLines => String::new(),
            Self::Json => "[".into(),
            Self::Csv => format!("{}\r\n", COLUMNS.join(",")),
        }
    }

    /// One row, with what separates it from the one before.
    pub fn row(self, row: &GroupRow, is_first: bool) -> String {
        match self {
            Self::JsonLines => format!("{}\n", json::text(row)),
            Self::Json if is_first => format!("\n{}", json::text(row)),
            Self::Json => format!(",\n{}", json::text(row)),
            Self::Csv => csv(row),
        }
    }

    /// What stands behind the last row.
    pub fn foot(self) -> &'static str {
        match self {
            Self::JsonLines | Self::Csv => "",
            Self::Json => "\n]\n",
        }
    }
}

impl GroupRow {
    /// What is known of a group, be it from the service or from a file.
    pub fn of(group: KnownGroup) -> Self {
        Self {
            id: group.id,
            said: crate::domain::change::DesiredFields {
                name: group.name.map(|known| known.value),
                mapping: group.mapping.map(|known| known.value),
                properties: group.properties.map(|known| known.value),
            },
        }
    }
}

fn csv(row: &GroupRow) -> String {
    let mapping = row.said.mapping.as_ref().map(serde_json::to_string);
    let properties = row.said.properties.as_ref().map(serde_json::to_string);
    let cells = [
        Some(row.id.as_str().to_owned()),
        row.said.name.clone(),
        mapping.and_then(Result::ok),
        properties.and_then(Result::ok),
    ];
    format!("{}\r\n", cells.map(cell).join(","))
}

fn cell(text: Option<String>) -> String {
    match text {
        None => String::new(),
        Some(text) if text.is_empty() || text.contains([',', '"', '\r', '\n', ' ']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Some(text) => text,
    }
}
