//! Groups as rows of a file: CSV, JSON lines or a JSON array. They are read as a stream, and what is written reads back
//! the same. Every invalid row is reported; nothing is guessed.

mod columns;
mod csv;
mod ids;
mod json;
mod plan;
mod reader;
pub mod strict_json;
mod write;

pub use columns::{Column, Columns, chosen};
pub use ids::Ids;
pub use plan::{Plan, RowAction, RowPlan};
pub use reader::{Reader, RowResult};
pub use write::{Format, csv_line};

use serde_json::Value;

use super::domain::{
    annotation::AnnotationChange, change::DesiredFields, group::UserGroupId, size::check_size,
};

/// Longest row, in bytes; a longer one means that this is the wrong file.
pub const MAX_ROW_BYTES: usize = 8 * 1024 * 1024;

/// One group of a file. Values that the file does not contain are `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRow {
    pub id: UserGroupId,
    pub fields: DesiredFields,
    /// Its note, its labels, and whether it is a favourite; never sent.
    pub annotation: AnnotationChange,
}

impl GroupRow {
    /// Refuses values that no service accepts, NUL characters (most databases cannot store them), and rows that would
    /// not read back the same.
    fn checked(self) -> Result<Self, String> {
        check_size(&self.fields).map_err(|why| format!("{}: {why}", why.field()))?;
        let DesiredFields {
            name,
            mapping,
            properties,
        } = &self.fields;
        let has_nul = [
            (
                "name",
                name.as_ref().is_some_and(|name| name.contains('\0')),
            ),
            (
                "mapping",
                mapping
                    .iter()
                    .flatten()
                    .any(|(key, value)| key.contains('\0') || value.contains('\0')),
            ),
            (
                "properties",
                properties
                    .iter()
                    .flatten()
                    .any(|(key, value)| key.contains('\0') || holds_nul(value)),
            ),
        ];
        let note = self.annotation.note.as_ref();
        let has_nul = has_nul
            .into_iter()
            .chain([("note", note.is_some_and(|note| note.contains('\0')))]);
        let mut wrong = has_nul.filter(|(_, has_nul)| *has_nul);
        match wrong.next() {
            Some((column, _)) => Err(format!("{column}: it holds a NUL character; remove it")),
            None => Ok(self),
        }
    }
}

fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(holds_nul),
        Value::Object(object) => object
            .iter()
            .any(|(key, value)| key.contains('\0') || holds_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The message about an unknown column, with the one that may have been meant.
fn no_such_column(name: &str) -> String {
    if name.to_lowercase().contains("token") {
        return "a token does not belong into such a file; take that column out".into();
    }
    let known = Column::ALL.map(Column::as_str);
    let near = super::search::suggest::similar(name, known, 1);
    let meant = near.first().map_or_else(
        || format!("there are {}", known.join(", ")),
        |near| format!("did you mean {near}?"),
    );
    // Quote only what looks like a column name: the file may not contain groups at all, and then anything in it may be
    // a secret.
    let is_name = name.len() <= 20
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "_- ".contains(c));
    let quoted = if is_name {
        format!(" \"{}\"", super::domain::text::visible(name))
    } else {
        String::new()
    };
    format!("unknown column{quoted}; {meant}")
}

#[cfg(test)]
mod tests;
