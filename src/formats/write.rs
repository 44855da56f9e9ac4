//! Writes rows as text, in each format. Reading the text gives the same rows, and writing those gives the same text.

use serde_json::Value;

use super::{Column, Columns, GroupRow, Parts, json};
use crate::domain::{
    annotation::{Annotation, AnnotationChange, labels_text},
    change::DesiredFields,
    known::KnownGroup,
    text::joined,
};

/// How rows are arranged in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One object per line.
    JsonLines,
    /// One array.
    Json,
    Csv,
}

impl Format {
    /// The text before the first row.
    pub fn head(self, columns: &Columns) -> String {
        match self {
            Self::JsonLines => String::new(),
            Self::Json => "[".into(),
            Self::Csv => format!("{}\r\n", names(columns)),
        }
    }

    /// One row, with the separator before it.
    pub fn row(self, row: &GroupRow, columns: &Columns, is_first: bool) -> String {
        match self {
            Self::JsonLines => format!("{}\n", json::text(row, columns)),
            Self::Json if is_first => format!("\n{}", json::text(row, columns)),
            Self::Json => format!(",\n{}", json::text(row, columns)),
            Self::Csv => csv(row, columns),
        }
    }

    /// The text after the last row.
    pub fn foot(self) -> &'static str {
        match self {
            Self::JsonLines | Self::Csv => "",
            Self::Json => "\n]\n",
        }
    }
}

impl GroupRow {
    /// What is known of a group, whether from the service or from a file, and its annotation.
    pub fn of(group: KnownGroup, annotation: Option<&Annotation>) -> Self {
        Self {
            id: group.id,
            fields: DesiredFields {
                name: group.name.map(|known| known.value),
                mapping: group.mapping.map(|known| known.value),
                properties: group.properties.map(|known| known.value),
            },
            annotation: annotation.map_or_else(AnnotationChange::default, Annotation::as_change),
            parts: Parts::default(),
        }
    }
}

/// The header line of CSV.
pub(super) fn names(columns: &Columns) -> String {
    joined(columns.iter().map(Column::as_str), ",")
}

fn csv(row: &GroupRow, columns: &Columns) -> String {
    let labels = row.annotation.labels.as_ref().map(labels_text);
    csv_line(columns.iter().map(|column| match column {
        Column::Labels => labels.clone(),
        _ => Some(match json::value(row, column)? {
            Value::String(text) => text,
            value => value.to_string(),
        }),
    }))
}

/// A line of CSV. A cell without a value is empty, and an empty text is quoted.
pub fn csv_line(cells: impl Iterator<Item = Option<String>>) -> String {
    format!("{}\r\n", joined(cells.map(cell), ","))
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
