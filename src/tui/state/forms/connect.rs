//! The form for a new profile: its fields, which of them has the focus, and what is wrong with the input.

use std::path::PathBuf;

use crossterm::event::{KeyCode, KeyEvent};

use crate::{
    config::{
        address::DEFAULT_PATH,
        new_profile::{Field, NewProfile},
        profile::KeySource,
    },
    domain::{group::EnvironmentTag, token::Token},
    tui::kit::text_field::TextField,
};

/// Width of the longest label, in cells.
const LABELS: u16 = 14;

/// One line of the form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectRow {
    Name,
    BaseUrl,
    Path,
    Environment,
    KeySourceChoice,
    /// The variable, the file, the command, or the name in the keyring: one field per [`KeySourceChoice`].
    Place,
    /// An API key to store in the keyring, masked.
    Key,
    /// Certificate authorities in addition to those of the system; may stay empty.
    CaFile,
}

/// Where the API key comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeySourceChoice {
    Variable,
    File,
    Command,
    Keyring,
}

impl KeySourceChoice {
    pub(crate) const ALL: [Self; 4] = [Self::Variable, Self::File, Self::Command, Self::Keyring];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Variable => "variable",
            Self::File => "file",
            Self::Command => "command",
            Self::Keyring => "kernel keyring",
        }
    }
}

/// The choices for the environment: the tag that the profile expects.
pub(crate) const ENVIRONMENTS: [&str; 3] = ["Customer", "Testing", "not set"];

#[derive(Debug, Clone)]
pub struct ConnectForm {
    pub(crate) name: TextField,
    pub(crate) base_url: TextField,
    pub(crate) path: TextField,
    /// Index into [`ENVIRONMENTS`].
    pub(crate) environment: usize,
    pub(crate) source: KeySourceChoice,
    /// One field per source, so that looking at another source loses no input.
    pub(crate) places: [TextField; 4],
    pub(crate) key: TextField,
    pub(crate) ca_file: TextField,
    pub(crate) row: ConnectRow,
}

impl Default for ConnectForm {
    fn default() -> Self {
        let field = |label: &str, text: &str, hint: &str| {
            TextField::new(label, text)
                .with_label_width(LABELS)
                .with_hint(hint)
        };
        Self {
            name: field(
                "profile name",
                "",
                "a short name of your own, for example eu-live",
            ),
            base_url: field("base URL", "", "for example https://api.example.com"),
            path: field(
                "path",
                DEFAULT_PATH,
                "usually unchanged; some services need a slash at the end",
            ),
            environment: ENVIRONMENTS.len() - 1,
            source: KeySourceChoice::Variable,
            places: [
                field(
                    "variable",
                    "",
                    "the name of an environment variable that contains the key, not the key itself",
                ),
                field(
                    "file",
                    "",
                    "a file only you can read (chmod 600); the key is its first line",
                ),
                field(
                    "command",
                    "",
                    "its first line is the key; no shell: pass show eu-live",
                ),
                field(
                    "entry name",
                    "",
                    "a name for the entry; empty: the name of the profile",
                ),
            ],
            key: TextField::secret("API key")
                .with_label_width(LABELS)
                .with_hint("paste the key; empty if the keyring has it"),
            ca_file: field("CA file", "", "PEM: extra CA certificates; usually empty"),
            row: ConnectRow::Name,
        }
    }
}

impl ConnectForm {
    pub(crate) fn rows(&self) -> Vec<ConnectRow> {
        let mut rows = vec![
            ConnectRow::Name,
            ConnectRow::BaseUrl,
            ConnectRow::Path,
            ConnectRow::Environment,
            ConnectRow::KeySourceChoice,
            ConnectRow::Place,
        ];
        if self.source == KeySourceChoice::Keyring {
            rows.push(ConnectRow::Key);
        }
        rows.push(ConnectRow::CaFile);
        rows
    }

    pub(crate) fn is_on_text(&self) -> bool {
        !matches!(
            self.row,
            ConnectRow::Environment | ConnectRow::KeySourceChoice
        )
    }

    /// Moves to the next or previous row, wrapping around.
    pub(crate) fn go(&mut self, forward: bool) {
        let rows = self.rows();
        let here = rows.iter().position(|row| *row == self.row).unwrap_or(0);
        let step = if forward { 1 } else { rows.len() - 1 };
        self.row = rows[(here + step) % rows.len()];
    }

    pub(crate) fn field(&self, row: ConnectRow) -> Option<&TextField> {
        match row {
            ConnectRow::Name => Some(&self.name),
            ConnectRow::BaseUrl => Some(&self.base_url),
            ConnectRow::Path => Some(&self.path),
            ConnectRow::Place => Some(&self.places[self.source as usize]),
            ConnectRow::Key => Some(&self.key),
            ConnectRow::CaFile => Some(&self.ca_file),
            ConnectRow::Environment | ConnectRow::KeySourceChoice => None,
        }
    }

    pub(crate) fn field_mut(&mut self, row: ConnectRow) -> Option<&mut TextField> {
        match row {
            ConnectRow::Name => Some(&mut self.name),
            ConnectRow::BaseUrl => Some(&mut self.base_url),
            ConnectRow::Path => Some(&mut self.path),
            ConnectRow::Place => Some(&mut self.places[self.source as usize]),
            ConnectRow::Key => Some(&mut self.key),
            ConnectRow::CaFile => Some(&mut self.ca_file),
            ConnectRow::Environment | ConnectRow::KeySourceChoice => None,
        }
    }

    pub(crate) fn input(&mut self, key: KeyEvent) {
        if let Some(field) = self.field_mut(self.row) {
            field.key(key);
            field.error = None;
            return;
        }
        let back = key.code == KeyCode::Left;
        let turned = |at: usize, count: usize| (at + if back { count - 1 } else { 1 }) % count;
        match self.row {
            ConnectRow::Environment => {
                self.environment = turned(self.environment, ENVIRONMENTS.len());
            }
            _ => {
                self.source =
                    KeySourceChoice::ALL[turned(self.source as usize, KeySourceChoice::ALL.len())];
            }
        }
    }

    /// Returns whether the current row has a field to paste into.
    pub(crate) fn paste(&mut self, text: &str) -> bool {
        let Some(field) = self.field_mut(self.row) else {
            return false;
        };
        field.paste(text.trim());
        field.error = None;
        true
    }

    /// Returns the input as a profile; `None` when something is missing, which is then shown at its field.
    pub(crate) fn wanted(&mut self) -> Option<NewProfile> {
        for row in [ConnectRow::Name, ConnectRow::BaseUrl, ConnectRow::Place] {
            let optional = row == ConnectRow::Place && self.source == KeySourceChoice::Keyring;
            if let Some(field) = self.field_mut(row)
                && field.text().trim().is_empty()
                && !optional
            {
                field.error = Some(match row {
                    ConnectRow::Name => "enter a name".into(),
                    ConnectRow::BaseUrl => "enter the service address".into(),
                    _ => "enter the source of the API key".into(),
                });
                self.row = row;
                return None;
            }
        }
        let trimmed = |field: &TextField| field.text().trim().to_owned();
        let name = trimmed(&self.name);
        let place = trimmed(&self.places[self.source as usize]);
        let path = trimmed(&self.path);
        let ca_file = trimmed(&self.ca_file);
        Some(NewProfile {
            base_url: trimmed(&self.base_url),
            path: (!path.is_empty()).then_some(path),
            environment: match ENVIRONMENTS[self.environment] {
                "Customer" => Some(EnvironmentTag::Customer),
                "Testing" => Some(EnvironmentTag::Testing),
                _ => None,
            },
            api_key: match self.source {
                KeySourceChoice::Variable => KeySource::Env(place),
                KeySourceChoice::File => KeySource::File(PathBuf::from(place)),
                KeySourceChoice::Command => {
                    KeySource::Command(place.split_whitespace().map(str::to_owned).collect())
                }
                KeySourceChoice::Keyring if place.is_empty() => KeySource::Keyring(name.clone()),
                KeySourceChoice::Keyring => KeySource::Keyring(place),
            },
            read_only: false,
            ca_file: (!ca_file.is_empty()).then(|| PathBuf::from(ca_file)),
            name,
        })
    }

    /// Returns the pasted API key, when the source is the keyring.
    pub(crate) fn key(&self) -> Option<Token> {
        let key = self.key.text().trim();
        (self.source == KeySourceChoice::Keyring && !key.is_empty())
            .then(|| Token::new(key.to_owned()))
    }

    /// Returns the input without the API key; `None` when nothing was typed.
    pub(crate) fn without_key(&self) -> Option<Self> {
        let is_typed = [&self.name, &self.base_url]
            .iter()
            .any(|field| !field.is_empty());
        is_typed.then(|| Self {
            key: Self::default().key,
            ..self.clone()
        })
    }

    /// Shows each problem at its field and moves to the first; returns the problems that belong to no field.
    pub(crate) fn take_problems(&mut self, problems: &[(Option<Field>, String)]) -> Vec<String> {
        let mut rest = Vec::new();
        let mut first = None;
        for (field, what) in problems {
            let row = match field {
                Some(Field::Name) => ConnectRow::Name,
                Some(Field::BaseUrl) => ConnectRow::BaseUrl,
                Some(Field::Path) => ConnectRow::Path,
                Some(Field::ApiKey) => ConnectRow::Place,
                Some(Field::CaFile) => ConnectRow::CaFile,
                Some(Field::Environment) | None => {
                    rest.push(what.clone());
                    continue;
                }
            };
            if let Some(field) = self.field_mut(row) {
                field.error = Some(what.clone());
            }
            first = first.or(Some(row));
        }
        self.row = first.unwrap_or(self.row);
        rest
    }
}
