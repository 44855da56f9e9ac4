//! Which key means what, where. One table feeds the keys themselves, the footer and the help, so that a hint cannot lie.
//! Lower case is safe, upper case is stronger, and no key here changes anything at the service without a review.

mod tables;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Where keys go now; derived from the panes in one place ([`super::panes::Pane::focus`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Focus {
    Welcome,
    ConnectField,
    ConnectChoice,
    /// The connection is tested, or was.
    ConnectCheck,
    List,
    Filter,
    Group,
    EditName,
    EditMapping,
    EditCell,
    EditProperties,
    Review,
    /// A review that asks for the key `y`.
    ReviewKey,
    /// Words that a guard wants typed.
    ConfirmTyped,
    Result,
    Token,
    RotateReason,
    RotateCheck,
    RotateTyped,
    RotateRunning,
    RotateResult,
    WritePath,
    History,
    Open,
    Help,
    Profiles,
    Messages,
    CopyMenu,
    Rotations,
    AbandonReason,
    Whose,
    WhoseFound,
    /// A bulk rotation that is checked, or cannot be begun.
    BulkCheck,
    BulkReason,
    BulkTyped,
    BulkRun,
}

impl Focus {
    pub const ALL: [Self; 36] = [
        Self::Welcome,
        Self::ConnectField,
        Self::ConnectChoice,
        Self::ConnectCheck,
        Self::List,
        Self::Filter,
        Self::Group,
        Self::EditName,
        Self::EditMapping,
        Self::EditCell,
        Self::EditProperties,
        Self::Review,
        Self::ReviewKey,
        Self::ConfirmTyped,
        Self::Result,
        Self::Token,
        Self::RotateReason,
        Self::RotateCheck,
        Self::RotateTyped,
        Self::RotateRunning,
        Self::RotateResult,
        Self::WritePath,
        Self::History,
        Self::Open,
        Self::Help,
        Self::Profiles,
        Self::Messages,
        Self::CopyMenu,
        Self::Rotations,
        Self::AbandonReason,
        Self::Whose,
        Self::WhoseFound,
        Self::BulkCheck,
        Self::BulkReason,
        Self::BulkTyped,
        Self::BulkRun,
    ];

    /// Characters are text here, not commands.
    pub fn takes_text(self) -> bool {
        match self {
            Self::ConnectField
            | Self::Filter
            | Self::EditName
            | Self::EditCell
            | Self::EditProperties
            | Self::ConfirmTyped
            | Self::RotateReason
            | Self::RotateTyped
            | Self::WritePath
            | Self::Open
            | Self::Help
            | Self::AbandonReason
            | Self::Whose
            | Self::BulkReason
            | Self::BulkTyped => true,
            Self::Welcome
            | Self::ConnectChoice
            | Self::ConnectCheck
            | Self::List
            | Self::Group
            | Self::EditMapping
            | Self::Review
            | Self::ReviewKey
            | Self::Result
            | Self::Token
            | Self::RotateCheck
            | Self::RotateRunning
            | Self::RotateResult
            | Self::History
            | Self::Profiles
            | Self::Messages
            | Self::CopyMenu
            | Self::Rotations
            | Self::WhoseFound
            | Self::BulkCheck
            | Self::BulkRun => false,
        }
    }
}

/// A wish of the person, named; what the palette lists and the configuration will rebind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    Help,
    Back,
    Quit,
    Cancel,
    Suspend,
    Redraw,
    Profiles,
    Groups,
    History,
    Rotations,
    Whose,
    Refresh,
    CopyMenu,
    Messages,
    OpenOrCreate,
    Filter,
    Up,
    Down,
    Top,
    Bottom,
    PageUp,
    PageDown,
    Enter,
    Detail,
    Edit,
    Token,
    Sort,
    SortReverse,
    NextField,
    PreviousField,
    NextProblem,
    Review,
    Confirm,
    Unchanged,
    Rotate,
    Mark,
    MarkAll,
    RotateMarked,
    Pause,
    Stop,
    FailedOnly,
    RetryFailed,
    Abandon,
    Reveal,
    WriteFile,
    HandOff,
    Demo,
    /// A new profile.
    Connect,
    /// The focused widget takes the key itself; listed so that footer and help know of it.
    InField,
}

impl Action {
    /// It concerns the console as such, not what is shown in it.
    fn is_of_the_frame(self) -> bool {
        matches!(
            self,
            Self::Help
                | Self::Back
                | Self::Quit
                | Self::Cancel
                | Self::Suspend
                | Self::Redraw
                | Self::Profiles
        )
    }
}

/// One line of a table.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    pub action: Action,
    /// The first one is shown in the footer.
    pub keys: &'static [&'static str],
    /// For the footer; empty: not shown there.
    pub hint: &'static str,
    pub help: &'static str,
}

/// The bindings of a place, most used first, then the ones that hold everywhere.
pub fn bindings(focus: Focus) -> impl Iterator<Item = &'static Binding> {
    let here = tables::here(focus);
    let own = here.clone();
    // A letter typed at a popup must not open something else.
    let is_popup = matches!(focus, Focus::Profiles | Focus::CopyMenu);
    let everywhere = tables::everywhere().filter(move |binding| {
        (!is_popup || binding.action.is_of_the_frame())
            && !own.clone().any(|own| own.action == binding.action)
            && binding.keys.iter().any(|key| is_key(focus, key))
    });
    here.chain(everywhere)
}

/// What a key press means in a place.
pub fn action(focus: Focus, event: KeyEvent) -> Option<Action> {
    bindings(focus)
        .find(|binding| {
            binding
                .keys
                .iter()
                .filter(|key| is_key(focus, key))
                .any(|key| matches(key, event))
        })
        .map(|binding| binding.action)
}

/// Whether a key is a command in a place; where text is taken, a character is none.
pub fn is_key(focus: Focus, key: &str) -> bool {
    !(focus.takes_text() && is_text(key))
}

/// A key that a text field would take as a character.
fn is_text(key: &str) -> bool {
    key.chars().count() == 1
}

/// Whether a key press is the one written as `j`, `G`, `ctrl-s`, `enter`, `f2`.
fn matches(name: &str, event: KeyEvent) -> bool {
    let (ctrl, name) = match name.strip_prefix("ctrl-") {
        Some(rest) => (true, rest),
        None => (false, name),
    };
    if event.modifiers.contains(KeyModifiers::CONTROL) != ctrl
        || event.modifiers.contains(KeyModifiers::ALT)
    {
        return false;
    }
    match (name, event.code) {
        ("enter", KeyCode::Enter)
        | ("esc", KeyCode::Esc)
        | ("tab", KeyCode::Tab)
        | ("shift-tab", KeyCode::BackTab)
        | ("up", KeyCode::Up)
        | ("down", KeyCode::Down)
        | ("left", KeyCode::Left)
        | ("right", KeyCode::Right)
        | ("home", KeyCode::Home)
        | ("end", KeyCode::End)
        | ("pgup", KeyCode::PageUp)
        | ("pgdn", KeyCode::PageDown)
        | ("space", KeyCode::Char(' ')) => true,
        (name, KeyCode::F(number)) => name == format!("f{number}"),
        (name, KeyCode::Char(c)) => is_text(name) && name.starts_with(c),
        _ => false,
    }
}

/// A key as it is shown: `Ctrl-S`, `Enter`, `F2`, `j`.
pub fn shown(key: &str) -> String {
    match key {
        "pgup" => "PgUp".into(),
        "pgdn" => "PgDn".into(),
        key if is_text(key) => key.into(),
        key => key
            .split('-')
            .map(|part| {
                let mut letters = part.chars();
                letters.next().map_or_else(String::new, |first| {
                    first.to_uppercase().chain(letters).collect()
                })
            })
            .collect::<Vec<String>>()
            .join("-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for focus in Focus::ALL {
            let mut seen: Vec<&str> = Vec::new();
            for binding in tables::here(focus) {
                for key in binding.keys {
                    assert!(!seen.contains(key), "{key} twice in {focus:?}");
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
