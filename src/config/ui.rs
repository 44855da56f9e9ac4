//! The appearance and behaviour of the console at this installation: colours by role, the mouse, the plain mode.

use toml::de::DeValue;

use super::{
    error::meant,
    name::nearest,
    scrub::shown,
    toml_reader::{Problems, Section, Spanned},
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Background {
    /// Not configured: detected from the terminal's background.
    #[default]
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

word_enum! {
    /// What a colour stands for, by its name in the file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Role {
        Production = "production",
        Testing = "testing",
        Changed = "changed",
        Added = "added",
        Removed = "removed",
        Error = "error",
        Warning = "warning",
        Ok = "ok",
        Unknown = "unknown",
        Key = "key",
        Matched = "matched",
        JsonKey = "json_key",
        JsonString = "json_string",
        JsonValue = "json_value",
        Dim = "dim",
        Focus = "focus",
        Cursor = "cursor",
        Mark = "mark",
        Heading = "heading",
        AgeDue = "age_due",
        AgeOver = "age_over",
        AgeFar = "age_far",
        News = "news",
        Info = "info",
        Label = "label",
        Backdrop = "backdrop",
    }
}

const NAMES: [&str; 16] = [
    "black",
    "red",
    "green",
    "yellow",
    "blue",
    "magenta",
    "cyan",
    "gray",
    "dark-gray",
    "light-red",
    "light-green",
    "light-yellow",
    "light-blue",
    "light-magenta",
    "light-cyan",
    "white",
];

pub(super) fn read_ui(top: &mut Section, problems: &mut Problems) -> UiSettings {
    let plain = top.flag("plain", false, problems);
    let mouse = top.flag("mouse", false, problems);
    let (ground, colours) = match top.value("theme") {
        None => (Background::default(), Vec::new()),
        Some(Spanned {
            value: DeValue::Table(table),
            ..
        }) => theme(Section::of(table), problems),
        Some(Spanned { at, .. }) => {
            let what = "theme must be a table; write [theme] on a line of its own";
            problems.add(at, what);
            (Background::default(), Vec::new())
        }
    };
    UiSettings {
        plain,
        mouse,
        ground,
        colours,
    }
}

fn theme(mut section: Section, problems: &mut Problems) -> (Background, Vec<(Role, Colour)>) {
    let ground = match section.text("base", "light", problems) {
        None => Background::default(),
        Some(Spanned { at, value }) => ground(value).unwrap_or_else(|what| {
            problems.add(at, what);
            Background::default()
        }),
    };
    let mut colours = Vec::new();
    for role in Role::ALL {
        let name = role.as_str();
        let Some(Spanned { at, value }) = section.value(name) else {
            continue;
        };
        match colour(value) {
            Ok(colour) => colours.push((role, colour)),
            Err(what) => problems.add(at, format!("{name} {what}")),
        }
    }
    section.finish(problems, |_, _| None);
    (ground, colours)
}

fn ground(text: &str) -> Result<Background, String> {
    match text {
        "terminal" => Ok(Background::Terminal),
        "light" => Ok(Background::Light),
        "dark" => Ok(Background::Dark),
        _ => Err(format!(
            "base must be \"terminal\", \"light\" or \"dark\"{}",
            meant(nearest(text, ["terminal", "light", "dark"]))
        )),
    }
}

fn colour(value: &DeValue<'_>) -> Result<Colour, String> {
    const FORMS: &str =
        "must be a name such as \"light-blue\", \"#rrggbb\", or a number from 0 to 255";
    if let Some(integer) = value.as_integer() {
        let index = u8::from_str_radix(integer.as_str(), integer.radix());
        return index.map(Colour::Index).map_err(|_| FORMS.to_owned());
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
