//! Choosing the environment to work in.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
};

use super::View;
use crate::tui::{
    keymap::{Action, Focus},
    state::{
        context::{Context, Navigation},
        message::ProfileIndex,
        navigation::PaneRequest,
    },
    widgets::{boxes::popup, paint, scroll::Cursor},
};

#[derive(Debug)]
pub struct Profiles {
    cursor: Cursor,
}

impl Profiles {
    pub fn new(context: &Context) -> Self {
        Self {
            cursor: Cursor::new(context.current.0),
        }
    }
}

impl View for Profiles {
    fn focus(&self) -> Focus {
        Focus::Profiles
    }

    fn title(&self, _context: &Context) -> String {
        "Profiles".into()
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        if self.cursor.act(action, context.profiles.len(), 0) {
            return;
        }
        match action {
            Action::Enter => {
                context.navigate(Navigation::Pop);
                context.navigate(Navigation::SwitchTo(ProfileIndex(self.cursor.at)));
            }
            Action::Connect => {
                context.navigate(Navigation::Replace(PaneRequest::Connect));
            }
            Action::Back | Action::Profiles => context.navigate(Navigation::Pop),
            _ => {}
        }
    }

    fn disabled(&self, action: Action, context: &Context) -> Option<String> {
        match action {
            Action::Connect if !context.can_connect => Some("not in the demo".into()),
            Action::Refresh => Some("nothing to read".into()),
            _ => None,
        }
    }

    fn is_overlay(&self) -> bool {
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let size = (76, context.profiles.len() as u16 + 2);
        let inner = popup(buffer, area, size, "Profiles", context.theme);
        let height = usize::from(inner.height);
        let first = self.cursor.first(context.profiles.len(), height);
        for (row, (index, profile)) in context
            .profiles
            .iter()
            .enumerate()
            .skip(first)
            .take(height)
            .enumerate()
        {
            let here = index == self.cursor.at;
            let line = paint::row(inner, row as u16);
            let (mark, style) = context.theme.choice(here);
            buffer.set_style(line, style);
            let current = if index == context.current.0 { "*" } else { " " };
            let text = format!(
                "{mark}{current} {:<16} {:<14} {}{}",
                profile.name,
                profile.environment_word(),
                profile.url(),
                if profile.read_only { "  read-only" } else { "" }
            );
            paint::line(buffer, line, &text, style, context.theme);
        }
        None
    }
}
