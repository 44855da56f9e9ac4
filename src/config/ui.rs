//! The appearance and behaviour of the console at this installation: colours by role, the mouse, the plain mode, and
//! which actions get other keys. Only the console knows actions and keys; here they are names with their line numbers.

use serde::Deserialize;
use toml::Value;

use super::{
    error::meant,
    kind::{DefaultValue::Words, Kind, Setting, setting},
    name::nearest,
    scrub::shown,
    table::{Checked, Entry, Position, Problems, entries_of},
};
use crate::domain::word_enum::word_enum;

/// Settings that only the console uses. All of them are optional.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UiSettings {
    /// Append lines instead of drawing a screen; for screen readers.
    pub plain: bool,
    /// The wheel moves the cursor, and a click selects a row.
    pub mouse: bool,
    pub ground: Background,
    /// Colours that replace the default ones.
    pub colours: Vec<(Role, Colour)>,
}

/// The base set of colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Background {
    /// Not configured: detected from the terminal's background.
    #[default]
    #[serde(skip)]
    Asked,
    /// The 16 named colours of the terminal's palette.
    Terminal,
    /// Fixed colours that are readable on a light background.
    Light,
    /// Fixed colours that are readable on a dark background.
    Dark,
}

/// A terminal colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// The terminal's default colour.
    Default,
    /// One of the 16 named colours: 0 black to 7 gray, 8 dark-gray to 15 white.
    Named(u8),
    /// One of the 256 indexed colours.
    Index(u8),
    Rgb(u8, u8, u8),
}

/// The roles, each with its name in the file and its meaning.
macro_rules! roles {
    ($($role:ident = $name:literal: $meaning:literal,)+) => {
        word_enum! {
            /// What a colour stands for, by its name in the file.
            pub enum Role { $($role = $name,)+ }
        }

        /// `[theme]`.
        pub(super) const THEME: &[Setting] = &[
            setting(
                "theme",
                "base",
                Kind::one_of("\"terminal\", \"light\" or \"dark\"", "\"light\""),
                Words("detected from the terminal's background"),
                "the 16 colours of the terminal, or fixed colours for a light or dark background",
            ),
            $(setting("theme", $name, COLOUR, Words("by base"), $meaning),)+
        ];
    };
}

roles! {
    Production = "production": "the word PRODUCTION",
    Testing = "testing": "the word TESTING",
    Changed = "changed": "what a change replaces",
    Added = "added": "what a change adds",
    Removed = "removed": "what a change removes",
    Error = "error": "what failed",
    Warning = "warning": "warnings",
    Ok = "ok": "success",
    Unknown = "unknown": "an unknown result",
    Key = "key": "a key in the footer or the help",
    Matched = "matched": "text that matches the filter",
    JsonKey = "json_key": "keys of a JSON object",
    JsonString = "json_string": "JSON strings",
    JsonValue = "json_value": "numbers, true, false and null",
    Dim = "dim": "secondary text",
    Focus = "focus": "border and title of the active pane",
    Cursor = "cursor": "background of the selected row",
    Mark = "mark": "marked rows",
    Heading = "heading": "column titles, labels of details",
    AgeDue = "age_due": "a token in the last sixth of its age limit",
    AgeOver = "age_over": "a token that is overdue",
    AgeFar = "age_far": "a token older than twice its age limit",
    News = "news": "changes made by others",
    Info = "info": "a plain message",
    Label = "label": "labels and favourites",
    Backdrop = "backdrop": "background behind a dialogue",
}

const COLOUR: Kind = Kind::new("colour", "\"light-blue\"", |_, value| {
    colour(value).map(drop)
});

#[rustfmt::skip]
const NAMES: [&str; 16] = [
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "gray",
    "dark-gray", "light-red", "light-green", "light-yellow", "light-blue", "light-magenta", "light-cyan", "white",
];

impl UiSettings {
    /// Takes the colours of a table without problems.
    pub(super) fn set_theme(&mut self, theme: &Checked) {
        let base = theme.value("base").cloned();
        self.ground = base
            .and_then(|base| base.try_into().ok())
            .unwrap_or_default();
        let colours = Role::ALL.into_iter().filter_map(|role| {
            let colour = colour(theme.value(role.as_str())?).ok()?;
            Some((role, colour))
        });
        self.colours = colours.collect();
    }
}

fn colour(value: &Value) -> Result<Colour, String> {
    const FORMS: &str =
        "must be a name such as \"light-blue\", \"#rrggbb\", or a number from 0 to 255";
    if let Some(integer) = value.as_integer() {
        return u8::try_from(integer)
            .map(Colour::Index)
            .map_err(|_| FORMS.to_owned());
    }
    let Some(text) = value.as_str() else {
        return Err(format!("{FORMS}, but is of type {}", value.type_str()));
    };
    if text == "default" {
        return Ok(Colour::Default);
    }
    if let Some(index) = NAMES.iter().position(|name| *name == text) {
        return Ok(Colour::Named(index as u8));
    }
    if let Some(digits) = text.strip_prefix('#')
        && digits.len() == 6
        && let Ok(number) = u32::from_str_radix(digits, 16)
        && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    {
        let [_, red, green, blue] = number.to_be_bytes();
        return Ok(Colour::Rgb(red, green, blue));
    }
    match nearest(text, NAMES) {
        Some(near) => Err(format!(
            "is not a colour: \"{}\"{}",
            shown(text),
            meant(Some(near))
        )),
        None => Err(FORMS.to_owned()),
    }
}

/// `name = ["key", …]` below `[keys]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyOverride {
    pub name: String,
    pub at: Position,
    /// As written. An empty list removes the binding.
    pub keys: Vec<(String, Position)>,
    /// It is a table, as `[keys.list]` was.
    pub is_table: bool,
}

pub(super) const KEYS: &[Setting] = &[setting(
    "keys",
    "ACTION",
    Kind::new("list of keys", "[\"T\"]", |_, _| Ok(())),
    Words("see Keys"),
    "other keys for an action, on every screen; the help (?) shows its name",
)];

/// All key bindings, in file order.
pub(super) fn read_keys(keys: &Entry, problems: &mut Problems) -> Vec<KeyOverride> {
    let table = "keys must be a table: put [keys] on its own line";
    let actions = entries_of(keys, table, problems).into_iter();
    actions
        .filter_map(|action| key_of(&action, problems))
        .collect()
}

fn key_of(action: &Entry, problems: &mut Problems) -> Option<KeyOverride> {
    let is_table = action.value.get_ref().is_table();
    let keys = action.value.get_ref().as_array().and_then(|array| {
        let keys = array.iter().map(|item| {
            let spot = problems.position(item.span().start);
            Some((item.get_ref().as_str()?.to_owned(), spot))
        });
        keys.collect::<Option<Vec<_>>>()
    });
    let Some(keys) = keys.or(is_table.then(Vec::new)) else {
        problems.add(
            action.key_at,
            "an action has a list of keys, such as [\"T\"] or [\"q\", \"ctrl-q\"]",
        );
        return None;
    };
    Some(KeyOverride {
        name: action.key.to_owned(),
        at: problems.position(action.key_at),
        keys,
        is_table,
    })
}
