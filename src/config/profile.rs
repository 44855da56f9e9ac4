//! A profile: one environment of one service, and how careful to be there.

use std::{fmt, path::PathBuf, time::Duration};

use serde::{Deserialize, Deserializer};

pub use super::key_source::KeySource;
use super::{
    address,
    guard::{GUARD, Guard},
    key_source::KEY,
    kind::{
        self, AGE, DURATION, Declared,
        DefaultValue::{Required, Value, Words},
        FLAG, Inside, Kind, PEM, read_age, read_duration,
    },
    scrub::shown,
    table::{table, with_defaults},
};
use crate::domain::group::EnvironmentTag;

pub(super) const ENVIRONMENT: Kind = Kind::one_of("\"Customer\" or \"Testing\"", "\"Customer\"");

const BASE_URL: Kind = Kind::text("\"https://api.example.com\"", |kind, value| {
    // Only the whole profile tells whether plain HTTP is allowed.
    let address = address::base_url(kind::string(kind, value)?, true);
    address.map(drop).map_err(|error| error.to_string())
});

const PATH: Kind = Kind::text("\"/api/user\"", |kind, value| {
    let path = address::path(kind::string(kind, value)?);
    path.map(drop).map_err(|error| error.to_string())
});

const HAND_OFF: Kind = Kind::new(
    "table",
    "{ command = [\"/usr/local/bin/put-token\", \"eu\"], timeout = \"30s\" }",
    |_, _| Ok(()),
)
.with(Inside::Table(|| HandOffCommand::SETTINGS));

const HAND_OFF_COMMAND: Kind = Kind::new(
    "list of strings",
    "[\"/usr/local/bin/put-token\", \"eu\"]",
    kind::argv,
);

fn read_tag<'de, D: Deserializer<'de>>(value: D) -> Result<Option<EnvironmentTag>, D::Error> {
    String::deserialize(value).map(|tag| Some(EnvironmentTag::parse(&tag)))
}

table! {
    /// The command that delivers a new token to where dashboards are rendered (docs/design/rotation.md, "Hand-off").
    #[derive(Clone, PartialEq, Eq)]
    pub struct HandOffCommand of "profiles.NAME.handoff" {
        /// The argv, run without a shell; never empty. The token is only passed on standard input.
        command: Vec<String>, HAND_OFF_COMMAND, Required,
            "a program and its arguments, run without a shell; receives one JSON object on standard input";
        /// After this time the whole process group is killed.
        #[serde(deserialize_with = "read_duration")]
        timeout: Duration, DURATION, Value("\"30s\""), "the command is killed after this long";
    }
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

table! {
    /// One environment of one service.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Profile of "profiles.NAME" {
        /// Scheme and host, for example `https://api.example.com`.
        base_url: String, BASE_URL, Required,
            "URL of the service, without the path; https://, or http:// for this machine";
        #[serde(default)]
        api_key: KeySource, KEY, Words("none: nothing can be sent"),
            "source of the API key, never the key itself; see below. Without it, only the directory can be read";
        /// Below the base URL; `/api/user` by default.
        path: String, PATH, Value("\"/api/user\""), "path of the API, below base_url";
        /// The environment tag that answers are expected to carry (hazard 11).
        #[serde(default, deserialize_with = "read_tag")]
        environment: Option<EnvironmentTag>, ENVIRONMENT, Words("any tag is accepted"),
            "environment tag that responses must have; another tag raises an alarm";
        /// Asks for stronger confirmation, and marks every screen.
        production: bool, FLAG, Words("true, unless environment = \"Testing\""),
            "marked on every screen, and asks for stronger confirmations";
        /// Mutations are refused before anything is sent.
        read_only: bool, FLAG, Value("false"), "refuses every change before anything is sent";
        /// Time limit for a whole exchange.
        #[serde(deserialize_with = "read_duration")]
        timeout: Duration, DURATION, Value("\"30s\""),
            "time limit for a request and its response; at most \"10m\"";
        #[serde(deserialize_with = "read_duration")]
        connect_timeout: Duration, DURATION, Value("\"5s\""),
            "time limit for connecting; not longer than timeout";
        /// Allows `http://` to hosts other than loopback.
        allow_plain_http: bool, FLAG, Value("false"),
            "allows http:// to other machines: the API key travels unprotected";
        /// Certificate authorities to trust besides those of the system, in PEM: for a service with a certificate from a
        /// private authority.
        ca_file: Option<PathBuf>, PEM, Words("none"),
            "CA certificates in PEM that are trusted in addition to those of the system; relative to the configuration file, ~/ is the home";
        /// Uses the proxy from the environment. Without this, no proxy is used.
        proxy_from_environment: bool, FLAG, Value("false"), "uses the proxy in HTTPS_PROXY or HTTP_PROXY";
        /// Sends the last known properties with a get, so that the service returns its own. Only for services that ignore
        /// values for an existing group (hazard 2).
        read_properties: bool, FLAG, Value("false"),
            "sends the known properties with a get, so that the service returns its own; only where a get changes nothing";
        /// Its API key changes regularly by design, so a new one is accepted on trial without a question.
        key_changes: bool, FLAG, Value("false"),
            "the API key changes regularly: a new key is accepted automatically, and verified by the first group that is read";
        /// Where new tokens are delivered automatically; `None` for nowhere.
        handoff: Option<HandOffCommand>, HAND_OFF, Words("none"),
            "command that receives each new token; see below";
        /// A token that is known to be older counts as old.
        #[serde(default, deserialize_with = "read_age")]
        max_token_age: Option<Duration>, AGE, Words("90d in the console and in filters"),
            "age limit: a token whose last known rotation is longer ago is overdue; at most \"3650d\"";
        /// Maximum number of groups in one bulk rotation or bulk edit.
        max_bulk: usize, kind::count("0 to 1000000"), Value("500"),
            "maximum number of groups in one bulk rotation or bulk edit; 0 forbids both";
        /// Operations that need more care than usual, and why.
        guards = "guard": Vec<Guard>, GUARD, Value("[]"),
            "rules that block operations or ask for stronger confirmation; see below";
    }
    and {
        name: String,
        /// Made from environment variables, so its name says nothing about its API key.
        from_variables: bool,
    }
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
        let given = [("base_url", base_url.into()), ("production", true.into())];
        Self {
            name: name.to_owned(),
            api_key,
            ..with_defaults(given)
        }
    }

    /// The full URL of the interface.
    pub fn url(&self) -> String {
        format!("{}{}", self.base_url.trim_end_matches('/'), self.path)
    }

    /// The host, with the port if it is not the default.
    pub fn host(&self) -> &str {
        let address = self.base_url.split_once("://");
        let address = address.map_or(self.base_url.as_str(), |(_, address)| address);
        address.split('/').next().unwrap_or(address)
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
