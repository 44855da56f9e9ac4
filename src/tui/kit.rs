//! The building blocks of panes. Each holds plain state, handles keys, and draws itself without side effects; none
//! knows keys of the console, operations, profiles or the service.

pub mod boxes;
mod cell_table;
pub mod changes;
pub mod columns;
pub mod form;
pub mod json_editor;
pub mod mapping_table;
pub mod paint;
pub mod properties;
pub mod scroll;
pub mod severity;
pub mod table;
pub mod text_field;
pub mod text_page;

#[cfg(test)]
pub(crate) mod testing;

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
