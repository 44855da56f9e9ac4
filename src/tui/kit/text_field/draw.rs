//! Draws a field: label, text scrolled so that the cursor is visible, and a hint or an error below.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::{Modifier, Style},
};
use unicode_segmentation::UnicodeSegmentation;

use super::TextField;
use crate::{
    domain::text::{visible, wrap},
    tui::{
        kit::paint::{self, Glyph},
        theme::Theme,
    },
};

/// Below a field whose text is not shown.
pub const LOOKS_SECRET: &str = "looks like a token or a part of one: not shown, not kept";
/// Below this width, the signs for "more to the left" and "more to the right" would take too much space.
const MIN_WIDTH_FOR_EDGES: u16 = 6;

impl TextField {
    /// Number of rows with the whole hint or error.
    pub fn rows(&self, width: u16) -> u16 {
        let room = width - self.label_columns(width);
        match self.note() {
            "" => 1,
            note => 1 + wrap(&visible(note), room.into()).len() as u16,
        }
    }

    /// What is below the text.
    fn note(&self) -> &str {
        match &self.error {
            Some(error) => error,
            None if self.looks_secret() => LOOKS_SECRET,
            None => &self.hint,
        }
    }

    /// Draws into one row, or with the hint or error into as many as there are. Returns the position of the
    /// terminal's cursor, if focused.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        theme: Theme,
        focused: bool,
    ) -> Option<Position> {
        let line = paint::row(area, 0);
        let label = self.draw_label(buffer, line, theme, focused);
        let line = Rect {
            x: line.x + label,
            width: line.width - label,
            ..line
        };
        let cursor = self.draw_text(buffer, line, theme, focused);
        let style = match self.error {
            Some(_) => theme.error(),
            None if self.looks_secret() => theme.warning(),
            None => theme.dim(),
        };
        let note = wrap(&visible(self.note()), line.width.into());
        let last = area.height.saturating_sub(1);
        for (row, text) in (1..=last).zip(&note) {
            let below = Rect {
                x: line.x,
                width: line.width,
                ..paint::row(area, row)
            };
            // What has no row of its own is cut visibly.
            let text = if row == last {
                note[usize::from(row) - 1..].join(" ")
            } else {
                text.clone()
            };
            paint::line(buffer, below, &text, style, theme);
        }
        cursor
    }

    /// The columns of the label, and the blanks after it.
    fn label_columns(&self, width: u16) -> u16 {
        if self.label.is_empty() {
            return 0;
        }
        let own = paint::columns(&self.label) as u16;
        (own.max(self.label_width) + 2).min(width / 2)
    }

    fn draw_label(&self, buffer: &mut Buffer, line: Rect, theme: Theme, focused: bool) -> u16 {
        let width = self.label_columns(line.width);
        let style = if focused { theme.title() } else { theme.dim() };
        let room = Rect {
            width: width.saturating_sub(1),
            ..line
        };
        paint::line(buffer, room, &self.label, style, theme);
        width
    }

    fn draw_text(
        &self,
        buffer: &mut Buffer,
        line: Rect,
        theme: Theme,
        focused: bool,
    ) -> Option<Position> {
        if line.is_empty() {
            return None;
        }
        let style = if focused {
            theme.focused()
        } else {
            Style::new()
        };
        buffer.set_style(line.intersection(buffer.area), style);
        if self.masked || self.looks_secret() {
            return self.draw_masked(buffer, line, theme, focused);
        }
        let glyphs = paint::glyphs(self.text());
        let cursor = paint::column_of(&glyphs, self.cursor());
        let total = paint::total(&glyphs);
        let scrolls = total >= usize::from(line.width);
        let edges = u16::from(scrolls && line.width >= MIN_WIDTH_FOR_EDGES);
        let inner = Rect {
            x: line.x + edges,
            width: line.width - 2 * edges,
            ..line
        };
        // Without the focus, the beginning is shown, because it distinguishes one value from another.
        let seen = if focused { cursor } else { 0 };
        let from = paint::first_column(seen, total, usize::from(inner.width));
        let escape = theme.warning();
        let style = if focused && self.selected {
            style.add_modifier(Modifier::REVERSED)
        } else {
            style
        };
        let style_of = |glyph: &Glyph<'_>| if glyph.escaped { escape } else { style };
        paint::window(buffer, inner, &glyphs, from, style_of);
        if edges == 1 {
            if from > 0 {
                paint::text(buffer, line.x, line.y, 1, "<", theme.key_hint());
            }
            if from + usize::from(inner.width) < total {
                paint::text(buffer, line.right() - 1, line.y, 1, ">", theme.key_hint());
            }
        }
        let x = inner.x + (cursor.saturating_sub(from)) as u16;
        focused.then_some(Position::new(x.min(line.right() - 1), line.y))
    }

    /// Draws one mask character per character, as many as fit, and the length.
    fn draw_masked(
        &self,
        buffer: &mut Buffer,
        line: Rect,
        theme: Theme,
        focused: bool,
    ) -> Option<Position> {
        let length = self.length();
        let count = if length == 0 {
            String::new()
        } else {
            length.to_string()
        };
        let room = usize::from(line.width).saturating_sub(count.len() + 1);
        let signs = theme.mask().repeat(length.min(room));
        let end = paint::text(buffer, line.x, line.y, line.width, &signs, Style::new());
        let at = end + u16::from(end < line.right());
        paint::text(buffer, at, line.y, line.right() - at, &count, theme.dim());
        let before = self.text()[..self.cursor()].graphemes(true).count();
        let before = before.min(room) as u16;
        focused.then_some(Position::new(
            (line.x + before).min(line.right() - 1),
            line.y,
        ))
    }
}
