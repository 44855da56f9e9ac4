//! Editing the properties as JSON text: hidden characters are visible, and an invalid text shows where it is invalid.
//! The text is never lost, however invalid it is.

mod brackets;
mod draw;
mod entries;
mod keys;
mod layout;
mod lex;
mod lines;
mod marks;
mod motion;
mod parse;
#[cfg(test)]
mod tests;

pub(super) use self::{
    entries::{Entry, object},
    layout::one_line,
    parse::parse_value,
};
pub use draw::coloured;
pub use parse::{JsonProblem, parse, parse_object};

use std::{ops::Range, sync::OnceLock};

use serde_json::Value;

use self::{lines::Lines, marks::Marks};
use crate::domain::group::Properties;

/// If the text would be longer than this many bytes, nothing is inserted; twice what a service is likely to accept.
const LONGEST: usize = 2 * 1024 * 1024;

/// A JSON text and the result of parsing it. It is parsed on demand, because many keys can arrive before the
/// next drawing.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonEditor {
    lines: Lines,
    /// What was known when the edit began; `None`: the properties are unknown.
    before: Option<Properties>,
    checked: OnceLock<Result<Properties, JsonProblem>>,
    marks: OnceLock<Marks>,
}

impl JsonEditor {
    /// Starts with the known properties, or with an empty text.
    pub fn new(before: Option<&Properties>) -> Self {
        let text = before.map(pretty).unwrap_or_default();
        Self {
            lines: Lines::new(&text),
            before: before.cloned(),
            checked: OnceLock::new(),
            marks: OnceLock::new(),
        }
    }

    /// Whether the properties were known when the edit began. If not, an empty text means "leave the field out".
    pub fn is_known(&self) -> bool {
        self.before.is_some()
    }

    pub fn text(&self) -> String {
        self.lines.text()
    }

    pub fn is_blank(&self) -> bool {
        self.lines.all().iter().all(|line| line.trim().is_empty())
    }

    /// The properties as they would be sent, or the problem of the text.
    pub fn value(&self) -> Result<&Properties, &JsonProblem> {
        let judge = || parse(&self.text());
        self.checked.get_or_init(judge).as_ref()
    }

    /// What was known when the edit began.
    pub fn before(&self) -> Option<&Properties> {
        self.before.as_ref()
    }

    /// Whether the field is left out, because the properties are unknown and nothing was typed.
    pub fn is_left_out(&self) -> bool {
        !self.is_known() && self.is_blank()
    }

    /// Replaces the whole text as one step, as an outside editor does.
    pub fn set_text(&mut self, text: &str) {
        let row = self.lines.cursor().row;
        self.lines.replace_all(&tidy(text));
        self.lines.go_to(row, 0);
        self.check();
    }

    /// Formats the text with two spaces per level; only white space changes. Returns false if it is not valid or is
    /// formatted already.
    pub fn format(&mut self) -> bool {
        if self.value().is_err() {
            return false;
        }
        let now = self.text();
        let text = layout::pretty(&now);
        let differs = text != now;
        if differs {
            self.set_text(&text);
        }
        differs
    }

    /// Moves the cursor to the problem. Returns false if there is none.
    pub fn go_to_problem(&mut self) -> bool {
        let Err(problem) = self.value() else {
            return false;
        };
        let (line, column) = (problem.line, problem.column);
        self.lines.go_to(line - 1, column - 1);
        true
    }

    pub fn undo(&mut self) -> bool {
        let undone = self.lines.undo();
        self.check();
        undone
    }

    pub fn redo(&mut self) -> bool {
        let redone = self.lines.redo();
        self.check();
        redone
    }

    /// Inserts a text of any number of lines. Tabs used for indentation become spaces. Returns false if it
    /// would be too long.
    pub fn paste(&mut self, text: &str) -> bool {
        let text = tidy(text);
        if self.lines.bytes() + text.len() > LONGEST {
            return false;
        }
        self.lines.insert(&text);
        self.check();
        true
    }

    /// Replaces a range of the text, in bytes, in one step.
    pub(super) fn splice(&mut self, range: Range<usize>, text: &str) {
        let (from, to) = (self.lines.place(range.start), self.lines.place(range.end));
        self.lines.replace(from, to, text, false);
        self.check();
    }

    /// The differences of the lines from what was known.
    fn marks(&self) -> &Marks {
        let judge = || match (&self.before, self.value()) {
            (Some(before), Ok(value)) => Marks::of(&self.text(), before, value),
            _ => Marks::default(),
        };
        self.marks.get_or_init(judge)
    }

    /// Called after a change: discards the result of parsing the old text.
    fn check(&mut self) {
        self.checked = OnceLock::new();
        self.marks = OnceLock::new();
    }
}

fn pretty(properties: &Properties) -> String {
    layout::pretty(&Value::Object(properties.clone()).to_string())
}

/// Normalises line breaks, and turns tabs used for indentation into two spaces; those cannot be part of a JSON string.
fn tidy(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| {
            let rest = line.trim_start_matches([' ', '\t']);
            let indent = &line[..line.len() - rest.len()];
            indent.replace('\t', "  ") + rest
        })
        .collect();
    lines.join("\n")
}
