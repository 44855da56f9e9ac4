//! Pairs of key and value, edited as rows: the mapping and the properties of a group. Sends nothing and asks nothing.
//!
//! [`Pairs`] has the rows, the cursor and the cell that is being edited. A [`Kind`] has what differs: the names, what a
//! value can be, and where the rows are kept. The mapping keeps the rows themselves, so that a row may be wrong for a
//! while; the rows of the properties are a view of their JSON text, so that a cell is taken over once it is right.
//!
//! Every change is one step, from all rows to all rows, that can be undone.

mod draw;
mod keys;
mod mapping;
mod properties;
#[cfg(test)]
mod tests;
mod value;

pub use self::{
    keys::PastedPairs,
    mapping::{MappingTable, NotText, pairs_of},
    properties::{PropertiesField, PropertiesFocus},
};

use std::{borrow::Cow, collections::HashMap};

use self::value::{Typed, ValueType};
use super::text_field::TextField;
use crate::{
    domain::{Mark, pasted::suspicious_words},
    intake::json_key::RESERVED,
};

/// Maximum number of characters in a cell.
const LONGEST: usize = 100_000;
/// Why a row cannot be edited; the hint says which key restores it.
const REMOVED: &str = "this row will be removed";

/// What differs between the mapping and the properties.
pub trait Kind {
    /// What a key and a value are called; in capital letters, they are the titles of the columns.
    const NAMES: (&'static str, &'static str);
    /// Whether values have types, with a column of their own. A value without a type is an ID: it cannot be empty.
    const HAS_TYPES: bool;
    /// Whether a row may be wrong, with the problem beside it. If not, a cell that is wrong cannot be left.
    const KEEPS_WRONG: bool;

    /// Whether the pairs were known when the edit began. If not, having no rows means "leave the field out".
    fn is_known(&self) -> bool;

    /// Changes the rows in one step, or fails with the reason and changes nothing.
    fn write(&mut self, rows: &mut Vec<Row>, new: Vec<Row>) -> Result<(), String>;

    /// Undoes a step, or does it again. Returns false if there is none.
    fn travel(&mut self, rows: &mut Vec<Row>, is_back: bool) -> bool;

    /// Reads pasted text. The reason for a failure never quotes the text.
    fn read(text: &str) -> Result<Vec<(String, Typed)>, String>;

    /// Whether text that is pasted into a cell can only be meant as rows.
    fn are_rows(text: &str) -> bool;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Column {
    Key,
    Type,
    /// Usually the value changes, and the key stays.
    #[default]
    Value,
}

/// The cell under the cursor while it is being edited.
#[derive(Debug, Clone, PartialEq)]
enum Typing {
    Key(TextField),
    Type(ValueType),
    Value(ValueType, TextField),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    key: String,
    value: Typed,
    /// Key and value when the edit began; `None`: added since.
    before: Option<(String, Typed)>,
    /// Marked for removal; stays visible until the change is sent.
    is_dropped: bool,
    /// The index of its entry in the JSON text.
    entry: Option<usize>,
}

/// A problem that prevents the pairs from being sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row {}: {text}", row + 1)]
pub struct Problem {
    /// Index of the row.
    pub row: usize,
    pub column: Column,
    pub text: String,
}

/// The rows, and the cursor.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs<K> {
    kind: K,
    rows: Vec<Row>,
    /// The index of its row. While the key of a new row is typed, the one after the last.
    cursor: usize,
    column: Column,
    typing: Option<Typing>,
    /// The row is being added: after its key come its other cells.
    is_adding: bool,
    /// Why the last key or paste had no effect.
    refused: Option<String>,
}

impl<K: Kind> Pairs<K> {
    fn of(kind: K, rows: Vec<Row>) -> Self {
        Self {
            kind,
            rows,
            cursor: 0,
            column: Column::default(),
            typing: None,
            is_adding: false,
            refused: None,
        }
    }

    /// All rows including removed ones, with the cell that is being edited.
    fn typed_rows(&self) -> Cow<'_, [Row]> {
        let Some(typing) = &self.typing else {
            return Cow::Borrowed(&self.rows);
        };
        let mut rows = self.rows.clone();
        if self.cursor == rows.len() {
            rows.push(Row::default());
        }
        let row = &mut rows[self.cursor];
        match typing {
            Typing::Key(field) if field.text() == row.key => {}
            Typing::Key(field) => {
                field.text().clone_into(&mut row.key);
                if K::HAS_TYPES {
                    // A property with another key is another property.
                    row.before = None;
                }
            }
            Typing::Type(value_type) => {
                let converted = row.value.converted(*value_type);
                row.value = converted.unwrap_or_else(|| row.value.clone());
            }
            Typing::Value(value_type, field) => {
                let is_same = *value_type == row.value.value_type;
                if !is_same || field.text() != row.value.shown() {
                    let value = Typed::new(*value_type, field.text());
                    let may_be_json = K::HAS_TYPES && self.is_adding;
                    row.value = if may_be_json { value.meant() } else { value };
                }
            }
        }
        Cow::Owned(rows)
    }

    pub fn is_editing(&self) -> bool {
        self.typing.is_some()
    }

    /// The cell that is being edited.
    pub fn cell(&mut self) -> Option<&mut TextField> {
        match self.typing.as_mut()? {
            Typing::Key(field) | Typing::Value(_, field) => Some(field),
            Typing::Type(_) => None,
        }
    }

    /// All problems, from the first row to the last. Of two rows with the same key, the one that is being typed is
    /// wrong, otherwise the lower one.
    pub fn problems(&self) -> Vec<Problem> {
        let rows = self.typed_rows();
        let (name, value_name) = K::NAMES;
        let typed = self.typing.as_ref().map(|_| self.cursor);
        let others = (0..rows.len()).filter(|row| Some(*row) != typed);
        let mut first_with: HashMap<&str, usize> = HashMap::new();
        let mut problems = Vec::new();
        for row in others.chain(typed) {
            let Row { key, value, .. } = &rows[row];
            if !rows[row].is_living() {
                continue;
            }
            let mut report = |column, text| problems.push(Problem { row, column, text });
            if key.is_empty() {
                report(Column::Key, format!("{name} is empty"));
            } else if key.starts_with(RESERVED) {
                let text = format!("this {name} cannot be sent; use another name");
                report(Column::Key, text);
            } else if let Some(first) = first_with.get(key.as_str()) {
                report(Column::Key, format!("same {name} as row {}", first + 1));
            } else {
                first_with.insert(key, row);
            }
            if !K::HAS_TYPES && value.text.is_empty() {
                report(Column::Value, format!("{value_name} is empty"));
            }
            if let Some(text) = value.problem() {
                report(Column::Value, text);
            }
        }
        problems.sort_by_key(|problem| (problem.row, problem.column));
        problems
    }

    /// The first problem of the cell under the cursor.
    fn problem_here(&self) -> Option<Problem> {
        let here = (self.cursor, self.column);
        let mut problems = self.problems().into_iter();
        problems.find(|problem| (problem.row, problem.column) == here)
    }

    /// Takes over the cell that is being edited. Returns false if it is wrong and cannot be left; editing continues.
    pub fn commit(&mut self) -> bool {
        self.refused = None;
        if self.typing.is_none() {
            return true;
        }
        let rows = self.typed_rows().into_owned();
        let is_never_there = self.is_new_and_blank();
        if !is_never_there && rows != self.rows {
            if let Some(problem) = self.problem_here().filter(|_| !K::KEEPS_WRONG) {
                self.refused = Some(problem.text);
                return false;
            }
            if !self.write(rows) {
                return false;
            }
        }
        self.is_adding &= !is_never_there;
        self.typing = None;
        self.go(self.cursor);
        true
    }

    /// Whether a row is being added and has no key yet.
    fn is_new_and_blank(&self) -> bool {
        let is_blank = matches!(&self.typing, Some(Typing::Key(field)) if field.is_empty());
        is_blank && self.cursor == self.rows.len()
    }

    /// Restores the cell that is being edited.
    pub fn cancel(&mut self) {
        self.typing = None;
        self.is_adding = false;
        self.refused = None;
        self.go(self.cursor);
    }

    /// Changes the rows in one step; the cursor stays on its key. Returns false if they would not be valid.
    fn write(&mut self, rows: Vec<Row>) -> bool {
        let key = rows.get(self.cursor).map(|row| row.key.clone());
        self.refused = self.kind.write(&mut self.rows, rows).err();
        if self.refused.is_some() {
            return false;
        }
        let is_here = |row: &Row| Some(&row.key) == key.as_ref();
        if !self.rows.get(self.cursor).is_some_and(is_here) {
            let found = self.rows.iter().position(is_here);
            self.go(found.unwrap_or(self.cursor));
        }
        true
    }

    /// Changes the row under the cursor in one step.
    fn change(&mut self, change: impl FnOnce(&mut Row)) -> bool {
        let mut rows = self.rows.clone();
        rows.get_mut(self.cursor).map(change).is_some() && self.write(rows)
    }

    /// Adds an empty row at the end and starts editing it. Until it has a key, it is not there.
    pub fn add(&mut self) -> bool {
        if !self.commit() {
            return false;
        }
        (self.cursor, self.column) = (self.rows.len(), Column::Key);
        self.is_adding = true;
        self.typing = Some(Typing::Key(field("", None)));
        true
    }

    /// Marks the row for removal, or restores it. A row that was added here is removed at once.
    pub fn drop_row(&mut self) -> bool {
        let was_known = |row: &Row| row.before.is_some();
        if !self.commit() {
            false
        } else if self.rows.get(self.cursor).is_none_or(was_known) {
            self.change(|row| row.is_dropped = !row.is_dropped)
        } else {
            let mut rows = self.rows.clone();
            rows.remove(self.cursor);
            self.write(rows)
        }
    }

    /// Starts editing the cell under the cursor. Returns false for a row marked for removal, which must be restored
    /// first.
    pub fn edit(&mut self) -> bool {
        self.refused = None;
        let Some(row) = self.rows.get(self.cursor) else {
            return false;
        };
        if row.is_dropped {
            self.refused = Some(REMOVED.into());
            return false;
        }
        // What is not shown in the row is not shown in its cell either.
        let [is_key_hidden, is_value_hidden] = row.hidden();
        let before = row.before.clone().unwrap_or_default();
        self.typing = Some(match (self.column, row.value.value_type) {
            (Column::Key, _) => {
                let before = Some(before.0.as_str()).filter(|_| is_key_hidden);
                Typing::Key(field(&row.key, before))
            }
            (Column::Type, value_type) => Typing::Type(value_type),
            (Column::Value, ValueType::Boolean) => {
                return self.change(|row| row.value = row.value.toggled());
            }
            (Column::Value, ValueType::Null) => {
                // Null has no value to type, so that only another type can be meant.
                self.column = Column::Type;
                Typing::Type(ValueType::Null)
            }
            (Column::Value, value_type) => {
                let before = Some(before.1.shown()).filter(|_| is_value_hidden);
                Typing::Value(value_type, field(&row.value.shown(), before.as_deref()))
            }
        });
        true
    }

    /// Changes the type of the row; if its value cannot be converted, a new one must be typed first.
    fn choose(&mut self, value_type: ValueType) {
        self.typing = None;
        let Some(value) = self.rows.get(self.cursor).map(|row| &row.value) else {
            return;
        };
        let Some(converted) = value.converted(value_type) else {
            let typed = value.to_correct(value_type);
            self.refused = typed.problem().filter(|_| !typed.text.is_empty());
            self.column = Column::Value;
            self.typing = Some(Typing::Value(value_type, field(&typed.text, None)));
            return;
        };
        let is_kept = converted == *value || self.change(|row| row.value = converted);
        if is_kept && self.is_adding && value_type.is_typed() {
            self.column = Column::Value;
            self.edit();
        }
    }

    pub fn undo(&mut self) -> bool {
        self.travel(true)
    }

    pub fn redo(&mut self) -> bool {
        self.travel(false)
    }

    /// The cursor goes to the first row that is different then.
    fn travel(&mut self, is_back: bool) -> bool {
        if !self.commit() {
            return false;
        }
        let was = self.rows.clone();
        let has_travelled = self.kind.travel(&mut self.rows, is_back);
        let same = self
            .rows
            .iter()
            .zip(&was)
            .take_while(|(now, was)| now == was);
        let same = same.count();
        if same < was.len().max(self.rows.len()) {
            self.go(same);
        }
        has_travelled
    }

    /// Moves the cursor to this row, or to the last one.
    fn go(&mut self, row: usize) {
        self.cursor = row.min(self.rows.len().saturating_sub(1));
    }
}

impl Row {
    fn added(key: String, value: Typed) -> Self {
        Self {
            key,
            value,
            ..Self::default()
        }
    }

    /// Whether it was added and nothing was typed in it.
    fn is_blank(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the key and the value have something that looks like a token or a part of one and was not there before: they
    /// are not shown.
    fn hidden(&self) -> [bool; 2] {
        let before = self.before.as_ref();
        let is_new = |text: &str, was: Option<&String>| {
            was.is_none_or(|was| was != text) && suspicious_words(text).next().is_some()
        };
        [
            is_new(&self.key, before.map(|(key, _)| key)),
            is_new(&self.value.text, before.map(|(_, value)| &value.text)),
        ]
    }

    /// Whether it is sent: it is not removed, and something was typed in it.
    fn is_living(&self) -> bool {
        !self.is_dropped && !self.is_blank()
    }

    /// How the row differs from what was known.
    fn mark(&self) -> Mark {
        match &self.before {
            _ if self.is_dropped => Mark::Removed,
            None => Mark::Added,
            Some((key, value)) if (key, value) == (&self.key, &self.value) => Mark::Same,
            Some(_) => Mark::Changed,
        }
    }

    /// The remark beside the row, if any: "was 40". `name` is that of a key.
    fn remark(&self, name: &str) -> Option<String> {
        Some(match (self.mark(), &self.before) {
            (Mark::Removed, _) => "will be removed".into(),
            (Mark::Added, _) => "new".into(),
            (Mark::Changed, Some((key, value))) if *key == self.key => {
                format!("was {}", value.beside(&self.value))
            }
            (Mark::Changed, Some((key, value))) if *value == self.value => {
                format!("{name} was {key}")
            }
            (Mark::Changed, Some((key, value))) => format!("was {key} = {}", value.shown()),
            (Mark::Same | Mark::Changed, _) => return None,
        })
    }
}

/// `before`: what the row had before a text that looks like a part of a token was typed.
fn field(text: &str, before: Option<&str>) -> TextField {
    let mut field = TextField::new("", text).for_value().with_longest(LONGEST);
    if let Some(before) = before {
        field.begins_with(before);
    }
    field
}
