//! The mapping as rows: schema ID and data source ID, both texts. The rows are stored in a draft as they are, wrong or
//! not. The service's own rules are not known (docs/design/service.md, "Unknown"), so that only what cannot be intended
//! is a problem.

use std::collections::HashSet;

use super::{
    Kind, Pairs, Problem, Row,
    value::{Typed, quoted},
};
use crate::{
    domain::{Mapping, Mark, Properties, draft::DraftRow},
    formats::pairs::{NoPairs, read},
};

/// Maximum number of undo steps.
const UNDO_STEPS: usize = 100;

pub type MappingTable = Pairs<MappingKind>;

/// What was known when the edit began, and the rows before and after each step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MappingKind {
    /// `None`: the mapping is unknown.
    before: Option<Mapping>,
    undo: Vec<Vec<Row>>,
    redo: Vec<Vec<Row>>,
}

impl Kind for MappingKind {
    const NAMES: (&'static str, &'static str) = ("schema ID", "data source ID");
    const HAS_TYPES: bool = false;
    const KEEPS_WRONG: bool = true;

    fn is_known(&self) -> bool {
        self.before.is_some()
    }

    fn write(&mut self, rows: &mut Vec<Row>, mut new: Vec<Row>) -> Result<(), String> {
        new.retain(|row| !row.is_blank());
        if *rows != new {
            if self.undo.len() == UNDO_STEPS {
                self.undo.remove(0);
            }
            self.undo.push(std::mem::replace(rows, new));
            self.redo.clear();
        }
        Ok(())
    }

    fn travel(&mut self, rows: &mut Vec<Row>, is_back: bool) -> bool {
        let (from, to) = if is_back {
            (&mut self.undo, &mut self.redo)
        } else {
            (&mut self.redo, &mut self.undo)
        };
        let step = from.pop();
        let has_step = step.is_some();
        to.extend(step.map(|step| std::mem::replace(rows, step)));
        has_step
    }

    fn read(text: &str) -> Result<Vec<(String, Typed)>, String> {
        let pairs = read(text).map_err(|why| why.to_string())?;
        let pairs = pairs.into_iter();
        Ok(pairs
            .map(|(key, value)| (key, Typed::text(value)))
            .collect())
    }

    /// An object, or pairs in several lines: neither can be an ID.
    fn are_rows(text: &str) -> bool {
        let pairs = read(text);
        let is_one_line = !text.trim().contains(['\n', '\r']);
        let is_object = text.trim_start().starts_with('{')
            && pairs.as_ref().map_or_else(NoPairs::is_object, |_| true);
        // A cell is typed with Tab, but no ID has one in it.
        is_object || text.trim().contains('\t') || !is_one_line && pairs.is_ok()
    }
}

impl MappingTable {
    pub fn new(before: Option<&Mapping>) -> Self {
        let rows = before.into_iter().flatten();
        Self::with(before, rows.map(known).collect())
    }

    fn with(before: Option<&Mapping>, rows: Vec<Row>) -> Self {
        let before = before.cloned();
        let kind = MappingKind {
            before,
            ..MappingKind::default()
        };
        Self::of(kind, rows)
    }

    /// Restores the rows as they were left in a draft.
    pub fn restore(&mut self, rows: Vec<DraftRow>) {
        let rows = rows.into_iter().map(Row::from);
        self.rows = rows.filter(|row| !row.is_blank()).collect();
    }

    /// All rows including removed ones, with the cell that is being edited, as a draft keeps them. A blank row is not there.
    pub fn rows(&self) -> Vec<DraftRow> {
        let rows = self.typed_rows().into_owned().into_iter();
        let rows = rows.filter(|row| !row.is_blank());
        rows.map(DraftRow::from).collect()
    }

    /// Takes a known secret out of cells that were left already, and out of every step, so that undoing does not bring it
    /// back; returns whether there was one.
    pub fn hold_back(&mut self, secret: &str) -> bool {
        let steps = self.kind.undo.iter_mut().chain(&mut self.kind.redo);
        let mut had_it = false;
        for row in steps.flatten().chain(&mut self.rows) {
            for text in [&mut row.key, &mut row.value.text] {
                had_it |= text.contains(secret);
                *text = text.replace(secret, "");
            }
        }
        self.rows.retain(|row| !row.is_blank());
        self.go(self.cursor);
        had_it
    }

    /// The data source ID of the row under the cursor, without an edit in progress; `None` for one marked for removal
    /// and one that is not shown.
    pub fn source_here(&self) -> Option<&str> {
        let row = self
            .rows
            .get(self.cursor)
            .filter(|row| !row.is_dropped && !row.hidden()[1])?;
        Some(row.value.text.as_str()).filter(|value| !value.is_empty())
    }

    /// The data source IDs of all rows, without an edit in progress.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.value.text.as_str())
    }

    /// The rows that are not removed.
    fn wanted(&self) -> Vec<(String, String)> {
        let rows = self.typed_rows().into_owned().into_iter();
        let living = rows.filter(Row::is_living);
        living.map(|row| (row.key, row.value.text)).collect()
    }

    /// The mapping as it would be sent, or the first problem.
    pub fn value(&self) -> Result<Mapping, Problem> {
        match self.problems().into_iter().next() {
            Some(problem) => Err(problem),
            None => Ok(self.wanted().into_iter().collect()),
        }
    }

    /// Moves the cursor to the next cell with a problem, wrapping around. Returns false if there is none.
    pub fn go_to_next_problem(&mut self) -> bool {
        let problems = self.problems();
        let here = (self.cursor, self.column);
        let places = problems.iter().map(|problem| (problem.row, problem.column));
        let next = places.clone().find(|place| *place > here).or(places.min());
        let Some((row, column)) = next else {
            return false;
        };
        self.commit();
        self.go(row);
        self.column = column;
        true
    }

    /// The rows that are not removed, as a JSON object for an external editor, even if they are not valid.
    pub fn as_json(&self) -> String {
        let pairs = self.wanted().into_iter();
        let pairs = pairs.map(|(key, value)| format!("  {}: {}", quoted(&key), quoted(&value)));
        match pairs.collect::<Vec<_>>().as_slice() {
            [] => "{}".into(),
            lines => format!("{{\n{}\n}}", lines.join(",\n")),
        }
    }

    /// Makes the table contain exactly these pairs: missing rows are marked for removal.
    pub fn replace(&mut self, mut pairs: Mapping) {
        self.commit();
        let mut rows = self.rows.clone();
        for row in &mut rows {
            if let Some((known, _)) = &row.before
                && !pairs.contains_key(&row.key)
                && pairs.contains_key(known)
            {
                row.key.clone_from(known);
            }
            let wanted = pairs.shift_remove(&row.key);
            row.is_dropped = wanted.is_none();
            if let Some(value) = wanted {
                row.value = Typed::text(value);
            }
        }
        rows.retain(|row| !row.is_dropped || row.before.is_some());
        let added = pairs.into_iter();
        rows.extend(added.map(|(key, value)| Row::added(key, Typed::text(value))));
        self.write(rows);
    }

    /// The values that the edit began with have changed: untouched rows take the new values, the others stay as typed.
    /// Earlier steps would restore the old values, so they are forgotten.
    pub fn rebase(&mut self, before: Option<&Mapping>) {
        self.commit();
        let mut seen: HashSet<String> = HashSet::new();
        let mut rows = Vec::new();
        for mut row in std::mem::take(&mut self.rows) {
            let is_untouched = row.mark() == Mark::Same;
            let key = row
                .before
                .take()
                .map_or_else(|| row.key.clone(), |(key, _)| key);
            match before.and_then(|before| before.get(&key)) {
                Some(now) if seen.insert(key.clone()) => {
                    let now = Typed::text(now);
                    if is_untouched {
                        row.value = now.clone();
                    }
                    row.before = Some((key, now));
                    rows.push(row);
                }
                // A colleague has removed it.
                None if is_untouched || row.is_dropped => {}
                Some(_) | None => rows.push(row),
            }
        }
        let new = before.into_iter().flatten();
        rows.extend(new.filter(|(key, _)| !seen.contains(*key)).map(known));
        let (cursor, column) = (self.cursor, self.column);
        *self = Self::with(before, rows);
        self.go(cursor);
        self.column = column;
    }
}

fn known((key, value): (&String, &String)) -> Row {
    Row {
        before: Some((key.clone(), Typed::text(value))),
        ..Row::added(key.clone(), Typed::text(value))
    }
}

impl From<DraftRow> for Row {
    fn from(row: DraftRow) -> Self {
        Self {
            before: row.before.map(|(key, value)| (key, Typed::text(value))),
            is_dropped: row.is_dropped,
            ..Self::added(row.key, Typed::text(row.value))
        }
    }
}

impl From<Row> for DraftRow {
    fn from(row: Row) -> Self {
        Self {
            key: row.key,
            value: row.value.text,
            before: row.before.map(|(key, value)| (key, value.text)),
            is_dropped: row.is_dropped,
        }
    }
}

/// An entry of an object that is no pair, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {0} is not a string or a number")]
pub struct NotText(pub usize);

/// The strings and numbers of an object as pairs.
pub fn pairs_of(object: Properties) -> Result<Mapping, NotText> {
    let pairs = object.into_iter().enumerate();
    pairs
        .map(|(index, (key, value))| match value {
            serde_json::Value::String(value) => Ok((key, value)),
            serde_json::Value::Number(value) => Ok((key, value.to_string())),
            _ => Err(NotText(index + 1)),
        })
        .collect()
}
