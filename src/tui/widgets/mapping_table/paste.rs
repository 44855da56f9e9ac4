//! Pasted text as rows: one pair per line, a table of two columns with or without a header, or a JSON object. A paste
//! is taken as a whole, or not at all.

use std::{collections::HashMap, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::{MappingRow, MappingTable};
use crate::{formats::strict_json::RESERVED, tui::widgets::text_field::Pasted};

/// Separators between the two ids of a line; the first one in the line counts, and at the same position the one that is
/// first in this list.
const SEPARATORS: [&str; 8] = ["\t", "=>", "=", "->", "→", ": ", ",", ";"];
/// Characters that an id next to a separator does not begin or end with: there they belong to an unknown arrow.
const NO_ID: [char; 5] = ['=', '<', '>', ':', '|'];

/// What a paste did to the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastedRows {
    /// It was inserted into the cell that is being edited.
    Cell(Pasted),
    /// It was parsed as rows; existing schema ids got the pasted data source ids.
    Rows {
        added: usize,
        changed: usize,
    },
    Refused(PasteError),
}

/// Why a paste cannot be parsed as rows. Never quotes the paste: it may be a secret on its way to another window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PasteError {
    #[error("nothing to paste")]
    Nothing,
    #[error("line {0} of the paste is not \"schema id = data source id\"; nothing was added")]
    Line(usize),
    #[error(
        "line {0} of the paste looks like column titles, not like ids; nothing was added: remove the line"
    )]
    Titles(usize),
    #[error("the paste begins like JSON, but is not an object of texts; nothing was added")]
    Object,
    #[error("entry {0} of the pasted object is not a text or a number; nothing was added")]
    Entry(usize),
    #[error("pasted pairs {0} and {1} name the same schema id; nothing was added")]
    Duplicate(usize, usize),
}

impl PasteError {
    /// Whether the paste is an object: one with an invalid entry is still an object.
    fn is_object(&self) -> bool {
        matches!(self, Self::Entry(_))
    }
}

impl MappingTable {
    /// In a cell, a single line is inserted as text; anything that can only be rows becomes rows.
    pub fn paste(&mut self, text: &str) -> PastedRows {
        let pairs = read(text);
        if let Some(field) = &mut self.editing {
            let is_one_line = !text.trim().contains(['\n', '\r']);
            let is_object = text.trim_start().starts_with('{')
                && pairs.as_ref().map_or_else(PasteError::is_object, |_| true);
            if !is_object && (is_one_line || pairs.is_err()) {
                return PastedRows::Cell(field.paste(text));
            }
        }
        match pairs {
            Err(problem) => {
                self.refused_paste = Some(problem.clone());
                PastedRows::Refused(problem)
            }
            Ok(pairs) => self.take(pairs),
        }
    }

    fn take(&mut self, pairs: Vec<(String, String)>) -> PastedRows {
        self.commit();
        self.remember();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (index, row) in self.rows.iter().enumerate() {
            // If a schema id occurs more than once, the row that is not removed is preferred.
            if !row.is_dropped || !places.contains_key(&row.key) {
                places.insert(row.key.clone(), index);
            }
        }
        let (mut added, mut changed) = (0, 0);
        for (key, value) in pairs {
            if let Some(&index) = places.get(&key) {
                let row = &mut self.rows[index];
                if row.is_dropped || row.value != value {
                    changed += 1;
                }
                row.is_dropped = false;
                row.value = value;
                self.cursor = index;
            } else {
                self.rows.push(MappingRow::added(&key, &value));
                self.cursor = self.rows.len() - 1;
                added += 1;
            }
        }
        if added + changed == 0 {
            self.undo.pop();
        }
        PastedRows::Rows { added, changed }
    }
}

/// For the message line; empty if there is nothing to say.
impl fmt::Display for PastedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows { added, changed } => write!(f, "pasted: {added} added, {changed} changed"),
            Self::Cell(Pasted {
                cut: 0,
                joined_lines: 0,
            }) => Ok(()),
            Self::Cell(Pasted { cut: 0, .. }) => f.write_str("pasted as one line"),
            Self::Cell(Pasted { cut, .. }) => write!(f, "pasted without the last {cut} characters"),
            Self::Refused(problem) => problem.fmt(f),
        }
    }
}

/// Parses pairs of texts; a duplicate schema id is an error.
pub(crate) fn read(text: &str) -> Result<Vec<(String, String)>, PasteError> {
    // Spreadsheets begin their files with a byte order mark.
    let text = text.trim_start_matches('\u{feff}').trim();
    let pairs = if text.is_empty() {
        return Err(PasteError::Nothing);
    } else if let Some(object) = read_object(text) {
        object?
    } else {
        read_lines(text)?
    };
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (index, (key, _)) in pairs.iter().enumerate() {
        if let Some(first) = seen.insert(key, index) {
            return Err(PasteError::Duplicate(first + 1, index + 1));
        }
    }
    Ok(pairs)
}

/// Parses a JSON object, or lines cut out of one.
fn read_object(text: &str) -> Option<Result<Vec<(String, String)>, PasteError>> {
    let parsed = if text.starts_with(['{', '[']) {
        serde_json::from_str(text).map_err(|_| PasteError::Object)
    } else {
        Ok(serde_json::from_str(&format!("{{{}}}", text.trim_end_matches(','))).ok()?)
    };
    let entries = match parsed {
        Ok(Entries(entries)) => entries,
        Err(problem) => return Some(Err(problem)),
    };
    let pairs = entries
        .into_iter()
        .enumerate()
        .map(|(index, (key, value))| match value {
            Value::String(value) => Ok((key, value)),
            Value::Number(value) => Ok((key, value.to_string())),
            _ => Err(PasteError::Entry(index + 1)),
        });
    Some(pairs.collect())
}

fn read_lines(text: &str) -> Result<Vec<(String, String)>, PasteError> {
    let text = text.replace("\r\n", "\n");
    let mut lines = text
        .split(['\n', '\r'])
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .peekable();
    let first = lines.peek().and_then(|(_, line)| read_line(line));
    if first.is_some_and(|(key, value)| is_header(&key, &value)) {
        lines.next();
    }
    let first = lines.peek().map_or(0, |(index, _)| *index);
    let pairs: Vec<_> = lines
        .map(|(index, line)| read_line(line).ok_or(PasteError::Line(index + 1)))
        .collect::<Result<_, _>>()?;
    if are_titles(&pairs) {
        return Err(PasteError::Titles(first + 1));
    }
    if pairs.is_empty() {
        return Err(PasteError::Nothing);
    }
    Ok(pairs)
}

/// Whether these are the titles of two columns, as this console, the service and spreadsheets write them.
fn is_header(key: &str, value: &str) -> bool {
    let plain = |title: &str| -> String {
        let letters = title.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    matches!(plain(key).as_str(), "schemaid" | "schema" | "key")
        && matches!(
            plain(value).as_str(),
            "datasourceid" | "datasource" | "sourceid" | "source" | "value"
        )
}

/// Whether the first of several pairs has no digits while the schema ids of all others are numbers: probably titles,
/// but it may be a row, so it is neither accepted nor skipped.
fn are_titles(pairs: &[(String, String)]) -> bool {
    let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    match pairs {
        [(key, value), rest @ ..] if !rest.is_empty() => {
            !has_digit(key) && !has_digit(value) && rest.iter().all(|(key, _)| is_number(key))
        }
        _ => false,
    }
}

fn read_line(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    // A separator within quotes does not count.
    let start = quoted_cell(line).map_or(0, |(_, rest)| line.len() - rest.len());
    let separated = SEPARATORS
        .into_iter()
        .filter_map(|separator| Some((start + line[start..].find(separator)?, separator)))
        .min_by_key(|(at, _)| *at);
    let (key, value) = match separated {
        Some((at, separator)) => {
            let value = without_empty_cells(&line[at + separator.len()..], separator)?;
            (&line[..at], value)
        }
        None => line.split_once(char::is_whitespace)?,
    };
    let is_torn =
        key.trim().ends_with(NO_ID) || key.trim().ends_with('-') || value.trim().starts_with(NO_ID);
    if is_torn {
        return None;
    }
    let (key, value) = (unquoted(key), unquoted(value));
    let is_pair = !key.is_empty()
        && !key.starts_with(RESERVED)
        && !value.is_empty()
        && (separated.is_some() || !value.contains(char::is_whitespace));
    is_pair.then_some((key, value))
}

/// Ignores empty cells of a spreadsheet after the second one; a third cell that is not empty is an error.
fn without_empty_cells<'a>(rest: &'a str, separator: &str) -> Option<&'a str> {
    if !matches!(separator, "," | ";" | "\t") {
        return Some(rest);
    }
    let start = quoted_cell(rest.trim_start()).map_or(0, |(_, after)| rest.len() - after.len());
    let Some(end) = rest[start..].find(separator) else {
        return Some(rest);
    };
    let (cell, more) = rest.split_at(start + end);
    let is_empty = |c: char| c.is_whitespace() || separator.contains(c);
    more.chars().all(is_empty).then_some(cell)
}

/// The quoted text at the beginning of a line, in which two quotes stand for one, and the rest of the line.
fn quoted_cell(line: &str) -> Option<(String, &str)> {
    let mut rest = line.strip_prefix('"')?;
    let mut cell = String::new();
    loop {
        let (before, after) = rest.split_once('"')?;
        cell.push_str(before);
        let Some(more) = after.strip_prefix('"') else {
            return Some((cell, after));
        };
        cell.push('"');
        rest = more;
    }
}

/// Removes the quotes of a table that was saved as text.
fn unquoted(cell: &str) -> String {
    let cell = cell.trim();
    match quoted_cell(cell) {
        Some((cell, "")) => cell,
        Some(_) | None => cell.to_owned(),
    }
}

/// The entries of a JSON object in order; a map would silently keep only the last of two with the same key.
struct Entries(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Each)
    }
}
