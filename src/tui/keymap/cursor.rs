//! The actions that move a cursor.

use super::Action;
use crate::tui::kit::scroll::Cursor;

/// Rows per page key if the height is not known.
const PAGE: usize = 10;

impl Cursor {
    /// Moves the cursor, within the rows; returns whether it is an action that moves one.
    pub fn act(&mut self, action: Action, rows: usize, page: usize) -> bool {
        let page = if page == 0 { PAGE } else { page };
        let last = rows.saturating_sub(1);
        let to = match action {
            Action::Up => self.at.saturating_sub(1),
            Action::Down => self.at + 1,
            Action::Top => 0,
            Action::Bottom => last,
            Action::PageUp => self.at.saturating_sub(page),
            Action::PageDown => self.at + page,
            _ => return false,
        };
        self.at = to.min(last);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_stays_within_the_rows_and_the_window_around_it() {
        let mut cursor = Cursor::default();
        for action in [Action::Down, Action::PageDown, Action::Bottom, Action::Down] {
            cursor.act(action, 5, 3);
            assert!(cursor.at < 5);
        }
        assert!(!cursor.act(Action::Enter, 5, 3));
        cursor.act(Action::Down, 0, 3);
        assert_eq!(cursor.at, 0);
        for height in 0..12 {
            let mut cursor = Cursor::default();
            for at in [0, 3, 9, 10, 11, 49, 48, 40, 2, 25, 0] {
                cursor.at = at;
                let first = cursor.first(50, height);
                assert!(first <= at && at < first + height.max(1), "{height}: {at}");
            }
        }
    }
}
