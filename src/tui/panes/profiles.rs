//! Which environment to work in.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::View;
use crate::tui::{
    keymap::{Action, Focus},
    state::{
        context::{Ask, Desk},
        message::ProfileIndex,
        navigation::Opening,
    },
    widgets::{boxes::popup, paint, scroll::Cursor},
};

#[derive(Debug)]
pub struct Profiles {
    cursor: Cursor,
}

impl Profiles {
    pub fn new(desk: &Desk) -> Self {
        Self {
            cursor: Cursor::new(desk.current.0),
        }
    }
}

impl View for Profiles {
    fn focus(&self) -> Focus {
        Focus::Profiles
    }

    fn title(&self, _desk: &Desk) -> String {
        "Profiles".into()
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        if self.cursor.act(action, desk.profiles.len(), 0) {
            return;
        }
        match action {
            Action::Enter => {
                desk.ask(Ask::Pop);
                desk.ask(Ask::SwitchTo(ProfileIndex(self.cursor.at)));
            }
            Action::Connect => {
                desk.ask(Ask::Replace(Opening::Connect));
            }
            Action::Back | Action::Profiles => desk.ask(Ask::Pop),
            _ => {}
        }
    }

    fn disabled(&self, action: Action, desk: &Desk) -> Option<String> {
        match action {
            Action::Connect if !desk.can_connect => Some("not in the demo".into()),
            Action::Refresh => Some("nothing to read".into()),
            _ => None,
        }
    }

    fn is_overlay(&self) -> bool {
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        let size = (76, desk.profiles.len() as u16 + 2);
        let inner = popup(buffer, area, size, "Profiles", desk.theme);
        let height = usize::from(inner.height);
        let first = self.cursor.first(desk.profiles.len(), height);
        for (row, (index, profile)) in desk
            .profiles
            .iter()
            .enumerate()
            .skip(first)
            .take(height)
            .enumerate()
        {
            let here = index == self.cursor.at;
            let style = if here {
                desk.theme.cursor_row()
            } else {
                Style::new()
            };
            let line = paint::row(inner, row as u16);
            buffer.set_style(line, style);
            let mark = if here { '>' } else { ' ' };
            let current = if index == desk.current.0 { "*" } else { " " };
            let text = format!(
                "{mark}{current} {:<16} {:<14} {}{}",
                profile.name,
                profile.environment_word(),
                profile.url(),
                if profile.read_only { "  read-only" } else { "" }
            );
            paint::line(buffer, line, &text, style, desk.theme);
        }
        None
    }
}
