//! The last line of every screen: the keys that matter in the place.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use crate::tui::{
    keymap::{Action, Focus},
    panes::View,
    state::context::Context,
    widgets::paint::{self, columns},
};

/// A key of the footer: how it is shown, what for, and whether it can work now.
struct Hint {
    key: String,
    word: &'static str,
    is_off: bool,
}

impl Hint {
    fn width(&self) -> u16 {
        (columns(&self.key) + 1 + columns(self.word)) as u16
    }
}

/// The hints for a room; where it is scarce, those that cannot work now give way, the last ones first.
fn hints(focus: Focus, top: &dyn View, context: &Context, room: u16) -> Vec<Hint> {
    let bindings = context.keys.bindings(focus).iter();
    let shown = bindings.filter_map(|binding| {
        let key = binding.keys.first().filter(|_| !binding.hint.is_empty())?;
        Some(Hint {
            key: key.shown(),
            word: binding.hint,
            is_off: top.disabled(binding.action, context).is_some(),
        })
    });
    let mut hints: Vec<Hint> = shown.collect();
    let whole = |hints: &[Hint]| hints.iter().map(|hint| hint.width() + 2).sum::<u16>();
    while whole(&hints) > room + 2
        && let Some(at) = hints.iter().rposition(|hint| hint.is_off)
    {
        hints.remove(at);
    }
    hints
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
    for hint in hints(focus, top, context, end.saturating_sub(x)) {
        let width = hint.width();
        if x + width > end {
            break;
        }
        let (key_style, hint_style) = if hint.is_off {
            (theme.dim(), theme.dim())
        } else {
            (theme.key_hint(), Style::new())
        };
        x = paint::text(buffer, x, line.y, width, &hint.key, key_style) + 1;
        x = paint::text(buffer, x, line.y, width, hint.word, hint_style) + 2;
    }
    let at = line.right().saturating_sub(columns(help) as u16 + 1);
    let (key, word) = help.split_once(' ').unwrap_or((help, ""));
    let x = paint::text(buffer, at, line.y, line.width, key, theme.key_hint()) + 1;
    paint::text(buffer, x, line.y, line.width, word, Style::new());
}
