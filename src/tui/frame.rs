//! The frame around every pane: two or three lines at the top that say where one is, two at the bottom with the last
//! message and the most important keys.

mod header;
mod keys;
mod message;
mod pages;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::panes::Pane;
use crate::tui::{
    app::App,
    kit::{
        boxes::{body, is_too_small, pages_line},
        paint::{self, columns},
    },
    page::footer::row_of_cursor,
};

/// Draws the whole console; returns the position of the terminal's cursor.
pub fn draw(app: &App, buffer: &mut Buffer, area: Rect) -> Option<ratatui::layout::Position> {
    let context = &app.context;
    if is_too_small((area.width, area.height)) {
        // The environment must be visible however small the window is.
        let x = header::draw_environment(buffer, area, context) + 1;
        let room = area.right().saturating_sub(x);
        let full = format!("too small: {}x{}, needs 40x8", area.width, area.height);
        let short = format!("{}x{}, needs 40x8", area.width, area.height);
        let texts = [full.as_str(), short.as_str(), "needs 40x8", "too small"];
        let text = texts.iter().find(|text| columns(text) <= room.into());
        paint::text(
            buffer,
            x,
            area.y,
            room,
            text.unwrap_or(&"small"),
            Style::new(),
        );
        return None;
    }
    header::draw(buffer, paint::row(area, 0), context);
    header::breadcrumb(buffer, paint::row(area, 1), app);
    if let Some(line) = pages_line(area) {
        pages::draw(buffer, line, app);
    }
    let body = body(area);
    let is_whole = |pane: &Pane| context.plain_mode || !pane.view().is_overlay();
    let first = app.stack.iter().rposition(is_whole);
    let mut cursor = None;
    for pane in &app.stack[first.unwrap_or(0)..] {
        cursor = pane.view().draw(buffer, body, context);
    }
    // The message must not cover the line that is being typed in, or the row that the keys mean.
    let line = paint::row(area, area.height - 2);
    let row = row_of_cursor(buffer, body.y..line.y, context.theme);
    let used = cursor.map(|at| at.y).max(row);
    let free_from = used.map_or(body.y, |y| (y + 1).max(body.y));
    message::draw(buffer, line, free_from, context);
    let top = app.top();
    keys::draw(
        buffer,
        paint::row(area, area.height - 1),
        top.focus(),
        top,
        context,
    );
    cursor
}
