//! The storage in a schema of a PostgreSQL database, which any number of processes share: how it is set up, recognised
//! and reached. The rules are enforced in `rules`.

use std::{fmt, path::PathBuf};

use super::{Access, Options, Result, Store, StoreError};
use crate::db::{AddressFault, Advice, Fault, Server, ServerFault, quoted, timelines, values};

/// Begins with one file, numbered like the file schema that it equals.
const BEGIN: &str = include_str!("../../../assets/migrations/service/postgres/0002_begin.sql");
const NEWEST: i64 = 2;

/// Connections per process. Each spends most of its time waiting for commits, which the server does together.
pub(super) const CONNECTIONS: usize = 8;

const ADD_VERSION: &str = "INSERT INTO schema_versions (version) VALUES ($1)";
/// Whether the schema is that of a service which this user set up.
const IS_OWN: &str = "SELECT pg_has_role(c.relowner, 'USAGE') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                      WHERE n.nspname = $1::text AND c.relname = 'schema_versions' \
                      AND EXISTS (SELECT 1 FROM pg_class k WHERE k.relnamespace = n.oid AND k.relname = 'retired_tokens')";
const VERSION: &str = "SELECT MAX(version) FROM schema_versions";

/// A schema of a PostgreSQL database. Contains no password.
#[derive(Clone)]
pub struct SharedStorage {
    pub(crate) server: Server,
    shown: String,
}

impl SharedStorage {
    /// `url` in PostgreSQL's notation: `postgres://USER@HOST/DATABASE`, or with a Unix socket
    /// `postgres://USER@/DATABASE?host=/run/postgresql`. `schema` is a plain name.
    pub fn parse(url: &str, schema: &str) -> Result<Self> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if schema.is_empty() || !schema.chars().all(is_plain) {
            let why = "the name of a schema has lower-case letters, digits and _ only";
            return Err(StoreError::Unfit(why.into()));
        }
        let mut server = Server::parse(url, schema).map_err(|fault| {
            let why = match fault {
                AddressFault::NotAnAddress => {
                    "the storage is not the address of a PostgreSQL database; write postgres://USER@HOST/DATABASE, or \
                     postgres://USER@/DATABASE?host=/FOLDER/OF/THE/SOCKET"
                }
                AddressFault::Password => {
                    "the URL of the storage must not contain a password; remove it, and pass a file that contains it with \
                     --storage-password-file"
                }
                AddressFault::Certificates => {
                    "the URL must not name certificate files; remove sslrootcert, sslcert and sslkey, and pass --storage-ca-file"
                }
                AddressFault::Unprotected => {
                    "network connections always use sslmode=verify-full, so remove sslmode; sslmode=disable works on this \
                     machine only"
                }
            };
            StoreError::Unfit(why.into())
        })?;
        server.hints = false;
        Ok(Self {
            shown: format!("{url} ({schema})"),
            server,
        })
    }

    /// Remembers in this file the highest timeline of each server, and serves nothing from one that a failover has left
    /// behind: its tokens are replaced ones.
    #[must_use]
    pub fn with_timelines(mut self, file: PathBuf) -> Self {
        self.server.timelines = Some(timelines::check(file));
        self
    }

    /// Whether a connection goes over a network and so needs TLS.
    pub fn needs_tls(&self) -> bool {
        self.server.needs_tls
    }

    /// Creates the schema in one transaction and grants a database role access to it. For another role its owner is
    /// only asked to grant that: then the result is false. Any other schema that exists is refused. Blocks.
    pub fn set_up(&self, role: Option<&str>) -> Result<bool> {
        let schema = quoted(&self.server.schema);
        let begin = format!("CREATE SCHEMA {schema}; {BEGIN}");
        let mut grants = None;
        if let Some(role) = role {
            // "public" would mean every user.
            if role == "public" {
                let why = "--role public would let every user of the database in, with every token; name the role that the \
                           service connects as";
                return Err(StoreError::Unfit(why.into()));
            }
            grants = Some(grants_of(&schema, &quoted(role)));
        }
        let store = Store::of_connections(self, Options::default(), 1)?;
        let name = self.server.schema.clone();
        store.execute_blocking(Access::WriteOnce, move |tx| {
            let is_own = tx.one::<bool>(IS_OWN, values![&name])? == Some(true);
            let is_new = grants.is_none() || !is_own;
            if is_new {
                tx.batch(&begin)?;
                tx.write(ADD_VERSION, values![NEWEST])?;
            }
            if let Some(grants) = &grants {
                tx.batch(grants)?;
            }
            Ok(is_new)
        })
    }
}

/// The rights that the service needs and no more: it neither creates tables nor deletes groups.
fn grants_of(schema: &str, role: &str) -> String {
    format!(
        "GRANT USAGE ON SCHEMA {schema} TO {role}; \
         GRANT SELECT ON schema_versions TO {role}; \
         GRANT SELECT, INSERT, UPDATE ON environments, keys, groups, probe TO {role}; \
         GRANT SELECT, INSERT ON retired_tokens TO {role}; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON writes TO {role}"
    )
}

impl Store {
    /// Opens a schema that was set up before. Blocks.
    pub fn open_shared(at: &SharedStorage, options: Options) -> Result<Self> {
        let store = Self::of_connections(at, options, CONNECTIONS)?;
        let version = store.execute_blocking(Access::Short, |tx| {
            Ok(tx.one::<Option<i64>>(VERSION, values![])?)
        })?;
        match version.flatten() {
            Some(NEWEST) => Ok(store),
            Some(found) => Err(StoreError::OtherVersion {
                found,
                known: NEWEST,
            }),
            None => Err(ServerFault::NotThere.into()),
        }
    }
}

const ADVICE: Advice = Advice {
    state: "nothing was changed",
    unclear: "whether it was committed is unknown",
    ca_file: "pass a file with the CA certificate with --storage-ca-file",
    password: "pass a file that contains it with --storage-password-file",
    certificate: "let this user log in with a password (pg_hba.conf)",
    set_up: "is not set up for the service, or not for this role. To do it, as the owner of the schema: groupdesk serve init \
             --storage URL --role NAME",
    there: "to let a role serve from it, use --role as its owner; for another service, use --storage-schema",
};

impl From<ServerFault> for StoreError {
    fn from(fault: ServerFault) -> Self {
        match fault {
            // Nothing was committed: the request may be sent again.
            ServerFault::Unreachable | ServerFault::Crowded => Self::Away,
            ServerFault::Busy => Self::Busy,
            // As certain: the server refused the connection or a statement, or was not trusted. If that happens while the
            // outcome of a commit is asked for, the fault is `Unclear`.
            ServerFault::ReadOnly
            | ServerFault::Full
            | ServerFault::NotAllowed(_)
            | ServerFault::NoPassword(_)
            | ServerFault::Unusable(_)
            | ServerFault::OwnCertificate(_)
            | ServerFault::Outdated(_)
            | ServerFault::Unsafe(_) => Self::Refused(fault.sentence(&ADVICE)),
            fault => Self::Server(fault.sentence(&ADVICE)),
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Sqlite(error) => Self::of_sqlite(&error),
            Fault::Server(fault) => fault.into(),
            Fault::Column | Fault::Row(_) => Self::Unexpected("a column has another type".into()),
        }
    }
}

impl fmt::Display for SharedStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proves_that_nothing_was_done_is_kept_apart_from_what_does_not() {
        let code = || "42501".to_owned();
        for fault in [
            ServerFault::ReadOnly,
            ServerFault::Full,
            ServerFault::NotAllowed(code()),
            ServerFault::NoPassword(None),
            ServerFault::Unsafe("no TLS".into()),
            ServerFault::Unusable("no TLS".into()),
            ServerFault::OwnCertificate("requires a client certificate"),
            ServerFault::Outdated("was left behind".into()),
        ] {
            let error = StoreError::from(fault);
            let is_refused = matches!(error, StoreError::Refused(_));
            assert!(is_refused && error.is_of_the_storage(), "{error:?}");
        }
        for fault in [ServerFault::Unclear, ServerFault::Other(code())] {
            let error = StoreError::from(fault);
            assert!(matches!(error, StoreError::Server(_)), "{error:?}");
        }
    }
}
