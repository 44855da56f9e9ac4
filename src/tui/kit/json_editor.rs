//! Editing the properties as JSON text: hidden characters are visible, and an invalid text shows where it is invalid.
//! The text is never lost, however invalid it is.
//!
//! The keys of the editor: those of the one-line field, and those for lines. Tab and Esc are left to the form.
//!
//! Formats JSON: over several lines, or on one. Only the white space between tokens changes, so that big numbers,
//! escapes and the order of keys stay as they were written.

mod draw;
mod lines;
mod parse;
#[cfg(test)]
mod tests;

pub(super) use self::parse::{Entry, Object, object, parse_value};
pub use draw::coloured;
pub use parse::{JsonProblem, parse, parse_object};

use std::sync::OnceLock;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use serde_json::Value;

use self::{
    draw::Marks,
    lines::{Lines, Motion},
    parse::{Kind, tokens},
};
use crate::{
    domain::Properties,
    tui::kit::{Reaction, is_plain},
};

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
        let text = pretty_text(&now);
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

/// As a text that is formatted like [`JsonEditor::format`] does it.
pub(super) fn pretty(properties: &Properties) -> String {
    pretty_text(&Value::Object(properties.clone()).to_string())
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

/// Lines per PgUp and PgDn.
const PAGE: usize = 10;

impl JsonEditor {
    pub fn key(&mut self, key: KeyEvent) -> Reaction {
        if key.kind == KeyEventKind::Release {
            return Reaction::Ignored;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let by_word = control || alt;
        match key.code {
            KeyCode::Char(c) if is_plain(key) => self.edit(|editor| editor.lines.type_char(c)),
            KeyCode::Enter if !by_word => self.edit(Self::break_line),
            KeyCode::Backspace if by_word => self.delete(Motion::WordLeft),
            KeyCode::Char('w') if control => self.delete(Motion::WordLeft),
            KeyCode::Delete if by_word => self.delete(Motion::WordRight),
            KeyCode::Char('d') if alt => self.delete(Motion::WordRight),
            KeyCode::Char('u') if control => self.delete(Motion::Home),
            KeyCode::Char('k') if control => self.delete(Motion::End),
            KeyCode::Backspace => self.delete(Motion::Left),
            KeyCode::Delete => self.delete(Motion::Right),
            KeyCode::Char('t') if control => Reaction::changed(self.format()),
            // Terminals that send the plain byte report Ctrl-_ as Ctrl-7.
            KeyCode::Char('_' | '7') if control => Reaction::changed(self.undo()),
            KeyCode::Char('z') if alt => Reaction::changed(self.undo()),
            KeyCode::Char('y') if control => Reaction::changed(self.redo()),
            KeyCode::Char('Z') if alt => Reaction::changed(self.redo()),
            KeyCode::Left if by_word => self.go(Motion::WordLeft),
            KeyCode::Right if by_word => self.go(Motion::WordRight),
            KeyCode::Char('b') if alt => self.go(Motion::WordLeft),
            KeyCode::Char('f') if alt => self.go(Motion::WordRight),
            KeyCode::Left => self.go(Motion::Left),
            KeyCode::Right => self.go(Motion::Right),
            KeyCode::Up => self.go(Motion::Up(1)),
            KeyCode::Down => self.go(Motion::Down(1)),
            KeyCode::PageUp => self.go(Motion::Up(PAGE)),
            KeyCode::PageDown => self.go(Motion::Down(PAGE)),
            KeyCode::Home if control => self.go(Motion::Top),
            KeyCode::End if control => self.go(Motion::Bottom),
            KeyCode::Home => self.go(Motion::Home),
            KeyCode::End => self.go(Motion::End),
            _ => Reaction::Ignored,
        }
    }

    fn go(&mut self, motion: Motion) -> Reaction {
        Reaction::moved(self.lines.go(motion))
    }

    fn delete(&mut self, motion: Motion) -> Reaction {
        let deleted = self.lines.delete(motion);
        self.check();
        Reaction::changed(deleted)
    }

    /// A change that may make the text longer.
    fn edit(&mut self, change: impl FnOnce(&mut Self)) -> Reaction {
        if self.lines.bytes() >= LONGEST {
            return Reaction::Refused;
        }
        change(self);
        self.check();
        Reaction::Changed
    }

    /// A new line is indented like the previous one, and one level more after an opening bracket.
    fn break_line(&mut self) {
        let before = self.lines.around().0;
        let indent = before.len() - before.trim_start_matches(' ').len();
        let deeper = if before.trim_end().ends_with(['{', '[']) {
            2
        } else {
            0
        };
        let text = format!("\n{}", " ".repeat(indent + deeper));
        self.lines.insert(&text);
    }
}

/// One entry per line, two spaces per level; empty objects and arrays stay on one line. The text must be valid JSON.
fn pretty_text(text: &str) -> String {
    let mut laid = String::with_capacity(text.len() + text.len() / 4);
    let mut depth = 0_usize;
    // Whether nothing has followed the opening bracket yet.
    let mut is_opened = false;
    let break_line = |laid: &mut String, depth: usize| {
        laid.push('\n');
        laid.extend(std::iter::repeat_n("  ", depth));
    };
    for token in tokens(text) {
        let content = &text[token.from..token.to];
        let closes = token.kind == Kind::Sign && matches!(content, "}" | "]");
        if closes {
            depth = depth.saturating_sub(1);
        }
        if is_opened != closes {
            break_line(&mut laid, depth);
        }
        laid.push_str(content);
        is_opened = false;
        match (token.kind, content) {
            (Kind::Sign, "{" | "[") => {
                depth += 1;
                is_opened = true;
            }
            (Kind::Sign, ",") => break_line(&mut laid, depth),
            (Kind::Sign, ":") => laid.push(' '),
            _ => {}
        }
    }
    laid
}

/// Everything on one line, as a person would write it.
pub(crate) fn one_line(text: &str) -> String {
    let mut laid = String::with_capacity(text.len());
    for token in tokens(text) {
        laid.push_str(&text[token.from..token.to]);
        if token.kind == Kind::Sign && matches!(&text[token.from..token.to], "," | ":") {
            laid.push(' ');
        }
    }
    laid
}

#[cfg(test)]
mod layout_tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn nothing_but_white_space_changes() {
        let text =
            r#"{"z":12345678901234567890.10,"a":{"x":[1e400,-0.0,[]],"y":{ }},"s":"\u00e9\/ : {"}"#;
        let laid = pretty_text(text);
        let expected = r#"{
  "z": 12345678901234567890.10,
  "a": {
    "x": [
      1e400,
      -0.0,
      []
    ],
    "y": {}
  },
  "s": "\u00e9\/ : {"
}"#;
        assert_eq!(laid, expected);
        assert_eq!(
            one_line(&laid),
            r#"{"z": 12345678901234567890.10, "a": {"x": [1e400, -0.0, []], "y": {}}, "s": "\u00e9\/ : {"}"#
        );
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[\\PC\n\"\\\\]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c\"{:]{0,2}", inner), 0..4)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_looks_as_the_library_would_print_it(value in json()) {
            let wanted = serde_json::to_string_pretty(&value).expect("JSON");
            prop_assert_eq!(pretty_text(&value.to_string()), wanted.clone());
            prop_assert_eq!(pretty_text(&wanted), wanted.clone());
            prop_assert_eq!(pretty_text(&one_line(&wanted)), wanted);
        }
    }
}
