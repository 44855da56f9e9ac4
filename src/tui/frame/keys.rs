//! The last line of every screen: the keys that matter in the focused pane, most used first, and the key for help.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use crate::tui::{keymap::Focus, kit::paint, page::footer, panes::View, state::context::Context};

pub(super) fn draw(
    buffer: &mut Buffer,
    line: Rect,
    focus: Focus,
    top: &dyn View,
    context: &Context,
) {
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
