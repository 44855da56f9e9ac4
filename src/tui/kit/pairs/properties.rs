//! The properties in two views of one text: as JSON, and as rows of key, type and value for people who do not write
//! JSON. The text is the source of truth: the rows are read from it after every step, and a step is written into it so
//! that nothing else is touched; undo is that of the text.

use std::{collections::HashMap, sync::OnceLock};

use ratatui::{
    crossterm::event::KeyEvent,
    prelude::{Buffer, Position, Rect},
};

use super::{
    Column, Kind, Pairs, PastedPairs, Row, Typing,
    value::{Typed, quoted},
};
use crate::{
    domain::Properties,
    formats::pairs::{self, NoPairs},
    tui::{
        kit::{
            Reaction, RowKeys, TextField,
            json_editor::{Entry, JsonEditor, JsonProblem, Object, object, parse, pretty},
        },
        theme::Theme,
    },
};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct PropertiesKind {
    editor: JsonEditor,
}

impl Kind for PropertiesKind {
    const NAMES: (&'static str, &'static str) = ("key", "value");
    const HAS_TYPES: bool = true;
    const KEEPS_WRONG: bool = false;

    fn is_known(&self) -> bool {
        !self.editor.is_left_out()
    }

    fn write(&mut self, rows: &mut Vec<Row>, new: Vec<Row>) -> Result<(), String> {
        let text = self.editor.text();
        let mut living = new.iter().filter(|row| row.is_living());
        let new = if !self.editor.is_known() && living.next().is_none() {
            // An empty object would be sent, and replace all that the service has.
            String::new()
        } else {
            rewritten(&text, &new)
        };
        if new != text {
            if !new.is_empty() {
                parse(&new).map_err(|problem| problem.text)?;
            }
            self.editor.set_text(&new);
            *rows = self.rows().unwrap_or_default();
        }
        Ok(())
    }

    /// Steps whose text is not valid are skipped.
    fn travel(&mut self, rows: &mut Vec<Row>, is_back: bool) -> bool {
        let go = |editor: &mut JsonEditor, is_back| {
            if is_back {
                editor.undo()
            } else {
                editor.redo()
            }
        };
        let mut steps = 0;
        while go(&mut self.editor, is_back) {
            steps += 1;
            if let Some(read) = self.rows() {
                *rows = read;
                return true;
            }
        }
        for _ in 0..steps {
            go(&mut self.editor, !is_back);
        }
        false
    }

    /// The entries of an object, or pairs whose values are texts.
    fn read(text: &str) -> Result<Vec<(String, Typed)>, String> {
        if text.trim_start().starts_with('{') {
            parse(text).map_err(|problem| format!("not pasted: {problem}"))?;
            let entries = entries(text).into_iter();
            return Ok(entries
                .map(|(key, value)| (key, Typed::of(value)))
                .collect());
        }
        let pairs = pairs::read(text).map_err(|why| match why {
            NoPairs::Several(_) => why.to_string(),
            _ => "not pasted: neither a JSON object nor lines of key and value".to_owned(),
        })?;
        let pairs = pairs.into_iter();
        Ok(pairs
            .map(|(key, value)| (key, Typed::text(value)))
            .collect())
    }

    /// Any text can be a value.
    fn are_rows(_text: &str) -> bool {
        false
    }
}

impl PropertiesKind {
    /// The rows of the text, each removed one after the one it used to follow; `None` if the text is not a valid object.
    pub(super) fn rows(&self) -> Option<Vec<Row>> {
        if self.editor.is_left_out() {
            return Some(Vec::new());
        }
        let (now, before) = (self.editor.value().ok()?, self.editor.before());
        let mut rows = Vec::new();
        let mut removed: HashMap<&str, Vec<Row>> = HashMap::new();
        let mut last = None;
        for (key, was) in before.into_iter().flatten() {
            if now.contains_key(key) {
                last = Some(key.as_str());
                continue;
            }
            let was = Typed::of(&was.to_string());
            let row = Row {
                before: Some((key.clone(), was.clone())),
                is_dropped: true,
                ..Row::added(key.clone(), was)
            };
            match last {
                Some(last) => removed.entry(last).or_default().push(row),
                None => rows.push(row),
            }
        }
        for (place, (key, source)) in entries(&self.editor.text()).into_iter().enumerate() {
            let value = Typed::of(source);
            let before = before.and_then(|before| before.get(&key)).map(|was| {
                // The same value may be written in another way.
                if now.get(&key) == Some(was) {
                    value.clone()
                } else {
                    Typed::of(&was.to_string())
                }
            });
            let followers = removed.remove(key.as_str());
            rows.push(Row {
                before: before.map(|before| (key.clone(), before)),
                entry: Some(place),
                ..Row::added(key, value)
            });
            rows.extend(followers.into_iter().flatten());
        }
        Some(rows)
    }
}

/// The keys of a valid object and the text of their values.
pub(super) fn entries(text: &str) -> Vec<(String, &str)> {
    let entries = object(text).map_or_else(Vec::new, |object| object.entries);
    let entries = entries.into_iter().map(|entry| {
        let key = serde_json::from_str(&text[entry.key]).unwrap_or_default();
        (key, &text[entry.value])
    });
    entries.collect()
}

/// The text with these rows. What is the same stays as it was written; a new entry is formatted like the one before it.
fn rewritten(text: &str, rows: &[Row]) -> String {
    let object = object(text);
    let (open, close, old) = match &object {
        Some(Object { inner, entries }) => (&text[..inner.start], &text[inner.end..], &**entries),
        None => ("{", "}", &[][..]),
    };
    let mut living = rows.iter().filter(|row| row.is_living());
    let Some(first) = living.next() else {
        return if old.is_empty() {
            text.to_owned()
        } else {
            format!("{open}{close}")
        };
    };
    // The white space around an entry: before its key, and between its value and the comma.
    let lead = |place: usize| match old.get(place) {
        Some(entry) => &text[text[..entry.key.start].trim_end().len()..entry.key.start],
        None => "\n  ",
    };
    let tail = |place: usize| match old.get(place + 1) {
        Some(next) => text[old[place].value.end..next.key.start].split(',').next(),
        None => None,
    };
    let written = |row: &Row| {
        let Some(place) = row.entry else {
            return format!("{}: {}", quoted(&row.key), row.value.written());
        };
        let Entry { key, value } = &old[place];
        let is_key =
            serde_json::from_str(&text[key.clone()]).is_ok_and(|key: String| key == row.key);
        let is_value = Typed::of(&text[value.clone()]) == row.value;
        [
            &*if is_key {
                text[key.clone()].into()
            } else {
                quoted(&row.key)
            },
            &text[key.end..value.start],
            &*if is_value {
                text[value.clone()].into()
            } else {
                row.value.written()
            },
            tail(place).unwrap_or_default(),
        ]
        .concat()
    };
    let mut new = [open, lead(0), &written(first)].concat();
    let mut before = first.entry.unwrap_or(0);
    for row in living {
        before = row.entry.unwrap_or(before);
        new += &[",", lead(before), &written(row)].concat();
    }
    let end = match (&object, old.last()) {
        (Some(object), Some(last)) => &text[last.value.end..object.inner.end],
        _ => "\n",
    };
    new + end + close
}

/// What receives the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropertiesFocus {
    Text,
    /// The rows, between cells.
    Rows,
    /// A key or a value that is being edited.
    Cell,
    /// The choice of a type.
    ValueType,
}

/// The properties in the view as text or as rows.
#[derive(Debug, Clone)]
pub struct PropertiesField {
    pub(super) pairs: Pairs<PropertiesKind>,
    pub(super) are_rows: bool,
    /// The result of parsing the text together with the cell that is being edited.
    typed: OnceLock<Result<Properties, JsonProblem>>,
}

impl PropertiesField {
    /// Starts with the known properties, or with an empty text.
    pub fn new(before: Option<&Properties>) -> Self {
        let editor = JsonEditor::new(before);
        Self {
            pairs: Pairs::of(PropertiesKind { editor }, Vec::new()),
            are_rows: false,
            typed: OnceLock::new(),
        }
    }

    pub(super) fn editor(&self) -> &JsonEditor {
        &self.pairs.kind.editor
    }

    /// Forgets how the text was read, because the cell was changed from outside.
    pub fn forget_typed(&mut self) {
        self.typed = OnceLock::new();
    }

    fn is_typing(&self) -> bool {
        self.pairs.is_editing()
    }

    /// The cell that is being edited.
    pub fn cell(&mut self) -> Option<&mut TextField> {
        self.pairs.cell()
    }

    /// The raw text, valid or not, with the cell that is being edited.
    pub fn text(&self) -> String {
        let text = self.editor().text();
        if self.is_typing() {
            rewritten(&text, &self.pairs.typed_rows())
        } else {
            text
        }
    }

    /// Replaces the whole text in one step, for example by that of an external editor or a draft; leaves a cell that
    /// is being edited.
    pub fn set_text(&mut self, text: &str) {
        self.pairs.kind.editor.set_text(text);
        self.are_rows = self.are_rows && self.show_rows();
        self.pairs.cancel();
        self.typed = OnceLock::new();
    }

    /// Makes the text say these properties, unless it does already.
    pub fn replace(&mut self, properties: &Properties) {
        if self.value() != Ok(properties) {
            self.set_text(&pretty(properties));
        }
    }

    /// The properties that the edit began with have changed: if nothing was typed, the text takes the new ones.
    pub fn rebase(&mut self, before: Option<&Properties>) {
        let (are_rows, typed) = (self.are_rows, self.is_changed().then(|| self.text()));
        *self = Self::new(before);
        if let Some(typed) = typed {
            self.set_text(&typed);
        }
        self.are_rows = are_rows && self.show_rows();
    }

    pub fn is_blank(&self) -> bool {
        self.text().trim().is_empty()
    }

    /// Whether the properties differ from what was known; an invalid text counts as a difference.
    pub fn is_changed(&self) -> bool {
        match (self.editor().before(), self.value()) {
            (Some(before), Ok(value)) => before != value,
            (Some(_), Err(_)) => true,
            (None, _) => !self.is_blank(),
        }
    }

    /// The properties as they would be sent, or the problem of the text.
    pub fn value(&self) -> Result<&Properties, &JsonProblem> {
        if self.is_typing() {
            let judge = || parse(&self.text());
            self.typed.get_or_init(judge).as_ref()
        } else {
            self.editor().value()
        }
    }

    pub fn place(&self) -> PropertiesFocus {
        match &self.pairs.typing {
            Some(Typing::Type(_)) => PropertiesFocus::ValueType,
            Some(Typing::Key(_) | Typing::Value(..)) => PropertiesFocus::Cell,
            None if self.are_rows => PropertiesFocus::Rows,
            None => PropertiesFocus::Text,
        }
    }

    /// Why the text cannot be shown as rows; `None` if it can.
    pub fn why_no_rows(&self) -> Option<&JsonProblem> {
        let problem = self.editor().value().err();
        problem.filter(|_| !self.are_rows && !self.editor().is_left_out())
    }

    /// Switches to the other view. Returns false if the content is not valid: nothing is lost, and the view stays.
    pub fn switch(&mut self) -> bool {
        let can_switch = if self.are_rows {
            self.commit()
        } else {
            self.show_rows()
        };
        self.are_rows ^= can_switch;
        can_switch
    }

    /// Reads the rows of the text, if they are valid.
    fn show_rows(&mut self) -> bool {
        let rows = self.pairs.kind.rows();
        let can_be_shown = rows.is_some();
        self.pairs.rows = rows.unwrap_or_default();
        (self.pairs.cursor, self.pairs.column) = (0, Column::default());
        self.pairs.cancel();
        can_be_shown
    }

    /// Takes over the cell that is being edited. Returns false if it is not valid; editing continues.
    pub fn commit(&mut self) -> bool {
        self.typed = OnceLock::new();
        self.pairs.commit()
    }

    /// Why the cell that is being edited was not taken over.
    pub fn refused(&self) -> Option<&str> {
        self.pairs.refused.as_deref()
    }

    /// Takes over the cell that is being edited; if it is not valid, switches to the text, where it can be corrected.
    pub fn settle(&mut self) {
        if !self.commit() {
            let text = self.text();
            self.are_rows = false;
            self.set_text(&text);
        }
    }

    /// Moves the cursor to the problem. Returns false if there is none.
    pub fn go_to_problem(&mut self) -> bool {
        // If a cell is not valid, the cursor is there already.
        !self.commit() || self.pairs.kind.editor.go_to_problem()
    }

    pub fn key(&mut self, key: KeyEvent) -> Reaction {
        self.typed = OnceLock::new();
        if self.are_rows {
            self.pairs.key(key)
        } else {
            self.pairs.kind.editor.key(key)
        }
    }

    pub fn paste(&mut self, text: &str) -> PastedPairs {
        self.typed = OnceLock::new();
        if self.are_rows {
            self.pairs.paste(text)
        } else if self.pairs.kind.editor.paste(text) {
            PastedPairs::Text { cut: 0 }
        } else {
            let why = "not pasted: longer than the service accepts; the text is unchanged";
            PastedPairs::Refused(why.into())
        }
    }

    /// Returns the position of the terminal's cursor, if focused.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        theme: Theme,
        focused: bool,
        keys: &RowKeys,
    ) -> Option<Position> {
        if self.are_rows {
            self.pairs.draw(buffer, area, theme, focused, keys)
        } else {
            self.editor().draw(buffer, area, theme, focused)
        }
    }
}
