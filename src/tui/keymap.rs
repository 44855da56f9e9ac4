//! Which key does what, and where. One table feeds the key presses, the footer and the help, so that a hint is always
//! true. Lower case is safe, upper case is stronger, and no key changes anything at the service without a review.

mod actions;
mod cursor;
mod key;
mod names;
mod places;
mod rebind;
mod resolved;
pub mod synonyms;
mod tables;

pub use actions::Action;
pub use key::Key;
pub use rebind::resolve;
pub use resolved::{Bound, Keymap, Press};
pub use tables::Focus;

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
    actions::EVERYWHERE.iter().filter(move |binding| {
        (!is_popup || binding.action.is_global())
            && !own.clone().any(|own| own.action == binding.action)
    })
}

/// Whether a key is a command in a place; where text is typed, characters are not.
pub fn is_key(focus: Focus, key: &str) -> bool {
    !(focus.takes_text() && Key::named(key).is_some_and(Key::is_text))
}

/// A key as it is displayed: `Ctrl-S`, `Enter`, `F2`, `j`.
pub fn shown(key: &str) -> String {
    Key::named(key).map_or_else(|| key.into(), Key::shown)
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
    fn a_character_is_text_in_a_text_field() {
        let q = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        assert_eq!(action(Focus::List, q), Some(Action::Quit));
        for focus in Focus::ALL.into_iter().filter(|focus| focus.takes_text()) {
            assert_eq!(action(focus, q), None, "{focus:?}");
        }
    }

    #[test]
    fn shift_is_told_by_the_letter() {
        let upper = KeyEvent::new(KeyCode::Char('S'), KeyModifiers::SHIFT);
        assert_eq!(action(Focus::List, upper), Some(Action::SortReverse));
        assert_eq!(shown("ctrl-s"), "Ctrl-S");
        assert_eq!(shown("pgdn"), "PgDn");
    }
}
