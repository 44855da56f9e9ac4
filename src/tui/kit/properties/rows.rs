//! The rows of the text: their values, and how they differ from what was known. They are read from the text after every
//! change, so that the two views cannot differ.

use std::{collections::HashMap, ops::Range};

use super::{ValueType, quoted};
use crate::{
    domain::{Mark, Properties},
    tui::kit::json_editor::{Entry, JsonEditor, object},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PropertyRow {
    pub(super) key: String,
    pub(super) kind: ValueType,
    /// The value as it is typed: text without quotes, JSON on one line.
    pub(super) shown: String,
    /// Its position in the text; `None`: removed, or not written yet.
    pub(super) entry: Option<Entry>,
    pub(super) mark: Mark,
    /// The remark beside it: "was gold".
    pub(super) remark: Option<String>,
}

impl PropertyRow {
    /// A row that is being typed and is not in the text yet.
    pub(super) fn unwritten() -> Self {
        Self {
            key: String::new(),
            kind: ValueType::Text,
            shown: String::new(),
            entry: None,
            mark: Mark::Added,
            remark: None,
        }
    }

    pub(super) fn is_unwritten(&self) -> bool {
        self.entry.is_none() && self.mark == Mark::Added
    }

    fn written(text: &str, entry: Entry, before: Option<&Properties>, now: &Properties) -> Self {
        let key: String = serde_json::from_str(&text[entry.key.clone()]).unwrap_or_default();
        let source = &text[entry.value.clone()];
        let kind = ValueType::of(source);
        let was = before.and_then(|before| before.get(&key));
        let (mark, remark) = match was {
            None => (Mark::Added, Some("new".to_owned())),
            Some(was) if now.get(&key) == Some(was) => (Mark::Same, None),
            Some(was) => {
                let was = was.to_string();
                // Without quotes only if that cannot be mistaken for another type.
                let shown = match kind {
                    ValueType::Text if ValueType::of(&was) == ValueType::Text => kind.shown(&was),
                    _ => was,
                };
                (Mark::Changed, Some(format!("was {shown}")))
            }
        };
        Self {
            shown: kind.shown(source),
            key,
            kind,
            entry: Some(entry),
            mark,
            remark,
        }
    }

    fn removed(key: &str, was: &serde_json::Value) -> Self {
        let source = was.to_string();
        let kind = ValueType::of(&source);
        Self {
            key: key.to_owned(),
            kind,
            shown: kind.shown(&source),
            entry: None,
            mark: Mark::Removed,
            remark: Some("will be removed".into()),
        }
    }
}

/// The rows of a text, each removed one after the one it used to follow; `None` if the text is not a valid object.
pub(super) fn read(editor: &JsonEditor) -> Option<Vec<PropertyRow>> {
    if editor.is_left_out() {
        return Some(Vec::new());
    }
    let (text, now, before) = (editor.text(), editor.value().ok()?, editor.before());
    let mut rows = Vec::new();
    let mut removed: HashMap<&str, Vec<PropertyRow>> = HashMap::new();
    let mut last = None;
    for (key, was) in before.into_iter().flatten() {
        if now.contains_key(key) {
            last = Some(key.as_str());
            continue;
        }
        let row = PropertyRow::removed(key, was);
        match last {
            Some(last) => removed.entry(last).or_default().push(row),
            None => rows.push(row),
        }
    }
    for entry in object(&text)?.entries {
        let row = PropertyRow::written(&text, entry, before, now);
        let followers = removed.remove(row.key.as_str());
        rows.push(row);
        rows.extend(followers.into_iter().flatten());
    }
    Some(rows)
}

/// A replacement in a text: the range of bytes to remove, and the new text.
pub(super) type Patch = (Range<usize>, String);

/// Where to insert an entry: after another one, before all, or at the end.
#[derive(Debug, Clone, Copy)]
pub(super) enum InsertAt<'a> {
    Behind(&'a Entry),
    First,
    Last,
}

/// Inserts an entry into a text, formatted like its neighbours.
pub(super) fn insertion(text: &str, place: InsertAt<'_>, key: &str, source: &str) -> Patch {
    let entry = format!("{}: {source}", quoted(key));
    let Some(object) = object(text) else {
        return (0..text.len(), format!("{{\n  {entry}\n}}"));
    };
    let (Some(first), Some(last)) = (object.entries.first(), object.entries.last()) else {
        return (object.inner, format!("\n  {entry}\n"));
    };
    let lead = |entry: &Entry| {
        let before = &text[..entry.key.start];
        before[before.trim_end().len()..].to_owned()
    };
    match place {
        InsertAt::First => {
            let start = first.key.start;
            (start..start, format!("{entry},{}", lead(first)))
        }
        InsertAt::Behind(Entry { value, .. }) if value.end > last.value.end => {
            // The entry is not from this text.
            insertion(text, InsertAt::Last, key, source)
        }
        InsertAt::Behind(other) => {
            let end = other.value.end;
            (end..end, format!(",{}{entry}", lead(other)))
        }
        InsertAt::Last => {
            let end = last.value.end;
            (end..end, format!(",{}{entry}", lead(last)))
        }
    }
}

/// Removes an entry from a text, together with its comma.
pub(super) fn removal(text: &str, entry: &Entry) -> Option<Patch> {
    let object = object(text)?;
    let at = object.entries.iter().position(|other| other == entry)?;
    let range = match (at.checked_sub(1), object.entries.get(at + 1)) {
        (_, Some(next)) => entry.key.start..next.key.start,
        (Some(previous), None) => object.entries[previous].value.end..entry.value.end,
        (None, None) => object.inner,
    };
    Some((range, String::new()))
}
