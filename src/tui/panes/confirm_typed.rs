//! Words that must be typed before the pane below sends something; required by a guard of the profile.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::View;
use crate::tui::{
    keymap::{Action, Focus},
    state::{
        context::{Context, Navigation},
        navigation::ConfirmationWords,
    },
    widgets::{boxes::popup, paint, text_field::TextField, text_page::TextPage},
};

#[derive(Debug)]
pub struct ConfirmTyped {
    /// The exact words.
    words: String,
    /// What they confirm, in one line.
    what: String,
    /// Why the guard requires them.
    reason: Option<String>,
    field: TextField,
}

impl ConfirmTyped {
    pub fn new(asked: ConfirmationWords, context: &Context) -> Self {
        let ConfirmationWords {
            words,
            what,
            reason,
        } = asked;
        Self {
            words,
            what,
            reason,
            field: TextField::new("type it", "")
                .for_data()
                .with_hint(hint(context, Focus::ConfirmTyped)),
        }
    }
}

/// The hint below a field for words that must be typed exactly.
pub(super) fn hint(context: &Context, focus: Focus) -> String {
    let enter = context.keys.key(focus, Action::Enter);
    format!("exactly as shown above; then {enter}")
}

impl View for ConfirmTyped {
    fn focus(&self) -> Focus {
        Focus::ConfirmTyped
    }

    fn title(&self, _context: &Context) -> String {
        "Confirm".into()
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        match action {
            Action::Enter if self.field.text() == self.words => {
                context.navigate(Navigation::Pop);
                context.navigate(Navigation::Confirmed);
            }
            Action::Enter => {
                self.field.error = Some("Text differs; nothing was sent".into());
            }
            Action::Back => {
                context.mention("Nothing was sent");
                context.navigate(Navigation::Pop);
            }
            _ => {}
        }
    }

    fn field(&mut self) -> Option<&mut TextField> {
        Some(&mut self.field)
    }

    fn is_overlay(&self) -> bool {
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let inner = popup(buffer, area, (76, 10), "Confirm", context.theme);
        let mut page = TextPage::new(inner.width, context.theme);
        page.text(&self.what, Style::new());
        if let Some(reason) = &self.reason {
            page.text(&format!("! guard: {reason}"), context.theme.warning());
        }
        page.text(&self.words, context.theme.title());
        let rows = 2.min(inner.height);
        let top = (page.height() as u16 + 1).min(inner.height - rows);
        let page_area = Rect {
            height: top,
            ..inner
        };
        // If not all of it fits, the end matters most.
        page.draw(buffer, page_area, page.last_scroll(top));
        let field = Rect {
            height: rows,
            ..paint::row(inner, top)
        };
        self.field.draw(buffer, field, context.theme, true)
    }
}
