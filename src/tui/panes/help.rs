//! Every action of a place with its key and, where it is not possible, why; type to find, Enter does it. Help and palette
//! are one.

use crossterm::event::KeyEvent;
use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::View;
use crate::tui::{
    desk::{Ask, Desk},
    frame::popup,
    keymap::{self, Action, Focus},
    messages::Severity,
    scroll::Cursor,
    widgets::{paint, text_field::TextField},
};

#[derive(Debug, Clone)]
struct Line {
    action: Action,
    keys: String,
    help: &'static str,
    /// Why it is not possible now.
    off: Option<String>,
}

#[derive(Debug)]
pub struct Help {
    /// The place the help is about.
    about: String,
    /// Enter there may send something.
    confirms: bool,
    lines: Vec<Line>,
    typed: TextField,
    cursor: Cursor,
}

impl Help {
    pub fn about(view: &dyn View, desk: &Desk) -> Self {
        let focus = view.focus();
        let lines = keymap::bindings(focus)
            .map(|binding| Line {
                action: binding.action,
                keys: binding
                    .keys
                    .iter()
                    .filter(|key| keymap::is_key(focus, key))
                    .map(|key| keymap::shown(key))
                    .collect::<Vec<_>>()
                    .join(" "),
                help: binding.help,
                off: view.disabled(binding.action, desk),
            })
            .collect();
        Self {
            about: view.title(desk),
            confirms: matches!(
                focus,
                Focus::Review
                    | Focus::ReviewKey
                    | Focus::ConfirmTyped
                    | Focus::RotateCheck
                    | Focus::RotateTyped
            ),
            lines,
            typed: TextField::new("find", ""),
            cursor: Cursor::default(),
        }
    }

    fn found(&self) -> Vec<&Line> {
        let typed = self.typed.text().to_lowercase();
        self.lines
            .iter()
            .filter(|line| {
                typed.split_whitespace().all(|word| {
                    let off = line.off.as_deref().unwrap_or_default();
                    let text = format!("{} {off}", line.help).to_lowercase();
                    text.contains(word)
                        || line.keys.to_lowercase().split(' ').any(|key| key == word)
                })
            })
            .collect()
    }
}

impl View for Help {
    fn focus(&self) -> Focus {
        Focus::Help
    }

    fn title(&self, _desk: &Desk) -> String {
        "Help".into()
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        let rows = self.found().len();
        if self.cursor.act(action, rows, usize::from(desk.size.1 / 2)) {
            return;
        }
        match action {
            Action::Enter => {
                let chosen = self.found().get(self.cursor.at).map(|line| line.action);
                desk.ask(Ask::Pop);
                match chosen {
                    // A confirmation is asked for by its key alone; Enter in a list must never be one.
                    Some(action)
                        if action == Action::Confirm
                            || (self.confirms && action == Action::Enter) =>
                    {
                        desk.say(
                            Severity::Info,
                            "nothing was done: press the key itself to confirm",
                        );
                    }
                    Some(Action::InField) => {
                        desk.say(Severity::Info, "press the key itself, in the field");
                    }
                    Some(action) => desk.ask(Ask::Press(action)),
                    None => {}
                }
            }
            Action::Back | Action::Help => desk.ask(Ask::Pop),
            _ => {}
        }
    }

    fn input(&mut self, key: KeyEvent, _desk: &mut Desk) {
        self.typed.key(key);
        self.cursor.at = 0;
    }

    fn paste(&mut self, text: &str, _desk: &mut Desk) -> bool {
        self.typed.paste(text);
        true
    }

    fn is_overlay(&self) -> bool {
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        let size = (76, (self.lines.len() as u16 + 4).min(area.height));
        let title = format!("Keys: {}", self.about);
        let inner = popup(buffer, area, size, &title, desk.theme);
        let cursor = self
            .typed
            .draw(buffer, paint::row(inner, 0), desk.theme, true);
        let rows = Rect {
            y: inner.y + 1,
            height: inner.height.saturating_sub(1),
            ..inner
        };
        let found = self.found();
        let first = self.cursor.first(found.len(), usize::from(rows.height));
        for (index, line) in found
            .iter()
            .skip(first)
            .take(usize::from(rows.height))
            .enumerate()
        {
            let here = first + index == self.cursor.at;
            let style = match (here, &line.off) {
                (true, _) => desk.theme.cursor_row(),
                (false, Some(_)) => desk.theme.dim(),
                (false, None) => Style::new(),
            };
            let row = paint::row(rows, index as u16);
            buffer.set_style(row, style);
            let mark = if here { '>' } else { ' ' };
            let text = match &line.off {
                Some(why) => {
                    // The reason is what matters; it is never cut for the help.
                    let taken = 24 + paint::columns(why);
                    let room = usize::from(row.width).saturating_sub(taken);
                    let help = paint::cut(line.help, room, desk.theme);
                    format!("{mark} {:<18} {help} ({why})", line.keys)
                }
                None => format!("{mark} {:<18} {}", line.keys, line.help),
            };
            paint::line(buffer, row, &text, style, desk.theme);
        }
        cursor
    }
}
