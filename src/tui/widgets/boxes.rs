//! Boxes around what is drawn, pages, popups, and the words that fit into them.

use ratatui::{
    buffer::{Buffer, CellWidth},
    layout::{Margin, Rect},
    style::Style,
    widgets::{Block, Borders, Clear, Widget},
};

use super::paint::{self, columns, cut};
use crate::tui::{state::notices::Severity, theme::Theme};

/// Rows below which a box would take more than it gives.
const LEAST_BOX: u16 = 5;

/// Draws a box with a title and returns the room inside; where there are few rows, only the room.
pub fn boxed(buffer: &mut Buffer, area: Rect, title: &str, theme: Theme) -> Rect {
    if area.height < LEAST_BOX {
        return area.inner(Margin::new(1, 0));
    }
    framed(buffer, area, title, theme)
}

/// As [`boxed`], for rows with a cursor: their gutter stands at the edge itself.
pub fn boxed_rows(buffer: &mut Buffer, area: Rect, title: &str, theme: Theme) -> Rect {
    let inner = boxed(buffer, area, title, theme);
    Rect {
        x: inner.x - 1,
        width: inner.width + 2,
        ..inner
    }
}

/// An area, and below it one of so many rows for details, or of half of all.
pub fn with_details(area: Rect, rows: u16) -> (Rect, Rect) {
    let below = rows.min(area.height / 2);
    let above = Rect {
        height: area.height - below,
        ..area
    };
    let below = Rect {
        y: above.bottom(),
        height: below,
        ..area
    };
    (above, below)
}

/// Rows below which a page of its own needs no box: the breadcrumb names it.
const LEAST_PAGE: u16 = 8;

/// As [`boxed`], for a pane that is one page.
pub fn page(buffer: &mut Buffer, area: Rect, title: &str, theme: Theme) -> Rect {
    if area.height < LEAST_PAGE {
        return area.inner(Margin::new(1, 0));
    }
    framed(buffer, area, title, theme)
}

fn framed(buffer: &mut Buffer, area: Rect, title: &str, theme: Theme) -> Rect {
    Block::new()
        .borders(Borders::ALL)
        .border_set(theme.border())
        .border_style(theme.dim())
        .render(area, buffer);
    if area.width > 6 && area.height > 0 {
        let title = format!(" {} ", cut(title, usize::from(area.width) - 6, theme));
        paint::text(
            buffer,
            area.x + 2,
            area.y,
            area.width - 4,
            &title,
            theme.title(),
        );
    }
    area.inner(Margin::new(2, 1))
}

/// A box in the middle of an area, emptied; returns the room inside.
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
    Clear.render(place, buffer);
    if let Some(x) = place.x.checked_sub(1) {
        // A wide sign beside it would take the cell of its border.
        for y in place.top()..place.bottom() {
            if let Some(cell) = buffer.cell_mut((x, y))
                && cell.symbol().cell_width() > 1
            {
                cell.set_symbol(" ");
            }
        }
    }
    // Without its box a popup could not be told from what is below it.
    framed(buffer, place, title, theme)
}

/// What is between the two lines above and the two below.
pub fn body(area: Rect) -> Rect {
    Rect {
        y: area.y + 2,
        height: area.height.saturating_sub(4),
        ..area
    }
}

/// As many whole words as there is room for, and a sign that there are more.
pub fn words_that_fit(text: &str, room: usize, theme: Theme) -> String {
    let text = paint::shown(text);
    if columns(&text) <= room {
        return text.into_owned();
    }
    let mark = theme.ellipsis();
    let whole = text
        .match_indices(' ')
        .map(|(at, _)| &text[..at])
        .take_while(|words| columns(words) + 1 + columns(mark) <= room)
        .last();
    match whole {
        Some(words) => format!("{words} {mark}"),
        None => cut(&text, room, theme),
    }
}

pub fn severity_style(severity: Severity, theme: Theme) -> Style {
    match severity {
        Severity::Info => Style::new(),
        Severity::Done => theme.ok(),
        Severity::Warning => theme.warning(),
        Severity::Error => theme.error(),
        Severity::Unknown => theme.unknown(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::widgets::testing::{THEME, screen};

    #[test]
    fn a_wide_sign_swallows_no_border_of_a_popup_over_it() {
        for shift in 0..2 {
            let drawn = screen(20, 5, |buffer, area| {
                for y in 0..area.height {
                    buffer.set_string(shift, y, "東京都庁舎前東京", Style::new());
                }
                popup(buffer, area, (10, 3), "x", THEME);
            });
            for line in drawn.lines().skip(1).take(3) {
                let cells = columns(line.split(['┌', '│', '└']).next().unwrap_or_default());
                assert_eq!(cells, 5, "{drawn}");
            }
        }
    }
}
