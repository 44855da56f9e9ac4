//! The input of forms, separate from the panes that show them.
//!
//! The form for a new profile: its fields, and what is wrong with the input.

pub mod group;

use std::path::{Path, PathBuf};

use crate::{
    config::{
        Environment,
        address::DEFAULT_PATH,
        new_profile::{Field, NewProfile},
        profile::KeySource,
    },
    domain::{EnvironmentTag, Token},
    intake::command,
    tui::kit::{Form, TextField},
};

/// Width of the longest label, in cells.
pub(crate) const LABELS: u16 = 14;

/// One row of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectRow {
    Name,
    BaseUrl,
    Path,
    Environment,
    Source,
    /// What names the source: one field per source, so that looking at another one loses no input.
    Variable,
    File,
    Command,
    Entry,
    /// An API key to store in the keyring, masked.
    Key,
    /// Certificate authorities in addition to those of the system; may stay empty.
    CaFile,
}

/// The tag that the profile expects.
const ENVIRONMENTS: &[(&str, &str)] = &[
    (
        "Customer",
        "production: responses must be tagged Customer; changes need stronger confirmation",
    ),
    ("Testing", "responses must be tagged Testing"),
    ("not set", "any tag is accepted; counts as production"),
];

const SOURCE_HINT: &str = "Space or the arrows choose; no key is written to the file";
const SOURCES: &[(&str, &str)] = &[
    ("variable", SOURCE_HINT),
    ("file", SOURCE_HINT),
    ("command", SOURCE_HINT),
    ("kernel keyring", SOURCE_HINT),
];
/// The rows of the sources, in this order.
const OF_SOURCE: [ConnectRow; 4] = [
    ConnectRow::Variable,
    ConnectRow::File,
    ConnectRow::Command,
    ConnectRow::Entry,
];

/// The rows in their order: label, initial text, hint.
#[rustfmt::skip] // A table: one row per line.
const FIELDS: [(ConnectRow, &str, &str, &str); 11] = [
    (ConnectRow::Name, "profile name", "", "a short name, for example eu-live"),
    (ConnectRow::BaseUrl, "base URL", "", "for example https://api.example.com"),
    (ConnectRow::Path, "path", DEFAULT_PATH, "usually unchanged; some services need a slash at the end"),
    (ConnectRow::Environment, "environment", "", ""),
    (ConnectRow::Source, "API key from", "", ""),
    (ConnectRow::Variable, "variable", "", "the name of an environment variable that contains the key, not the key itself"),
    (ConnectRow::File, "file", "", "a file only you can read (chmod 600); the key is its first line"),
    (ConnectRow::Command, "command", "", "its first line is the key; no shell: pass show eu-live"),
    (ConnectRow::Entry, "entry name", "", "a name for the entry; empty: the name of the profile"),
    (ConnectRow::Key, "API key", "", ""),
    (ConnectRow::CaFile, "CA file", "", "PEM: extra CA certificates; usually empty"),
];

#[derive(Debug, Clone)]
pub struct ConnectForm(pub(crate) Form<ConnectRow>);

impl Default for ConnectForm {
    fn default() -> Self {
        let row = |form: Form<_>, (row, label, text, hint)| match row {
            ConnectRow::Environment => {
                form.choice(row, label, ENVIRONMENTS, ENVIRONMENTS.len() - 1)
            }
            ConnectRow::Source => form.choice(row, label, SOURCES, 0),
            ConnectRow::Key => form.text(row, label, key_field()),
            _ => form.text(row, label, TextField::new("", text).with_hint(hint)),
        };
        let mut form = Self(FIELDS.into_iter().fold(Form::default(), row));
        form.show_source();
        form
    }
}

fn key_field() -> TextField {
    TextField::secret("").with_hint("paste the key; empty if the keyring has it")
}

impl ConnectForm {
    /// The row of the chosen source.
    fn source(&self) -> ConnectRow {
        OF_SOURCE[self.0.chosen(ConnectRow::Source)]
    }

    pub(crate) fn is_of_keyring(&self) -> bool {
        self.source() == ConnectRow::Entry
    }

    /// Shows the rows of the chosen source; called after every key.
    pub(crate) fn show_source(&mut self) {
        let source = self.source();
        for row in OF_SOURCE {
            self.0.show(row, row == source);
        }
        self.0.show(ConnectRow::Key, source == ConnectRow::Entry);
    }

    /// Shows at the field that is left what is wrong with it; `names` are those of the profiles that there are. What is missing,
    /// and what depends on files, is said when the connection is tested.
    pub(crate) fn check_left<'n>(&mut self, mut names: impl Iterator<Item = &'n str>) {
        let row = self.0.key();
        let text = self.0.typed(row).trim().to_owned();
        let wrong = match row {
            _ if text.is_empty() => None,
            ConnectRow::Name if names.any(|name| name == text) => {
                Some("a profile with this name already exists; choose another name".to_owned())
            }
            ConnectRow::Command => command::words(&text).err().map(str::to_owned),
            ConnectRow::Name | ConnectRow::BaseUrl | ConnectRow::Path | ConnectRow::Variable => {
                let mut alone = NewProfile {
                    name: "name".into(),
                    base_url: "https://example.com".into(),
                    path: None,
                    environment: None,
                    api_key: KeySource::Env("KEY".into()),
                    read_only: false,
                    ca_file: None,
                };
                match row {
                    ConnectRow::Name => alone.name = text,
                    ConnectRow::BaseUrl => alone.base_url = text,
                    ConnectRow::Path => alone.path = Some(text),
                    _ => alone.api_key = KeySource::Env(text),
                }
                let checked = alone.check(Path::new("/"), &Environment::default());
                checked
                    .err()
                    .and_then(|problems| Some(problems.into_iter().next()?.1))
            }
            _ => None,
        };
        if let (Some(field), Some(wrong)) = (self.0.field(), wrong) {
            field.error = Some(wrong);
        }
    }

    /// Returns the input as a profile; `None` when something is missing, which is then shown at its field.
    pub(crate) fn wanted(&mut self) -> Option<NewProfile> {
        let source = self.source();
        let needed = [
            (ConnectRow::Name, "enter a name"),
            (ConnectRow::BaseUrl, "enter the base URL"),
            (source, "enter the source of the API key"),
        ];
        let form = &self.0;
        let is_missing = |row| row != ConnectRow::Entry && form.typed(row).trim().is_empty();
        let missing = needed.into_iter().filter(|(row, _)| is_missing(*row));
        let missing: Vec<_> = missing.map(|(row, why)| (row, why.to_owned())).collect();
        if !missing.is_empty() {
            self.0.refuse(missing);
            return None;
        }
        let argv = match command::words(self.0.typed(ConnectRow::Command)) {
            Err(why) if source == ConnectRow::Command => {
                self.0.refuse([(source, why.to_owned())]);
                return None;
            }
            argv => argv.unwrap_or_default(),
        };
        let trimmed = |row| self.0.typed(row).trim().to_owned();
        let filled = |row| Some(trimmed(row)).filter(|text| !text.is_empty());
        let (name, place) = (trimmed(ConnectRow::Name), trimmed(source));
        Some(NewProfile {
            base_url: trimmed(ConnectRow::BaseUrl),
            path: filled(ConnectRow::Path),
            environment: match self.0.typed(ConnectRow::Environment) {
                "Customer" => Some(EnvironmentTag::Customer),
                "Testing" => Some(EnvironmentTag::Testing),
                _ => None,
            },
            api_key: match source {
                ConnectRow::Variable => KeySource::Env(place),
                ConnectRow::File => KeySource::File(PathBuf::from(place)),
                ConnectRow::Command => KeySource::Command(argv),
                _ if place.is_empty() => KeySource::Keyring(name.clone()),
                _ => KeySource::Keyring(place),
            },
            read_only: false,
            ca_file: filled(ConnectRow::CaFile).map(PathBuf::from),
            name,
        })
    }

    /// Returns the pasted API key, when the source is the keyring.
    pub(crate) fn key(&self) -> Option<Token> {
        let key = self.0.typed(ConnectRow::Key).trim();
        (self.is_of_keyring() && !key.is_empty()).then(|| Token::new(key.to_owned()))
    }

    /// Returns the input without the API key; `None` when nothing was typed.
    pub(crate) fn without_key(&self) -> Option<Self> {
        let typed = [ConnectRow::Name, ConnectRow::BaseUrl].map(|row| self.0.typed(row));
        if typed.iter().all(|text| text.is_empty()) {
            return None;
        }
        let mut kept = self.clone();
        if let Some(field) = kept.0.field_of(ConnectRow::Key) {
            *field = key_field();
        }
        Some(kept)
    }

    /// Shows each problem at its field and moves to the first; returns the problems that belong to no field.
    pub(crate) fn take_problems(&mut self, problems: &[(Option<Field>, String)]) -> Vec<String> {
        let source = self.source();
        let mut rest = Vec::new();
        let mut at_fields = Vec::new();
        for (field, what) in problems {
            let row = match field {
                Some(Field::Name) => ConnectRow::Name,
                Some(Field::BaseUrl) => ConnectRow::BaseUrl,
                Some(Field::Path) => ConnectRow::Path,
                Some(Field::ApiKey) => source,
                Some(Field::CaFile) => ConnectRow::CaFile,
                Some(Field::Environment) | None => {
                    rest.push(what.clone());
                    continue;
                }
            };
            at_fields.push((row, what.clone()));
        }
        self.0.refuse(at_fields);
        rest
    }
}
