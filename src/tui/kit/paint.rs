//! Draws text into cells. Hostile characters are shown as escapes and nothing is dropped on the way (trap 3 of
//! docs/design/dependencies.md); a line that is too wide is cut or scrolled.

use std::borrow::Cow;

use ratatui::{
    buffer::CellWidth,
    prelude::{Buffer, Constraint, Layout, Rect, Style},
};
use unicode_segmentation::UnicodeSegmentation;

use crate::{
    domain::{
        text::{is_plain, take_back, take_front, width, wrap},
        visible,
    },
    tui::theme::Theme,
};

/// The text as it may be drawn: [`visible`], with escapes for marks that would take no cell and so vanish.
pub fn shown(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let text = visible(text);
    if text.is_ascii() || text.graphemes(true).all(|g| g.cell_width() > 0) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for grapheme in text.graphemes(true) {
        if grapheme.cell_width() > 0 {
            shown.push_str(grapheme);
        } else {
            shown.extend(
                grapheme
                    .chars()
                    .map(|c| format!("\\u{{{:x}}}", u32::from(c))),
            );
        }
    }
    Cow::Owned(shown)
}

/// Width of the text when drawn, in cells.
pub fn columns(text: &str) -> usize {
    if is_plain(text) {
        return text.chars().count();
    }
    shown(text).graphemes(true).map(cells).sum()
}

/// Width of a line when its graphemes are drawn one by one, as [`glyphs`] does.
pub(super) fn line_columns(line: &str) -> usize {
    let width = |(_, grapheme): (usize, &str)| match shown_grapheme(grapheme) {
        Cow::Borrowed(text) => cells(text),
        Cow::Owned(escape) => escape.graphemes(true).map(cells).sum(),
    };
    graphemes(line).map(width).sum()
}

/// The graphemes with their positions. Fast path: a plain character before another ASCII character is a grapheme by
/// itself, and most of a long text consists of those.
fn graphemes(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at;
        let first = *bytes.get(start)?;
        let is_alone =
            matches!(first, b' '..=b'~') && bytes.get(start + 1).is_none_or(u8::is_ascii);
        at += if is_alone {
            1
        } else {
            text[start..].graphemes(true).next()?.len()
        };
        Some((start, &text[start..at]))
    })
}

/// A grapheme as it may be drawn.
fn shown_grapheme(grapheme: &str) -> Cow<'_, str> {
    if is_plain(grapheme) {
        Cow::Borrowed(grapheme)
    } else {
        shown(grapheme)
    }
}

fn cells(grapheme: &str) -> usize {
    usize::from(grapheme.cell_width())
}

/// The text as drawn, cut at its end to `room` cells.
pub fn cut(text: &str, room: usize, theme: Theme) -> String {
    let text = shown(text);
    if width(&text) <= room {
        return text.into_owned();
    }
    let mark = theme.ellipsis();
    match room.checked_sub(width(mark)) {
        Some(left) if left > 0 => take_front(&text, left).trim_end().to_owned() + mark,
        _ => take_front(&text, room),
    }
}

/// Maximum width at which an id is shown in full, in cells.
pub const WHOLE_ID: usize = 40;
/// Number of cells at the end of a longer id that are shown.
const END_OF_ID: usize = 12;

/// An id as drawn: in full, or its beginning and its end, which distinguish it from similar ones.
pub fn cut_id(id: &str, room: usize, theme: Theme) -> String {
    let id = shown(id);
    let room = room.min(WHOLE_ID);
    let mark = theme.ellipsis();
    let end = END_OF_ID * room / WHOLE_ID;
    if width(&id) <= room || end == 0 {
        return cut(&id, room, theme);
    }
    let front = take_front(&id, room - width(mark) - end);
    front + mark + &take_back(&id, end)
}

/// As many whole words as fit, and a sign that there are more.
pub fn words_that_fit(text: &str, room: usize, theme: Theme) -> String {
    let text = shown(text);
    if columns(&text) <= room {
        return text.into_owned();
    }
    let mark = theme.ellipsis();
    let whole = text
        .match_indices(' ')
        .map(|(at, _)| text[..at].trim_end())
        .take_while(|words| columns(words) + 1 + columns(mark) <= room)
        .last();
    match whole {
        Some(words) if !words.trim().is_empty() => format!("{words} {mark}"),
        _ => cut(&text, room, theme),
    }
}

/// For every grapheme of a cut text, the index of the grapheme in the whole text; `None` for the ellipsis.
pub(super) fn sources(whole: &str, cut: &str, theme: Theme) -> Vec<Option<usize>> {
    let mut all = Vec::new();
    for (at, grapheme) in whole.graphemes(true).enumerate() {
        all.extend(shown(grapheme).graphemes(true).map(|_| Some(at)));
    }
    let drawn = cut.graphemes(true).count();
    if drawn == all.len() && *cut == *shown(whole) {
        return all;
    }
    let shown = shown(whole);
    let same = shown.graphemes(true).zip(cut.graphemes(true));
    let front = same.take_while(|(whole, cut)| whole == cut).count();
    let ellipsis = theme.ellipsis().graphemes(true).count();
    let back = drawn.saturating_sub(front + ellipsis);
    let end = all.len().saturating_sub(back);
    let mut sources = all[..front.min(all.len())].to_vec();
    sources.resize(drawn - back, None);
    sources.extend_from_slice(&all[end..]);
    sources
}

/// Applies a style to some graphemes of a text that was drawn at the beginning of an area.
pub(super) fn overlay(
    buffer: &mut Buffer,
    area: Rect,
    drawn: &str,
    style: Style,
    is_marked: impl Fn(usize) -> bool,
) {
    let mut x = area.x;
    for (at, grapheme) in drawn.graphemes(true).enumerate() {
        let width = cells(grapheme) as u16;
        if x + width > area.right() {
            break;
        }
        if is_marked(at) {
            buffer.set_style(first_cells(from_column(row(area, 0), x), width), style);
        }
        x += width;
    }
}

/// Draws a text at `(x, y)` in at most `room` cells, and returns the column after it.
pub fn text(buffer: &mut Buffer, x: u16, y: u16, room: u16, text: &str, style: Style) -> u16 {
    let area = buffer.area;
    if y < area.top() || y >= area.bottom() || x < area.left() || x >= area.right() {
        return x;
    }
    if !is_plain(text) {
        let drawn = buffer.set_stringn(x, y, shown(text), usize::from(room), style);
        return drawn.0;
    }
    // Most texts; each character is a sign of one cell.
    let room = usize::from(room.min(area.right() - x));
    let first = buffer.index_of(x, y);
    let mut drawn = 0;
    for (cell, sign) in buffer.content[first..first + room]
        .iter_mut()
        .zip(text.chars())
    {
        cell.set_char(sign).set_style(style);
        drawn += 1;
    }
    x + drawn
}

/// Draws a line of text into the first row of an area, cut after a word if it is too long.
pub fn line(buffer: &mut Buffer, area: Rect, content: &str, style: Style, theme: Theme) -> u16 {
    if area.is_empty() {
        return area.x;
    }
    let content = words_that_fit(content, usize::from(area.width), theme);
    text(buffer, area.x, area.y, area.width, &content, style)
}

/// Draws text wrapped into the rows of an area; what does not fit is cut at the end of the last row, after a word.
pub fn wrapped(buffer: &mut Buffer, area: Rect, content: &str, style: Style, theme: Theme) {
    let lines = wrapped_lines(content, area.width);
    let rows = usize::from(area.height);
    for (index, text) in lines.iter().enumerate().take(rows) {
        let place = row(area, index as u16);
        if index + 1 == rows && lines.len() > rows {
            line(buffer, place, &lines[index..].join(" "), style, theme);
        } else {
            self::text(buffer, place.x, place.y, place.width, text, style);
        }
    }
}

/// The lines of a text that is not empty, in an area of this width.
pub fn wrapped_lines(content: &str, width: u16) -> Vec<String> {
    if content.is_empty() {
        return Vec::new();
    }
    wrap(&visible(content), usize::from(width).max(1))
}

/// The `index`th row of an area; empty if the area is not that high.
pub fn row(area: Rect, index: u16) -> Rect {
    Rect {
        y: area.y.saturating_add(index),
        height: u16::from(index < area.height),
        ..area
    }
}

/// Splits the first rows off an area.
pub fn take(area: &mut Rect, rows: u16) -> Rect {
    let (first, rest) = split_below(*area, area.height.saturating_sub(rows));
    *area = rest;
    first
}

/// The part of an area below its first `rows` rows.
pub fn below(area: Rect, rows: u16) -> Rect {
    split_below(area, area.height.saturating_sub(rows)).1
}

/// Splits this many rows off the bottom of an area; returns the upper and the lower part.
pub fn split_below(area: Rect, rows: u16) -> (Rect, Rect) {
    let parts = [Constraint::Fill(1), Constraint::Length(rows)];
    let [above, below] = area.layout(&Layout::vertical(parts));
    (above, below)
}

/// The first cells of an area.
pub fn first_cells(area: Rect, cells: u16) -> Rect {
    let width = area.width.min(cells);
    Rect { width, ..area }
}

/// An area without its first cells.
pub fn after_cells(area: Rect, cells: u16) -> Rect {
    from_column(area, area.x.saturating_add(cells).min(area.right()))
}

/// An area from this column on.
pub fn from_column(area: Rect, x: u16) -> Rect {
    let width = area.right().saturating_sub(x);
    Rect { x, width, ..area }
}

/// A piece of text with cells of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glyph<'a> {
    pub(super) text: Cow<'a, str>,
    /// Its first column, in cells from the beginning of the line.
    pub(super) column: usize,
    pub(super) width: usize,
    /// Byte offset of the grapheme in the source.
    pub(super) byte: usize,
    /// It is part of an escape sequence that represents another character.
    pub(super) escaped: bool,
}

/// A line as glyphs; all glyphs of one escaped grapheme have the same byte offset.
pub(super) fn glyphs(line: &str) -> Vec<Glyph<'_>> {
    glyphs_until(line, usize::MAX)
}

/// Only the glyphs that start before a column, so that a very long line costs no more than its visible part.
pub(super) fn glyphs_until(line: &str, until: usize) -> Vec<Glyph<'_>> {
    glyphs_between(line, 0, until)
}

/// Only the glyphs that end after one column and start before another.
pub(super) fn glyphs_between<'a>(line: &'a str, from: usize, until: usize) -> Vec<Glyph<'a>> {
    let skipped = if line.is_ascii() && is_plain(line) {
        from.min(line.len())
    } else {
        0
    };
    let mut column = skipped;
    let mut glyphs = Vec::new();
    let mut push = |text: Cow<'a, str>, byte, escaped, column: &mut usize| {
        let glyph = Glyph {
            width: cells(&text),
            text,
            column: *column,
            byte,
            escaped,
        };
        *column += glyph.width;
        if *column > from {
            glyphs.push(glyph);
        }
    };
    for (byte, grapheme) in graphemes(&line[skipped..]) {
        if column >= until {
            break;
        }
        let byte = skipped + byte;
        match shown_grapheme(grapheme) {
            Cow::Borrowed(text) => push(Cow::Borrowed(text), byte, false, &mut column),
            Cow::Owned(escape) => {
                for text in escape.graphemes(true) {
                    push(Cow::Owned(text.to_owned()), byte, true, &mut column);
                }
            }
        }
    }
    glyphs
}

/// Width of a whole line, in cells.
pub(super) fn total(glyphs: &[Glyph<'_>]) -> usize {
    glyphs.last().map_or(0, |last| last.column + last.width)
}

/// The column of a byte offset; the end of the line for its length.
pub(super) fn column_of(glyphs: &[Glyph<'_>], byte: usize) -> usize {
    glyphs
        .iter()
        .find(|glyph| glyph.byte >= byte)
        .map_or_else(|| total(glyphs), |glyph| glyph.column)
}

/// The first column to show of a line of `total` cells in `room` cells, so that the cursor is visible.
///
/// Depends only on its arguments, so that drawing has no side effects.
pub(super) fn first_column(cursor: usize, total: usize, room: usize) -> usize {
    if total < room || room == 0 {
        return 0;
    }
    let ahead = (room / 4).min(total - cursor.min(total));
    (cursor + 1 + ahead).saturating_sub(room)
}

/// Draws the columns from `from` on into the first row of an area. A wide character cut by an edge becomes blank.
pub(super) fn window(
    buffer: &mut Buffer,
    area: Rect,
    glyphs: &[Glyph<'_>],
    from: usize,
    style_of: impl Fn(&Glyph<'_>) -> Style,
) {
    let area = area.intersection(buffer.area);
    if area.is_empty() {
        return;
    }
    let until = from + usize::from(area.width);
    let first = glyphs.partition_point(|glyph| glyph.column < from);
    for glyph in &glyphs[first..] {
        if glyph.column + glyph.width > until {
            break;
        }
        let x = area.x + (glyph.column - from) as u16;
        buffer.set_stringn(x, area.y, &glyph.text, glyph.width, style_of(glyph));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::kit::testing::{THEME, screen};

    #[test]
    fn nothing_hostile_is_drawn_and_nothing_is_dropped() {
        let hostile = "adm\u{1b}in\u{202e}x\u{200b}";
        let drawn = screen(40, 1, |buffer, area| {
            text(buffer, 0, 0, area.width, hostile, Style::new());
        });
        assert_eq!(drawn, "adm\\u{1b}in\\u{202e}x\\u{200b}");
        assert_eq!(shown("\u{301}a"), "\\u{301}a");
        assert_eq!(shown("e\u{301}"), "e\u{301}");
    }

    #[test]
    fn a_cut_text_knows_which_graphemes_it_shows() {
        for (whole, room) in [
            ("globex-retail", 20),
            ("globex-retail", 9),
            ("aaaaaaaaaaaa", 5),
            ("a\u{202e}b\u{202e}c", 30),
            ("a\u{202e}b\u{202e}c", 9),
            ("e\u{301}東京都庁舎前e\u{301}", 7),
            ("abc", 0),
            ("", 4),
        ] {
            let drawn = cut(whole, room, THEME);
            let sources = sources(whole, &drawn, THEME);
            let graphemes: Vec<&str> = whole.graphemes(true).collect();
            assert_eq!(sources.len(), drawn.graphemes(true).count(), "{drawn}");
            for (source, piece) in sources.iter().zip(drawn.graphemes(true)) {
                match source {
                    Some(at) => assert!(shown(graphemes[*at]).contains(piece), "{drawn}"),
                    None => assert_eq!(piece, THEME.ellipsis()),
                }
            }
            assert!(sources.iter().flatten().is_sorted(), "{sources:?}");
        }
    }

    #[test]
    fn drawing_outside_is_harmless() {
        let drawn = screen(4, 1, |buffer, _| {
            text(buffer, 9, 0, 5, "abc", Style::new());
            text(buffer, 0, 9, 5, "abc", Style::new());
            line(
                buffer,
                Rect::new(0, 0, 4, 1),
                "abcdefgh",
                Style::new(),
                THEME,
            );
        });
        assert_eq!(drawn, "abc…");
    }

    #[test]
    fn a_window_blanks_half_characters() {
        let glyphs = glyphs("a東b東");
        assert_eq!(total(&glyphs), 6);
        let draw = |from| {
            screen(3, 1, |buffer, area| {
                window(buffer, area, &glyphs, from, |_| Style::new());
            })
        };
        assert_eq!(draw(0), "a東");
        assert_eq!(draw(2), " b");
        assert_eq!(draw(3), "b東");
    }

    proptest::proptest! {
        #[test]
        fn plain_neighbours_change_no_grapheme(text in "[ab \u{301}\u{200d}👩東🇪🇺\r\n\u{600}\u{202e}]{0,12}") {
            let all: Vec<_> = text.grapheme_indices(true).collect();
            assert_eq!(graphemes(&text).collect::<Vec<_>>(), all);
            assert_eq!(line_columns(&text), total(&glyphs(&text)));
        }
    }

    #[test]
    fn a_part_of_a_line_is_the_same_part_of_the_whole() {
        for line in ["plain text", "a東b\u{202e}東e\u{301}", ""] {
            let whole = glyphs(line);
            assert_eq!(columns(line), total(&whole));
            for from in 0..14 {
                let part: Vec<_> = whole
                    .iter()
                    .filter(|glyph| glyph.column + glyph.width > from && glyph.column < from + 4)
                    .cloned()
                    .collect();
                let between = glyphs_between(line, from, from + 4);
                assert_eq!(between[..part.len()], part[..], "{line:?} from {from}");
            }
        }
    }

    #[test]
    fn the_cursor_is_always_in_the_window() {
        for total in 0..30 {
            for cursor in 0..=total {
                for room in 1..12 {
                    let from = first_column(cursor, total, room);
                    assert!(
                        from <= cursor && cursor < from + room,
                        "{cursor} of {total} in {room}"
                    );
                }
            }
        }
    }
}
