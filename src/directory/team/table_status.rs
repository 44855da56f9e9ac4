//! The state of the tables of a team's directory and the identity of the caller; also runs requests before there is a
//! directory.

use std::sync::mpsc;

use crate::{
    database::{Access, ServerFault, Tx, record, task, values},
    directory::{DirectoryError, engine::Engine, sql::Fault, tables::Role},
};

/// The caller's identity, and what the directory allows.
#[derive(Debug, Clone)]
pub(in crate::directory) struct Membership {
    /// The user name as the server knows it.
    pub(in crate::directory) user: String,
    pub(in crate::directory) role: Role,
    /// Where the directory was moved to.
    pub(in crate::directory) moved_to: Option<String>,
    /// The oldest version that may still write the tables.
    pub(in crate::directory) writes_from: i64,
}

/// The state of the tables, and the caller.
pub(in crate::directory) struct TableStatus {
    pub(in crate::directory) version: i64,
    pub(super) reads_from: i64,
    pub(super) key_check: Option<[u8; 32]>,
    pub(in crate::directory) membership: Membership,
}

struct StatusRow {
    version: Option<i64>,
    reads_from: Option<i64>,
    writes_from: Option<i64>,
    key_check: Option<[u8; 32]>,
    moved_to: Option<String>,
    user: String,
    is_owner: bool,
    is_admin: bool,
    may_write: bool,
}
record!(StatusRow, "installation" {
    version = "v.version", reads_from = "v.reads_from", writes_from = "v.writes_from", key_check = "i.key_check", moved_to = "i.moved_to",
    user = "session_user::text",
    is_owner = "pg_has_role(session_user, n.nspowner, 'USAGE')",
    is_admin = "pg_has_role(session_user, n.nspowner, 'MEMBER')",
    may_write = "has_any_column_privilege('rotations', 'UPDATE')",
});

const TABLE_STATUS: &str = "\
SELECT * FROM installation i, pg_namespace n, \
 (SELECT MAX(version) AS version, MAX(reads_from) AS reads_from, MAX(writes_from) AS writes_from FROM schema_versions) v \
WHERE n.nspname = current_schema()";

impl TableStatus {
    pub(in crate::directory) fn read(tx: &Tx<'_>) -> Result<Self, Fault> {
        let row: Option<StatusRow> = tx.one(TABLE_STATUS, values![])?;
        let status_row = row.map(|row| Self {
            version: row.version.unwrap_or_default(),
            reads_from: row.reads_from.unwrap_or_default(),
            key_check: row.key_check,
            membership: Membership {
                user: row.user,
                role: match () {
                    () if row.is_owner => Role::Owner,
                    () if row.is_admin => Role::Admin,
                    () if row.may_write => Role::Operator,
                    () => Role::Viewer,
                },
                moved_to: row.moved_to,
                writes_from: row.writes_from.unwrap_or_default(),
            },
        });
        status_row.ok_or_else(|| Fault::Server(ServerFault::NotThere))
    }
}

/// Runs the work and waits for its answer. The threads of an engine are not tasks of an async runtime.
pub(in crate::directory) fn execute<T: Send + 'static>(
    engine: &Engine,
    access: Access,
    work: impl FnOnce(&Tx<'_>) -> Result<T, Fault> + Send + 'static,
) -> Result<T, DirectoryError> {
    let (reply, answer) = mpsc::sync_channel(1);
    let reply = move |result| drop(reply.send(result));
    engine.execute_blocking(task(access, work, reply), &answer)
}
