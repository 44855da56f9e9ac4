//! The numbered pages: they replace each other, so that Esc on one of them leaves one thing.

use super::{App, commands::holds_something};
use crate::tui::{keymap::Action, panes::Pane};

impl App {
    /// The page that is open: of the things on the screen, the last that is one. `None` while there is no profile.
    pub fn page(&self) -> Option<Action> {
        self.stack.iter().rev().find_map(Pane::page)
    }

    /// Opens a page in place of the one that is open. What has input, asks something or shows a token stays below.
    pub(super) fn open_page(&mut self, action: Action) {
        let is_of_page = |pane: &&Pane| pane.page().is_some() || !Self::keeps(pane);
        let above = self.stack[1..].iter().rev().take_while(is_of_page);
        let above: Vec<bool> = above.map(|pane| pane.page().is_some()).collect();
        let closed = above.iter().rposition(|is_page| *is_page);
        for _ in 0..closed.map_or(0, |lowest| lowest + 1) {
            if let Some(mut pane) = self.stack.pop() {
                pane.view_mut().leave(&mut self.context);
            }
        }
        if let Some(page) = Pane::open_page(action, &mut self.context) {
            self.stack.push(page);
        }
    }

    fn keeps(pane: &Pane) -> bool {
        let view = pane.view();
        let is_asking = view.is_overlay() || view.confirm().is_some();
        holds_something(pane) || is_asking || view.focus().takes_text()
    }
}
