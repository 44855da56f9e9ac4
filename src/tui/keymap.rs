//! Which key does what, and where. One table feeds the key presses, the footer and the help, so that a hint is always
//! true. Lower case is safe, upper case is stronger, and no key changes anything at the service without a review.
//!
//! The actions that move a cursor.
//!
//! Other words for the entries of the palette, and what people look for that the service cannot do. The words for actions
//! are in `actions`.
//!
//! The names of actions in the configuration, and of places in messages. They are derived from the enums and the tables,
//! so that anything added there has a name at once.

mod actions;
mod key;
mod opened;
mod rebind;
mod resolved;
mod tables;

pub use actions::Action;
pub use key::Key;
pub use rebind::resolve;
pub use resolved::{Bound, Keymap, Press};
pub use tables::Focus;

use crate::tui::kit::Cursor;

/// One row of a key table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    pub action: Action,
    /// The first key is shown in the footer.
    pub keys: &'static [&'static str],
    /// The text in the footer; empty: not shown there.
    pub hint: &'static str,
    pub help: &'static str,
}

/// The rows of a place, most used first, followed by the ones that apply everywhere.
pub fn bindings(focus: Focus) -> impl Iterator<Item = &'static Binding> {
    focus.rows().chain(everywhere_in(focus))
}

/// The rows of `EVERYWHERE` that have at least one key that is not text in this place.
fn everywhere_in(focus: Focus) -> impl Iterator<Item = &'static Binding> {
    let has_key = move |binding: &&Binding| binding.keys.iter().any(|key| is_key(focus, key));
    allowed_everywhere(focus).filter(has_key)
}

/// The rows of `EVERYWHERE` that this place allows and does not define itself, whatever their keys.
fn allowed_everywhere(focus: Focus) -> impl Iterator<Item = &'static Binding> {
    let own = focus.rows();
    // A letter that is typed at a popup must not open anything else.
    let is_popup = matches!(
        focus,
        Focus::Profiles
            | Focus::CopyMenu
            | Focus::ConfirmKey
            | Focus::PlaceChoice
            | Focus::PlaceNew
            | Focus::PlaceWait
    );
    actions::everywhere().filter(move |binding| {
        (!is_popup || binding.action.is_global())
            && !own.clone().any(|own| own.action == binding.action)
    })
}

/// Whether a key is a command in a place; where text is typed, characters are not.
pub fn is_key(focus: Focus, key: &str) -> bool {
    !(focus.takes_text() && Key::named(key).is_some_and(Key::is_text))
}

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

/// Words that people use for an entry, by the word for its kind.
pub fn of_entry(kind: &str) -> &'static str {
    match kind {
        "sort" => "order column",
        "view" => "saved filter layout apply",
        "mark" => "select tick unselect deselect",
        "profile" => "environment context switch",
        "label" => "tag",
        "theme" => "colour color background",
        _ => "",
    }
}

/// What people look for that the console does not do: what it is, other words for it, and why, or the command that does it.
pub const NOT_HERE: [(&str, &str, &str); 24] = [
    (
        "delete a group",
        "remove destroy drop erase disable block lock deactivate archive",
        "the service cannot; rotate its token to lock it out",
    ),
    (
        "undo a rotation",
        "restore revert old token back",
        "the old token stays invalid",
    ),
    (
        "change the ID of a group",
        "rename id move",
        "the service cannot change an ID",
    ),
    (
        "apply files to the service",
        "apply",
        "run groupdesk apply FILE",
    ),
    ("audit a team directory", "audit", "run groupdesk audit"),
    (
        "back up the directory",
        "backup save dump",
        "run groupdesk directory backup FILE",
    ),
    (
        "completions for your shell",
        "completions completion bash zsh fish",
        "run groupdesk completions SHELL",
    ),
    (
        "settings: edit the configuration",
        "settings setting config configuration preferences options setup apikey",
        "run groupdesk config edit",
    ),
    (
        "copy a group to another profile",
        "copy clone promote",
        "run groupdesk copy ID --to PROFILE",
    ),
    ("demo with sample groups", "demo try", "run groupdesk demo"),
    (
        "compare files with groups",
        "diff compare",
        "run groupdesk diff FILES",
    ),
    (
        "directory: show where it is",
        "directory status database",
        "run groupdesk directory status",
    ),
    (
        "move the directory to a server",
        "migrate move team",
        "run groupdesk directory move",
    ),
    (
        "test the set-up",
        "doctor check diagnose test health status",
        "run groupdesk doctor",
    ),
    (
        "environments: list, rename, merge",
        "environment environments env",
        "run groupdesk environment",
    ),
    (
        "give access to a team directory",
        "grant invite permit",
        "run groupdesk directory grant",
    ),
    (
        "hand off new tokens again",
        "handoff deliver hook deploy",
        "run groupdesk rotations handoff",
    ),
    (
        "import groups from a file",
        "import load upload csv json",
        "run groupdesk import FILE",
    ),
    (
        "lines for a screen reader",
        "reader screenreader accessibility plain",
        "run groupdesk --plain",
    ),
    ("manual page", "man manual", "run groupdesk man"),
    (
        "members of a team directory",
        "members team users roles",
        "run groupdesk directory members",
    ),
    (
        "profiles: rename or remove one",
        "profile profiles",
        "run groupdesk profile",
    ),
    ("run a service here", "serve server", "run groupdesk serve"),
    (
        "version of groupdesk",
        "version release about",
        "run groupdesk version",
    ),
];

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
    fn is_fixed(&self) -> bool {
        self.action == Action::InField && self.keys.len() > 1
    }
}

/// Everything that the configuration can name: each action with its usual keys, and what fields handle themselves.
fn all() -> Vec<&'static Binding> {
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
fn usual(row: &Binding) -> Option<&'static Binding> {
    let mut layers = actions::LAYERS.into_iter().flatten();
    layers.find(|usual| usual.action == row.action)
}

#[cfg(test)]
mod tests {
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::*;

    fn action(focus: Focus, event: KeyEvent) -> Option<Action> {
        match Keymap::default().press(focus, event) {
            Press::Do(action) => Some(action),
            Press::Field(_) | Press::Nothing => None,
        }
    }

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for focus in Focus::ALL {
            let mut seen: Vec<&str> = Vec::new();
            for binding in focus.rows() {
                for key in binding.keys {
                    assert!(!seen.contains(key), "{key} twice in {focus:?}");
                    assert!(Key::named(key).is_some(), "{key} in {focus:?}");
                    seen.push(key);
                }
            }
        }
    }

    #[test]
    fn help_can_be_reached_everywhere() {
        let f1 = KeyEvent::new(KeyCode::F(1), KeyModifiers::NONE);
        for focus in Focus::ALL {
            assert_eq!(action(focus, f1), Some(Action::Help), "{focus:?}");
        }
    }

    #[test]
    fn enter_saves_in_a_form_and_in_a_question_for_a_name() {
        for focus in [Focus::Note, Focus::ViewName, Focus::WritePath] {
            assert!(focus.saves_on_enter(), "{focus:?}");
        }
        for focus in [Focus::Filter, Focus::Open, Focus::List, Focus::Review] {
            assert!(!focus.saves_on_enter(), "{focus:?}");
        }
    }

    #[test]
    fn a_character_is_text_in_a_text_field() {
        let q = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        assert_eq!(action(Focus::List, q), Some(Action::Quit));
        for focus in Focus::ALL.into_iter().filter(|focus| focus.takes_text()) {
            assert_eq!(action(focus, q), None, "{focus:?}");
        }
    }
}

#[cfg(test)]
mod cursor_tests {
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

#[cfg(test)]
mod names_tests {
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
    }

    /// A place can only leave out keys of an action, or add some that move.
    #[test]
    fn an_action_has_the_same_keys_everywhere() {
        let moves: Vec<_> = "enter esc tab shift-tab space up down left right"
            .split(' ')
            .collect();
        let all = all();
        for focus in Focus::ALL {
            for row in focus.rows() {
                let name = row.name();
                let usual = all.iter().find(|usual| usual.name() == name);
                let usual = usual.unwrap_or_else(|| panic!("{name} has no usual keys"));
                for key in row.keys {
                    assert!(Key::named(key).is_some(), "{key} of {name}");
                    let is_usual = usual.keys.contains(key) || moves.contains(key);
                    assert!(is_usual, "{key} of {name} in {focus:?}");
                }
            }
        }
    }
}
