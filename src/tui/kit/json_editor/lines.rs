//! A text of lines with a cursor and undo. Every change replaces one range, and undo is the reverse replacement. We do
//! not use `ratatui-textarea`, because it moves by screen columns: it jumps over zero-width marks, stops at column
//! 65,535 and needs two steps to undo a replacement.
//!
//! Movements of the cursor: by grapheme, by word, by line, and up and down in its column.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use crate::tui::kit::paint;

/// Maximum number of undo steps.
const UNDO_STEPS: usize = 1000;
/// Maximum size of all undo steps in bytes; the newest one is always kept.
const UNDO_BYTES: usize = 32 * 1024 * 1024;

/// Row from 0, and byte within it; for the cursor always between graphemes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct TextPosition {
    pub(super) row: usize,
    pub(super) byte: usize,
}

#[derive(Debug, Clone, PartialEq)]
struct TextEdit {
    at: TextPosition,
    removed: String,
    inserted: String,
    /// The cursor before the edit.
    cursor: TextPosition,
    /// It was typed, so that the next character may be merged into it.
    is_typed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lines {
    /// Never empty.
    pub(super) rows: Vec<String>,
    pub(super) cursor: TextPosition,
    /// The column that Up and Down try to keep, in cells.
    pub(super) goal: Option<usize>,
    undo: Vec<TextEdit>,
    redo: Vec<TextEdit>,
}

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        Self {
            rows: text.split('\n').map(str::to_owned).collect(),
            cursor: TextPosition::default(),
            goal: None,
            undo: Vec::new(),
            redo: Vec::new(),
        }
    }

    pub(super) fn all(&self) -> &[String] {
        &self.rows
    }

    pub(super) fn text(&self) -> String {
        self.rows.join("\n")
    }

    /// Length of the text in bytes, including line breaks.
    pub(super) fn bytes(&self) -> usize {
        self.rows.iter().map(|line| line.len() + 1).sum()
    }

    pub(super) fn cursor(&self) -> TextPosition {
        self.cursor
    }

    /// The line of the cursor, split at the cursor.
    pub(super) fn around(&self) -> (&str, &str) {
        self.rows[self.cursor.row].split_at(self.cursor.byte)
    }

    /// The position of a byte of the whole text.
    fn place(&self, mut byte: usize) -> TextPosition {
        for (row, line) in self.rows.iter().enumerate() {
            if byte <= line.len() {
                return TextPosition { row, byte };
            }
            byte -= line.len() + 1;
        }
        self.end_of(self.rows.len() - 1)
    }

    fn end_of(&self, row: usize) -> TextPosition {
        TextPosition {
            row,
            byte: self.rows[row].len(),
        }
    }

    /// Moves the cursor to a character of a row; both count from 0 and are limited to what exists.
    pub(super) fn go_to(&mut self, row: usize, character: usize) {
        let row = row.min(self.rows.len() - 1);
        let line = &self.rows[row];
        let byte = line.char_indices().nth(character);
        let byte = byte.map_or(line.len(), |(byte, _)| byte);
        self.cursor = TextPosition { row, byte };
        self.goal = None;
        self.settle();
    }

    /// Inserts a text at the cursor.
    pub(super) fn insert(&mut self, text: &str) {
        self.replace(self.cursor, self.cursor, text, false);
    }

    /// Inserts a character; the characters of a typed word are undone together.
    pub(super) fn type_char(&mut self, c: char) {
        self.replace(self.cursor, self.cursor, c.encode_utf8(&mut [0; 4]), true);
    }

    /// Only the part that differs is replaced, and kept for undo.
    pub(super) fn replace_all(&mut self, text: &str) {
        let now = self.text();
        let same = now.chars().zip(text.chars());
        let same = same.take_while(|(now, new)| now == new);
        let start: usize = same.map(|(c, _)| c.len_utf8()).sum();
        let same = now[start..].chars().rev().zip(text[start..].chars().rev());
        let same = same.take_while(|(now, new)| now == new);
        let end: usize = same.map(|(c, _)| c.len_utf8()).sum();
        let (from, to) = (self.place(start), self.place(now.len() - end));
        self.replace(from, to, &text[start..text.len() - end], false);
    }

    pub(super) fn undo(&mut self) -> bool {
        let Some(edit) = self.undo.pop() else {
            return false;
        };
        let end = after(edit.at, &edit.inserted);
        self.exchange(edit.at, end, &edit.removed);
        self.cursor = edit.cursor;
        self.goal = None;
        self.redo.push(edit);
        true
    }

    pub(super) fn redo(&mut self) -> bool {
        let Some(edit) = self.redo.pop() else {
            return false;
        };
        let end = after(edit.at, &edit.removed);
        self.exchange(edit.at, end, &edit.inserted);
        self.cursor = after(edit.at, &edit.inserted);
        self.settle();
        self.undo.push(edit);
        true
    }

    pub(super) fn replace(
        &mut self,
        from: TextPosition,
        to: TextPosition,
        text: &str,
        is_typed: bool,
    ) {
        let cursor = self.cursor;
        let removed = self.exchange(from, to, text);
        self.cursor = after(from, text);
        self.settle();
        self.goal = None;
        self.redo.clear();
        if let Some(last) = self.undo.last_mut()
            && is_typed
            && last.is_typed
            && after(last.at, &last.inserted) == from
            && !text.contains(char::is_whitespace)
        {
            last.inserted.push_str(text);
            return;
        }
        self.undo.push(TextEdit {
            at: from,
            removed,
            inserted: text.to_owned(),
            cursor,
            is_typed,
        });
        self.forget_oldest();
    }

    fn forget_oldest(&mut self) {
        let too_many = self.undo.len().saturating_sub(UNDO_STEPS);
        let mut bytes = 0;
        let affordable = self.undo.iter().rev().take_while(|edit| {
            bytes += edit.removed.len() + edit.inserted.len();
            bytes <= UNDO_BYTES
        });
        let too_heavy = self.undo.len() - affordable.count().max(1);
        self.undo.drain(..too_many.max(too_heavy));
    }

    /// Replaces a range by a text, and returns the old text.
    fn exchange(&mut self, from: TextPosition, to: TextPosition, text: &str) -> String {
        let tail = self.rows[to.row].split_off(to.byte);
        let removed = if from.row == to.row {
            self.rows[from.row].split_off(from.byte)
        } else {
            let mut removed = self.rows[from.row].split_off(from.byte);
            for line in self.rows.drain(from.row + 1..=to.row) {
                removed.push('\n');
                removed.push_str(&line);
            }
            removed
        };
        let mut new = text.split('\n');
        self.rows[from.row].push_str(new.next().unwrap_or_default());
        let more: Vec<String> = new.map(str::to_owned).collect();
        let last = from.row + more.len();
        self.rows.splice(from.row + 1..=from.row, more);
        self.rows[last].push_str(&tail);
        removed
    }

    /// Moves the cursor out of a grapheme: inserting or deleting text can merge neighbouring characters.
    pub(super) fn settle(&mut self) {
        let line = self.rows[self.cursor.row].as_str();
        let mut boundary = GraphemeCursor::new(self.cursor.byte, line.len(), true);
        if boundary.is_boundary(line, 0) != Ok(true) {
            let next = boundary.next_boundary(line, 0).ok().flatten();
            self.cursor.byte = next.unwrap_or(line.len());
        }
    }
}

/// The position after a text that begins at `at`.
fn after(at: TextPosition, text: &str) -> TextPosition {
    match text.rsplit_once('\n') {
        None => TextPosition {
            byte: at.byte + text.len(),
            ..at
        },
        Some((before, last)) => TextPosition {
            row: at.row + before.matches('\n').count() + 1,
            byte: last.len(),
        },
    }
}

/// The target of a movement, or the end of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    Left,
    Right,
    WordLeft,
    WordRight,
    Home,
    End,
    Top,
    Bottom,
    Up(usize),
    Down(usize),
}

impl Lines {
    pub(super) fn target(&self, motion: Motion) -> TextPosition {
        let TextPosition { row, byte } = self.cursor;
        let line = self.rows[row].as_str();
        let last = self.rows.len() - 1;
        let here = |byte| TextPosition { row, byte };
        match motion {
            Motion::Home => here(0),
            Motion::End => here(line.len()),
            Motion::Top => TextPosition::default(),
            Motion::Bottom => self.end_of(last),
            Motion::Left | Motion::WordLeft if byte == 0 => match row.checked_sub(1) {
                Some(above) => self.end_of(above),
                None => self.cursor,
            },
            Motion::Right | Motion::WordRight if byte == line.len() => {
                if row == last {
                    self.cursor
                } else {
                    TextPosition {
                        row: row + 1,
                        byte: 0,
                    }
                }
            }
            Motion::Left => {
                let before = line[..byte].grapheme_indices(true).next_back();
                here(before.map_or(0, |(byte, _)| byte))
            }
            Motion::Right => {
                let grapheme = line[byte..].graphemes(true).next();
                here(byte + grapheme.map_or(0, str::len))
            }
            Motion::WordLeft => {
                let words = line[..byte].split_word_bound_indices().rev();
                here(words.into_iter().find(is_word).map_or(0, |(at, _)| at))
            }
            Motion::WordRight => {
                let mut words = line[byte..].split_word_bound_indices().skip(1);
                let word = words.find(is_word);
                here(word.map_or(line.len(), |(at, _)| byte + at))
            }
            Motion::Up(rows) => self.at_column(row.saturating_sub(rows)),
            Motion::Down(rows) => self.at_column((row + rows).min(last)),
        }
    }

    /// Moves the cursor; returns false if it is there already.
    pub(super) fn go(&mut self, motion: Motion) -> bool {
        let target = self.target(motion);
        let moved = target != self.cursor;
        let is_vertical = matches!(motion, Motion::Up(_) | Motion::Down(_));
        self.goal = is_vertical.then(|| self.column());
        self.cursor = target;
        self.settle();
        moved
    }

    /// Deletes from the cursor to the target of a movement; returns false if there is nothing to delete.
    pub(super) fn delete(&mut self, motion: Motion) -> bool {
        let target = self.target(motion);
        let (from, to) = (self.cursor.min(target), self.cursor.max(target));
        if from == to {
            return false;
        }
        self.replace(from, to, "", false);
        true
    }

    /// Width of the text before the cursor, or the column in which vertical movements started.
    pub(super) fn column(&self) -> usize {
        self.goal
            .unwrap_or_else(|| paint::line_columns(self.around().0))
    }

    fn at_column(&self, row: usize) -> TextPosition {
        let column = self.column();
        let line = &self.rows[row];
        let glyphs = paint::glyphs_until(line, column + 1);
        let byte = glyphs
            .iter()
            .find(|glyph| glyph.column + glyph.width > column)
            .map_or(line.len(), |glyph| glyph.byte);
        TextPosition { row, byte }
    }
}

fn is_word((_, piece): &(usize, &str)) -> bool {
    piece.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tui::kit::json_editor::lines::Motion;

    fn motion() -> impl Strategy<Value = Motion> {
        prop::sample::select(vec![
            Motion::Left,
            Motion::Right,
            Motion::WordLeft,
            Motion::WordRight,
            Motion::Home,
            Motion::End,
            Motion::Top,
            Motion::Bottom,
            Motion::Up(1),
            Motion::Down(1),
            Motion::Up(10),
            Motion::Down(10),
        ])
    }

    #[test]
    fn typed_words_are_undone_one_by_one() {
        let mut lines = Lines::new("");
        for c in "one two".chars() {
            lines.type_char(c);
        }
        lines.undo();
        assert_eq!(lines.text(), "one");
        lines.redo();
        assert_eq!(lines.text(), "one two");
        lines.go(Motion::Left);
        lines.type_char('x');
        lines.undo();
        assert_eq!(lines.text(), "one two");
    }

    #[test]
    fn old_steps_are_forgotten_when_they_weigh_too_much() {
        let mut lines = Lines::new("");
        let [heavy, other] = ["x", "y"].map(|letter| letter.repeat(UNDO_BYTES / 4));
        for text in ["a", &heavy, "b", &heavy, &other] {
            lines.replace_all(text);
        }
        let mut steps = 0;
        while lines.undo() {
            steps += 1;
        }
        assert_eq!((steps, lines.text().as_str()), (2, "b"));
        for _ in 0..UNDO_STEPS + 5 {
            lines.insert(" ");
        }
        assert_eq!(lines.undo.len(), UNDO_STEPS);
    }

    #[test]
    fn up_and_down_keep_the_column_over_short_lines() {
        let mut lines = Lines::new("東京abc\nx\n012345678");
        lines.go_to(0, 4);
        lines.go(Motion::Down(1));
        assert_eq!(lines.cursor(), TextPosition { row: 1, byte: 1 });
        lines.go(Motion::Down(1));
        assert_eq!(lines.cursor(), TextPosition { row: 2, byte: 6 });
        lines.go(Motion::Up(5));
        assert_eq!(lines.cursor(), TextPosition { row: 0, byte: 8 });
    }

    #[test]
    fn words_are_stepped_and_deleted() {
        let mut lines = Lines::new("{\"tier\": \"gold\"}\nx");
        for byte in [2, 10, 16] {
            lines.go(Motion::WordRight);
            assert_eq!(lines.cursor().byte, byte);
        }
        assert!(lines.delete(Motion::WordLeft));
        assert_eq!(lines.text(), "{\"tier\": \"\nx");
        assert!(lines.delete(Motion::Right));
        assert_eq!(lines.text(), "{\"tier\": \"x");
    }

    proptest! {
        #[test]
        fn a_replacement_is_what_it_says_and_undo_takes_it_back(
            text in "[aé東\u{301}\n ]{0,20}",
            acts in prop::collection::vec((motion(), motion(), "[aé東\u{301}👩\u{200d}\n ]{0,5}"), 0..12),
        ) {
            let mut lines = Lines::new(&text);
            for (there, to, inserted) in acts {
                lines.go(there);
                let mut model = lines.text();
                let (at, to_byte) = (offset(&lines, lines.cursor()), offset(&lines, lines.target(to)));
                lines.delete(to);
                model.replace_range(at.min(to_byte)..at.max(to_byte), "");
                prop_assert_eq!(lines.text(), model.clone());
                model.insert_str(offset(&lines, lines.cursor()), &inserted);
                lines.insert(&inserted);
                prop_assert_eq!(lines.text(), model);
                let line = &lines.all()[lines.cursor().row];
                let boundary = GraphemeCursor::new(lines.cursor().byte, line.len(), true).is_boundary(line, 0);
                prop_assert_eq!(boundary, Ok(true));
            }
            let end = lines.text();
            while lines.undo() {}
            prop_assert_eq!(lines.text(), text);
            while lines.redo() {}
            prop_assert_eq!(lines.text(), end);
        }
    }

    /// The byte offset of a position in the whole text.
    fn offset(lines: &Lines, place: TextPosition) -> usize {
        let rows = lines.all()[..place.row].iter();
        rows.map(|line| line.len() + 1).sum::<usize>() + place.byte
    }
}
