//! How strongly a change asks before it is sent (console.md, "Confirmation").

use crate::config::profile::Profile;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Enter on the focused button.
    Button,
    /// The key `y`; Enter does nothing.
    Key,
    /// The group id, typed.
    Typed,
}

/// For an edit or a creation.
pub fn of_change(profile: &Profile) -> Level {
    if profile.production {
        Level::Key
    } else {
        Level::Button
    }
}

/// For the rotation of one token.
pub fn of_rotation(profile: &Profile) -> Level {
    if profile.production {
        Level::Typed
    } else {
        Level::Key
    }
}
