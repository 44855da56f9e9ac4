//! The names of actions in the configuration, and of places in messages. They are derived from the enums and the tables,
//! so that anything added there has a name at once.

use super::{Action, Binding, Focus, actions};

/// Names, by help text and first key, of keys that fields handle, where the words do not tell them apart.
const FIELD_NAMES: [(&str, &str, &str); 12] = [
    ("remove / restore row", "D", "drop"),
    ("remove / restore property", "D", "drop"),
    ("save the cell", "enter", "keep_cell"),
    ("cancel editing the cell", "esc", "cancel_cell"),
    ("change type", "right", "other_type"),
    ("save the type", "enter", "keep_type"),
    ("cancel the change of the type", "esc", "cancel_type"),
    ("move", "up", "move_between_cells"),
    ("page, first or last row", "pgup", "a_page_or_to_an_end"),
    ("choose another", "space", "choose_another"),
    ("undo", "ctrl-_", "undo_typing"),
    ("redo", "ctrl-y", "redo_typing"),
];

/// Turns `EditMapping` into `edit_mapping`.
fn snake(camel: &str) -> String {
    let mut snake = String::with_capacity(camel.len() + 4);
    for (at, c) in camel.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

impl Focus {
    /// The name in messages, for example `edit_mapping`.
    pub fn name(self) -> String {
        snake(&format!("{self:?}"))
    }

    /// The name in words, for example `edit mapping`.
    pub fn words(self) -> String {
        self.name().replace('_', " ")
    }
}

impl Binding {
    /// The name of the action in the configuration. A key that a field handles is named after its hint.
    pub fn name(&self) -> String {
        match self.action {
            Action::InField => {
                let mut named = FIELD_NAMES.iter();
                let own = named.find(|(help, key, _)| *help == self.help && self.keys[0] == *key);
                if let Some((_, _, name)) = own {
                    return (*name).to_owned();
                }
                let words = if self.hint.is_empty() {
                    self.help
                } else {
                    self.hint
                };
                words.to_ascii_lowercase().replace(' ', "_")
            }
            action => snake(&format!("{action:?}")),
        }
    }

    /// A field with several keys tells them apart itself, so none of them can be replaced.
    pub(super) fn is_fixed(&self) -> bool {
        self.action == Action::InField && self.keys.len() > 1
    }
}

/// Everything that the configuration can name: each action with its usual keys, and what fields handle themselves.
pub(super) fn all() -> Vec<&'static Binding> {
    let layers = actions::LAYERS.into_iter().flatten();
    let fields = Focus::ALL.into_iter().flat_map(Focus::rows);
    let mut all: Vec<&Binding> = layers.collect();
    for row in fields.filter(|row| row.action == Action::InField) {
        if all.iter().all(|other| other.name() != row.name()) {
            all.push(row);
        }
    }
    all
}

/// The row of [`all`] for the action of a row.
pub(super) fn usual(row: &Binding) -> Option<&'static Binding> {
    let mut layers = actions::LAYERS.into_iter().flatten();
    layers.find(|usual| usual.action == row.action)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::keymap::Key;

    #[test]
    fn names_are_unique() {
        let all = all();
        let names: Vec<String> = all.iter().map(|row| row.name()).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(!names[..at].contains(name), "{name} twice");
            let is_plain = |c: char| c.is_ascii_lowercase() || c == '_';
            assert!(name.chars().all(is_plain), "{name}");
        }
        assert_eq!(Focus::BulkRun.words(), "bulk run");
    }

    /// A place can only leave out keys of an action, or add some that move.
    #[test]
    fn an_action_has_the_same_keys_everywhere() {
        const MOVES: [&str; 9] = [
            "enter",
            "esc",
            "tab",
            "shift-tab",
            "space",
            "up",
            "down",
            "left",
            "right",
        ];
        let all = all();
        for focus in Focus::ALL {
            for row in focus.rows() {
                let name = row.name();
                let usual = all.iter().find(|usual| usual.name() == name);
                let usual = usual.unwrap_or_else(|| panic!("{name} has no usual keys"));
                for key in row.keys {
                    assert!(Key::named(key).is_some(), "{key} of {name}");
                    let is_usual = usual.keys.contains(key) || MOVES.contains(key);
                    assert!(is_usual, "{key} of {name} in {focus:?}");
                }
            }
        }
    }
}
