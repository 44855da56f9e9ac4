//! Where a secret comes from: `api_key` and similar settings, and why there is none. They name one source, never the
//! secret itself. Nothing in them is quoted, not even names, because people paste the key anywhere.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Deserializer, de::Error as _};
use toml::Value;

use super::{
    environment::PathContext,
    error::meant,
    keyring::KeyringError,
    kind::{self, DefaultValue::Words, Kind, Setting, setting},
    name::{nearest, objection},
    paths,
    scrub::{looks_like_a_key, shown},
};
use crate::domain::{proposal::quoted, text::visible};

/// Where an API key comes from. The key itself is never part of a configuration.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable.
    Env(String),
    /// A file that only its owner may read.
    File(PathBuf),
    /// A command that prints the key: its argv, run without a shell.
    Command(Vec<String>),
    /// The kernel's keyring, by the name of the entry.
    Keyring(String),
    /// None: what the directory knows is read, and nothing can be sent.
    #[default]
    Unset,
}

/// The source in words. Arguments of a command are left out, because some contain secrets.
impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Env(name) => write!(f, "environment variable {}", shown(name)),
            Self::File(path) => write!(f, "file {}", shown(&path.to_string_lossy())),
            Self::Command(argv) => match argv.first() {
                Some(program) => write!(f, "command {}", shown(program)),
                None => f.write_str("empty command"),
            },
            Self::Keyring(name) => write!(f, "kernel keyring entry {}", shown(name)),
            Self::Unset => f.write_str("none"),
        }
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeySource({self})")
    }
}

pub(super) const KEY_SOURCES: &str = "{ env = \"EU_KEY\" }, { file = \"~/eu.key\" }, { command = [\"pass\", \"show\", \"eu\"] } or { keyring = \"eu\" }";

pub(super) const KEY: Kind = Kind::new("table", "{ env = \"EU_KEY\" }", |_, value| {
    source("key", value).map(drop)
});

pub(super) const PASSWORD: Kind = Kind::new("table", "{ env = \"PGPASSWORD\" }", |_, value| {
    source("password", value).map(drop)
});

const ARGV: Kind = Kind::new(
    "list of strings",
    "[\"pass\", \"show\", \"eu\"]",
    kind::argv,
);
const TABLE: &str = "profiles.NAME.api_key";
const ONE_OF: kind::DefaultValue = Words("exactly one of the four");

/// The sources.
#[rustfmt::skip] // A table: one setting a line.
pub(super) const SOURCES: &[Setting] = &[
    setting(TABLE, "env", Kind::text("\"EU_KEY\"", kind::any), ONE_OF, "the name of an environment variable"),
    setting(TABLE, "file", Kind::text("\"~/eu.key\"", kind::any), ONE_OF, "a file that others cannot read (0600); relative to the configuration file, ~/ is the home"),
    setting(TABLE, "command", ARGV, ONE_OF, "a program and its arguments, run without a shell for at most 10 s; its first line is the key. On the command line it may ask on the terminal, for at most 2 minutes; in the console it cannot ask"),
    setting(TABLE, "keyring", Kind::text("\"eu\"", kind::any), ONE_OF, "entry of the kernel keyring; to store the key there, run groupdesk profile key NAME"),
];

impl<'de> Deserialize<'de> for KeySource {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        source("secret", &Value::deserialize(value)?).map_err(D::Error::custom)
    }
}

/// The source that a table names, as it is written. The error follows the key of the table; `word` is for the secret.
fn source(word: &str, value: &Value) -> Result<KeySource, String> {
    let table = match value {
        Value::Table(table) => table,
        Value::String(_) => {
            return Err(format!(
                "must not contain the {word} itself; remove it from the file (and replace the {word} if others could read it), \
                 then set its source: {KEY_SOURCES}"
            ));
        }
        _ => return Err(format!("must name its source: {KEY_SOURCES}")),
    };
    let mut entries = table.iter();
    let (Some((key, value)), None) = (entries.next(), entries.next()) else {
        return Err(format!("must name exactly one source: {KEY_SOURCES}"));
    };
    let not_itself = |what: &str| {
        Err(format!(
            ".{key} must be the name of {what}, not the {word} itself"
        ))
    };
    match (key.as_str(), value) {
        ("env", Value::String(name)) if is_variable(name) => Ok(KeySource::Env(name.clone())),
        ("env", Value::String(_)) => not_itself("an environment variable, for example \"EU_KEY\""),
        ("file", Value::String(file))
            if file.contains('/') || !file.is_empty() && !looks_like_a_key(file) =>
        {
            Ok(KeySource::File(file.into()))
        }
        ("file", Value::String(_)) => not_itself("a file, for example \"~/eu.key\""),
        ("command", value @ (Value::Array(_) | Value::String(_))) => {
            kind::argv(&ARGV, value).map_err(|what| format!(".command {what}"))?;
            let argv = value.clone().try_into();
            argv.map(KeySource::Command)
                .map_err(|_| ".command must be a list of strings".into())
        }
        ("keyring", Value::String(name)) if objection(name).is_none() => {
            Ok(KeySource::Keyring(name.clone()))
        }
        ("keyring", Value::String(_)) => {
            not_itself("an entry in the kernel keyring, for example \"eu-live\"")
        }
        ("env" | "file" | "command" | "keyring", value) => Err(format!(
            "has a source of type {}; write {KEY_SOURCES}",
            value.type_str()
        )),
        (unknown, _) => {
            let near = nearest(unknown, SOURCES.iter().map(|setting| setting.key));
            Err(format!(
                "has an unknown source{}; write {KEY_SOURCES}",
                meant(near)
            ))
        }
    }
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !looks_like_a_key(name)
}

impl KeySource {
    /// Makes the file that it names, or the program, absolute. The error follows the key of the source.
    pub(super) fn resolve(&mut self, around: PathContext) -> Result<(), String> {
        match self {
            Self::File(file) => resolve(file, around).map_err(|why| format!(".file {why}")),
            Self::Command(argv) => resolve_program(argv, around),
            Self::Env(_) | Self::Keyring(_) | Self::Unset => Ok(()),
        }
    }
}

/// Makes the path of a setting absolute.
pub(super) fn resolve(file: &mut PathBuf, around: PathContext) -> Result<(), String> {
    *file = paths::resolve(file, around)?;
    Ok(())
}

/// A program with a slash in its name is resolved like a key file: relative to the configuration file. The error follows
/// the key of the table.
pub(super) fn resolve_program(argv: &mut [String], around: PathContext) -> Result<(), String> {
    if let Some(program) = argv.first_mut().filter(|program| program.contains('/')) {
        let path = paths::resolve(Path::new(program), around);
        let path = path.and_then(|path| {
            let text = path.into_os_string().into_string();
            // Arguments of a command are texts.
            text.map_err(|_| {
                "is in a folder whose name is not UTF-8; name a program that is found in PATH, or use another folder"
            })
        });
        *program = path.map_err(|why| format!(".command {why}"))?;
    }
    Ok(())
}

/// In bytes. Far more than any key; a file this long must be the wrong one.
pub(super) const LARGEST: usize = 64 * 1024;

const NO_TERMINAL: &str = "; it cannot ask here (in the background or with --no-input): unlock what it needs before, or use a command that opens a window";

/// Why there is no API key. Names the source, never what was found there.
#[derive(Debug, thiserror::Error)]
#[error("no API key from {from}: {why}")]
pub struct KeyError {
    /// The source, in words.
    pub(super) from: String,
    pub(super) why: Missing,
}

impl KeyError {
    /// With the profile whose key it is, for advice.
    #[must_use]
    pub fn of_profile(mut self, profile: &str) -> Self {
        if matches!(self.why, Missing::Keyring(KeyringError::Missing)) {
            self.why = Missing::NotStored(profile.to_owned());
        }
        self
    }

    /// The message for strangers: without the output of a command.
    pub fn without_words(&self) -> String {
        match &self.why {
            Missing::Failed { ending, .. } => {
                format!("no API key from {}: it ended with {ending}", self.from)
            }
            _ => self.to_string(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Missing {
    #[error("add api_key = with one of {KEY_SOURCES}")]
    NoSource,
    #[error("it is not set; export it, or use another source as api_key in the profile")]
    NotSet,
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("it is not a regular file; use another one")]
    NotAFile,
    #[error("other users can read or change it (mode {0:04o}); run chmod 600 on it")]
    TooOpen(u32),
    #[error(
        "it belongs to another user (number {0}), who can read and change it; use a file of your own, mode 600"
    )]
    NotOurs(u32),
    #[error("it is larger than 64 KiB, so it is not an API key; choose another source")]
    TooMuch,
    #[error("it cannot be started: {0}")]
    NotStarted(io::Error),
    #[error("it did not end within {} ms and was stopped; run it yourself to see what it waits for", .0.as_millis())]
    TimedOut(Duration),
    #[error("it ended with {ending}{last_words}{}", if *is_kept_from_terminal { NO_TERMINAL } else { "" })]
    Failed {
        ending: String,
        last_words: String,
        /// There is a terminal, and the command could not ask there.
        is_kept_from_terminal: bool,
    },
    #[error("it is empty; put the key on its first line")]
    Empty,
    #[error(
        "it contains a space or a character that is not valid in a key{0}; pass only the key, without a word such as Token or Bearer before it"
    )]
    NotAKey(String),
    #[error("it is {0}; pass only the key")]
    NotAlone(&'static str),
    #[error("its first line is larger than 4 KiB, so it is not an API key")]
    TooLong,
    #[error("{0}")]
    Keyring(KeyringError),
    #[error("it has no key (a reboot clears it). To store it again: groupdesk profile key {}", quoted(&visible(.0)))]
    NotStored(String),
    #[error("the task that read it was lost; try again")]
    Lost,
}
