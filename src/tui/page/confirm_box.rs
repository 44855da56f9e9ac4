//! A confirmation in a box of its own, which is as high as its text and the confirmation need.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use crate::tui::{
    kit::{boxes::popup, text_page::TextPage},
    state::{confirm::Confirm, context::Context},
    theme::Theme,
};

/// Columns and rows of the frame of a box.
pub const FRAME: (u16, u16) = (4, 2);

/// An empty page for the text of a box of this width.
pub fn box_page(width: u16, area: Rect, theme: Theme) -> TextPage {
    TextPage::new(inside(width, area), theme)
}

/// Draws the page, one of [`box_page`], and the confirmation below it.
pub fn draw_box(
    page: &TextPage,
    confirm: &Confirm,
    (title, width): (&str, u16),
    (buffer, area): (&mut Buffer, Rect),
    context: &Context,
) -> Option<Position> {
    let (keys, theme) = (&context.keys, context.theme);
    let own = confirm.rows(inside(width, area), keys, theme, None);
    let rows = page.height() as u16 + 1 + own;
    let inner = popup(buffer, area, (width, rows + FRAME.1), title, theme);
    confirm.draw_below(page, None, (buffer, inner), (keys, theme), None)
}

/// The columns inside a box.
fn inside(width: u16, area: Rect) -> u16 {
    width.min(area.width).saturating_sub(FRAME.0)
}
