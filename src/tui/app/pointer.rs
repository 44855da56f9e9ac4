//! The mouse: it moves the cursor, focuses panes, sorts, clicks harmless keys of the footer, and opens what is clicked
//! twice. No click confirms, sends or rotates.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::App;
use crate::tui::{
    keymap::{Action, Focus},
    page::{Click, footer},
};

/// Maximum time between two clicks on a row that count as a double click, in milliseconds.
const DOUBLE_CLICK_MS: i128 = 400;

impl App {
    pub(super) fn mouse(&mut self, event: MouseEvent) {
        if self.leaving.is_some() {
            return;
        }
        let at = Position::new(event.column, event.row);
        let (action, times) = footer::moves(self.top(), &self.context, event);
        let pane = self.stack.last_mut().expect("the bottom pane stays");
        let pane = pane.view_mut();
        match event.kind {
            MouseEventKind::ScrollDown | MouseEventKind::ScrollUp => {
                for _ in 0..times {
                    if !pane.wheel(at, action, &mut self.context) {
                        return self.repeat(action, times);
                    }
                }
            }
            MouseEventKind::Down(MouseButton::Left) => {
                if let Some(action) = footer::clicked(at, self.top(), &self.context) {
                    return self.press(action);
                }
                let pane = self.stack.last_mut().expect("the bottom pane stays");
                let pane = pane.view_mut();
                let click = pane.click(at, &mut self.context);
                if click == Click::Elsewhere {
                    self.repeat(action, times);
                }
                self.open_on_second(at, click == Click::Row);
            }
            _ => {}
        }
    }

    /// Repeats the action, if the place has it at all.
    fn repeat(&mut self, action: Action, times: usize) {
        let focus = self.top().focus();
        let mut known = self.context.keys.bindings(focus).iter();
        if known.any(|bound| bound.action == action) {
            for _ in 0..times {
                self.act(action);
            }
        }
    }

    /// A second click on a row of the list opens it, as Enter does.
    fn open_on_second(&mut self, at: Position, is_row: bool) {
        let now = self.context.now;
        let before = self.last_click.take().filter(|(place, then)| {
            let apart = now.as_millisecond() - then.as_millisecond();
            let is_there = place.y == at.y && place.x.abs_diff(at.x) <= 1;
            is_there && i128::from(apart) <= DOUBLE_CLICK_MS
        });
        if !is_row || self.top().focus() != Focus::List {
            return;
        }
        if before.is_some() {
            self.act(Action::Enter);
        } else {
            self.last_click = Some((at, now));
        }
    }
}
