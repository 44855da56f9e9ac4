//! Lines of the text that differ from what was known: a sign for each entry, and what it was in words.

use std::collections::HashMap;

use super::entries::object;
use crate::domain::{change::Mark, group::Properties};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Marks {
    /// By row from 0; only differences. The words are at the first row of an entry.
    rows: HashMap<usize, (Mark, Option<String>)>,
    /// Known keys that were removed.
    pub(super) removed: Vec<String>,
}

impl Marks {
    /// Compares a text whose parsed value is `now`.
    pub(super) fn of(text: &str, before: &Properties, now: &Properties) -> Self {
        let mut rows = HashMap::new();
        let (mut row, mut seen) = (0, 0);
        let mut row_of = |byte: usize| {
            row += text[seen..byte].matches('\n').count();
            seen = byte;
            row
        };
        for entry in object(text).into_iter().flat_map(|object| object.entries) {
            let (first, last) = (row_of(entry.key.start), row_of(entry.value.end));
            let key: String = serde_json::from_str(&text[entry.key]).unwrap_or_default();
            let (mark, words) = match before.get(&key) {
                None => (Mark::Added, "new".to_owned()),
                Some(was) if now.get(&key) == Some(was) => continue,
                Some(was) => (Mark::Changed, format!("was {was}")),
            };
            rows.insert(first, (mark, Some(words)));
            for row in first + 1..=last {
                rows.entry(row).or_insert((mark, None));
            }
        }
        let removed = before.keys().filter(|key| !now.contains_key(*key));
        Self {
            rows,
            removed: removed.cloned().collect(),
        }
    }

    pub(super) fn of_row(&self, row: usize) -> (Mark, Option<&str>) {
        self.rows
            .get(&row)
            .map_or((Mark::Same, None), |(mark, words)| {
                (*mark, words.as_deref())
            })
    }
}
