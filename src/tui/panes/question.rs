//! A question in a box above the pane that asks it: what will be lost or sent, and the key or the words that confirm it.

use ratatui::{
    buffer::Buffer,
    layout::{Position, Rect},
    style::Style,
};

use super::View;
use crate::tui::{
    ExitReason,
    keymap::{Action, Focus},
    kit::confirm::Confirm,
    state::{
        context::{Context, Navigation},
        navigation::{Asked, Then},
    },
    widgets::{boxes::popup, text_page::TextPage},
};

const WIDTH: u16 = 76;
/// Columns and rows of the box around the text.
const FRAME: (u16, u16) = (4, 2);

#[derive(Debug)]
pub struct Question(pub(super) Box<Asked>);

impl View for Question {
    fn focus(&self) -> Focus {
        self.0.confirm.focus()
    }

    fn title(&self, _context: &Context) -> String {
        self.0.title.into()
    }

    fn act(&mut self, action: Action, context: &mut Context) {
        if action == Action::Back {
            if self.0.then == Then::Below {
                context.mention("Nothing was changed");
            }
            context.navigate(Navigation::Pop);
        }
    }

    fn disabled(&self, action: Action, _context: &Context) -> Option<String> {
        match action {
            Action::Refresh => Some("nothing to read".into()),
            action => self.0.confirm.disabled(action),
        }
    }

    fn confirm(&self) -> Option<&Confirm> {
        Some(&self.0.confirm)
    }

    fn confirm_mut(&mut self) -> Option<&mut Confirm> {
        Some(&mut self.0.confirm)
    }

    fn carry_out(&mut self, context: &mut Context) {
        context.navigate(Navigation::Pop);
        context.navigate(match self.0.then {
            Then::Below => Navigation::Confirmed,
            Then::Quit => Navigation::Leave(ExitReason::Asked),
        });
    }

    fn is_overlay(&self) -> bool {
        true
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let (keys, theme) = (&context.keys, context.theme);
        let Asked { text, confirm, .. } = &*self.0;
        let width = WIDTH.min(area.width).saturating_sub(FRAME.0);
        let mut page = TextPage::new(width, theme);
        page.text(text, Style::new());
        let rows = page.height() as u16 + 1 + confirm.rows(width, keys, theme, None);
        let size = (WIDTH, rows + FRAME.1);
        let inner = popup(buffer, area, size, self.0.title, theme);
        confirm.draw_below(&page, None, (buffer, inner), (keys, theme), None)
    }
}
