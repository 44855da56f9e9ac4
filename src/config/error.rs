//! What can be wrong with the configuration, in words that help to fix it. Values are never quoted, because any of them
//! may be an API key in the wrong place.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{name::nearest, scrub::shown};

/// One problem in the configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// What is wrong and what to do.
    pub what: String,
}

/// Why a path cannot be made absolute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnusablePath {
    #[error("begins with \"~\", but the home folder is not known; write the whole path")]
    NoHome,
    #[error(
        "begins with \"~\" and a name; only ~/ is replaced, by your own home folder: write the whole path"
    )]
    OtherHome,
    #[error("begins or ends with a blank; write it without")]
    Blank,
    #[error("contains a control character, such as a line break; write it without")]
    Control,
    #[error(
        "contains a variable, which only a shell replaces; write the path itself, or ./NAME for a file with such a name"
    )]
    Variable,
    /// Arguments of a command are texts.
    #[error(
        "is in a folder whose name is not UTF-8; name a program that is found in PATH, or use another folder"
    )]
    NotUtf8,
}

/// Why there is no usable configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is invalid. Contains all problems that were found, in file order.
    #[error("{}", located(file, problems))]
    Wrong {
        file: PathBuf,
        problems: Vec<Problem>,
    },
    #[error("the configuration file {} cannot be read: {why}{}", shown(&file.to_string_lossy()), named_by.map(|name| format!("; it is set by {name}")).unwrap_or_default())]
    Unreadable {
        file: PathBuf,
        /// The flag or variable that named the file; `None` for the default path.
        named_by: Option<&'static str>,
        why: io::Error,
    },
    #[error("the environment variable {name} {what}")]
    Variable { name: &'static str, what: String },
    #[error("profile \"{}\"{} not found{}{}", shown(name), by(*named_by), meant(nearest(name, known.iter().map(String::as_str))), listed(known))]
    UnknownProfile {
        name: String,
        named_by: Option<&'static str>,
        known: Vec<String>,
    },
    #[error(
        "no profile is configured. To add one to {}, run `groupdesk profile add NAME`; or set GROUPDESK_BASE_URL and GROUPDESK_API_KEY",
        file.as_ref().map_or("a file named by --config".into(), |file| shown(&file.to_string_lossy()))
    )]
    NoProfile { file: Option<PathBuf> },
    #[error(
        "several profiles are configured and none is the default; choose one with --profile, or set default_profile{}",
        listed(known)
    )]
    NoDefault { known: Vec<String> },
    #[error(
        "{by} is in the folder {}, which does not exist; nothing was created. Create the folder, or use another file",
        shown(&folder.to_string_lossy())
    )]
    NoFolder { by: &'static str, folder: PathBuf },
    /// The value may contain a password.
    #[error(
        "{by} is neither a file nor the address of a PostgreSQL database; nothing was created. For a database write \
         postgres://USER@HOST/DATABASE, for a file with such a name ./NAME"
    )]
    NoPlace { by: &'static str },
    #[error("{by} is not a file; nothing was created. For a file with such a name write ./NAME")]
    NoFile { by: &'static str },
    #[error(
        "{by} is not a folder; nothing was created. For a folder with such a name write ./NAME"
    )]
    NotAFolder { by: &'static str },
    #[error("{by} {why}; nothing was created")]
    UnusablePath { by: &'static str, why: UnusablePath },
    #[error("there is no home folder to put {0} in; set HOME or {1}")]
    NoHome(&'static str, &'static str),
}

impl ConfigError {
    pub(super) fn variable(name: &'static str, what: &(impl ToString + ?Sized)) -> Self {
        let what = what.to_string();
        Self::Variable { name, what }
    }
}

fn located(file: &Path, problems: &[Problem]) -> String {
    let file = shown(&file.to_string_lossy());
    let lines = problems.iter().map(|problem| {
        let Problem { line, column, what } = problem;
        format!("{file}:{line}:{column}: {what}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn by(named_by: Option<&str>) -> String {
    named_by
        .map(|by| format!(" (from {by})"))
        .unwrap_or_default()
}

/// `; did you mean "…"?`, or nothing.
pub(super) fn meant(nearest: Option<&str>) -> String {
    nearest
        .map(|nearest| format!("; did you mean \"{}\"?", shown(nearest)))
        .unwrap_or_default()
}

fn listed(known: &[String]) -> String {
    if known.is_empty() {
        return "; no profile is configured".into();
    }
    let names: Vec<_> = known.iter().map(|name| shown(name)).collect();
    format!(" (known profiles: {})", names.join(", "))
}
