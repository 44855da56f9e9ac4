//! The structure of a team's database: its tables by version, and the roles with rights on them.

use std::fmt;

use crate::{db::quoted, domain::word_enum::word_enum};

word_enum! {
    /// What a member may do; each role includes the rights of the roles before it.
    #[derive(PartialOrd, Ord)]
    pub enum Role {
        /// Sees everything but the key of the fingerprints.
        Viewer = "viewer",
        /// Works with it.
        Operator = "operator",
        /// Lets others in, migrates, copies.
        Admin = "admin",
        /// Whoever has the rights of the tables' owner without asking for them, as a superuser has.
        Owner = "owner",
    }
}

impl Role {
    /// The roles that can be granted.
    pub const GRANTED: [Self; 3] = [Self::Viewer, Self::Operator, Self::Admin];

    /// Its role of the database.
    pub(super) fn of(self, schema: &str) -> String {
        quoted(&format!("{schema}_{}", self.as_str()))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Assumes the rights of the owner until the end of the transaction.
pub(super) fn as_owner(schema: &str) -> String {
    format!("SET LOCAL ROLE {}", Role::Owner.of(schema))
}

/// A step from one version of the tables to the next.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// The version afterwards.
    pub version: i64,
    pub text: &'static str,
    /// The oldest version that a groupdesk must know to read the result.
    pub reads_from: i64,
    /// The oldest version that a groupdesk must know to write it.
    pub writes_from: i64,
}

/// Begins with one file, numbered like the file schema that it equals; development versions had lower numbers.
pub const MIGRATIONS: &[Migration] = &[Migration {
    version: 20,
    text: include_str!("../../assets/migrations/directory/postgres/0020_begin.sql"),
    reads_from: 20,
    writes_from: 20,
}];

pub(super) const NEWEST: i64 = MIGRATIONS[MIGRATIONS.len() - 1].version;

pub(super) const ROLES: &str = include_str!("../../assets/migrations/directory/postgres/roles.sql");
pub(super) const RIGHTS: &str =
    include_str!("../../assets/migrations/directory/postgres/rights.sql");

/// The start of a write: its stamp. Fails if writes are not allowed.
pub(super) fn stamp(synchronous: bool) -> String {
    format!(
        "INSERT INTO writes (stamp) SELECT ($1::text)::uuid WHERE may_write({NEWEST}, {synchronous})"
    )
}

/// Executed when a connection is opened; see the SQL function.
pub(super) const CARE: &str = "SELECT care()";
