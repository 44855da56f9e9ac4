//! A question in a box above the pane that asks it: what will be lost or sent, and the key or the words that confirm it.

use super::prelude::*;
use crate::tui::{
    page::prompt::{box_page, draw_box},
    state::{Asked, ExitReason, Then},
};

const WIDTH: u16 = 76;

#[derive(Debug)]
pub struct Question(pub(super) Box<Asked>);

impl Question {
    /// What would be lost by quitting has changed, or nothing would be any more.
    pub fn follow_losses(&mut self, losses: Option<String>) {
        if self.0.then == Then::Quit {
            self.0.text = losses.map_or("Nothing is lost.".into(), |losses| format!("{losses}."));
        }
    }
}

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
            context.close_pane();
        }
    }

    fn disabled(&self, action: Action, _context: &Context) -> Option<String> {
        self.0.confirm.disabled(action)
    }

    fn confirm(&self) -> Option<&Confirm> {
        Some(&self.0.confirm)
    }

    fn confirm_mut(&mut self) -> Option<&mut Confirm> {
        Some(&mut self.0.confirm)
    }

    fn carry_out(&mut self, context: &mut Context) {
        context.close_pane();
        context.navigate(match self.0.then {
            Then::Below => Navigation::Confirmed,
            Then::Quit => Navigation::Leave(ExitReason::Asked),
        });
    }

    fn draw(&self, buffer: &mut Buffer, area: Rect, context: &Context) -> Option<Position> {
        let Asked { text, confirm, .. } = &*self.0;
        let mut page = box_page(WIDTH, area, context.theme);
        page.text(text, Style::new());
        let title = (self.0.title, WIDTH);
        draw_box(&page, confirm, title, (buffer, area), context)
    }
}
