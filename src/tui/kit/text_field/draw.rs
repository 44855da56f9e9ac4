//! Draws a field: label, text scrolled so that the cursor is visible, and a hint or an error below.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::{Modifier, Style},
};
use unicode_segmentation::UnicodeSegmentation;

use super::TextField;
use crate::tui::{
    kit::paint::{self, Glyph},
    theme::Theme,
};

/// Below a field whose text is not shown.
pub const LOOKS_SECRET: &str = "looks like a token or a part of one: not shown, not kept";
/// Below this width, the signs for "more to the left" and "more to the right" would take too much space.
const MIN_WIDTH_FOR_EDGES: u16 = 6;

impl TextField {
    /// Draws into one row, or into two with the hint or error. Returns the position of the terminal's cursor,
    /// if focused.
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
        let below = Rect {
            x: line.x,
            width: line.width,
            ..paint::row(area, 1)
        };
        let cursor = self.draw_text(buffer, line, theme, focused);
        match &self.error {
            Some(error) => paint::line(buffer, below, error, theme.error(), theme),
            None if self.looks_secret() => {
                paint::line(buffer, below, LOOKS_SECRET, theme.warning(), theme)
            }
            None => paint::line(buffer, below, &self.hint, theme.dim(), theme),
        };
        cursor
    }

    fn draw_label(&self, buffer: &mut Buffer, line: Rect, theme: Theme, focused: bool) -> u16 {
        if self.label.is_empty() {
            return 0;
        }
        let own = paint::columns(&self.label) as u16;
        let width = (own.max(self.label_width) + 2).min(line.width / 2);
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
