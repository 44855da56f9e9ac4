//! The last line of every screen: the keys that matter in the place.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use crate::tui::{
    keymap::{Action, Focus},
    panes::View,
    state::context::Context,
    widgets::paint::{self, columns},
};

/// A key of the footer: how it is shown, and what for.
struct Hint {
    key: String,
    word: &'static str,
}

impl Hint {
    fn width(&self) -> u16 {
        (columns(&self.key) + 1 + columns(self.word)) as u16
    }
}

/// The keys that do something now; the help has the others, each with why not.
fn hints(focus: Focus, top: &dyn View, context: &Context) -> Vec<Hint> {
    let bindings = context.keys.bindings(focus).iter();
    let shown = bindings.filter_map(|binding| {
        let key = binding.keys.first().filter(|_| !binding.hint.is_empty())?;
        let works = top.disabled(binding.action, context).is_none();
        works.then(|| Hint {
            key: key.shown(),
            word: top.hint(binding.action, context).unwrap_or(binding.hint),
        })
    });
    shown.collect()
}

/// Last line: the keys that matter here, most used first; the help is always last and never cut.
pub(super) fn draw(
    buffer: &mut Buffer,
    line: Rect,
    focus: Focus,
    top: &dyn View,
    context: &Context,
) {
    let theme = context.theme;
    let help = format!("{} help", context.keys.key(focus, Action::Help));
    let help = help.as_str();
    let end = line.right().saturating_sub(columns(help) as u16 + 2);
    let mut x = line.x + 1;
    for hint in hints(focus, top, context) {
        let width = hint.width();
        if x + width > end {
            break;
        }
        x = paint::text(buffer, x, line.y, width, &hint.key, theme.key_hint()) + 1;
        x = paint::text(buffer, x, line.y, width, hint.word, Style::new()) + 2;
    }
    let at = line.right().saturating_sub(columns(help) as u16 + 1);
    let (key, word) = help.split_once(' ').unwrap_or((help, ""));
    let x = paint::text(buffer, at, line.y, line.width, key, theme.key_hint()) + 1;
    paint::text(buffer, x, line.y, line.width, word, Style::new());
}
