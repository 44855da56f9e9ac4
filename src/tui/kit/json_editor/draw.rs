//! Draws the editor: numbered lines in the colours of JSON, and a problem below the line it is in.
//!
//! The partner of the bracket at the cursor. Only the visible rows are searched: a partner elsewhere cannot be marked.
//!
//! Lines of the text that differ from what was known: a sign for each entry, and what it was in words.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use ratatui::prelude::{Buffer, Position, Rect, Style};

use super::{
    JsonEditor, JsonProblem,
    lines::TextPosition,
    parse::{Kind, Token, object, tokens},
};
use crate::{
    domain::{Mark, Properties},
    tui::{
        kit::{
            columns,
            paint::{self, Glyph, split_below},
        },
        theme::Theme,
    },
};

/// From this number of rows on, one of them lists the removed keys.
const MIN_ROWS_FOR_REMOVED: u16 = 4;
/// Number of hexadecimal digits of a token, or more.
const TOKEN_DIGITS: usize = 64;
/// Minimum width of a remark, in cells.
const MIN_REMARK_WIDTH: usize = 8;

impl JsonEditor {
    /// Returns the position of the terminal's cursor, if focused.
    pub fn draw(
        &self,
        buffer: &mut Buffer,
        area: Rect,
        theme: Theme,
        focused: bool,
    ) -> Option<Position> {
        let area = self.draw_removed(buffer, area, theme);
        let lines = self.lines.all();
        let gutter = lines.len().to_string().len().max(2) as u16 + 1;
        if area.height == 0 || area.width <= gutter + 1 {
            return None;
        }
        let row = self.lines.cursor().row;
        let text = paint::after_cells(area, gutter);
        let cursor_column = self.cursor_column();
        let from = self.first_column(cursor_column, usize::from(text.width));
        let problem = self.shown_problem();
        let fault = problem.map_or(usize::MAX, |problem| problem.line - 1);
        // The problem has a row of its own below its line.
        let total = lines.len() + usize::from(problem.is_some());
        let here = row + usize::from(fault < row);
        let mut cursor = None;
        let mut is_told = false;
        let window = columns::centred(here, total, area.height);
        let pair = if focused {
            let seen = window.start.saturating_sub(1)..window.end.min(lines.len());
            pair(lines, self.lines.cursor(), seen)
        } else {
            None
        };
        for (y, display) in (0..).zip(window) {
            let place = paint::row(text, y);
            let index = display - usize::from(display > fault);
            if let Some(problem) = problem.filter(|_| display == fault.saturating_add(1)) {
                draw_problem(buffer, place, problem, &lines[fault], from, theme);
                is_told = true;
                continue;
            }
            let is_here = focused && index == row;
            let number = paint::row(area, y);
            draw_number(buffer, number, gutter, index + 1, is_here, theme);
            self.draw_mark(buffer, place, index, from, theme);
            let marked = |byte| {
                let at = TextPosition { row: index, byte };
                pair.is_some_and(|pair| pair.contains(&at))
            };
            draw_line(buffer, place, &lines[index], from, marked, theme);
            if is_here {
                let column = cursor_column.saturating_sub(from) as u16;
                let x = place.x + column.min(place.width - 1);
                cursor = Some(Position::new(x, place.y));
            }
        }
        if let Some(problem) = problem.filter(|_| !is_told) {
            draw_far_problem(buffer, area, problem, cursor, theme);
        }
        cursor
    }

    /// The problem, unless the text is empty and may be.
    fn shown_problem(&self) -> Option<&JsonProblem> {
        let problem = self.value().err();
        problem.filter(|_| self.is_known() || !self.is_blank())
    }

    /// Draws the sign of a line that differs from what was known and, if there is room, what it was.
    fn draw_mark(&self, buffer: &mut Buffer, place: Rect, row: usize, from: usize, theme: Theme) {
        let (mark, words) = self.marks().of_row(row);
        let style = theme.change(mark);
        if mark != Mark::Same {
            let sign = mark.sign().to_string();
            paint::text(buffer, place.x - 1, place.y, 1, &sign, style);
        }
        let Some(words) = words else {
            return;
        };
        let until = from + usize::from(place.width);
        let glyphs = paint::glyphs_between(&self.lines.all()[row], from, until);
        let end = paint::total(&glyphs).saturating_sub(from) + 3;
        let room = usize::from(place.width).saturating_sub(end);
        if room >= MIN_REMARK_WIDTH || room >= paint::columns(words) {
            let place = paint::after_cells(place, end as u16);
            paint::line(buffer, place, words, theme.dim(), theme);
        }
    }

    /// Removed keys have no line of their own, so the last row lists them. Returns the remaining area.
    fn draw_removed(&self, buffer: &mut Buffer, area: Rect, theme: Theme) -> Rect {
        let removed = &self.marks().removed;
        if removed.is_empty() || area.height < MIN_ROWS_FOR_REMOVED {
            return area;
        }
        let text = format!("- will be removed: {}", removed.join(", "));
        let (area, last) = split_below(area, 1);
        paint::line(buffer, last, &text, theme.removed(), theme);
        area
    }

    /// Width of the text before the cursor in its line, in cells.
    fn cursor_column(&self) -> usize {
        paint::line_columns(self.lines.around().0)
    }

    fn first_column(&self, cursor: usize, room: usize) -> usize {
        let ahead = paint::glyphs_until(self.lines.around().1, room);
        paint::first_column(cursor, cursor + paint::total(&ahead), room)
    }
}

/// Draws a problem that is out of sight in the last row, or in the first if the cursor is in the last.
fn draw_far_problem(
    buffer: &mut Buffer,
    area: Rect,
    problem: &JsonProblem,
    cursor: Option<Position>,
    theme: Theme,
) {
    if area.height < 2 {
        return;
    }
    let last = area.height - 1;
    let is_taken = cursor.is_some_and(|cursor| cursor.y == area.y + last);
    let row = paint::row(area, if is_taken { 0 } else { last });
    for x in row.left()..row.right() {
        buffer[(x, row.y)].reset();
    }
    paint::line(buffer, row, &format!("! {problem}"), theme.error(), theme);
}

fn draw_number(
    buffer: &mut Buffer,
    line: Rect,
    gutter: u16,
    number: usize,
    is_here: bool,
    theme: Theme,
) {
    let style = if is_here { theme.title() } else { theme.dim() };
    let text = format!("{number:>width$}", width = usize::from(gutter) - 1);
    paint::text(buffer, line.x, line.y, gutter, &text, style);
}

/// The line with `*` for each digit of what is as long as a token.
fn without_tokens(line: &str) -> Cow<'_, str> {
    let is_digit = |c: char| c.is_ascii_hexdigit();
    let is_token = |run: &str| run.len() >= TOKEN_DIGITS;
    if !line.split(|c| !is_digit(c)).any(is_token) {
        return Cow::Borrowed(line);
    }
    let mut shown = String::with_capacity(line.len());
    let runs = line.split_inclusive(|c| !is_digit(c));
    for run in runs {
        let digits = run.trim_end_matches(|c| !is_digit(c));
        if is_token(digits) {
            shown.extend(digits.chars().map(|_| '*'));
            shown.push_str(&run[digits.len()..]);
        } else {
            shown.push_str(run);
        }
    }
    Cow::Owned(shown)
}

fn draw_line(
    buffer: &mut Buffer,
    place: Rect,
    line: &str,
    from: usize,
    marked: impl Fn(usize) -> bool,
    theme: Theme,
) {
    let hidden = without_tokens(line);
    let line = hidden.as_ref();
    let until = from + usize::from(place.width);
    let glyphs = paint::glyphs_between(line, from, until + 1);
    let seen = glyphs.last().map_or(0, |glyph| glyph.byte + 1);
    let pieces: Vec<Token> = tokens(line).take_while(|token| token.from < seen).collect();
    let style_of = |glyph: &Glyph<'_>| {
        if glyph.escaped {
            return theme.warning();
        }
        if marked(glyph.byte) {
            return theme.matched();
        }
        let piece = pieces.partition_point(|piece| piece.to <= glyph.byte);
        pieces
            .get(piece)
            .filter(|piece| piece.from <= glyph.byte)
            .map_or(Style::new(), |piece| style(piece.kind, theme))
    };
    paint::window(buffer, place, &glyphs, from, style_of);
    if from > 0 && !line.is_empty() {
        paint::text(buffer, place.x - 1, place.y, 1, "<", theme.key_hint());
    }
    if paint::total(&glyphs) > until {
        paint::text(buffer, place.right() - 1, place.y, 1, ">", theme.key_hint());
    }
}

/// A line of JSON in colours. Text between the tokens stays as it is.
pub fn coloured(line: &str, theme: Theme) -> Vec<(String, Style)> {
    let mut parts = Vec::new();
    let mut at = 0;
    for token in tokens(line) {
        if token.from > at {
            parts.push((line[at..token.from].to_owned(), Style::new()));
        }
        let text = line[token.from..token.to].to_owned();
        parts.push((text, style(token.kind, theme)));
        at = token.to;
    }
    if at < line.len() {
        parts.push((line[at..].to_owned(), Style::new()));
    }
    parts
}

fn style(kind: Kind, theme: Theme) -> Style {
    match kind {
        Kind::Key => theme.json_key(),
        Kind::Text => theme.json_string(),
        Kind::Value => theme.json_value(),
        Kind::Sign => Style::new(),
    }
}

/// Draws `^ line 3, column 14: …` with the sign below the column, or beside it if there is more room.
fn draw_problem(
    buffer: &mut Buffer,
    place: Rect,
    problem: &JsonProblem,
    line: &str,
    from: usize,
    theme: Theme,
) {
    let before: String = line.chars().take(problem.column - 1).collect();
    let column = paint::line_columns(&before).saturating_sub(from);
    let (text, room) = (problem.to_string(), usize::from(place.width));
    let width = paint::columns(&text);
    let (x, text) = if column + 2 + width <= room {
        (column, format!("^ {text}"))
    } else if width < column && column < room {
        (column - width - 1, format!("{text} ^"))
    } else {
        (0, format!("! {text}"))
    };
    let place = paint::after_cells(place, x as u16);
    paint::line(buffer, place, &text, theme.error(), theme);
}

/// The bracket at or just before the cursor, and its partner, if that is in one of the rows.
pub(super) fn pair(
    lines: &[String],
    cursor: TextPosition,
    rows: Range<usize>,
) -> Option<[TextPosition; 2]> {
    let line = lines.get(cursor.row)?;
    let is_bracket =
        |byte: usize| matches!(line.as_bytes().get(byte), Some(b'{' | b'}' | b'[' | b']'));
    let before = cursor.byte.checked_sub(1);
    let byte = [Some(cursor.byte), before]
        .into_iter()
        .flatten()
        .find(|byte| is_bracket(*byte))?;
    let here = TextPosition {
        row: cursor.row,
        byte,
    };
    let mut open: Vec<(TextPosition, &str)> = Vec::new();
    for row in rows.clone() {
        let line = lines.get(row)?;
        for token in tokens(line).filter(|token| token.kind == Kind::Sign) {
            let at = TextPosition {
                row,
                byte: token.from,
            };
            match &line[token.from..token.to] {
                sign @ ("{" | "[") => open.push((at, sign)),
                sign @ ("}" | "]") => {
                    let opened = open.pop();
                    let fits = matches!(
                        (opened, sign),
                        (Some((_, "{")), "}") | (Some((_, "[")), "]")
                    );
                    if let Some((opened, _)) = opened
                        && (opened == here || at == here)
                    {
                        return fits.then_some([opened, at]);
                    }
                    // A bracket that was opened above these rows is closed here; counting starts again.
                }
                _ => {}
            }
        }
    }
    None
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Marks {
    /// By row from 0; only differences. The words are at the first row of an entry.
    rows: HashMap<usize, (Mark, Option<String>)>,
    /// Known keys that were removed.
    pub(super) removed: Vec<String>,
}

impl Marks {
    /// Compares a text whose parsed value is `now`.
    pub(super) fn of(text: &str, before: &Properties, now: &Properties) -> Self {
        let mut rows = HashMap::new();
        let (mut row, mut seen) = (0, 0);
        let mut row_of = |byte: usize| {
            row += text[seen..byte].matches('\n').count();
            seen = byte;
            row
        };
        for entry in object(text).into_iter().flat_map(|object| object.entries) {
            let (first, last) = (row_of(entry.key.start), row_of(entry.value.end));
            let key: String = serde_json::from_str(&text[entry.key]).unwrap_or_default();
            let (mark, words) = match before.get(&key) {
                None => (Mark::Added, "new".to_owned()),
                Some(was) if now.get(&key) == Some(was) => continue,
                Some(was) => (Mark::Changed, format!("was {was}")),
            };
            rows.insert(first, (mark, Some(words)));
            for row in first + 1..=last {
                rows.entry(row).or_insert((mark, None));
            }
        }
        let removed = before.keys().filter(|key| !now.contains_key(*key));
        Self {
            rows,
            removed: removed.cloned().collect(),
        }
    }

    pub(super) fn of_row(&self, row: usize) -> (Mark, Option<&str>) {
        self.rows
            .get(&row)
            .map_or((Mark::Same, None), |(mark, words)| {
                (*mark, words.as_deref())
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_as_long_as_a_token_is_not_drawn() {
        let token = "0123456789abcdef".repeat(4);
        for (before, after) in [("", "{"), ("\"tier\": \"platinum", "\","), ("", "")] {
            let shown = without_tokens(&format!("{before}{token}{after}")).into_owned();
            assert!(!shown.contains("0123"), "{shown}");
            assert!(
                shown.ends_with(after) && shown.contains(before.trim_end_matches('m')),
                "{shown}"
            );
        }
        let short = format!("{{\"checksum\": \"{}\"}}", &token[1..]);
        assert_eq!(without_tokens(&short), short);
    }
}

#[cfg(test)]
mod brackets_tests {
    use super::*;

    fn at(row: usize, byte: usize) -> TextPosition {
        TextPosition { row, byte }
    }

    #[test]
    fn the_partner_is_found_from_both_sides_and_from_behind() {
        let lines: Vec<String> = ["{\"a}\": [", "  {}, [1]", "], \"b\": {]", "}"]
            .map(str::to_owned)
            .into();
        let all = 0..4;
        for (cursor, pairs) in [
            (at(0, 7), Some([at(0, 7), at(2, 0)])),
            (at(0, 8), Some([at(0, 7), at(2, 0)])),
            (at(2, 0), Some([at(0, 7), at(2, 0)])),
            (at(1, 2), Some([at(1, 2), at(1, 3)])),
            (at(1, 8), Some([at(1, 6), at(1, 8)])),
            (at(0, 3), None),
            (at(2, 8), None),
            (at(1, 0), None),
        ] {
            assert_eq!(pair(&lines, cursor, all.clone()), pairs, "{cursor:?}");
        }
        assert_eq!(pair(&lines, at(0, 7), 0..2), None, "out of sight");
        assert_eq!(pair(&lines, at(1, 2), 1..2), Some([at(1, 2), at(1, 3)]));
    }
}
