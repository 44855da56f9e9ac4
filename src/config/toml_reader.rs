//! TOML with positions: tables whose known keys are requested one by one, and a list of problems with line and column.
//! It knows nothing of profiles.

use std::ops::RangeInclusive;

use toml::de::{DeArray, DeTable, DeValue};

use super::{
    error::{Problem, meant},
    name::nearest,
    scrub::shown,
};

/// A longer list of problems helps nobody.
const MAX_PROBLEMS: usize = 20;

/// A position in the file. Both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    /// In characters.
    pub column: usize,
}

/// All problems found so far, with byte offsets that are converted to lines at the end.
pub(super) struct Problems<'t> {
    text: &'t str,
    found: Vec<(usize, String)>,
}

impl<'t> Problems<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            text,
            found: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, at: usize, what: impl Into<String>) {
        self.found.push((at, what.into()));
    }

    /// The line and column of a byte offset.
    pub(super) fn position(&self, at: usize) -> Position {
        let Problem { line, column, .. } = problem_at(self.text, at, String::new());
        Position { line, column }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The problems in file order.
    pub(super) fn into_list(mut self) -> Vec<Problem> {
        self.found.sort();
        self.found.truncate(MAX_PROBLEMS);
        self.found
            .into_iter()
            .map(|(at, what)| problem_at(self.text, at, what))
            .collect()
    }
}

/// A problem at a byte offset of a text.
pub(super) fn problem_at(text: &str, at: usize, what: String) -> Problem {
    let before = &text[..text.floor_char_boundary(at)];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Problem {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        what,
    }
}

/// A value and its position.
#[derive(Clone, Copy)]
pub(super) struct Spanned<T> {
    pub(super) at: usize,
    pub(super) value: T,
}

/// One key of a table.
pub(super) struct Entry<'d> {
    pub(super) key: &'d str,
    pub(super) key_at: usize,
    pub(super) value: &'d DeValue<'d>,
    value_at: usize,
    is_read: bool,
}

/// A table whose keys are taken out one by one. Keys left at the end are unknown.
pub(super) struct Section<'d> {
    /// In file order.
    entries: Vec<Entry<'d>>,
    known: Vec<&'static str>,
}

impl<'d> Section<'d> {
    pub(super) fn of(table: &'d DeTable<'d>) -> Self {
        let mut entries: Vec<_> = table
            .iter()
            .map(|(key, value)| Entry {
                key: key.get_ref(),
                key_at: key.span().start,
                value: value.get_ref(),
                value_at: value.span().start,
                is_read: false,
            })
            .collect();
        entries.sort_by_key(|entry| entry.key_at);
        Self {
            entries,
            known: Vec::new(),
        }
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry<'d>> {
        self.entries.iter()
    }

    /// The value of a key, of any type.
    pub(super) fn value(&mut self, key: &'static str) -> Option<Spanned<&'d DeValue<'d>>> {
        self.known.push(key);
        let entry = self.entries.iter_mut().find(|entry| entry.key == key)?;
        entry.is_read = true;
        Some(Spanned {
            at: entry.value_at,
            value: entry.value,
        })
    }

    /// Reads a text. `example` shows in the error message what one looks like.
    pub(super) fn text(
        &mut self,
        key: &'static str,
        example: &str,
        problems: &mut Problems,
    ) -> Option<Spanned<&'d str>> {
        let Spanned { at, value } = self.value(key)?;
        if let DeValue::String(text) = value {
            return Some(Spanned { at, value: text });
        }
        let kind = value.type_str();
        problems.add(
            at,
            format!("{key} must be a string such as \"{example}\", but is of type {kind}"),
        );
        None
    }

    pub(super) fn flag(
        &mut self,
        key: &'static str,
        default: bool,
        problems: &mut Problems,
    ) -> bool {
        let Some(Spanned { at, value }) = self.value(key) else {
            return default;
        };
        value.as_bool().unwrap_or_else(|| {
            let kind = value.type_str();
            problems.add(
                at,
                format!("{key} must be true or false without quotes, but is of type {kind}"),
            );
            default
        })
    }

    /// Reads a whole number from 0 to 1,000,000.
    pub(super) fn count(&mut self, key: &'static str, problems: &mut Problems) -> Option<u32> {
        self.count_in(key, 0..=1_000_000, problems)
    }

    /// Reads a whole number within a range.
    pub(super) fn count_in(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u32>,
        problems: &mut Problems,
    ) -> Option<u32> {
        let Spanned { at, value } = self.value(key)?;
        let count = value
            .as_integer()
            .and_then(|integer| u32::from_str_radix(integer.as_str(), integer.radix()).ok())
            .filter(|count| range.contains(count));
        if count.is_none() {
            let (from, to) = (range.start(), range.end());
            problems.add(
                at,
                format!("{key} must be a whole number from {from} to {to}, without quotes"),
            );
        }
        count
    }

    /// Reports every key that was not requested. `special` may have a better message than "unknown key".
    pub(super) fn finish(
        self,
        problems: &mut Problems,
        special: impl Fn(&Entry<'d>, Option<&str>) -> Option<String>,
    ) {
        for entry in self.entries.iter().filter(|entry| !entry.is_read) {
            let near = nearest(entry.key, self.known.iter().copied());
            let what = special(entry, near).unwrap_or_else(|| {
                let choice = match near {
                    Some(_) => meant(near),
                    None => format!("; the known keys here are {}", self.known.join(", ")),
                };
                format!("unknown key \"{}\"{choice}", shown(entry.key))
            });
            problems.add(entry.key_at, what);
        }
    }
}

/// The texts of an array; `None` if it is empty or contains anything else.
pub(super) fn texts(array: &DeArray<'_>) -> Option<Vec<String>> {
    let texts: Option<Vec<String>> = array
        .iter()
        .map(|item| item.get_ref().as_str().map(str::to_owned))
        .collect();
    texts.filter(|texts| !texts.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_lines_and_characters() {
        let text = "a\nböse x";
        let Problem { line, column, .. } =
            problem_at(text, text.find('x').expect("it is there"), String::new());
        assert_eq!((line, column), (2, 6));
        assert_eq!(
            problem_at(text, 999, String::new()).line,
            2,
            "beyond the end"
        );
    }
}
