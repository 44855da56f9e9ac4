//! `[directory]` of the configuration file: where a team keeps its directory, and how to authenticate there.

use std::{fmt, path::PathBuf};

use toml::de::DeValue;

use super::{
    environment::PathContext,
    key_source::{self, Secret, ca_file},
    profile::KeySource,
    toml_reader::{Problems, Section, Spanned},
};

/// Where the directory is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectoryAt {
    /// An SQLite file.
    File(PathBuf),
    /// A schema of a PostgreSQL database.
    Team(TeamSettings),
}

/// The settings of a directory that a team shares.
#[derive(Clone, PartialEq, Eq)]
pub struct TeamSettings {
    /// For example `postgres://ana@db1/desk`, as it was written; not checked yet.
    pub url: String,
    pub schema: String,
    pub password: Option<KeySource>,
    /// Certificate authorities to trust besides those of the system, in PEM.
    pub ca: Option<PathBuf>,
    /// The client certificate, in PEM.
    pub cert: Option<PathBuf>,
    /// The private key of the client certificate, in PEM.
    pub key: Option<PathBuf>,
    /// Where the fingerprint key comes from, if it is not in the database.
    pub fingerprint_key: Option<KeySource>,
    /// Refuse to write unless a standby has to confirm it.
    pub require_synchronous: bool,
    /// Maximum number of connections for writing.
    pub connections: u32,
}

const PASSWORD: Secret = Secret {
    key: "directory.password",
    word: "password",
};

const FINGERPRINT_KEY: Secret = Secret {
    key: "directory.fingerprint_key",
    word: "key",
};

/// The name of the setting inside its table.
fn secret_key(secret: Secret) -> &'static str {
    secret.key.rsplit('.').next().unwrap_or(secret.key)
}

/// The default and (below) the maximum; any more would be missing for the other members of the team.
const CONNECTIONS: u32 = 4;
const MOST_CONNECTIONS: u32 = 16;

/// The default schema.
const SCHEMA: &str = "groupdesk";

/// The address is not checked yet and could contain a password.
impl fmt::Debug for TeamSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TeamSettings")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

impl TeamSettings {
    /// The settings for an address, with everything else as a file gives it.
    pub fn at(url: &str, base: Option<&Self>) -> Self {
        let base = base.cloned();
        Self {
            url: url.to_owned(),
            ..base.unwrap_or_else(|| Self {
                url: String::new(),
                schema: SCHEMA.into(),
                password: None,
                ca: None,
                cert: None,
                key: None,
                fingerprint_key: None,
                require_synchronous: false,
                connections: CONNECTIONS,
            })
        }
    }
}

/// Whether a text is the address of a database rather than a file name.
pub fn is_address(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}

pub(super) fn directory(
    top: &mut Section,
    around: PathContext,
    problems: &mut Problems,
) -> Option<TeamSettings> {
    let Spanned { at, value } = top.value("directory")?;
    let DeValue::Table(table) = value else {
        problems.add(
            at,
            "directory must be a table: put [directory] on its own line. To use a file, set GROUPDESK_DIRECTORY",
        );
        return None;
    };
    let mut section = Section::of(table);
    let example = "postgres://ana@db1/desk";
    let url = section.text("url", example, problems);
    let url = url.filter(|Spanned { at, value }| {
        let is_address = is_address(value);
        if !is_address {
            problems.add(*at, format!("directory.url must be the address of a PostgreSQL database such as \"{example}\""));
        }
        is_address
    });
    let schema = section.text("schema", SCHEMA, problems);
    let source = |section: &mut Section, secret, problems: &mut Problems| {
        section
            .value(secret_key(secret))
            .and_then(|Spanned { at, value }| {
                let source = key_source::source(secret, value, around);
                source.map_err(|what| problems.add(at, what)).ok()
            })
    };
    let password = source(&mut section, PASSWORD, problems);
    let fingerprint_key = source(&mut section, FINGERPRINT_KEY, problems);
    let require_synchronous = section.flag("require_synchronous", false, problems);
    let connections = section.count_in("connections", 1..=MOST_CONNECTIONS, problems);
    let connections = connections.unwrap_or(CONNECTIONS);
    let ca = ca_file("ca", &mut section, around, problems);
    let cert = ca_file("cert", &mut section, around, problems);
    let key = ca_file("key", &mut section, around, problems);
    let has_url = section.entries().any(|entry| entry.key == "url");
    section.finish(problems, |_, _| None);
    if !has_url {
        problems.add(
            at,
            format!("[directory] has no url; add for example url = \"{example}\""),
        );
    }
    Some(TeamSettings {
        url: url?.value.to_owned(),
        schema: schema.map_or(SCHEMA, |schema| schema.value).to_owned(),
        password,
        ca,
        cert,
        key,
        fingerprint_key,
        require_synchronous,
        connections,
    })
}
