//! The pieces that panes are made of. Each holds plain state, answers keys, and draws itself purely; none knows an
//! operation, a profile or the service.

pub mod boxes;
mod cell_table;
pub mod changes;
pub mod columns;
pub mod group_details;
pub mod json_editor;
pub mod mapping_table;
pub mod paint;
pub mod properties;
pub mod scroll;
pub mod table;
pub mod text_field;
pub mod text_page;
pub mod time_format;

#[cfg(test)]
pub(crate) mod testing;

use ratatui::crossterm::event::{KeyEvent, KeyEventKind, KeyModifiers};

/// What a key did to a widget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// Not a key of this widget, or nowhere to go; the pane may use it.
    Ignored,
    /// Cursor or focus moved; the content is the same.
    Moved,
    /// The content is another one.
    Changed,
    /// A key of this widget that cannot be obeyed, for example because the field is full.
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

/// The keys that rows under a cursor name where they say what to do, as they are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowKeys {
    pub add: String,
    /// It also brings back what was dropped.
    pub drop: String,
}

/// Whether the key types a character: no Control, Alt or Super held.
fn is_plain(key: KeyEvent) -> bool {
    key.kind != KeyEventKind::Release && key.modifiers.difference(KeyModifiers::SHIFT).is_empty()
}
