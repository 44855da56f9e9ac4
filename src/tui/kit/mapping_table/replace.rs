//! Replacing all rows: by a stored draft, by a text from an external editor, or by a newer copy of the values that the
//! edit began with.
//!
//! Takes over a whole mapping from elsewhere, in one step that can be undone.
//!
//! Pasted text as rows, as `formats::pairs` reads it. A paste is taken as a whole, or not at all.

pub use crate::formats::pairs::NoPairs as PasteError;
pub(crate) use crate::formats::pairs::read;

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use super::{MappingRow, MappingTable};
use crate::{domain::Mapping, tui::kit::text_field::Pasted};

/// An entry of an object that is no pair, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {0} is not a string or a number")]
pub struct NotText(pub usize);

impl MappingTable {
    /// Restores the table as it was left.
    pub fn restored(before: Option<&Mapping>, rows: Vec<MappingRow>) -> Self {
        Self {
            rows,
            ..Self::new(before)
        }
    }

    /// The rows that are not removed, as a JSON object for an external editor, even if they are not valid.
    pub fn as_json(&self) -> String {
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let living = self.rows().into_iter().filter(|row| !row.is_dropped);
        let rows: Vec<String> = living
            .map(|row| format!("  {}: {}", text(&row.key), text(&row.value)))
            .collect();
        if rows.is_empty() {
            "{}".into()
        } else {
            format!("{{\n{}\n}}", rows.join(",\n"))
        }
    }

    /// Makes the table contain exactly these pairs, in one step that can be undone: missing rows are marked
    /// for removal.
    pub fn replace(&mut self, pairs: Mapping) {
        self.commit();
        self.remember();
        let taken = self.rows.len();
        self.turn_into(pairs);
        self.cursor = self.cursor.min(self.rows.len().saturating_sub(1));
        if self
            .undo
            .last()
            .is_some_and(|step| taken == self.rows.len() && step.rows == self.rows)
        {
            self.undo.pop();
        }
    }

    fn turn_into(&mut self, mut pairs: Mapping) {
        for row in &mut self.rows {
            match pairs.shift_remove(&row.key) {
                Some(value) => {
                    row.value = value;
                    row.is_dropped = false;
                }
                None => row.is_dropped = true,
            }
        }
        self.rows
            .retain(|row| !row.is_dropped || row.before.is_some());
        let added = pairs.iter();
        self.rows
            .extend(added.map(|(key, value)| MappingRow::added(key, value)));
    }

    /// The values that the edit began with have changed: untouched rows take the new values, the others stay as typed.
    pub fn rebase(&mut self, before: Option<&Mapping>) {
        self.commit();
        let mut seen: HashSet<String> = HashSet::new();
        let mut rows = Vec::new();
        for mut row in std::mem::take(&mut self.rows) {
            let known = row.before.as_ref().map_or(&row.key, |(key, _)| key).clone();
            let now = before.and_then(|before| before.get(&known));
            let was = row.before.take();
            let is_untouched = !row.is_dropped
                && was
                    .as_ref()
                    .is_some_and(|(key, value)| (key, value) == (&row.key, &row.value));
            match now {
                Some(now) if seen.insert(known.clone()) => {
                    if is_untouched {
                        row.value.clone_from(now);
                    }
                    row.before = Some((known, now.clone()));
                    rows.push(row);
                }
                // Somebody else has removed it.
                None if is_untouched || row.is_dropped => {}
                Some(_) | None => rows.push(row),
            }
        }
        let new = before.into_iter().flatten();
        let new = new.filter(|(key, _)| !seen.contains(*key));
        rows.extend(new.map(|(key, value)| MappingRow::known(key, value)));
        // Undo steps from before the new copy would restore the old one, so they are dropped.
        *self = Self {
            cursor: self.cursor.min(rows.len().saturating_sub(1)),
            column: self.column,
            ..Self::restored(before, rows)
        };
    }
}

/// The strings and numbers of an object as pairs.
pub fn pairs_of(object: crate::domain::group::Properties) -> Result<Mapping, NotText> {
    let pairs = object.into_iter().enumerate();
    pairs
        .map(|(index, (key, value))| match value {
            serde_json::Value::String(value) => Ok((key, value)),
            serde_json::Value::Number(value) => Ok((key, value.to_string())),
            _ => Err(NotText(index + 1)),
        })
        .collect()
}

impl MappingTable {
    /// Makes the table want this mapping: known rows change or are marked for removal, new ones are appended.
    pub fn fill(&mut self, wanted: &Mapping) {
        self.commit();
        if self.value().as_ref() == Ok(wanted) {
            return;
        }
        self.remember();
        self.rows = Self::new(self.before.as_ref()).rows;
        self.turn_into(wanted.clone());
        self.cursor = 0;
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::kit::json_editor;

    fn mapping(pairs: &[(&str, &str)]) -> Mapping {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn a_text_from_an_editor_replaces_all_rows_in_one_step() {
        let before = mapping(&[("7", "40"), ("8", "41")]);
        let mut table = MappingTable::new(Some(&before));
        let read = |text: &str| pairs_of(json_editor::parse(text).expect("an object"));
        assert_eq!(read(&table.as_json()), Ok(before.clone()));
        assert_eq!(read("{\"7\": []}"), Err(NotText(1)));
        table.replace(read("{\"9\": 42,\n \"7\": \"213\"}").expect("a mapping"));
        assert_eq!(table.value(), Ok(mapping(&[("7", "213"), ("9", "42")])));
        assert_eq!(table.count_changes(), 3, "8 is marked, not gone");
        assert!(table.undo());
        assert_eq!(table.value(), Ok(before.clone()));
        assert!(!table.undo());
        table.replace(before);
        assert!(!table.undo(), "nothing was changed");
    }

    #[test]
    fn a_newer_copy_moves_what_was_not_touched() {
        let old = mapping(&[("1", "a"), ("2", "b"), ("3", "c"), ("4", "d")]);
        let mut table = MappingTable::new(Some(&old));
        table.replace(mapping(&[
            ("1", "a"),
            ("2", "mine"),
            ("4", "d"),
            ("5", "e"),
        ]));
        let new = mapping(&[("1", "A"), ("2", "B"), ("3", "C"), ("6", "f")]);
        table.rebase(Some(&new));
        assert_eq!(
            table.value(),
            Ok(mapping(&[
                ("1", "A"),
                ("2", "mine"),
                ("5", "e"),
                ("6", "f")
            ])),
            "4 was removed by somebody else, 3 stays dropped"
        );
        assert_eq!(table.count_changes(), 3, "2 changed, 3 dropped, 5 added");
    }
}

#[cfg(test)]
mod fill_tests {
    use super::*;

    use crate::domain::testing::mapping;

    #[test]
    fn the_table_asks_for_what_it_was_filled_with_and_one_undo_takes_it_back() {
        let before = mapping(&[("7", "40"), ("8", "1")]);
        let mut table = MappingTable::new(Some(&before));
        table.add();
        table.commit();
        let wanted = mapping(&[("7", "213"), ("9", "5")]);
        table.fill(&wanted);
        assert_eq!(table.value(), Ok(wanted));
        assert_eq!(table.count_changes(), 3, "changed, removed and new");
        table.undo();
        assert_eq!(table.value(), Ok(before.clone()));
        table.fill(&before);
        assert!(!table.undo(), "nothing to do is no step");
    }

    #[test]
    fn an_unknown_mapping_is_filled_with_new_rows() {
        let mut table = MappingTable::new(None);
        let wanted = mapping(&[("7", "213")]);
        table.fill(&wanted);
        assert_eq!(table.value(), Ok(wanted));
        assert!(!table.is_known());
    }
}
