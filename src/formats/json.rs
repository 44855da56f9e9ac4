//! Groups as JSON objects: where each of them ends in a longer text, and what it contains.

use serde_json::{Value, json};

use super::{Column, Columns, GroupRow, Parts, columns, no_such_columns};
use crate::{
    domain::{
        annotation::{AnnotationChange, Label},
        change::DesiredFields,
        group::UserGroupId,
    },
    formats::strict_json,
};

/// How deep a text of JSON is nested. Mistakes are found when it is parsed.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl Nesting {
    fn take(&mut self, byte: u8) {
        if self.in_text {
            self.in_text = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// Splits the text of a JSON array into its elements, one byte at a time.
#[derive(Debug, Default)]
pub(super) struct ElementSplitter {
    /// 0 before and after the array.
    nesting: Nesting,
    element: Vec<u8>,
    has_elements: bool,
    ended: bool,
}

impl ElementSplitter {
    pub(super) fn len(&self) -> usize {
        self.element.len()
    }

    /// Returns a whole element if this byte ends one.
    pub(super) fn push(&mut self, byte: u8) -> Result<Option<Vec<u8>>, &'static str> {
        match (byte, self.nesting.depth) {
            _ if self.nesting.in_text => {}
            (b' ' | b'\t' | b'\r' | b'\n', ..=1) => return Ok(None),
            _ if self.ended => return Err("there is text after the end of the array"),
            (b'[', 0) => {
                self.nesting.depth = 1;
                return Ok(None);
            }
            (b',', 1) => {
                self.has_elements = true;
                return Ok(Some(std::mem::take(&mut self.element)));
            }
            (b']', 1) => {
                self.nesting.depth = 0;
                self.ended = true;
                let last = std::mem::take(&mut self.element);
                return Ok((self.has_elements || !last.is_empty()).then_some(last));
            }
            _ => {}
        }
        self.nesting.take(byte);
        self.nesting.depth = self.nesting.depth.max(1);
        self.element.push(byte);
        Ok(None)
    }

    pub(super) fn end(&self) -> Result<(), &'static str> {
        if self.ended {
            Ok(())
        } else {
            Err(
                "the array is not closed: the file ends too early, or a bracket or quote is missing",
            )
        }
    }
}

/// Splits objects that follow each other, each over any number of lines, as jq prints them. What is no object ends with
/// its line.
#[derive(Debug, Default)]
pub(super) struct ObjectSplitter {
    nesting: Nesting,
    object: Vec<u8>,
}

impl ObjectSplitter {
    pub(super) fn len(&self) -> usize {
        self.object.len()
    }

    /// Returns a whole object if this byte ends one.
    pub(super) fn push(&mut self, byte: u8) -> Option<Vec<u8>> {
        if self.object.is_empty() && byte.is_ascii_whitespace() {
            return None;
        }
        let is_outside = self.nesting.depth == 0;
        let is_stray = is_outside && !self.object.is_empty();
        if is_stray && matches!(byte, b'\n' | b'\r') {
            return self.end();
        }
        self.object.push(byte);
        if is_stray || is_outside && byte != b'{' {
            return None;
        }
        self.nesting.take(byte);
        if self.nesting.depth == 0 {
            self.end()
        } else {
            None
        }
    }

    /// What is left at the end.
    pub(super) fn end(&mut self) -> Option<Vec<u8>> {
        let object = std::mem::take(self).object;
        (!object.trim_ascii().is_empty()).then_some(object)
    }
}

/// The objects of a line; more than one if all of it is objects.
pub(super) fn objects(line: Vec<u8>) -> Vec<Vec<u8>> {
    let mut splitter = ObjectSplitter::default();
    let mut objects: Vec<_> = line
        .iter()
        .filter_map(|byte| splitter.push(*byte))
        .collect();
    let is_whole = splitter.end().is_none();
    let is_all = objects.iter().all(|object| object.starts_with(b"{"));
    if is_whole && is_all && objects.len() > 1 {
        return objects;
    }
    objects.clear();
    objects.push(line);
    objects
}

/// Whether an object begins on this line and does not end there: it continues on the next one.
pub(super) fn is_open(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let mut splitter = ObjectSplitter::default();
    let has_ended = line.iter().any(|byte| splitter.push(*byte).is_some());
    !has_ended
        && !splitter.nesting.in_text
        && matches!(line.last(), Some(b'{' | b'[' | b',' | b':'))
}

/// Parses one group. A key with null counts as not given.
pub(super) fn row(bytes: Vec<u8>) -> Result<GroupRow, String> {
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8 text; save the file as UTF-8")?;
    if text.is_empty() {
        return Err(
            "a value is missing between two commas, or after the last one: remove a comma".into(),
        );
    }
    let Value::Object(object) = strict_json::value(&text)? else {
        return Err(
            "a group must be an object, for example {\"user_group_id\": \"acme-eu\"}".into(),
        );
    };
    let mut id = None;
    let mut fields = DesiredFields::default();
    let mut annotation = AnnotationChange::default();
    let (mut wrong, mut unknown) = (Vec::new(), Vec::new());
    let has_id = object.contains_key(Column::Id.as_str());
    for (key, value) in object {
        let column = Column::named(&key).filter(|_| !has_id || key != "id");
        match (column, value) {
            (None, _) if key == "id" => {
                wrong.push("id and user_group_id cannot be combined; remove one of them".into());
            }
            (None, _) => unknown.push(key),
            (Some(Column::Id), Value::String(text)) => match UserGroupId::written(text) {
                Ok(parsed) => id = Some(parsed),
                Err(error) => wrong.push(error.to_string()),
            },
            (Some(Column::Id), _) => wrong.push(format!("{key} must be a string in quotes")),
            (Some(_), Value::Null) => {}
            (Some(Column::Name), Value::String(name)) => fields.name = Some(name),
            (Some(Column::Name), _) => wrong.push("name must be a string".into()),
            (Some(Column::Mapping), value) => match serde_json::from_value(value) {
                Ok(mapping) => fields.mapping = Some(mapping),
                Err(_) => wrong.push(
                    "mapping must be an object of strings, for example {\"40\": \"213\"}".into(),
                ),
            },
            (Some(Column::Properties), Value::Object(properties)) => {
                fields.properties = Some(properties);
            }
            (Some(Column::Properties), _) => {
                wrong.push("properties must be an object, for example {\"tier\": \"gold\"}".into());
            }
            (Some(column), value) => {
                let read = columns::value(&mut annotation, column, &value);
                wrong.extend(read.err().map(|why| format!("{key}: {why}")));
            }
        }
    }
    wrong.extend(no_such_columns(&unknown, ""));
    match id {
        Some(id) if wrong.is_empty() => GroupRow {
            id,
            fields,
            annotation,
            parts: Parts::default(),
        }
        .checked(),
        None if wrong.is_empty() => Err("user_group_id is missing".into()),
        _ => Err(wrong.join("; ")),
    }
}

/// The row as an object on one line, with its keys in column order.
pub(super) fn text(row: &GroupRow, columns: &Columns) -> String {
    let pairs = columns.iter().filter_map(|column| {
        let value = value(row, column)?;
        Some((column.as_str().to_owned(), value))
    });
    Value::Object(pairs.collect()).to_string()
}

/// What the row has in a column.
pub(super) fn value(row: &GroupRow, column: Column) -> Option<Value> {
    let GroupRow {
        id,
        fields,
        annotation,
        ..
    } = row;
    match column {
        Column::Id => Some(id.as_str().into()),
        Column::Name => fields.name.clone().map(Value::String),
        Column::Mapping => fields.mapping.as_ref().map(|mapping| json!(mapping)),
        Column::Properties => fields.properties.clone().map(Value::Object),
        Column::Note => annotation.note.clone().map(Value::String),
        Column::Labels => {
            let labels = annotation.labels.as_ref()?;
            Some(labels.iter().map(Label::as_str).collect())
        }
        Column::Favourite => annotation.favourite.map(Value::Bool),
    }
}
