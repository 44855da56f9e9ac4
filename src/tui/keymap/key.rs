//! A key as a terminal sends it: parsed from its name, compared with a key press, displayed to a person.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::domain::capitalised;

/// Names of keys that are not characters.
const NAMED: [(&str, KeyCode); 16] = [
    ("enter", KeyCode::Enter),
    ("esc", KeyCode::Esc),
    ("tab", KeyCode::Tab),
    ("shift-tab", KeyCode::BackTab),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pgup", KeyCode::PageUp),
    ("pgdn", KeyCode::PageDown),
    ("space", KeyCode::Char(' ')),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
];

/// Arrow keys that are distinguished with Shift.
const SHIFTED: [(&str, KeyCode); 2] = [("shift-up", KeyCode::Up), ("shift-down", KeyCode::Down)];

/// Number of the last function key that terminals send.
const LAST_FUNCTION: u8 = 12;

/// A key with or without Ctrl. Shift only matters with an arrow key: for letters, their case says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    ctrl: bool,
    shift: bool,
}

impl Key {
    /// Parses names such as `j`, `G`, `ctrl-s`, `enter`, `f2`. Returns `None` for keys that terminals do not send, or
    /// do not distinguish from another key.
    pub fn named(name: &str) -> Option<Self> {
        let plain = |code| Self {
            code,
            ctrl: false,
            shift: false,
        };
        if let Some((_, code)) = SHIFTED.iter().find(|(known, _)| *known == name) {
            return Some(Self {
                shift: true,
                ..plain(*code)
            });
        }
        if let Some((_, code)) = NAMED.iter().find(|(known, _)| *known == name) {
            return Some(plain(*code));
        }
        if let Some(letter) = name.strip_prefix("ctrl-") {
            let letter = letter.chars().next().filter(|_| letter.len() == 1)?;
            // Terminals send Ctrl-I and Ctrl-M as Tab and Enter.
            let is_own =
                letter == '_' || letter.is_ascii_lowercase() && !matches!(letter, 'i' | 'm');
            return is_own.then_some(Self {
                ctrl: true,
                ..plain(KeyCode::Char(letter))
            });
        }
        let mut characters = name.chars();
        match (characters.next(), characters.next()) {
            (Some(c), None) if !c.is_whitespace() && !crate::domain::text::is_hidden(c) => {
                Some(plain(KeyCode::Char(c)))
            }
            _ => {
                let number = name.strip_prefix('f')?;
                let number: u8 = number.parse().ok().filter(|_| !number.starts_with('0'))?;
                let is_sent = (1..=LAST_FUNCTION).contains(&number);
                is_sent.then_some(plain(KeyCode::F(number)))
            }
        }
    }

    /// Names to suggest when one was mistyped.
    pub(super) fn names() -> impl Iterator<Item = String> {
        let functions = (1..=LAST_FUNCTION).map(|number| format!("f{number}"));
        let ctrls = ('a'..='z').map(|letter| format!("ctrl-{letter}"));
        NAMED
            .iter()
            .chain(&SHIFTED)
            .map(|(name, _)| (*name).to_owned())
            .chain(functions)
            .chain(["ctrl-_".to_owned()])
            .chain(ctrls.filter(|name| Self::named(name).is_some()))
    }

    /// Whether a key press is this key.
    pub fn is(self, event: KeyEvent) -> bool {
        event.modifiers.contains(KeyModifiers::CONTROL) == self.ctrl
            && !event.modifiers.contains(KeyModifiers::ALT)
            && (!self.shift || event.modifiers.contains(KeyModifiers::SHIFT))
            && (event.code == self.code || self.is_underscore(event.code))
    }

    /// Most terminals send the same code for Ctrl-_ and Ctrl-7.
    fn is_underscore(self, came: KeyCode) -> bool {
        self.ctrl && self.code == KeyCode::Char('_') && came == KeyCode::Char('7')
    }

    /// The event of pressing this key.
    pub fn press(self) -> KeyEvent {
        let modifiers = if self.ctrl {
            KeyModifiers::CONTROL
        } else if self.shift {
            KeyModifiers::SHIFT
        } else {
            KeyModifiers::NONE
        };
        KeyEvent::new(self.code, modifiers)
    }

    /// Whether a text field would insert this key as a character.
    pub fn is_text(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && !self.ctrl
    }

    /// Whether this key edits text; bindings that apply everywhere must leave it to the field.
    pub(super) fn edits(self) -> bool {
        self.is_text()
            || matches!(
                self.code,
                KeyCode::Backspace
                    | KeyCode::Delete
                    | KeyCode::Left
                    | KeyCode::Right
                    | KeyCode::Home
                    | KeyCode::End
                    | KeyCode::Enter
                    | KeyCode::Tab
                    | KeyCode::BackTab
            )
    }

    /// Whether this key is a letter that can serve as a confirmation.
    pub(super) fn is_letter(self) -> bool {
        matches!(self.code, KeyCode::Char(c) if c.is_ascii_alphabetic()) && !self.ctrl
    }

    /// The key as it is displayed: `Ctrl-S`, `Enter`, `F2`, `j`.
    pub fn shown(self) -> String {
        let named = if self.shift { &SHIFTED[..] } else { &NAMED[..] };
        match self.code {
            KeyCode::Char(' ') => "Space".into(),
            KeyCode::Char(c) if self.ctrl => format!("Ctrl-{}", c.to_ascii_uppercase()),
            KeyCode::Char(c) => c.into(),
            KeyCode::F(number) => format!("F{number}"),
            code => named
                .iter()
                .find(|(_, known)| *known == code)
                .map_or_else(String::new, |(name, _)| titled(name)),
        }
    }
}

/// Turns `pgup` into `PgUp`, `shift-tab` into `Shift-Tab`.
fn titled(name: &str) -> String {
    match name {
        "pgup" => "PgUp".into(),
        "pgdn" => "PgDn".into(),
        name => name
            .split('-')
            .map(capitalised)
            .collect::<Vec<String>>()
            .join("-"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_shown_and_recognised() {
        for (name, shown) in [
            ("j", "j"),
            ("G", "G"),
            ("é", "é"),
            ("space", "Space"),
            ("ctrl-s", "Ctrl-S"),
            ("f12", "F12"),
            ("pgdn", "PgDn"),
            ("shift-tab", "Shift-Tab"),
            ("shift-down", "Shift-Down"),
        ] {
            let key = Key::named(name).unwrap_or_else(|| panic!("{name} is a key"));
            assert_eq!(key.shown(), shown);
            assert!(key.is(key.press()), "{name}");
        }
        let upper = KeyEvent::new(KeyCode::Char('S'), KeyModifiers::SHIFT);
        assert!(Key::named("S").expect("a key").is(upper));
        let alt = KeyEvent::new(KeyCode::Char('s'), KeyModifiers::ALT);
        assert!(!Key::named("s").expect("a key").is(alt));
        for name in Key::names() {
            assert!(Key::named(&name).is_some(), "{name}");
        }
    }

    #[test]
    fn what_no_terminal_sends_apart_is_no_key() {
        for name in [
            "", "jj", "ctrl-", "ctrl-S", "ctrl-i", "ctrl-m", "ctrl-é", "f0", "f01", "f13", "alt-x",
            "Enter", "\u{200b}", " ",
        ] {
            assert_eq!(Key::named(name), None, "{name:?}");
        }
    }
}
