//! The keys of the editor: those of the one-line field, and those for lines. Tab and Esc are left to the form.

use super::{JsonEditor, LONGEST, motion::Motion};
use crate::tui::kit::{Reaction, is_plain};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

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
