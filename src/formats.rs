//! Groups as rows of a file: CSV, JSON lines or a JSON array, read as they come and written so that reading gives the
//! same again. Every row that is wrong is named; nothing is guessed.

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
pub use plan::{Need, Plan, Planned};
pub use reader::{Reader, RowResult};
pub use write::{Format, csv_line};

use serde_json::Value;

use super::domain::{
    annotation::AnnotationChange, change::DesiredFields, group::UserGroupId, size::fits,
};

/// Longest row, in bytes; a longer one is another file.
pub const LONGEST_ROW: usize = 8 * 1024 * 1024;

/// One group of a file; what the file does not say of it is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRow {
    pub id: UserGroupId,
    pub said: DesiredFields,
    /// Its note, its labels, whether it is a favourite; never sent.
    pub beside: AnnotationChange,
}

impl GroupRow {
    /// Refuses what no service takes, a NUL character, which most databases cannot keep; and what could not be read back.
    fn checked(self) -> Result<Self, String> {
        fits(&self.said).map_err(|why| format!("{}: {why}", why.field()))?;
        let DesiredFields {
            name,
            mapping,
            properties,
        } = &self.said;
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
        let note = self.beside.note.as_ref();
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

/// A column that does not exist, with the one that may have been meant.
fn no_such_column(name: &str) -> String {
    if name.to_lowercase().contains("token") {
        return "a token does not belong into such a file; take that column out".into();
    }
    let known = Column::ALL.map(Column::as_str);
    let near = super::search::suggest::near(name, known, 1);
    let meant = near.first().map_or_else(
        || format!("there are {}", known.join(", ")),
        |near| format!("did you mean {near}?"),
    );
    // Whatever is not like a name of a column may be a secret, in a file that is none of groups.
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
