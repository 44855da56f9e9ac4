//! How a dialog looks: a frame no larger than it needs, and the buttons always in sight.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
    widgets::{Block, Clear, Widget},
};

use super::{Confirm, Dialog, Focus};
use crate::{
    domain::text::wrap,
    tui::{
        theme::Theme,
        widgets::paint::{self, shown},
    },
};

/// Lines longer than this are hard to read.
const WIDEST: u16 = 76;

impl Dialog {
    /// Draws over the middle of the area. Returns where the terminal's cursor belongs, if in the field.
    pub fn draw(&self, buffer: &mut Buffer, area: Rect, theme: Theme) -> Option<Position> {
        let outer_width = area.width.saturating_sub(2).min(WIDEST);
        let inner_width = outer_width.saturating_sub(4);
        if inner_width == 0 || area.height < 3 {
            return None;
        }
        let body = self.body_lines(usize::from(inner_width));
        let fixed = self.fixed_rows();
        let height = (body.len() as u16)
            .saturating_add(fixed + 2)
            .min(area.height);
        let frame = Rect {
            x: area.x + (area.width - outer_width) / 2,
            y: area.y + (area.height - height) / 2,
            width: outer_width,
            height,
        };
        self.draw_frame(buffer, frame, theme);
        let inner = Rect {
            x: frame.x + 2,
            y: frame.y + 1,
            width: inner_width,
            height: height - 2,
        };
        let room = inner.height.saturating_sub(fixed);
        self.draw_body(
            buffer,
            Rect {
                height: room,
                ..inner
            },
            &body,
            theme,
        );
        let rest = Rect {
            y: inner.y + room,
            height: inner.height - room,
            ..inner
        };
        let last = rest.height.saturating_sub(1);
        let cursor = self.draw_field(
            buffer,
            Rect {
                height: last,
                ..rest
            },
            theme,
        );
        self.draw_buttons(buffer, paint::row(rest, last), theme);
        cursor
    }

    /// Rows below the body: a gap, the buttons, and for a field its request, itself, its error and a gap.
    fn fixed_rows(&self) -> u16 {
        match self.confirm {
            Confirm::Enter | Confirm::KeyY => 2,
            Confirm::Typed { .. } => 6,
        }
    }

    pub(super) fn body_lines(&self, width: usize) -> Vec<String> {
        let lines = self.body.iter().flat_map(|paragraph| {
            let paragraphs = paragraph.split('\n').map(shown);
            paragraphs.flat_map(move |line| wrap(&line, width))
        });
        lines.collect()
    }

    fn draw_frame(&self, buffer: &mut Buffer, frame: Rect, theme: Theme) {
        let style = if self.is_production {
            theme.error()
        } else {
            Style::new()
        };
        Clear.render(frame, buffer);
        Block::bordered()
            .border_set(theme.border())
            .border_style(style)
            .render(frame, buffer);
        let title = Rect {
            x: frame.x + 2,
            width: frame.width.saturating_sub(4),
            ..paint::row(frame, 0)
        };
        let style = if self.is_production {
            theme.production()
        } else {
            theme.title()
        };
        paint::line(buffer, title, &format!(" {} ", self.title), style, theme);
    }

    fn draw_body(&self, buffer: &mut Buffer, area: Rect, lines: &[String], theme: Theme) {
        let height = usize::from(area.height);
        let first = self.scroll.min(lines.len().saturating_sub(height));
        for (y, line) in (0..).zip(lines.iter().skip(first).take(height)) {
            let row = paint::row(area, y);
            paint::text(buffer, row.x, row.y, row.width, line, Style::new());
        }
        if lines.len() > height && area.height > 0 {
            let below = lines.len() - height - first;
            let text = format!(" {first} above, {below} below ");
            let width = (text.len() as u16).min(area.width);
            let row = Rect {
                x: area.right() - width,
                width,
                // On the gap between body and buttons.
                y: area.bottom(),
                height: 1,
            };
            paint::line(buffer, row, &text, theme.dim(), theme);
        }
    }

    fn draw_field(&self, buffer: &mut Buffer, area: Rect, theme: Theme) -> Option<Position> {
        let Confirm::Typed { expected, field } = &self.confirm else {
            return None;
        };
        // The lower rows matter more: the field before its request, when there is no room for both.
        let rows = area.height.min(4);
        let area = Rect {
            y: area.bottom() - rows,
            height: rows,
            ..area
        };
        let request = format!("type {} to go on:", shown(expected));
        let skip = u16::from(rows > 2);
        if skip == 1 {
            paint::line(
                buffer,
                paint::row(area, 0),
                &request,
                theme.warning(),
                theme,
            );
        }
        let place = Rect {
            y: area.y + skip,
            height: (rows - skip).min(2),
            ..area
        };
        field.draw(buffer, place, theme, self.focus == Focus::Field)
    }

    fn draw_buttons(&self, buffer: &mut Buffer, row: Rect, theme: Theme) {
        if row.is_empty() {
            return;
        }
        let mut x = row.x;
        for (index, label) in self.buttons.iter().enumerate() {
            let has_focus = self.focus == Focus::Button(index);
            let key = if index == 1 && self.confirm == Confirm::KeyY {
                "y "
            } else {
                ""
            };
            let sign = if has_focus { '>' } else { ' ' };
            let text = format!("{sign}[ {key}{} ]", shown(label));
            let is_ready = index == 0 || self.is_confirmed();
            let style = match (has_focus, is_ready) {
                (true, _) => theme.cursor_row(),
                (false, true) => Style::new(),
                (false, false) => theme.dim(),
            };
            let room = row.right().saturating_sub(x);
            x = paint::text(buffer, x, row.y, room, &text, style) + 1;
        }
    }
}
