//! Replacing all rows: by a stored draft, by a text from an external editor, or by a newer copy of the values that the
//! edit began with.

use std::collections::HashSet;

use super::{MappingRow, MappingTable};
use crate::domain::group::Mapping;

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
    pub fn replace(&mut self, mut pairs: Mapping) {
        self.commit();
        self.remember();
        let taken = self.rows.len();
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
        let added = pairs
            .iter()
            .map(|(key, value)| MappingRow::added(key, value));
        self.rows.extend(added);
        self.cursor = self.cursor.min(self.rows.len().saturating_sub(1));
        if self
            .undo
            .last()
            .is_some_and(|step| taken == self.rows.len() && step.rows == self.rows)
        {
            self.undo.pop();
        }
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
