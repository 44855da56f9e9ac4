//! Where a directory is stored: a file, or a database that a team shares.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use super::tables::{CARE, Migration, Role, stamp};
use crate::{
    db::{AddressFault, Advice, Password, Server, ServerFault, timelines},
    domain::text::counted,
};

#[derive(Debug, Clone)]
pub enum Location {
    File(PathBuf),
    Team(TeamLocation),
}

impl Location {
    /// The location as it appears in errors.
    pub(super) fn shown(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Team(team) => team.shown.clone().into(),
        }
    }
}

/// A schema of a PostgreSQL database. Contains no password.
#[derive(Clone)]
pub struct TeamLocation {
    pub(crate) server: Server,
    shown: String,
    /// Source of the fingerprint key if it is not in the database: 64 hexadecimal digits.
    pub(crate) fingerprint_key: Option<Password>,
    /// Maximum number of connections for writes; at least 1.
    pub connections: usize,
}

/// The default.
const CONNECTIONS: usize = 4;

impl TeamLocation {
    /// `url` in PostgreSQL's notation: `postgres://ana@db1,db2/desk`, or with a Unix socket
    /// `postgres://ana@/desk?host=/run/postgresql`. `schema` is a plain name. The error says why it is none.
    pub fn parse(url: &str, schema: &str) -> Result<Self, &'static str> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        // Role names begin with it, and the server truncates longer ones.
        if schema.is_empty() || schema.len() > 50 || !schema.chars().all(is_plain) {
            return Err(
                "the name of a schema has only lower-case letters, digits and _, at most 50",
            );
        }
        let mut server = Server::parse(url, schema).map_err(invalid)?;
        server.stamp = stamp(false).into();
        server.on_connect = Some(CARE);
        Ok(Self {
            shown: format!("{url} ({schema})"),
            server,
            fingerprint_key: None,
            connections: CONNECTIONS,
        })
    }

    /// Refuses writes unless a synchronous standby must confirm them before they are answered.
    #[must_use]
    pub fn only_synchronous(mut self) -> Self {
        self.server.stamp = stamp(true).into();
        self
    }

    /// Remembers in this file the highest timeline of each server, and refuses a server that a failover has left behind.
    #[must_use]
    pub fn with_timelines(mut self, file: PathBuf) -> Self {
        self.server.timelines = Some(timelines::check(file));
        self
    }

    /// Host or folder, port, database and user of each possible server.
    pub fn reaches(&self) -> Vec<(String, u16, String, String)> {
        self.server.reaches()
    }

    /// Whether a connection goes over a network and so needs TLS.
    pub fn needs_tls(&self) -> bool {
        self.server.needs_tls
    }

    pub fn schema(&self) -> &str {
        &self.server.schema
    }
}

/// Why this is not a valid location. The address is not repeated: it may contain a password.
fn invalid(fault: AddressFault) -> &'static str {
    match fault {
        AddressFault::NotAnAddress => {
            "the address is not that of a PostgreSQL database; write postgres://USER@HOST/DATABASE, or \
             postgres://USER@/DATABASE?host=/FOLDER/OF/THE/SOCKET"
        }
        AddressFault::Password => {
            "the URL of a directory must not contain a password; remove it, and set its source as password under [directory] \
             in the configuration file"
        }
        AddressFault::Certificates => {
            "the URL of a directory must not name certificate files; remove sslrootcert, sslcert and sslkey, and set ca_file, \
             cert and key under [directory] in the configuration file"
        }
        AddressFault::Unprotected => {
            "network connections always use sslmode=verify-full, so remove sslmode; sslmode=disable works on this machine only"
        }
    }
}

impl fmt::Debug for TeamLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Display for TeamLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl From<&PathBuf> for Location {
    fn from(path: &PathBuf) -> Self {
        Self::File(path.clone())
    }
}

impl From<&TeamLocation> for Location {
    fn from(team: &TeamLocation) -> Self {
        Self::Team(team.clone())
    }
}

const ADVICE: Advice = Advice {
    state: "nothing was recorded",
    unclear: "it is unknown whether the last change was recorded: check the history and the rotations when it is back",
    ca_file: "set ca_file under [directory]",
    password: "set its source as password under [directory] in the configuration file",
    certificate: "set cert and key under [directory] to a valid pair, issued for this user by a CA that the server trusts",
    set_up: "is not set up for groupdesk, or not for you. To set it up: groupdesk directory init. If it is: ask an admin to \
             run `groupdesk directory grant NAME operator`",
    there: "it may be set up (check with `groupdesk directory status`), or set another schema under [directory]",
};

/// Why a team's database did not do what was requested, as the rest of a sentence about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TeamFault {
    #[error("{}", .0.sentence(&ADVICE))]
    Server(ServerFault),
    #[error(
        "gives you the role {has}, but this needs {needs}; nothing was read or sent. Ask an admin to run `groupdesk directory \
         grant NAME {needs}`"
    )]
    NeedsRole { needs: Role, has: Role },
    /// While setting it up.
    #[error(
        "does not let you set up a directory: you have no {0}; ask for it, or ask the database administrator to run the SQL of \
         `groupdesk directory init --print`"
    )]
    NeedsRight(&'static str),
    /// While setting it up: the roles of a server belong to all its databases.
    #[error(
        "cannot have this schema: another database of this server has a directory with the same schema, and so the same roles; \
         nothing was changed. Set another schema under [directory]"
    )]
    SameRoles,
    #[error("was moved{}", match .0 {
        Some(to) => format!(" to {to}; nothing was recorded. Work there"),
        None => "; nothing was recorded. To see where, run `groupdesk directory status`".into(),
    })]
    Moved(Option<String>),
    #[error(
        "is not replicated synchronously (synchronous_standby_names is empty), but require_synchronous under [directory] requires it; nothing was recorded"
    )]
    NotSynchronous,
    #[error(
        "has no fingerprint key that you may read; set its source as fingerprint_key under [directory]"
    )]
    NoKey,
    #[error(
        "keeps its fingerprint key outside the database (fingerprint_key under [directory]), and {0}"
    )]
    NoOutsideKey(String),
    #[error(
        "was set up with a different fingerprint key than fingerprint_key under [directory]; nothing was recorded. With the \
         wrong key no known token would be recognised"
    )]
    WrongKey,
    /// Names an environment in it.
    #[error(
        "is not empty (environment \"{environment}\": {}), and a file is copied only into an empty directory; nothing was changed",
        counted(*groups, "group")
    )]
    NotEmpty { environment: String, groups: usize },
    #[error(
        "has unchanged access rights: only the owner of the tables can change them, and rights {} remain",
        _0.as_ref().map_or_else(
            || "as owner, as superuser or through another role".to_owned(),
            |role| format!("through the role {role}"),
        )
    )]
    RightStays(Option<String>),
    #[error(
        "lets no admin revoke or change their own role; nothing was changed. The admin who granted it can, or the administrator of \
         the database"
    )]
    OwnRole,
    /// The role, in double quotes.
    #[error(
        "gives {0} no rights, because {0} does not inherit them; nothing was changed. Run ALTER ROLE {0} INHERIT in the database, \
         then `groupdesk directory revoke NAME`, then grant the role again"
    )]
    NotInherited(String),
    #[error(
        "differs from what was copied into it (table {0}); nothing was changed there, and the file is unchanged"
    )]
    CopyDiffers(&'static str),
    #[error(
        "has a row in {0} that cannot be read; ask the administrator of the database to correct it. To see who wrote last, an admin can \
         run `groupdesk audit`"
    )]
    DamagedRow(&'static str),
    #[error("has no role of that name; create it first: CREATE ROLE {0} LOGIN")]
    Nobody(String),
    #[error("has no role of the name {0}; nothing was changed")]
    NobodyToRevoke(String),
    #[error(
        "gives no access to {0}, a role that cannot log in; nothing was changed. Grant access to each role that logs in"
    )]
    NoLogin(String),
    #[error(
        "has version {found} of its tables, and this groupdesk needs {known}: an admin must run `groupdesk directory migrate`"
    )]
    Older { found: i64, known: i64 },
    #[error(
        "has version {found} of its tables, and this groupdesk knows {known}: update groupdesk"
    )]
    Newer { found: i64, known: i64 },
    #[error(
        "has tables of a development version of groupdesk (version {found}) that no release can upgrade; nothing was changed. Save \
         its groups with that version (`groupdesk export`), set another schema under [directory], and set it up with `groupdesk \
         directory init`"
    )]
    Unreleased { found: i64 },
    /// Reading may still be possible.
    #[error(
        "has newer tables than this groupdesk may write to; nothing was recorded: update groupdesk"
    )]
    NotWritable,
}

impl TeamFault {
    /// Why tables of this version cannot be used as they are, if they cannot.
    pub(super) fn of_version(found: i64, known: &[Migration]) -> Option<Self> {
        let first = known.first().map_or(found, |first| first.version);
        let known = known.last().map_or(found, |last| last.version);
        match found {
            _ if found < first => Some(Self::Unreleased { found }),
            _ if found < known => Some(Self::Older { found, known }),
            _ if found > known => Some(Self::Newer { found, known }),
            _ => None,
        }
    }
}

impl From<ServerFault> for TeamFault {
    fn from(fault: ServerFault) -> Self {
        match fault {
            // Error codes of the SQL function `may_write`, and of `roles.sql`.
            ServerFault::Other(code) if code == "GD001" => Self::NotWritable,
            ServerFault::Other(code) if code == "GD002" => Self::Moved(None),
            ServerFault::Other(code) if code == "GD003" => Self::NotSynchronous,
            ServerFault::Other(code) if code == "GD004" => Self::SameRoles,
            fault => Self::Server(fault),
        }
    }
}
