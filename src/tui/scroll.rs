//! A cursor in a list of so many rows, and the window of rows around it.

use super::keymap::Action;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cursor {
    pub at: usize,
}

/// Rows a page key moves when the height is not known.
const PAGE: usize = 10;

impl Cursor {
    /// Whether the action moves a cursor; it never leaves the rows.
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

    /// The first row to show so that the cursor is in a window of `height` rows, near its middle where possible.
    pub fn first(&self, rows: usize, height: usize) -> usize {
        self.at
            .saturating_sub(height / 2)
            .min(rows.saturating_sub(height))
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
        for at in 0..50 {
            let cursor = Cursor { at };
            let first = cursor.first(50, 7);
            assert!(first <= at && at < first + 7);
        }
    }
}
