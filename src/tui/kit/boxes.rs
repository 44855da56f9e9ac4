//! The rules above panes, boxes over them, and the text in them.

use ratatui::{
    buffer::Cell,
    prelude::{Buffer, Margin, Rect, Style, Widget},
    widgets::{Block, Borders, Clear},
};

pub use super::paint::words_that_fit;
use super::{
    Severity,
    paint::{self, below, columns, cut, split_below},
    text_page::TextPage,
};
use crate::tui::theme::Theme;

/// Below this size, only one line is drawn, which says so (docs/design/console.md).
const MIN_SIZE: (u16, u16) = (40, 8);

/// Whether a window of so many columns and rows shows nothing but that it is too small.
pub fn is_too_small((columns, rows): (u16, u16)) -> bool {
    columns < MIN_SIZE.0 || rows < MIN_SIZE.1
}

/// Below this height, a rule is not worth its row.
const MIN_HEIGHT_FOR_RULE: u16 = 4;

/// Draws the rule above a pane with its title, heavy if the pane has the focus. Returns the text area below it; in a
/// low area without a rule, the whole area.
pub fn titled(buffer: &mut Buffer, area: Rect, title: &str, has_keys: bool, theme: Theme) -> Rect {
    titled_rows(buffer, area, title, has_keys, theme).inner(Margin::new(1, 0))
}

/// Like [`titled`], for rows with a cursor, whose gutter is at the very edge.
pub fn titled_rows(
    buffer: &mut Buffer,
    area: Rect,
    title: &str,
    has_keys: bool,
    theme: Theme,
) -> Rect {
    if area.height < MIN_HEIGHT_FOR_RULE {
        return area;
    }
    let style = if has_keys {
        theme.focus()
    } else {
        theme.heading()
    };
    rule(buffer, area, has_keys, theme);
    if area.width > 6 {
        let title = format!(" {} ", cut(title, usize::from(area.width) - 6, theme));
        paint::text(buffer, area.x + 2, area.y, area.width - 4, &title, style);
    }
    below(area, 1)
}

fn rule(buffer: &mut Buffer, area: Rect, has_keys: bool, theme: Theme) {
    let style = if has_keys { theme.focus() } else { theme.dim() };
    let line = theme.rule(has_keys).repeat(area.width.into());
    paint::text(buffer, area.x, area.y, area.width, &line, style);
}

/// Writes parts at the right end of a rule, as far as there is room beside the title; the first parts are dropped last.
pub fn rule_end(buffer: &mut Buffer, area: Rect, title: &str, parts: &[(String, Style)]) {
    let taken = columns(title) as u16 + 6;
    let room = area.width.saturating_sub(taken);
    let mut parts = parts;
    let width = |parts: &[(String, Style)]| {
        let text: usize = parts.iter().map(|(text, _)| columns(text) + 2).sum();
        text as u16
    };
    while width(parts) + 1 > room {
        let Some((_, fewer)) = parts.split_last() else {
            return;
        };
        parts = fewer;
    }
    if parts.is_empty() {
        return;
    }
    let mut x = area.right() - width(parts) - 1;
    for (index, (text, style)) in parts.iter().enumerate() {
        let before = if index == 0 { " " } else { "  " };
        x = paint::text(buffer, x, area.y, 2, before, Style::new());
        x = paint::text(buffer, x, area.y, area.width, text, *style);
    }
    paint::text(buffer, x, area.y, 1, " ", Style::new());
}

/// Splits an area into two panes, the right one this wide, and draws the line between them.
pub fn side_by_side(buffer: &mut Buffer, area: Rect, right: u16, theme: Theme) -> (Rect, Rect) {
    let right = right.min(area.width.saturating_sub(1));
    let at = area.right() - right - 1;
    let [line, joint] = theme.divider();
    for y in area.top()..area.bottom() {
        let sign = if y == area.top() && area.height >= MIN_HEIGHT_FOR_RULE {
            joint
        } else {
            line
        };
        paint::text(buffer, at, y, 1, sign, theme.dim());
    }
    let left = paint::first_cells(area, at - area.x);
    (left, paint::from_column(area, at + 1))
}

/// Draws a row to choose from.
pub fn choice(buffer: &mut Buffer, row: Rect, is_here: bool, text: &str, theme: Theme) {
    let (mark, style) = theme.choice(is_here);
    buffer.set_style(row, style);
    paint::line(buffer, row, &format!("{mark} {text}"), style, theme);
}

/// Splits off this many rows for details at the bottom, but at most half of the area.
pub fn with_details(area: Rect, rows: u16) -> (Rect, Rect) {
    split_below(area, rows.min(area.height / 2))
}

/// Below this height, a page needs no rule, because the breadcrumb path has its title.
const MIN_HEIGHT_FOR_PAGE_RULE: u16 = 8;

/// Like [`titled`], for a pane that is a single page.
pub fn page(buffer: &mut Buffer, area: Rect, title: &str, theme: Theme) -> Rect {
    if area.height < MIN_HEIGHT_FOR_PAGE_RULE {
        return area.inner(Margin::new(1, 0));
    }
    titled(buffer, area, title, true, theme)
}

/// Columns and rows that [`page`] leaves on a screen of this size.
pub fn page_room((width, height): (u16, u16)) -> (u16, u16) {
    let rows = body(Rect::new(0, 0, width, height)).height;
    let rule = u16::from(rows >= MIN_HEIGHT_FOR_PAGE_RULE);
    (width.saturating_sub(2), rows.saturating_sub(rule))
}

fn framed(buffer: &mut Buffer, area: Rect, title: &str, theme: Theme) -> Rect {
    Block::new()
        .borders(Borders::ALL)
        .border_set(theme.border())
        .border_style(theme.dim())
        .render(area, buffer);
    if area.width > 6 && area.height > 0 {
        let title = format!(" {} ", cut(title, usize::from(area.width) - 6, theme));
        let room = area.width - 4;
        paint::text(buffer, area.x + 2, area.y, room, &title, theme.focus());
    }
    area.inner(Margin::new(2, 1))
}

/// Draws an empty box in the middle of an area and dims what is behind it; returns the area inside.
pub fn popup(
    buffer: &mut Buffer,
    area: Rect,
    (width, height): (u16, u16),
    title: &str,
    theme: Theme,
) -> Rect {
    let width = width.min(area.width);
    let height = height.min(area.height);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    if theme.colour {
        for at in area.intersection(buffer.area).positions() {
            buffer[at].set_style(Style::reset().patch(theme.backdrop()));
        }
        let around = Rect {
            x: place.x.saturating_sub(1),
            width: place.width + 1 + place.x.min(1),
            y: place.y.saturating_sub(1),
            height: place.height + 1 + place.y.min(1),
        };
        clear_words(buffer, around.intersection(area));
    } else {
        // Without colour the text behind could not be told from that of the box.
        Clear.render(area, buffer);
    }
    // Without its box a popup could not be told from what is beneath it.
    framed(buffer, place, title, theme)
}

/// Clears an area, and the rest of each word that it would cut.
fn clear_words(buffer: &mut Buffer, area: Rect) {
    let is_word = |buffer: &Buffer, x: u16, y: u16| {
        let cell = buffer.cell((x, y));
        let is_sign = |cell: &Cell| !cell.symbol().trim().is_empty() && !is_rule(cell.symbol());
        cell.is_some_and(is_sign) || has_wide_before(buffer, x, y)
    };
    for y in area.top()..area.bottom() {
        let (mut left, mut right) = (area.left(), area.right());
        if is_word(buffer, left, y) {
            while left > buffer.area.left() && is_word(buffer, left - 1, y) {
                left -= 1;
            }
        }
        if is_word(buffer, right.saturating_sub(1), y) {
            while is_word(buffer, right, y) {
                right += 1;
            }
        }
        let row = Rect::new(left, y, right - left, 1);
        Clear.render(row.intersection(buffer.area), buffer);
    }
}

/// Whether a wide character before the cell covers it.
fn has_wide_before(buffer: &Buffer, x: u16, y: u16) -> bool {
    let before = x.checked_sub(1).and_then(|x| buffer.cell((x, y)));
    before.is_some_and(|cell| columns(cell.symbol()) > 1)
}

fn is_rule(symbol: &str) -> bool {
    symbol
        .chars()
        .all(|sign| ('\u{2500}'..='\u{257f}').contains(&sign))
}

/// From this size on, a third line at the top lists the pages.
const MIN_SIZE_FOR_PAGES: (u16, u16) = (100, 30);

/// The line that lists the pages, if the console is large enough to spare it.
pub fn pages_line(area: Rect) -> Option<Rect> {
    let (width, height) = MIN_SIZE_FOR_PAGES;
    (area.width >= width && area.height >= height).then(|| paint::row(area, 2))
}

/// The area between the lines at the top and the two at the bottom.
pub fn body(area: Rect) -> Rect {
    let above = 2 + u16::from(pages_line(area).is_some());
    split_below(below(area, above), 2).0
}

/// The text about what is in flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlightLine {
    pub text: String,
    /// What Esc does about it; empty if nothing.
    pub esc: &'static str,
    pub is_long: bool,
}

impl FlightLine {
    /// The text with the effect of Esc.
    pub fn whole(&self) -> String {
        match self.esc {
            "" => self.text.clone(),
            esc => format!("{}  {esc}", self.text),
        }
    }
}

/// Something that takes long is highlighted.
pub fn flight_style(is_long: bool, theme: Theme) -> Style {
    if is_long {
        theme.warning()
    } else {
        Style::new()
    }
}

/// Writes what a page waits for as a line of its text.
pub fn write_waiting(page: &mut TextPage, line: &FlightLine, theme: Theme) {
    page.text(&line.whole(), flight_style(line.is_long, theme));
}

/// Draws what a page waits for over the last row of its area, so that nothing moves when it appears and disappears.
pub fn draw_waiting(buffer: &mut Buffer, area: Rect, line: Option<&FlightLine>, theme: Theme) {
    let Some(line) = line.filter(|_| area.height > 0) else {
        return;
    };
    let row = paint::row(area, area.height - 1);
    Clear.render(row, buffer);
    let text = words_that_fit(&line.whole(), usize::from(row.width), theme);
    let style = flight_style(line.is_long, theme);
    paint::text(buffer, row.x, row.y, row.width, &text, style);
}

pub fn severity_style(severity: Severity, theme: Theme) -> Style {
    match severity {
        Severity::Info => theme.info(),
        Severity::News => theme.news(),
        Severity::Done => theme.ok(),
        Severity::Refused | Severity::Warning => theme.warning(),
        Severity::Error => theme.error(),
        Severity::Unknown => theme.unknown(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::kit::testing::{THEME, screen};

    #[test]
    fn a_box_stands_alone_and_leaves_no_half_word() {
        for (shift, text) in [
            (0, "東京都庁舎前東京 of"),
            (1, "東京都庁舎前東京"),
            (0, "ab cdefgh ijkl mnop"),
        ] {
            let drawn = screen(20, 7, |buffer, area| {
                for y in 0..area.height {
                    buffer.set_string(shift, y, text, Style::new());
                }
                popup(buffer, area, (10, 3), "x", THEME);
            });
            for line in drawn.lines().skip(1).take(5) {
                let left = line.split(['┌', '│', '└']).next().unwrap_or_default();
                for word in left.split_whitespace() {
                    assert!(
                        text.split_whitespace().any(|whole| whole == word),
                        "{drawn}"
                    );
                }
            }
            for line in drawn.lines().skip(2).take(3) {
                let left = line.split(['┌', '│', '└']).next().unwrap_or_default();
                assert_eq!(columns(left), 5, "{drawn}");
                assert!(left.ends_with(' '), "{drawn}");
            }
        }
    }

    #[test]
    fn a_rule_says_at_its_end_what_there_is_room_for() {
        let drawn = |width: u16| {
            screen(width, 5, |buffer, area| {
                titled_rows(buffer, area, "Groups", true, THEME);
                let parts = ["96 ok", "9 due"].map(|part| (part.to_owned(), Style::new()));
                rule_end(buffer, area, "Groups", &parts);
            })
        };
        assert_eq!(drawn(30).trim(), "━━ Groups ━━━━━ 96 ok  9 due ━");
        assert_eq!(drawn(22).trim(), "━━ Groups ━━━━ 96 ok ━");
        assert_eq!(drawn(16).trim(), "━━ Groups ━━━━━━");
    }
}
