//! The mapping as rows, schema id → data source id, edited in place; every step can be undone until it is sent. Holds
//! the wanted and the known values; sends nothing and asks nothing.
//!
//! Checks the rows of a mapping. The service's own rules are not known (docs/design/service.md, "Unknown"), so that
//! only what cannot be intended is rejected.
//!
//! One row of the table: its current values, and those when the edit began.

mod draw;
mod replace;
#[cfg(test)]
mod tests;

pub(super) use self::replace::read as read_pairs;
pub use self::replace::{PasteError, PastedRows};
pub use replace::{NotText, pairs_of};

/// A row as it is typed, and kept in a draft.
pub use crate::domain::draft::DraftRow as MappingRow;

use std::collections::HashMap;

use super::text_field::TextField;
use crate::{
    domain::{Mapping, Mark},
    intake::json_key::RESERVED,
};

/// Maximum number of undo steps.
const UNDO_STEPS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Column {
    /// Schema id.
    Key,
    /// Data source id. Usually it changes, and the schema stays.
    #[default]
    Value,
}

/// The rows of a mapping, and the cursor.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MappingTable {
    /// What was known when the edit began; `None`: the mapping is unknown.
    before: Option<Mapping>,
    rows: Vec<MappingRow>,
    cursor: usize,
    column: Column,
    /// The cell under the cursor while it is being edited.
    editing: Option<TextField>,
    /// Why the last paste was rejected.
    refused_paste: Option<PasteError>,
    undo: Vec<Step>,
    redo: Vec<Step>,
}

/// The state of the table before a step.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    rows: Vec<MappingRow>,
    cursor: usize,
    column: Column,
}

impl MappingTable {
    pub fn new(before: Option<&Mapping>) -> Self {
        let rows = before
            .into_iter()
            .flatten()
            .map(|(key, value)| MappingRow::known(key, value));
        Self {
            before: before.cloned(),
            rows: rows.collect(),
            ..Self::default()
        }
    }

    /// Whether the mapping was known when the edit began. If not, an untouched table means "leave the field out".
    pub fn is_known(&self) -> bool {
        self.before.is_some()
    }

    /// All rows including removed ones, with the cell that is being edited.
    pub fn rows(&self) -> Vec<MappingRow> {
        let mut rows = self.rows.clone();
        if let (Some(field), Some(row)) = (&self.editing, rows.get_mut(self.cursor)) {
            field.text().clone_into(row.cell_mut(self.column));
        }
        rows
    }

    /// The data source id of the row under the cursor, without an edit in progress.
    pub fn source_here(&self) -> Option<&str> {
        let row = self.rows.get(self.cursor)?;
        Some(row.value.as_str()).filter(|value| !value.is_empty())
    }

    /// The data source ids of all rows, without an edit in progress.
    pub fn sources(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.value.as_str())
    }

    pub fn is_editing(&self) -> bool {
        self.editing.is_some()
    }

    /// The mapping as it would be sent, or the first problem.
    pub fn value(&self) -> Result<Mapping, Problem> {
        match self.problems().into_iter().next() {
            Some(problem) => Err(problem),
            None => Ok(self
                .rows()
                .into_iter()
                .filter(|row| !row.is_dropped)
                .map(|row| (row.key, row.value))
                .collect()),
        }
    }

    /// Whether the mapping differs from what was known. A problem counts as a difference.
    pub fn is_changed(&self) -> bool {
        match (&self.before, self.value()) {
            (Some(before), Ok(value)) => *before != value,
            (None, Ok(value)) => !value.is_empty(),
            (_, Err(_)) => true,
        }
    }

    /// Number of rows that were added, removed or changed: the number in "3 changes".
    pub fn count_changes(&self) -> usize {
        let rows = self.rows();
        rows.iter().filter(|row| row.mark() != Mark::Same).count()
    }

    /// All problems, from the first row to the last.
    pub fn problems(&self) -> Vec<Problem> {
        problems(&self.rows())
    }

    /// Moves the cursor to the next cell with a problem, wrapping around. Returns false if there is none.
    pub fn go_to_next_problem(&mut self) -> bool {
        let problems = self.problems();
        let here = (self.cursor, self.column == Column::Value);
        let next = problems
            .iter()
            .find(|problem| (problem.row, problem.column == Column::Value) > here)
            .or(problems.first());
        let Some(next) = next else {
            return false;
        };
        let (row, column) = (next.row, next.column);
        self.commit();
        self.cursor = row.min(self.rows.len().saturating_sub(1));
        self.column = column;
        true
    }

    /// Takes over the cell that is being edited, as leaving the table does.
    pub fn commit(&mut self) {
        let Some(field) = self.editing.take() else {
            return;
        };
        let text = field.text().to_owned();
        let column = self.column;
        let Some(row) = self.rows.get(self.cursor) else {
            return;
        };
        if row.is_new_and_empty() && text.is_empty() {
            self.take_back_empty_row();
        } else if *row.cell(column) != text {
            if !row.is_new_and_empty() {
                self.remember();
            }
            *self.rows[self.cursor].cell_mut(column) = text;
        }
    }

    /// Restores the cell that is being edited.
    pub fn cancel(&mut self) {
        self.editing = None;
        if self
            .rows
            .get(self.cursor)
            .is_some_and(MappingRow::is_new_and_empty)
        {
            self.take_back_empty_row();
        }
    }

    /// Adds an empty row at the end and starts editing it.
    pub fn add(&mut self) {
        self.commit();
        self.remember();
        self.rows.push(MappingRow::added("", ""));
        self.cursor = self.rows.len() - 1;
        self.column = Column::Key;
        self.edit();
    }

    /// Marks the row for removal, or restores it. A row that was added here is removed at once.
    pub fn drop_row(&mut self) -> bool {
        self.commit();
        if self.cursor >= self.rows.len() {
            return false;
        }
        self.remember();
        let row = &mut self.rows[self.cursor];
        if row.before.is_some() {
            row.is_dropped = !row.is_dropped;
        } else {
            self.rows.remove(self.cursor);
            self.cursor = self.cursor.min(self.rows.len().saturating_sub(1));
        }
        true
    }

    /// Starts editing the cell under the cursor; returns false for a row marked for removal, which must be
    /// restored first.
    pub fn edit(&mut self) -> bool {
        let Some(row) = self.rows.get(self.cursor) else {
            return false;
        };
        if row.is_dropped {
            return false;
        }
        self.editing = Some(TextField::new("", row.cell(self.column).clone()).for_data());
        true
    }

    pub fn undo(&mut self) -> bool {
        self.travel(true)
    }

    pub fn redo(&mut self) -> bool {
        self.travel(false)
    }

    /// Goes one step back, or forward again.
    fn travel(&mut self, is_back: bool) -> bool {
        self.commit();
        let now = self.step();
        let (from, to) = if is_back {
            (&mut self.undo, &mut self.redo)
        } else {
            (&mut self.redo, &mut self.undo)
        };
        let Some(step) = from.pop() else {
            return false;
        };
        to.push(now);
        self.rows = step.rows;
        self.column = step.column;
        self.cursor = step.cursor.min(self.rows.len().saturating_sub(1));
        self.refused_paste = None;
        true
    }

    fn step(&self) -> Step {
        Step {
            rows: self.rows.clone(),
            cursor: self.cursor,
            column: self.column,
        }
    }

    fn remember(&mut self) {
        if self.undo.len() == UNDO_STEPS {
            self.undo.remove(0);
        }
        let step = self.step();
        self.undo.push(step);
        self.redo.clear();
        self.refused_paste = None;
    }

    /// The cell that is being edited.
    pub fn cell(&mut self) -> Option<&mut TextField> {
        self.editing.as_mut()
    }

    /// Removes a row in which nothing was typed, and the undo step that added it.
    fn take_back_empty_row(&mut self) {
        self.rows.remove(self.cursor);
        self.cursor = self.cursor.min(self.rows.len().saturating_sub(1));
        let added_it = |step: &Step| step.rows == self.rows;
        if self.undo.last().is_some_and(added_it) {
            self.undo.pop();
        }
    }
}

/// A problem that prevents the mapping from being sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row {}: {text}", row + 1)]
pub struct Problem {
    /// Index of the row.
    pub row: usize,
    pub column: Column,
    pub text: String,
}

fn problems(rows: &[MappingRow]) -> Vec<Problem> {
    let mut first_with: HashMap<&str, usize> = HashMap::new();
    let mut problems = Vec::new();
    for (row, content) in rows.iter().enumerate() {
        if content.is_dropped {
            continue;
        }
        let mut report = |column, text: String| problems.push(Problem { row, column, text });
        if content.key.is_empty() {
            report(Column::Key, "schema ID is empty".into());
        } else if content.key.starts_with(RESERVED) {
            let text = "This schema ID cannot be sent; use another name";
            report(Column::Key, text.into());
        } else if let Some(first) = first_with.get(content.key.as_str()) {
            report(Column::Key, format!("same schema ID as row {}", first + 1));
        } else {
            first_with.insert(&content.key, row);
        }
        if content.value.is_empty() {
            report(Column::Value, "data source ID is empty".into());
        }
    }
    problems
}

impl MappingRow {
    fn known(key: &str, value: &str) -> Self {
        Self {
            before: Some((key.to_owned(), value.to_owned())),
            ..Self::added(key, value)
        }
    }

    fn added(key: &str, value: &str) -> Self {
        Self {
            key: key.to_owned(),
            value: value.to_owned(),
            ..Self::default()
        }
    }

    pub fn cell(&self, column: Column) -> &String {
        match column {
            Column::Key => &self.key,
            Column::Value => &self.value,
        }
    }

    fn cell_mut(&mut self, column: Column) -> &mut String {
        match column {
            Column::Key => &mut self.key,
            Column::Value => &mut self.value,
        }
    }

    fn is_new_and_empty(&self) -> bool {
        self.before.is_none() && self.key.is_empty() && self.value.is_empty()
    }

    /// How the row differs from what was known.
    pub fn mark(&self) -> Mark {
        match &self.before {
            _ if self.is_dropped => Mark::Removed,
            None => Mark::Added,
            Some((key, value)) if *key == self.key && *value == self.value => Mark::Same,
            Some(_) => Mark::Changed,
        }
    }

    /// The remark beside the row, if any: "was 40".
    fn remark(&self) -> Option<String> {
        match (self.mark(), &self.before) {
            (Mark::Removed, _) => Some("will be removed".into()),
            (Mark::Added, _) => Some("new".into()),
            (Mark::Changed, Some((key, value))) if *key == self.key => Some(format!("was {value}")),
            (Mark::Changed, Some((key, value))) if *value == self.value => {
                Some(format!("schema was {key}"))
            }
            (Mark::Changed, Some((key, value))) => Some(format!("was {key} = {value}")),
            (Mark::Same | Mark::Changed, _) => None,
        }
    }
}
