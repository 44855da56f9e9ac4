//! A profile: one environment of one service, and how careful to be there.

use std::{path::PathBuf, time::Duration};

use crate::domain::group::EnvironmentTag;

/// Where an API key comes from. The key itself is never part of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// An environment variable.
    Env(String),
    /// A file that only its owner may read.
    File(PathBuf),
    /// A command that prints the key; argv, run without a shell.
    Command(Vec<String>),
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
    /// Uses the proxy that the environment names; none otherwise.
    pub proxy_from_environment: bool,
    /// Sends the last known properties with a get, so that the service returns its own. Only for services that
    /// ignore values for an existing group (hazard 2).
    pub read_properties: bool,
}

impl Profile {
    /// The full address of the interface.
    pub fn url(&self) -> String {
        format!("{}{}", self.base_url.trim_end_matches('/'), self.path)
    }

    /// The word that says where one is (console.md, line 1).
    pub fn environment_word(&self) -> &'static str {
        match (self.production, &self.environment) {
            (true, _) => "PRODUCTION",
            (false, Some(EnvironmentTag::Testing)) => "TESTING",
            (false, _) => "NOT PRODUCTION",
        }
    }
}
