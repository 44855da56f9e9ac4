//! The frame around every pane: two or three lines at the top that say where one is, two at the bottom with the last
//! message and the most important keys.

mod header;
mod message;

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::panes::Pane;
use crate::tui::{
    app::App,
    keymap::Focus,
    kit::{
        boxes::{body, is_too_small, pages_line},
        paint::{self, columns},
    },
    page::footer::{self, row_of_cursor},
    panes::{PAGES, View},
    state::context::Context,
    theme::Theme,
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
        draw_pages(buffer, line, app);
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
    let mut free_from = used.map_or(body.y, |y| (y + 1).max(body.y));
    // Nor what is wrong with that line.
    if let Some(at) = cursor {
        while free_from < line.y && is_error(buffer, (at.x, free_from).into(), context.theme) {
            free_from += 1;
        }
    }
    message::draw(buffer, line, free_from, context);
    let top = app.top();
    draw_keys(
        buffer,
        paint::row(area, area.height - 1),
        top.focus(),
        top,
        context,
    );
    cursor
}

fn draw_keys(buffer: &mut Buffer, line: Rect, focus: Focus, top: &dyn View, context: &Context) {
    let mut draw = |x: u16, key: &str, word: &str| {
        let x = paint::text(buffer, x, line.y, line.width, key, context.theme.key_hint()) + 1;
        paint::text(buffer, x, line.y, line.width, word, Style::new());
    };
    for hint in footer::hints(line, focus, top, context) {
        draw(hint.x, &hint.key, hint.word);
    }
    let help = footer::help(focus, context);
    let (key, word) = help.split_once(' ').unwrap_or((&help, ""));
    draw(footer::help_at(line, focus, context), key, word);
}

/// Draws the pages that fit. The mark stands where the others have blanks, so that nothing moves when another is opened.
fn draw_pages(buffer: &mut Buffer, line: Rect, app: &App) {
    let theme = app.context.theme;
    let Some(open) = app.page() else { return };
    let mut x = line.x;
    for &(page, name) in PAGES {
        let key = app.context.keys.key(Focus::List, page);
        let (before, after, style) = if page == open {
            ("[", "]", theme.focus())
        } else {
            (" ", " ", Style::new())
        };
        let width = (columns(&key) + 1 + columns(name) + 2) as u16;
        if x + width > line.right() {
            return;
        }
        let room = line.width;
        x = paint::text(buffer, x, line.y, room, before, style);
        let key_style = if page == open {
            style
        } else {
            theme.key_hint()
        };
        x = paint::text(buffer, x, line.y, room, &key, key_style);
        x = paint::text(buffer, x, line.y, room, &format!(" {name}{after}"), style) + 1;
    }
}

/// Whether the row in a box, up to its frame on both sides, has a part of an error.
fn is_error(buffer: &Buffer, at: Position, theme: Theme) -> bool {
    let error = theme.error();
    let frame = theme.border().vertical_left;
    let inside = |&x: &u16| buffer[(x, at.y)].symbol() != frame;
    let left = (buffer.area.left()..at.x).rev().take_while(inside);
    let right = (at.x..buffer.area.right()).take_while(inside);
    let cells = left.chain(right).map(|x| &buffer[(x, at.y)]);
    let mut words = cells.filter(|cell| !cell.symbol().trim().is_empty());
    words.any(|cell| {
        let style = cell.style();
        style.fg == error.fg.or(style.fg) && style.add_modifier.contains(error.add_modifier)
    })
}
