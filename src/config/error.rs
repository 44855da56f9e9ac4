//! What can be wrong with the configuration, in words that help to fix it. Values are never quoted, because any of them
//! may be an API key in the wrong place.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{name::nearest, scrub::shown};
use crate::domain::text::joined;

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
    Variable { name: String, what: String },
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
    /// The path is not quoted, because it may contain a password.
    #[error("{by} {why}")]
    UnusablePath { by: &'static str, why: String },
    #[error("there is no home folder to put {0} in; set HOME or {1}")]
    NoHome(&'static str, &'static str),
}

impl ConfigError {
    pub(super) fn variable(name: &str, what: &(impl ToString + ?Sized)) -> Self {
        let name = name.to_owned();
        let what = what.to_string();
        Self::Variable { name, what }
    }

    /// For what is wrong with a path in itself.
    pub fn unusable_path(by: &'static str, why: &str) -> Self {
        let why = format!("{why}; nothing was created");
        Self::UnusablePath { by, why }
    }
}

fn located(file: &Path, problems: &[Problem]) -> String {
    let file = shown(&file.to_string_lossy());
    let lines = problems.iter().map(|problem| {
        let Problem { line, column, what } = problem;
        format!("{file}:{line}:{column}: {what}")
    });
    joined(lines, "\n")
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
    let names = joined(known.iter().map(|name| shown(name)), ", ");
    format!(" (known profiles: {names})")
}
