//! Words that must be typed before the pane below sends something; a guard of the profile asks for them.

use crossterm::event::KeyEvent;
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
        navigation::Words,
        notices::Severity,
    },
    widgets::{boxes::popup, paint, text_field::TextField, text_page::Sheet},
};

#[derive(Debug)]
pub struct Typed {
    /// What must be typed exactly.
    words: String,
    /// What it confirms, in a line.
    what: String,
    /// Why the guard asks.
    reason: Option<String>,
    field: TextField,
}

impl Typed {
    pub fn asking(asked: Words, desk: &Desk) -> Self {
        let Words {
            words,
            what,
            reason,
        } = asked;
        Self {
            words,
            what,
            reason,
            field: TextField::new("type it", "").with_hint(hint(desk, Focus::ConfirmTyped)),
        }
    }
}

/// What stands below a field for words that must be typed exactly.
pub(super) fn hint(desk: &Desk, focus: Focus) -> String {
    let enter = desk.keys.key(focus, Action::Enter);
    format!("exactly as shown above; then {enter}")
}

impl View for Typed {
    fn focus(&self) -> Focus {
        Focus::ConfirmTyped
    }

    fn title(&self, _desk: &Desk) -> String {
        "Confirm".into()
    }

    fn act(&mut self, action: Action, desk: &mut Desk) {
        match action {
            Action::Enter if self.field.text() == self.words => {
                desk.ask(Ask::Pop);
                desk.ask(Ask::Confirmed);
            }
            Action::Enter => {
                self.field.error = Some("not the same; nothing was sent".into());
            }
            Action::Back => {
                desk.say(Severity::Info, "nothing was sent");
                desk.ask(Ask::Pop);
            }
            _ => {}
        }
    }

    fn input(&mut self, key: KeyEvent, _desk: &mut Desk) {
        self.field.key(key);
        self.field.error = None;
    }

    fn paste(&mut self, text: &str, _desk: &mut Desk) -> bool {
        self.field.paste(text);
        self.field.error = None;
        true
    }

    fn is_overlay(&self) -> bool {
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, desk: &Desk) -> Option<Position> {
        let inner = popup(buffer, area, (76, 10), "Confirm", desk.theme);
        let mut sheet = Sheet::new(inner.width, desk.theme);
        sheet.text(&self.what, Style::new());
        if let Some(reason) = &self.reason {
            sheet.text(&format!("! guard: {reason}"), desk.theme.warning());
        }
        sheet.text(&self.words, desk.theme.title());
        let rows = 2.min(inner.height);
        let top = (sheet.height() as u16 + 1).min(inner.height - rows);
        let page = Rect {
            height: top,
            ..inner
        };
        // Where not all of it fits, its end matters most.
        sheet.draw(buffer, page, sheet.last_scroll(top));
        let field = Rect {
            height: rows,
            ..paint::row(inner, top)
        };
        self.field.draw(buffer, field, desk.theme, true)
    }
}
