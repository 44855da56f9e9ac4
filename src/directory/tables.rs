//! What a team's database is made of: its tables by their versions, and the roles that may do something with them.

use std::fmt;

/// What somebody may do; each may do all that the ones before may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Sees everything but the key of the fingerprints.
    Viewer,
    /// Works with it.
    Operator,
    /// Lets others in, migrates, copies.
    Admin,
    /// Whoever has the rights of the tables' owner without asking for them, as a superuser has.
    Owner,
}

impl Role {
    /// Those that are granted.
    pub const GRANTED: [Self; 3] = [Self::Viewer, Self::Operator, Self::Admin];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }

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

/// Takes the rights of the owner until the end of the transaction.
pub(super) fn as_owner(schema: &str) -> String {
    format!("SET LOCAL ROLE {}", Role::Owner.of(schema))
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// From one version of the tables to the next.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// The version that stands afterwards.
    pub version: i64,
    pub text: &'static str,
    /// The oldest version that a groupdesk may know and still read what stands then.
    pub reads_from: i64,
    /// The same for writing.
    pub writes_from: i64,
}

/// Begins with one file, numbered as the schema of the file that it equals.
pub const MIGRATIONS: &[Migration] = &[Migration {
    version: 13,
    text: include_str!("../../assets/migrations/directory/postgres/0013_begin.sql"),
    reads_from: 13,
    writes_from: 13,
}];

pub(super) const NEWEST: i64 = MIGRATIONS[MIGRATIONS.len() - 1].version;

pub(super) const ROLES: &str = include_str!("../../assets/migrations/directory/postgres/roles.sql");
pub(super) const RIGHTS: &str =
    include_str!("../../assets/migrations/directory/postgres/rights.sql");

/// What a write begins with: its stamp, where it may be written at all.
pub(super) fn stamp(synchronous: bool) -> String {
    format!(
        "INSERT INTO writes (stamp) SELECT ($1::text)::uuid WHERE may_write({NEWEST}, {synchronous})"
    )
}

/// Done when a line is opened; see the function.
pub(super) const CARE: &str = "SELECT care()";
