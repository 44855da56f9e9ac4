//! The environment variables, passed in as a value, so that nothing else here reads those of the process.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
};

use super::error::ConfigError;

/// A copy of environment variables. Its `Debug` names none of them: some are secrets.
#[derive(Clone, Default)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The variables of this process.
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    /// A variable; an empty one counts as not set.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
            .filter(|value| !value.is_empty())
    }

    /// A variable that must be text.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<&str>, ConfigError> {
        self.get(name)
            .map(|value| {
                value
                    .to_str()
                    .ok_or_else(|| ConfigError::variable(name, "is not valid UTF-8; set it again"))
            })
            .transpose()
    }

    /// All of them, for a command that is started.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        Self(
            variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}
