//! Groups as rows of a file: a table with separators, JSON objects or a JSON array. They are read as a stream, behind the
//! [intake](crate::intake), and what is written reads back the same. Every invalid row is reported; nothing is guessed.

mod columns;
mod csv;
mod drawn;
mod ids;
mod json;
pub mod pairs;
mod parts;
mod plan;
mod reader;
pub mod strict_json;
mod table;
mod write;

pub use columns::{Column, Columns, chosen};
pub use ids::{Ids, ids_below, ids_in};
pub use parts::Parts;
pub use plan::{Plan, RowAction, RowPlan};
pub use reader::{Reader, RowResult, begins_as_json, is_json, shown_id};
pub use write::{Format, csv_line};

use serde_json::Value;

use crate::{
    domain::{
        annotation::AnnotationChange, change::DesiredFields, facts::Field, group::UserGroupId,
        size::check_size, text::visible, update::Edit,
    },
    intake::signs,
    search::suggest::similar,
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
    /// Single rows and keys, which change what is known.
    pub parts: Parts,
}

impl GroupRow {
    /// What the row changes in a group with these values: columns of single rows and keys change only these.
    pub fn edit(&self, base: &DesiredFields) -> Edit {
        let mut edit = Edit::whole(base, &self.fields.over(base));
        edit.whole.retain(|field| match field {
            Field::Name => true,
            Field::Mapping => self.parts.map.is_empty(),
            Field::Properties => self.parts.properties.is_empty(),
        });
        edit
    }

    /// Refuses values that no service accepts, NUL characters (most databases cannot store them), and rows that would
    /// not read back the same.
    fn checked(self) -> Result<Self, String> {
        check_size(&self.fields).map_err(|why| format!("{}: {why}", why.field()))?;
        let fields = &self.fields;
        let nul = |text: &String| text.contains('\0');
        let nuls = |(key, value): (&String, &String)| nul(key) || nul(value);
        let of_property = |(key, value): (&String, &Value)| nul(key) || holds_nul(value);
        let mut parts = self.parts.map.iter().chain(&self.parts.properties);
        let has_nul = [
            ("name", fields.name.iter().any(nul)),
            ("mapping", fields.mapping.iter().flatten().any(nuls)),
            (
                "properties",
                fields.properties.iter().flatten().any(of_property),
            ),
            ("note", self.annotation.note.iter().any(nul)),
            (
                "a map: or prop: column",
                parts.any(|(key, cell)| nul(key) || nul(cell)),
            ),
        ];
        match has_nul.into_iter().find(|(_, has_nul)| *has_nul) {
            Some((column, _)) => Err(format!("{column}: it contains a NUL character; remove it")),
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

/// Columns and fields of a list that are no values of a group.
const OF_LISTS: [&str; 13] = [
    "tag",
    "map",
    "props",
    "age",
    "read",
    "due",
    "by",
    "team_id",
    "environment_tag",
    "fingerprint",
    "last_rotated",
    "last_seen",
    "environment",
];

/// What only the header of a table can name.
const OF_TABLES: &str = ", map:SCHEMA, prop:KEY";

/// The message about unknown columns: all of them, and once which there are. `None` without any.
fn no_such_columns(names: &[String], more: &str) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    if names
        .iter()
        .any(|name| name.to_lowercase().contains("token"))
    {
        return Some("a token does not belong in such a file; remove that column".into());
    }
    let known = Column::ALL.map(Column::as_str);
    let mut is_any_unmeant = false;
    let mut described = Vec::new();
    let (of_list, others): (Vec<_>, Vec<_>) = names
        .iter()
        .partition(|name| OF_LISTS.contains(&&*name.to_ascii_lowercase()));
    if !of_list.is_empty() {
        let listed: Vec<_> = of_list.iter().map(|name| format!("\"{name}\"")).collect();
        let (column, it) = if listed.len() == 1 {
            ("column", "it")
        } else {
            ("columns", "them")
        };
        described.push(format!(
            "the {column} {} of a list cannot be imported; remove {it}, or write the file with groupdesk export",
            listed.join(", ")
        ));
    }
    for name in others {
        described.push(if let Some((at, sign)) = signs::first(name) {
            format!("unknown column: character {at} of its name: {sign}")
        } else {
            let near = similar(name, known, 1);
            let meant = near.first().map(|near| format!("; did you mean {near}?"));
            is_any_unmeant |= meant.is_none();
            let quoted = quoted_column(name).unwrap_or_default();
            format!("unknown column{quoted}{}", meant.unwrap_or_default())
        });
    }
    described.dedup();
    if is_any_unmeant {
        described.push(format!(
            "expected one of {}{more}",
            known.join(", ").replacen(',', " (or id),", 1)
        ));
    }
    Some(described.join("; "))
}

/// The name in quotes, behind a blank. Only what looks like a column name is quoted: the file may not contain groups at all, and then
/// anything in it may be a secret.
fn quoted_column(name: &str) -> Option<String> {
    let is_name = name.len() <= 20
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "_-:. ".contains(c));
    is_name.then(|| format!(" \"{}\"", visible(name)))
}

#[cfg(test)]
mod tests;
