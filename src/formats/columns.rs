//! The columns of a file, which are also the keys of its objects, and the choice of columns to write.

use serde_json::Value;

use super::no_such_columns;
use crate::domain::{
    annotation::{self, AnnotationChange, InvalidAnnotation, Label},
    word_enum::word_enum,
};

word_enum! {
    /// A column of a file.
    pub enum Column {
        Id = "user_group_id",
        Name = "name",
        Mapping = "mapping",
        Properties = "properties",
        Note = "note",
        Labels = "labels",
        Favourite = "favourite",
    }
}

impl Column {
    /// The column of this name in the header of a table; spreadsheets and people write it in capitals.
    pub(super) fn of_header(name: &str) -> Option<Self> {
        Self::named(&name.trim().to_ascii_lowercase())
    }

    /// A list calls that of the ids `id`.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::parse(name).or_else(|| (name == "id").then_some(Self::Id))
    }

    /// What stands beside the group, in the directory alone.
    fn is_annotation(self) -> bool {
        matches!(self, Self::Note | Self::Labels | Self::Favourite)
    }
}

/// The columns to write, in order. The id is always included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns(Vec<Column>);

impl Default for Columns {
    fn default() -> Self {
        Self(Column::ALL[..4].to_vec())
    }
}

impl Columns {
    /// All columns.
    pub fn all() -> Self {
        Self(Column::ALL.to_vec())
    }

    /// `name,note` selects these and the id; `+note,+labels` adds to the default ones.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words = text.split([',', ' ']).filter(|word| !word.is_empty());
        let columns = chosen(words, vec![Column::Id], Self::default().0, |name| {
            let none = || no_such_columns(&[name.to_owned()], "").unwrap_or_default();
            Column::named(name).ok_or_else(none)
        });
        columns.map(Self)
    }

    pub fn iter(&self) -> impl Iterator<Item = Column> + '_ {
        self.0.iter().copied()
    }

    /// Whether some of them are annotations.
    pub fn has_annotations(&self) -> bool {
        self.iter().any(Column::is_annotation)
    }
}

/// The columns that `words` name, each once, after those that are `always` included. If every word has a `+`, they
/// follow the `usual` ones, which are also the default.
pub fn chosen<C: PartialEq>(
    words: impl IntoIterator<Item = impl AsRef<str>>,
    always: Vec<C>,
    usual: Vec<C>,
    parse: impl Fn(&str) -> Result<C, String>,
) -> Result<Vec<C>, String> {
    let words: Vec<_> = words.into_iter().collect();
    let added = words.iter().filter(|word| word.as_ref().starts_with('+'));
    let mut columns = match added.count() {
        _ if words.is_empty() => return Err("no column is named; write for example id,name".into()),
        count if count == words.len() => usual,
        0 => always,
        _ => return Err("prefix all of them with +, or none".into()),
    };
    for word in &words {
        let word = word.as_ref();
        let column = parse(word.strip_prefix('+').unwrap_or(word))?;
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    Ok(columns)
}

/// Sets a value from a CSV cell that is not empty or was quoted.
pub(super) fn cell(
    annotation: &mut AnnotationChange,
    column: Column,
    text: &str,
) -> Result<(), String> {
    match column {
        Column::Note => note(annotation, text)?,
        Column::Labels => annotation.labels = Some(Label::parse_all(text).map_err(describe)?),
        _ => annotation.favourite = Some(truth(text).ok_or("write true or false")?),
    }
    Ok(())
}

/// True or false, also as a spreadsheet writes them.
pub(super) fn truth(text: &str) -> Option<bool> {
    text.trim().to_ascii_lowercase().parse().ok()
}

/// Sets a value from a JSON value.
pub(super) fn value(
    annotation: &mut AnnotationChange,
    column: Column,
    value: &Value,
) -> Result<(), String> {
    match (column, value) {
        (Column::Note, Value::String(text)) => note(annotation, text)?,
        (Column::Note, _) => return Err("it must be a string".into()),
        (Column::Labels, Value::Array(labels)) => {
            let labels = labels.iter().map(|label| match label {
                Value::String(label) => Label::parse(label).map_err(describe),
                _ => Err(LABELS.to_owned()),
            });
            let labels = annotation::labels(labels.collect::<Result<_, _>>()?);
            annotation.labels = Some(labels.map_err(describe)?);
        }
        (Column::Labels, _) => return Err(LABELS.into()),
        (_, Value::Bool(is_favourite)) => annotation.favourite = Some(*is_favourite),
        (..) => return Err("it must be true or false".into()),
    }
    Ok(())
}

const LABELS: &str = "it must be an array of strings, for example [\"vip\"]";

/// The message about a bad annotation. The file's label is not quoted, because it may be a secret.
fn describe(invalid: InvalidAnnotation) -> String {
    match invalid {
        InvalidAnnotation::BadLabel(_) => {
            "a label has letters, digits and - _ . / : (no spaces or commas), 32 characters at most"
                .into()
        }
        other => other.to_string(),
    }
}

/// An empty text removes the note.
fn note(annotation: &mut AnnotationChange, text: &str) -> Result<(), String> {
    let note = annotation::note(text).map_err(describe)?;
    annotation.note = Some(note.unwrap_or_default());
    Ok(())
}
