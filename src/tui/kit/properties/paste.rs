//! Pasted text in the view as rows: inserted into the cell that is being edited, or as rows of its own. A paste is
//! taken as a whole and in one step, or not at all.

use std::{collections::HashMap, fmt::Write as _};

use super::{
    PropertiesField,
    kind::quoted,
    rows::{self, InsertAt},
    typing::{PropertyRows, Typing},
};
use crate::tui::kit::{
    json_editor::{JsonEditor, object, parse},
    mapping_table::read_pairs,
};

/// What a paste did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastedProperties {
    /// It was inserted into the text or into a cell.
    Text,
    /// It was inserted into a cell without its last characters, this many.
    Cut(usize),
    Rows {
        added: usize,
        changed: usize,
    },
    /// Nothing was changed. Never quotes what was pasted.
    Refused(String),
}

impl PropertiesField {
    pub fn paste(&mut self, text: &str) -> PastedProperties {
        self.typed = std::sync::OnceLock::new();
        match &mut self.rows {
            Some(rows) => rows.paste(text, &mut self.editor),
            None if self.editor.paste(text) => PastedProperties::Text,
            None => PastedProperties::Refused(
                "not pasted: that is more than the service takes; the text is unchanged".into(),
            ),
        }
    }
}

impl PropertyRows {
    fn paste(&mut self, text: &str, editor: &mut JsonEditor) -> PastedProperties {
        self.refused = None;
        match &mut self.typing {
            Some(Typing::Key(field) | Typing::Value(_, field)) => match field.paste(text).cut {
                0 => PastedProperties::Text,
                cut => PastedProperties::Cut(cut),
            },
            Some(Typing::ValueType(_)) => PastedProperties::Refused(
                "not pasted: a type is being chosen; keep it first".into(),
            ),
            None => match read(text) {
                Ok(pairs) => self.take(&pairs, editor),
                Err(why) => PastedProperties::Refused(why),
            },
        }
    }

    fn take(&mut self, pairs: &[(String, String)], editor: &mut JsonEditor) -> PastedProperties {
        let text = editor.text();
        let entries = object(&text).map_or_else(Vec::new, |object| object.entries);
        let mut wanted: HashMap<&str, &str> = HashMap::new();
        for (key, source) in pairs {
            wanted.insert(key, source);
        }
        // Existing values are replaced in one pass over the text, the others are appended after the last entry.
        let (mut new, mut seen, mut changed) = (String::with_capacity(text.len()), 0, 0);
        for entry in &entries {
            let key: String = serde_json::from_str(&text[entry.key.clone()]).unwrap_or_default();
            if let Some(source) = wanted.remove(key.as_str())
                && *source != text[entry.value.clone()]
            {
                new.push_str(&text[seen..entry.value.start]);
                new.push_str(source);
                seen = entry.value.end;
                changed += 1;
            }
        }
        new.push_str(&text[seen..]);
        let added: Vec<_> = pairs
            .iter()
            .filter(|(key, _)| wanted.contains_key(key.as_str()))
            .collect();
        if let Some(((key, source), more)) = added.split_first() {
            let mut source = source.clone();
            for (key, next) in more {
                // Writing to a string cannot fail.
                let _ = write!(source, ",\n  {}: {next}", quoted(key));
            }
            let (range, entry) = rows::insertion(&new, InsertAt::Last, key, &source);
            new.replace_range(range, &entry);
        }
        if let Err(problem) = parse(&new) {
            return PastedProperties::Refused(format!("not pasted: {}", problem.text));
        }
        if !added.is_empty() || changed > 0 {
            editor.set_text(&new);
            self.read(editor, pairs.last().map(|(key, _)| key.as_str()));
        }
        PastedProperties::Rows {
            added: added.len(),
            changed,
        }
    }
}

/// Keys and JSON values: those of an object, or pairs whose values are texts.
fn read(text: &str) -> Result<Vec<(String, String)>, String> {
    if !text.trim_start().starts_with('{') {
        let pairs = read_pairs(text).map_err(|_| {
            "not pasted: neither a JSON object nor lines of key and value".to_owned()
        })?;
        let pairs = pairs.into_iter();
        return Ok(pairs.map(|(key, value)| (key, quoted(&value))).collect());
    }
    if let Err(problem) = parse(text) {
        return Err(format!("not pasted: {problem}"));
    }
    let entries = object(text).map_or_else(Vec::new, |object| object.entries);
    let entries = entries.into_iter().map(|entry| {
        let key = serde_json::from_str(&text[entry.key]).unwrap_or_default();
        (key, text[entry.value].to_owned())
    });
    Ok(entries.collect())
}
