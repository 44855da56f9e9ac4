//! The environment variables, passed as a value so that nothing else here reads those of the process; and which of them
//! hold API keys, so that these are hidden from child processes.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    fmt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use super::error::ConfigError;
use crate::intake::{signs, text};

/// Holds an API key whatever the configuration says, and without one.
pub(super) const API_KEY: &str = "GROUPDESK_API_KEY";

/// A copy of environment variables. Its `Debug` shows none of them, because some are secrets.
#[derive(Clone, Default)]
pub struct Environment {
    variables: Arc<BTreeMap<OsString, OsString>>,
    /// Names of variables that hold keys. All copies share the set, so that the variable of a profile added later is
    /// hidden from the commands of every other profile too.
    keys: Arc<Mutex<BTreeSet<String>>>,
    may_ask: bool,
}

impl Environment {
    /// The variables of this process.
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    /// The same; a command that fetches a key may ask on the terminal, which nothing else uses.
    #[must_use]
    pub fn with_terminal(self) -> Self {
        Self {
            may_ask: true,
            ..self
        }
    }

    /// The same without these variables.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> Self {
        let is_one = |name: &OsString| names.iter().any(|one| name == one);
        Arc::make_mut(&mut self.variables).retain(|name, _| !is_one(name));
        self
    }

    pub(super) fn may_ask(&self) -> bool {
        self.may_ask
    }

    /// Returns a variable, without the line ends and the byte order mark that a file from elsewhere leaves around it. An
    /// empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name))?;
        let plain = value.to_str().map(text::without_line_ends);
        let plain = plain.map_or(value.as_os_str(), OsStr::new);
        Some(plain).filter(|value| !value.is_empty())
    }

    /// Returns a variable that must be text.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<&str>, ConfigError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let wrong = |what: &str| Err(ConfigError::variable(name, what));
        let Some(value) = value.to_str().map(text::trimmed) else {
            return wrong("is not valid UTF-8; set it again");
        };
        match signs::first(value) {
            Some((column, sign)) => wrong(&format!(
                "contains an invalid character in column {column}: {sign}"
            )),
            None => Ok(Some(value)),
        }
    }

    /// The names of all variables but those that hold keys by the configuration.
    pub(super) fn other_names(&self) -> Vec<&str> {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let names = self.variables.keys().filter_map(|name| name.to_str());
        names.filter(|name| !keys.contains(*name)).collect()
    }

    /// From now on this variable is hidden from child processes.
    pub fn hide_from_children(&self, name: &str) {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.insert(name.to_owned());
    }

    /// The environment of a child process: everything except variables that hold the API key of any profile.
    pub fn for_commands(&self) -> Vec<(&OsStr, &OsStr)> {
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let is_key = |name: &OsStr| name == API_KEY || keys.iter().any(|key| name == key.as_str());
        let all = self.variables.iter();
        all.map(|(name, value)| (name.as_os_str(), value.as_os_str()))
            .filter(|(name, _)| !is_key(name))
            .collect()
    }
}

/// What relative paths and `~` refer to.
#[derive(Clone, Copy)]
pub(super) struct PathContext<'e> {
    /// The folder of the configuration file.
    pub(super) folder: &'e Path,
    pub(super) env: &'e Environment,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.variables.len())
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        let variables: BTreeMap<_, _> = variables
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Self {
            variables: Arc::new(variables),
            keys: Arc::default(),
            may_ask: false,
        }
    }
}
