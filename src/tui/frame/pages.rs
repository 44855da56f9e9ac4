//! The row of pages with their keys, in the header of a console that is large enough; the open one is marked.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use crate::tui::{
    app::App,
    keymap::Focus,
    kit::paint::{self, columns},
    panes::PAGES,
};

/// Draws the pages that fit. The mark stands where the others have blanks, so that nothing moves when another is opened.
pub(super) fn draw(buffer: &mut Buffer, line: Rect, app: &App) {
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
