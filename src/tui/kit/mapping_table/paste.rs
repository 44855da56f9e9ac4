//! Pasted text as rows, as `formats::pairs` reads it. A paste is taken as a whole, or not at all.

use std::{collections::HashMap, fmt};

use super::{MappingRow, MappingTable};
pub use crate::formats::pairs::NoPairs as PasteError;
pub(crate) use crate::formats::pairs::read;
use crate::tui::kit::text_field::Pasted;

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
