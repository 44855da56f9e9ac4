//! Movements of the cursor: by grapheme, by word, by line, and up and down in its column.

use unicode_segmentation::UnicodeSegmentation;

use super::lines::{Lines, TextPosition};
use crate::tui::kit::paint;

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
        let end_of = |row: usize| TextPosition {
            row,
            byte: self.rows[row].len(),
        };
        let here = |byte| TextPosition { row, byte };
        match motion {
            Motion::Home => here(0),
            Motion::End => here(line.len()),
            Motion::Top => TextPosition::default(),
            Motion::Bottom => end_of(last),
            Motion::Left | Motion::WordLeft if byte == 0 => match row.checked_sub(1) {
                Some(above) => end_of(above),
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
