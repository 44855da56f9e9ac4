//! A profile: one environment of one service, and how careful to be there.

use std::{fmt, path::PathBuf, time::Duration};

use super::{address::DEFAULT_PATH, guard::Guard, scrub::shown};
use crate::domain::group::EnvironmentTag;

pub(super) const TIMEOUT: Duration = Duration::from_secs(30);
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
pub(super) const MAX_BULK: usize = 500;

/// Where an API key comes from. The key itself is never part of a configuration.
#[derive(Clone, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable.
    Env(String),
    /// A file that only its owner may read.
    File(PathBuf),
    /// A command that prints the key; argv, run without a shell.
    Command(Vec<String>),
    /// The kernel's keyring, by the name of the entry.
    Keyring(String),
}

/// The source in words. Arguments of a command are left out: some hold secrets.
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
        }
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeySource({self})")
    }
}

/// The command that takes a new token to where dashboards are rendered (docs/design/rotation.md, "Hand-off").
#[derive(Clone, PartialEq, Eq)]
pub struct HandOffCommand {
    /// argv, run without a shell; never empty. The token goes to its standard input only.
    pub command: Vec<String>,
    /// After this time its whole process group is killed.
    pub timeout: Duration,
}

/// The program alone: arguments can hold secrets.
impl fmt::Display for HandOffCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.command.first().map_or("", String::as_str);
        f.write_str(&shown(program))
    }
}

impl fmt::Debug for HandOffCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HandOffCommand({self}, {:?})", self.timeout)
    }
}

/// One environment of one service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    pub name: String,
    /// Scheme and host, for example `https://api.example.com`.
    pub base_url: String,
    /// Below the base URL; `/api/user` by default.
    pub path: String,
    pub api_key: KeySource,
    /// The environment tag that answers are expected to carry (hazard 11).
    pub environment: Option<EnvironmentTag>,
    /// Asks for stronger confirmations and is marked on every screen.
    pub production: bool,
    /// Mutations are refused before anything is sent.
    pub read_only: bool,
    /// For a whole exchange.
    pub timeout: Duration,
    pub connect_timeout: Duration,
    /// Allows `http://` to other hosts than loopback.
    pub allow_plain_http: bool,
    /// Authorities beside those of the system, in PEM: for a service whose certificate is signed by one of our own.
    pub ca_file: Option<PathBuf>,
    /// Uses the proxy that the environment names; none otherwise.
    pub proxy_from_environment: bool,
    /// Sends the last known properties with a get, so that the service returns its own. Only for services that
    /// ignore values for an existing group (hazard 2).
    pub read_properties: bool,
    /// Where new tokens go; `None`: nowhere by itself.
    pub handoff: Option<HandOffCommand>,
    /// A token known to be older counts as old.
    pub max_token_age: Option<Duration>,
    /// Most groups that one bulk rotation may take.
    pub max_bulk: usize,
    /// Where to be more careful than usual, and why.
    pub guards: Vec<Guard>,
    /// Made of variables: its name says nothing about its API key.
    pub from_variables: bool,
    /// Its API key changes by design: a new one goes on trial without a question.
    pub key_changes: bool,
}

impl Profile {
    /// With everything else as it is where the configuration says nothing of it; so it counts as production.
    pub fn new(name: &str, base_url: &str, api_key: KeySource) -> Self {
        Self {
            name: name.to_owned(),
            base_url: base_url.to_owned(),
            path: DEFAULT_PATH.to_owned(),
            api_key,
            environment: None,
            production: true,
            read_only: false,
            timeout: TIMEOUT,
            connect_timeout: CONNECT_TIMEOUT,
            allow_plain_http: false,
            ca_file: None,
            proxy_from_environment: false,
            read_properties: false,
            handoff: None,
            max_token_age: None,
            max_bulk: MAX_BULK,
            guards: Vec::new(),
            from_variables: false,
            key_changes: false,
        }
    }

    /// The full address of the interface.
    pub fn url(&self) -> String {
        format!("{}{}", self.base_url.trim_end_matches('/'), self.path)
    }

    /// Host, and port where it is not the usual one.
    pub fn host(&self) -> &str {
        let address = self
            .base_url
            .split_once("://")
            .map_or(self.base_url.as_str(), |(_, address)| address);
        address
            .split_once('/')
            .map_or(address, |(host, _path)| host)
    }

    /// The word that says where one is (docs/design/console.md, line 1).
    pub fn environment_word(&self) -> &'static str {
        match (self.production, &self.environment) {
            (true, _) => "PRODUCTION",
            (false, Some(EnvironmentTag::Testing)) => "TESTING",
            (false, _) => "NOT PRODUCTION",
        }
    }
}
