//! A page of lines that is built for a width and drawn from a scroll position: details, review, results, help.
//!
//! A change on a page: field by field, before and after, with the signs `~ + -` (docs/design/console.md, "Review").

use std::borrow::Cow;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{
    json_editor::coloured,
    paint::{self, columns},
};
use crate::{
    domain::{
        Change, Mark,
        change::{ChangeRow, FieldChange},
        text::{bounded, cut_middle, take_front, wrap},
        visible,
    },
    tui::theme::Theme,
};

/// Longer lines are hard to read, and related texts move too far apart.
const MAX_WIDTH: usize = 110;
/// Width of the labels of fields.
const LABEL: usize = 15;

#[derive(Debug, Clone)]
pub struct TextPage {
    width: usize,
    theme: Theme,
    lines: Vec<Vec<(String, Style)>>,
}

impl TextPage {
    /// A page for an area of this width.
    pub fn new(width: u16, theme: Theme) -> Self {
        Self {
            width: usize::from(width).clamp(1, MAX_WIDTH),
            theme,
            lines: Vec::new(),
        }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.lines.len()
    }

    pub fn blank(&mut self) {
        self.lines.push(Vec::new());
    }

    /// Appends wrapped text; hidden characters become escapes.
    pub fn text(&mut self, text: &str, style: Style) {
        self.indented(0, text, style);
    }

    /// Appends wrapped text that matters less.
    pub fn dim(&mut self, text: &str) {
        self.indented(0, text, self.theme.dim());
    }

    pub fn warning(&mut self, text: &str) {
        self.indented(0, text, self.theme.warning());
    }

    pub fn error(&mut self, text: &str) {
        self.indented(0, text, self.theme.error());
    }

    /// Appends wrapped text, indented by this many columns.
    pub fn indented(&mut self, indent: usize, text: &str, style: Style) {
        for line in wrap(&visible(text), self.width.saturating_sub(indent)) {
            self.lines
                .push(vec![(" ".repeat(indent), Style::new()), (line, style)]);
        }
    }

    /// Appends coloured lines of JSON, each after a sign; a line that is too long is wrapped, in one colour.
    pub fn json<'t>(&mut self, lines: impl Iterator<Item = (Option<(char, Style)>, &'t str)>) {
        for (sign, line) in lines {
            let line = visible(line);
            let (sign, style) = sign.unwrap_or((' ', Style::new()));
            if columns(&line) + 2 > self.width {
                self.indented(2, &line, style);
                continue;
            }
            let mut pieces = vec![(format!("{sign} "), style)];
            pieces.extend(coloured(&line, self.theme));
            self.lines.push(pieces);
        }
    }

    pub fn heading(&mut self, text: &str) {
        let style = self.theme.title();
        self.text(text, style);
    }

    /// Appends a label and a value.
    pub fn plain(&mut self, label: &str, value: &str) {
        self.field(label, value, Style::new(), "");
    }

    /// Appends a label, a value with a hanging indent, and after it the origin of the value.
    pub fn field(&mut self, label: &str, value: &str, style: Style, origin: &str) {
        let room = self.width.saturating_sub(LABEL).max(1);
        let mut lines = wrap(&visible(value), room);
        let last = lines.pop().unwrap_or_default();
        let gap = room.saturating_sub(columns(&last) + columns(origin));
        let dim = self.theme.dim();
        let mut head = format!("{label:<LABEL$}");
        let mut indent = || std::mem::replace(&mut head, " ".repeat(LABEL));
        for line in lines {
            self.lines.push(vec![(indent(), dim), (line, style)]);
        }
        let label = indent();
        if origin.is_empty() || gap >= 2 {
            self.lines.push(vec![
                (label, dim),
                (last, style),
                (format!("  {origin}"), dim),
            ]);
        } else {
            self.lines.push(vec![(label, dim), (last, style)]);
            self.indented(LABEL, origin, dim);
        }
    }

    /// Appends a field on one line: the value is cut at its end, its origin is not.
    pub fn short_field(&mut self, label: &str, value: &str, origin: &str) {
        let room = self.width.saturating_sub(LABEL).max(1);
        let value_room = room.saturating_sub(columns(origin) + 2);
        let value_room = value_room.max(room / 3);
        let value = self.front(value, value_room);
        self.field(label, &value, Style::new(), origin);
    }

    fn front(&self, text: &str, room: usize) -> String {
        let shown = paint::shown(text);
        if columns(text) <= room {
            return shown.into_owned();
        }
        let mark = self.theme.ellipsis();
        take_front(&shown, room.saturating_sub(columns(mark))) + mark
    }

    /// A row to choose from.
    pub fn choice(&mut self, is_here: bool, text: &str) {
        let (mark, style) = self.theme.choice(is_here);
        let text = paint::cut(&format!("{mark} {text}"), self.width(), self.theme);
        self.pieces(vec![(text, style)]);
    }

    /// One line of pieces, cut at the edge.
    pub fn pieces(&mut self, pieces: Vec<(String, Style)>) {
        self.lines.push(pieces);
    }

    /// Appends the lines of another page of the same width.
    pub fn append(&mut self, other: Self) {
        self.lines.extend(other.lines);
    }

    /// The last scroll position in an area of this many rows.
    pub fn last_scroll(&self, rows: u16) -> usize {
        self.height().saturating_sub(usize::from(rows))
    }

    /// Draws from a scroll position; the last row says how much more there is, and which key scrolls.
    pub fn draw(&self, buffer: &mut Buffer, area: Rect, scroll: usize) {
        self.draw_with(buffer, area, scroll, "j: ");
    }

    /// Draws from the beginning, for a page that no key scrolls.
    pub fn draw_still(&self, buffer: &mut Buffer, area: Rect) {
        self.draw_with(buffer, area, 0, "");
    }

    /// Draws from a scroll position; `key` names the key that shows the rest. Without one, at most two rows have text only.
    pub fn draw_with(&self, buffer: &mut Buffer, area: Rect, scroll: usize, key: &str) {
        let last = self.last_scroll(area.height);
        let scroll = scroll.min(last);
        // The note has a row of its own, so that it hides nothing; if there is only one row, what its text leaves.
        let is_noted = scroll < last && area.height > if key.is_empty() { 2 } else { 0 };
        let own_row = usize::from(is_noted && area.height > 1);
        let height = usize::from(area.height) - own_row;
        for (index, line) in self.lines.iter().skip(scroll).take(height).enumerate() {
            let row = paint::row(area, index as u16);
            let mut x = row.x;
            for (text, style) in line {
                let room = row.right().saturating_sub(x);
                x = paint::text(buffer, x, row.y, room, text, *style);
            }
        }
        if is_noted {
            let below = self.height() - scroll - height;
            let note = format!(" {key}{below} more ");
            let width = (note.len() as u16).min(area.width);
            let row = paint::row(area, area.height - 1);
            let style = self.theme.cursor_row();
            let texts = self.lines[scroll].iter().map(|(text, _)| columns(text));
            if own_row > 0 || texts.sum::<usize>() + note.len() <= usize::from(area.width) {
                paint::text(buffer, row.right() - width, row.y, width, &note, style);
            }
        }
    }
}

/// If a key is wider than this, its values move to a line of their own.
const KEY: usize = 24;
/// Maximum lines of a row in the short form, and maximum width of its values.
const BRIEF_LIMITS: (usize, usize) = (2, 64);

/// Maximum width of a value when a row is only mentioned.
const SHORT: usize = 20;

/// What is changed: an existing group, or one that is being created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeTarget {
    Known,
    Creation,
}

impl ChangeTarget {
    pub fn of(is_creation: bool) -> Self {
        if is_creation {
            Self::Creation
        } else {
            Self::Known
        }
    }
}

impl TextPage {
    /// Writes the full change, as needed for a decision.
    pub fn change(&mut self, change: &Change, of: ChangeTarget, unchanged_too: bool) {
        self.change_in(change, of, unchanged_too, usize::MAX);
    }

    /// Writes what changes, as shown while typing: long values are shortened in the middle.
    pub fn brief_change(&mut self, change: &Change, of: ChangeTarget) {
        let room = (BRIEF_LIMITS.0 * self.width).saturating_sub(KEY);
        self.change_in(change, of, false, room.min(BRIEF_LIMITS.1));
    }

    /// Values get at most `room` cells.
    fn change_in(&mut self, change: &Change, of: ChangeTarget, unchanged_too: bool, room: usize) {
        let theme = self.theme;
        for (name, field) in change.fields() {
            match field {
                FieldChange::LeftOut if unchanged_too => {
                    self.heading(name);
                    let text = "not in the request; the service keeps its value";
                    self.indented(2, text, theme.dim());
                }
                FieldChange::Replaced(rows) => {
                    self.heading(name);
                    if of == ChangeTarget::Known {
                        let text = "! the current values are unknown: REPLACES all of them";
                        self.indented(2, text, theme.warning());
                    }
                    self.change_rows(rows, true, room);
                }
                FieldChange::Compared(rows) if unchanged_too || field.is_changed() => {
                    self.heading(name);
                    self.change_rows(rows, unchanged_too, room);
                }
                FieldChange::LeftOut | FieldChange::Compared(_) => {}
            }
        }
    }

    fn change_rows(&mut self, rows: &[ChangeRow], unchanged_too: bool, room: usize) {
        let theme = self.theme;
        if rows.is_empty() {
            self.indented(2, "empty", theme.dim());
        }
        let is_shown = |row: &&ChangeRow| unchanged_too || row.mark() != Mark::Same;
        let keys = rows.iter().filter(is_shown).map(|row| columns(&row.key));
        let key_width = keys.max().unwrap_or(0).min(KEY);
        for row in rows.iter().filter(is_shown) {
            let mark = row.mark();
            let key = visible(&row.key);
            let gap = key_width.saturating_sub(columns(&key));
            let room = if mark == Mark::Changed {
                room / 2
            } else {
                room
            };
            let value = |text: &Option<String>| {
                let text = text.as_deref().map_or_else(Cow::default, bounded);
                cut_middle(&text, room, theme.ellipsis())
            };
            let (before, after) = (value(&row.before), value(&row.after));
            let text = match mark {
                Mark::Same | Mark::Added => after,
                Mark::Removed => format!("{before}  will be removed"),
                Mark::Changed => format!("{before} {} {after}", theme.arrow()),
            };
            let line = format!("{} {key}{:gap$}  {text}", mark.sign(), "");
            self.indented(2, &line, style(mark, theme));
        }
    }
}

/// Number of different rows per field, in the shortest form: `mapping ~1 +2  properties -1`.
pub fn tally(change: &Change) -> String {
    let fields = change.fields().into_iter();
    let counted = fields.filter(|(_, field)| field.is_changed());
    let counts: Vec<String> = counted
        .map(|(name, field)| {
            let mut text = name.to_owned();
            for mark in [Mark::Changed, Mark::Added, Mark::Removed] {
                let rows = field.rows().iter();
                match rows.filter(|row| row.mark() == mark).count() {
                    0 => {}
                    count => text.extend([" ".to_owned(), mark.sign().into(), count.to_string()]),
                }
            }
            text
        })
        .collect();
    counts.join("  ")
}

/// The first row that differs and the number of further ones: `seats 100 → 120 +2`.
pub fn in_short(change: &Change, theme: Theme) -> String {
    let fields = change.fields().into_iter();
    let mut rows = fields.flat_map(|(name, field)| {
        let changed = field.rows().iter();
        let changed = changed.filter(|row| row.mark() != Mark::Same);
        changed.map(move |row| (name, row))
    });
    let Some((name, row)) = rows.next() else {
        return "no field".into();
    };
    let value = |text: &Option<String>| {
        let text = text.as_deref().map_or_else(Cow::default, bounded);
        paint::cut(&text, SHORT, theme)
    };
    let key = match name {
        "mapping" => format!("mapping {}", visible(&row.key)),
        _ => visible(&row.key).into_owned(),
    };
    let text = match row.mark() {
        Mark::Changed => {
            let (before, after) = (value(&row.before), value(&row.after));
            format!("{key} {before} {} {after}", theme.arrow())
        }
        Mark::Removed => format!("- {key}"),
        Mark::Added | Mark::Same => format!("+ {key} {}", value(&row.after)),
    };
    match rows.count() {
        0 => text,
        more => format!("{text} +{more}"),
    }
}

/// The colour of a row.
pub fn style(mark: Mark, theme: Theme) -> Style {
    match mark {
        Mark::Same => theme.dim(),
        mark => theme.change(mark),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::kit::testing::{THEME, screen};

    #[test]
    fn a_choice_that_is_too_long_ends_with_a_mark() {
        let mut page = TextPage::new(12, THEME);
        page.choice(true, "acme-12  Acme Customer");
        let drawn = screen(12, 1, |buffer, area| page.draw_still(buffer, area));
        assert_eq!(drawn.trim_end(), "> acme-12…");
    }
}
