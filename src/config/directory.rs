//! `[directory]` of the configuration file: where a team keeps its directory, and how to authenticate there.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::{
    environment::PathContext,
    key_source::{KEY, KeySource, PASSWORD, resolve},
    kind::{
        self,
        DefaultValue::{Required, Value, Words},
        FLAG, Kind, PEM,
    },
    table::{table, with_defaults},
};
use crate::domain::text::has_variable;

/// Where the directory is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectoryAt {
    /// An SQLite file.
    File(PathBuf),
    /// A schema of a PostgreSQL database.
    Team(TeamSettings),
}

table! {
    /// The settings of a directory that a team shares.
    #[derive(Clone, PartialEq, Eq)]
    pub struct TeamSettings of "directory" {
        /// For example `postgres://ana@db1/desk`, as it was written; not checked yet.
        url: String, DATABASE, Required,
            "URL of the team directory: postgres://USER@HOST,HOST/DATABASE, without a password; set this table only for a team";
        schema: String, Kind::text("\"groupdesk\"", kind::any), Value("\"groupdesk\""), "the schema in that database";
        password: Option<KeySource>, PASSWORD, Words("none is sent"),
            "source of the password, never the password itself: exactly one of env, file, command and keyring, as in api_key";
        /// Certificate authorities to trust besides those of the system, in PEM.
        ca_file: Option<PathBuf>, PEM, Words("none"),
            "CA certificates in PEM that are trusted in addition to those of the system; relative to the configuration file, ~/ is the home";
        /// The client certificate, in PEM.
        cert: Option<PathBuf>, PEM, Words("none"),
            "client certificate (PEM) to log in with instead of a password; needs key";
        /// The private key of the client certificate, in PEM.
        key: Option<PathBuf>, PEM, Words("none"), "the private key of cert, in PEM";
        /// Where the fingerprint key comes from, if it is not in the database.
        fingerprint_key: Option<KeySource>, KEY, Words("in the database"),
            "source of the fingerprint key outside the database, never the key itself: one of env, file, command and keyring; 64 hexadecimal digits";
        /// Maximum number of connections for writing.
        connections: u32, kind::count("1 to 16"), Value("4"),
            "maximum number of connections for writing; raise it only for bulk work. One for short reads and one for notifications are added";
        /// Refuse to write unless a standby has to confirm it.
        require_synchronous: bool, FLAG, Value("false"),
            "refuse to write unless a synchronous standby must confirm each commit (synchronous_standby_names is not empty)";
    }
}

const DATABASE: Kind = Kind::text("\"postgres://ana@db1/desk\"", |kind, value| {
    let text = kind::string(kind, value)?;
    if is_address(text) && !has_variable(text) {
        return Ok(());
    }
    let example = kind.example;
    Err(format!(
        "must be the address of a PostgreSQL database such as {example}"
    ))
});

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
            ..base.unwrap_or_else(|| with_defaults([("url", url.into())]))
        }
    }

    /// The client certificate and its private key.
    pub fn pair(&self) -> Result<Option<(&Path, &Path)>, &'static str> {
        match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => Ok(Some((cert, key))),
            (None, None) => Ok(None),
            _ => Err(
                "[directory] has one of cert and key; a certificate needs its private key, and a key needs its certificate",
            ),
        }
    }

    /// Makes the files absolute; what cannot be, with its key.
    pub(super) fn resolve(&mut self, around: PathContext) -> Vec<(&'static str, String)> {
        let file = |file: &mut Option<PathBuf>| file.as_mut().map(|file| resolve(file, around));
        let source =
            |source: &mut Option<KeySource>| source.as_mut().map(|source| source.resolve(around));
        let resolved = [
            ("ca_file", file(&mut self.ca_file)),
            ("cert", file(&mut self.cert)),
            ("key", file(&mut self.key)),
            ("password", source(&mut self.password)),
            ("fingerprint_key", source(&mut self.fingerprint_key)),
        ];
        let resolved = resolved.into_iter();
        resolved
            .filter_map(|(key, resolved)| Some((key, resolved?.err()?)))
            .collect()
    }
}

/// Whether a text is the address of a database rather than a file name.
pub fn is_address(text: &str) -> bool {
    text.starts_with("postgres://") || text.starts_with("postgresql://")
}
