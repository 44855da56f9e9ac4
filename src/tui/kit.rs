//! The building blocks of panes. Each holds plain state, handles keys, and draws itself without side effects; none
//! knows keys of the console, operations, profiles or the service.
//!
//! A cursor in a list of rows, and the window of rows around it.
//!
//! The severity of a message: its sign, how long it stays in the line, and whether it must be read.

pub mod boxes;
pub mod columns;
pub mod form;
pub mod json_editor;
pub mod paint;
pub mod pairs;
pub mod table;
#[cfg(test)]
pub(crate) mod testing;
pub mod text_field;
pub mod text_page;

pub use self::{
    boxes::{
        FlightLine, body, choice, draw_waiting, flight_style, page, page_room, popup, rule_end,
        severity_style, side_by_side, titled, titled_rows, with_details, words_that_fit,
        write_waiting,
    },
    columns::{Cell, Column, widest},
    form::{Form, Input},
    paint::{below, split_below, take},
    pairs::{MappingTable, PastedPairs, PropertiesField, PropertiesFocus},
    table::{Gutter, Hidden},
    text_field::{TextField, did_not_fit},
    text_page::{ChangeTarget, TextPage},
};

use std::cell;

use jiff::SignedDuration;
use ratatui::crossterm::event::{KeyEvent, KeyEventKind, KeyModifiers};

/// How a widget reacted to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// Not a key of this widget, or no effect here; the pane may use it.
    Ignored,
    /// The cursor or focus has moved; the content is unchanged.
    Moved,
    /// The content has changed.
    Changed,
    /// A key of this widget that has no effect, for example because the field is full.
    Refused,
}

impl Reaction {
    fn moved(moved: bool) -> Self {
        if moved { Self::Moved } else { Self::Ignored }
    }

    fn changed(changed: bool) -> Self {
        if changed {
            Self::Changed
        } else {
            Self::Refused
        }
    }
}

/// The keys that hints about rows mention, as they are displayed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowKeys {
    pub add: String,
    /// Removes a row, or restores a removed one.
    pub drop: String,
}

/// Whether the key types a character, with no Control, Alt or Super held.
pub(super) fn is_plain(key: KeyEvent) -> bool {
    key.kind != KeyEventKind::Release && key.modifiers.difference(KeyModifiers::SHIFT).is_empty()
}

#[derive(Debug, Clone, Default)]
pub struct Cursor {
    pub at: usize,
    /// The first row of the window when it was last drawn; only drawing knows how many rows fit.
    top: cell::Cell<usize>,
}

/// Number of rows that stay visible beyond the cursor.
const MARGIN: usize = 2;

impl Cursor {
    pub fn new(at: usize) -> Self {
        Self {
            at,
            top: cell::Cell::default(),
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

/// Ordered from less to more severe; the sign carries the same meaning without colour (docs/design/console.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Why a key did nothing; only of interest until the next key.
    Refused,
    Info,
    Done,
    Warning,
    /// Somebody else changed something.
    News,
    Error,
    /// An outcome that is not known yet.
    Unknown,
}

impl Severity {
    pub fn of_warning(is_alarm: bool) -> Self {
        if is_alarm { Self::Error } else { Self::Warning }
    }

    /// Its sign, its word for reading aloud, and how many seconds it stays in the line; `None`: until the next key.
    fn facts(self) -> (char, &'static str, Option<i64>) {
        match self {
            Self::Refused => ('!', "warning", None),
            Self::Info => ('i', "info", Some(6)),
            Self::Done => ('+', "done", Some(8)),
            Self::Warning => ('!', "warning", Some(15)),
            Self::News => ('~', "news", Some(15)),
            Self::Error => ('x', "error", Some(15)),
            Self::Unknown => ('?', "unknown", Some(30)),
        }
    }

    pub fn sign(self) -> char {
        self.facts().0
    }

    /// The severity as a word, for reading aloud.
    pub fn word(self) -> &'static str {
        self.facts().1
    }

    /// How long it stays in the line; `None`: until the next key.
    pub fn stays(self) -> Option<SignedDuration> {
        self.facts().2.map(SignedDuration::from_secs)
    }

    /// Whether it counts as unread, because perhaps nobody was there while it was shown.
    pub fn must_be_read(self) -> bool {
        self >= Self::Error
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
