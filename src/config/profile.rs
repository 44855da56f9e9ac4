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
    /// A command that prints the key: its argv, run without a shell.
    Command(Vec<String>),
    /// The kernel's keyring, by the name of the entry.
    Keyring(String),
    /// None: what the directory knows is read, and nothing can be sent.
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

/// The command that delivers a new token to where dashboards are rendered (docs/design/rotation.md, "Hand-off").
#[derive(Clone, PartialEq, Eq)]
pub struct HandOffCommand {
    /// The argv, run without a shell; never empty. The token is only passed on standard input.
    pub command: Vec<String>,
    /// After this time the whole process group is killed.
    pub timeout: Duration,
}

/// Shows only the program, because arguments can contain secrets.
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
    /// Asks for stronger confirmation, and marks every screen.
    pub production: bool,
    /// Mutations are refused before anything is sent.
    pub read_only: bool,
    /// Time limit for a whole exchange.
    pub timeout: Duration,
    pub connect_timeout: Duration,
    /// Allows `http://` to hosts other than loopback.
    pub allow_plain_http: bool,
    /// Certificate authorities to trust besides those of the system, in PEM: for a service with a certificate from a
    /// private authority.
    pub ca_file: Option<PathBuf>,
    /// Uses the proxy from the environment. Without this, no proxy is used.
    pub proxy_from_environment: bool,
    /// Sends the last known properties with a get, so that the service returns its own. Only for services that ignore
    /// values for an existing group (hazard 2).
    pub read_properties: bool,
    /// Where new tokens are delivered automatically; `None` for nowhere.
    pub handoff: Option<HandOffCommand>,
    /// A token that is known to be older counts as old.
    pub max_token_age: Option<Duration>,
    /// Maximum number of groups in one bulk rotation.
    pub max_bulk: usize,
    /// Operations that need more care than usual, and why.
    pub guards: Vec<Guard>,
    /// Made from environment variables, so its name says nothing about its API key.
    pub from_variables: bool,
    /// Its API key changes regularly by design, so a new one is accepted on trial without a question.
    pub key_changes: bool,
}

impl Profile {
    /// What may be sent with it, in words.
    pub fn rights(&self) -> &'static str {
        match self.api_key {
            _ if self.read_only => "read-only",
            KeySource::Unset => "no API key",
            _ => "read-write",
        }
    }

    /// A profile with the defaults for everything else; so it counts as production.
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

    /// The full URL of the interface.
    pub fn url(&self) -> String {
        format!("{}{}", self.base_url.trim_end_matches('/'), self.path)
    }

    /// The host, with the port if it is not the default.
    pub fn host(&self) -> &str {
        let address = self
            .base_url
            .split_once("://")
            .map_or(self.base_url.as_str(), |(_, address)| address);
        address
            .split_once('/')
            .map_or(address, |(host, _path)| host)
    }

    /// The environment as one word (docs/design/console.md, line 1).
    pub fn environment_word(&self) -> &'static str {
        match (self.production, &self.environment) {
            (true, _) => "PRODUCTION",
            (false, Some(EnvironmentTag::Testing)) => "TESTING",
            (false, _) => "NOT PRODUCTION",
        }
    }
}
