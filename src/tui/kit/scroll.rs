//! A cursor in a list of rows, and the window of rows around it.

use std::cell::Cell;

#[derive(Debug, Clone, Default)]
pub struct Cursor {
    pub at: usize,
    /// The first row of the window when it was last drawn; only drawing knows how many rows fit.
    top: Cell<usize>,
}

/// Number of rows that stay visible beyond the cursor.
const MARGIN: usize = 2;

impl Cursor {
    pub fn new(at: usize) -> Self {
        Self {
            at,
            top: Cell::default(),
        }
    }

    /// The first row to show in a window of `height` rows; see [`Cursor::first_around`].
    pub fn first(&self, rows: usize, height: usize) -> usize {
        self.first_around(self.at, rows, height)
    }

    /// Like [`Cursor::first`], for a cursor at another index of the drawn rows, for example when there are titles
    /// between them.
    ///
    /// The window moves as little as it can, and only when the cursor comes near its edge: a window that does not move
    /// costs nothing on a slow connection. After a jump further than the window, the cursor is in the middle.
    pub fn first_around(&self, at: usize, rows: usize, height: usize) -> usize {
        if height == 0 {
            return at.min(rows);
        }
        let margin = MARGIN.min((height - 1) / 4);
        let top = self.top.get();
        let near = top.clamp(
            (at + margin + 1).saturating_sub(height),
            at.saturating_sub(margin),
        );
        let moved = if near.abs_diff(top) > height {
            at.saturating_sub(height / 2)
        } else {
            near
        };
        let moved = moved.min(rows.saturating_sub(height));
        self.top.set(moved);
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_moves_only_where_the_cursor_nears_its_edge() {
        let mut cursor = Cursor::default();
        let mut first = |at: usize, rows: usize, height: usize| {
            cursor.at = at;
            cursor.first(rows, height)
        };
        assert_eq!(
            [5, 7, 8, 9, 5, 4, 3].map(|at| first(at, 50, 10)),
            [0, 0, 1, 2, 2, 2, 1]
        );
        // No margin after the last rows, because there are no rows beyond them.
        assert_eq!(
            [49, 47, 42, 41].map(|at| first(at, 50, 10)),
            [40, 40, 40, 39]
        );
        // Fewer rows, a smaller and a larger window: the cursor is visible, and there is no empty space at the end.
        assert_eq!(first(3, 4, 10), 0);
        assert_eq!(first(3, 50, 4), 0);
        assert_eq!(first(30, 50, 11), 25);
        assert_eq!(first(30, 50, 5), 27);
        assert_eq!(first(30, 50, 40), 10);
    }
}
