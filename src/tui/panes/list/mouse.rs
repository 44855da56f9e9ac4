//! The mouse in the list: a click on a column title sorts, a click on a pane focuses it, and the wheel scrolls what is
//! under the pointer.

use ratatui::layout::Position;

use super::{
    List,
    columns::sort_of,
    view::{self, Places},
};
use crate::tui::{
    keymap::Action,
    kit::{paint, table},
    panes::Click,
    state::context::Context,
};

impl List {
    pub(super) fn clicked(&mut self, at: Position, context: &mut Context) -> Click {
        let places = view::on_screen(self, context);
        if places.details.is_some_and(|area| area.contains(at)) {
            self.in_details = true;
            return Click::Taken;
        }
        self.in_details = false;
        let header = table::after_flags(paint::row(places.rows, 0));
        if header.contains(at) {
            self.sort_by_click(&places, at);
            return Click::Taken;
        }
        if !places.rows.contains(at) {
            return Click::Nothing;
        }
        let height = usize::from(places.rows.height.saturating_sub(1));
        let rows = self.finder.shown().len();
        let first = self.cursor.first(rows, height);
        let row = first + usize::from(at.y - places.rows.y).saturating_sub(1);
        if at.y == places.rows.y || row >= rows {
            return Click::Nothing;
        }
        self.cursor.at = row;
        self.on = self.id();
        Click::Row
    }

    fn sort_by_click(&mut self, places: &Places, at: Position) {
        let header = table::after_flags(paint::row(places.rows, 0));
        let column = places.layout.layout.at(header, at.x);
        let Some(sort) = column.and_then(|column| sort_of(&places.layout.columns[column])) else {
            return;
        };
        let is_again = self.finder.sort == sort && !self.finder.is_ranked();
        self.finder.reverse = is_again && !self.finder.reverse;
        self.finder.best_first = false;
        self.finder.sort = sort;
    }

    /// Scrolls the details if the pointer is over them; returns whether it is.
    pub(super) fn wheeled(&mut self, at: Position, action: Action, context: &mut Context) -> bool {
        let places = view::on_screen(self, context);
        if !places.details.is_some_and(|area| area.contains(at)) {
            return false;
        }
        self.in_details = true;
        let lines = self.detail_lines(context);
        self.detail_scroll.act(action, lines, 0);
        true
    }
}
