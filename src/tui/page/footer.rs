//! The keys in the last line and their positions, used to draw them and to find the one that was clicked.

use ratatui::layout::{Position, Rect};

use crate::tui::{
    keymap::{Action, Focus},
    kit::paint::columns,
    page::view::View,
    state::context::Context,
};

/// A key in the footer: how it is displayed, and what it does.
pub struct Hint {
    pub key: String,
    pub word: &'static str,
    /// The first column of the hint.
    pub x: u16,
    action: Action,
}

impl Hint {
    fn width(&self) -> u16 {
        (columns(&self.key) + 1 + columns(self.word)) as u16
    }

    /// Whether the key is a lower-case letter or a sign, and its action is harmless. Dangerous actions have capitals in
    /// key or word, except for confirmations and the hand-off, which are excluded here.
    fn can_be_clicked(&self) -> bool {
        let mut letters = self.key.chars();
        let is_small =
            matches!((letters.next(), letters.next()), (Some(one), None) if !one.is_uppercase());
        let is_strong = matches!(self.action, Action::Confirm | Action::HandOff);
        is_small && !is_strong && !self.word.contains(char::is_uppercase)
    }
}

/// The keys that work now and fit to the left of the help key; the help lists the others, with the reason why they do
/// not work.
pub fn hints(line: Rect, focus: Focus, top: &dyn View, context: &Context) -> Vec<Hint> {
    let end = help_at(line, focus, context).saturating_sub(1);
    let mut x = line.x + 1;
    let bindings = context.keys.bindings(focus).iter();
    let shown = bindings.filter_map(|binding| {
        let key = binding.keys.first().filter(|_| !binding.hint.is_empty())?;
        let works = top.disabled(binding.action, context).is_none();
        works.then(|| Hint {
            key: key.shown(),
            word: top.hint(binding.action, context).unwrap_or(binding.hint),
            x: 0,
            action: binding.action,
        })
    });
    let placed = shown.map_while(|hint| {
        let at = x;
        x += hint.width() + 2;
        (at + hint.width() <= end).then_some(Hint { x: at, ..hint })
    });
    placed.collect()
}

/// The key for help: always last, never cut off.
pub fn help(focus: Focus, context: &Context) -> String {
    format!("{} help", context.keys.key(focus, Action::Help))
}

/// The first column of the help key.
pub fn help_at(line: Rect, focus: Focus, context: &Context) -> u16 {
    let width = columns(&help(focus, context)) as u16;
    line.right().saturating_sub(width + 1)
}

/// The action for a click on the last line of the console. Never one that confirms, sends or rotates.
pub fn clicked(at: Position, top: &dyn View, context: &Context) -> Option<Action> {
    let (width, height) = context.size;
    let line = Rect::new(0, height.saturating_sub(1), width, 1);
    if at.y != line.y {
        return None;
    }
    let focus = top.focus();
    if (help_at(line, focus, context)..line.right()).contains(&at.x) {
        return Some(Action::Help);
    }
    let mut hints = hints(line, focus, top, context).into_iter();
    let hint = hints.find(|hint| (hint.x..hint.x + hint.width()).contains(&at.x))?;
    hint.can_be_clicked().then_some(hint.action)
}
