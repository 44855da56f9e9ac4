//! The state of the tables of a team's directory and the identity of the caller; also runs requests before there is a
//! directory.

use std::sync::mpsc;

use crate::{
    database::{Access, ServerFault, Tx, task, values},
    directory::{DirectoryError, engine::Engine, sqlite::Fault, tables::Role},
};

/// The caller's identity, and what the directory allows.
#[derive(Debug, Clone)]
pub(in crate::directory) struct Membership {
    /// The user name as the server knows it.
    pub(in crate::directory) user: String,
    pub(in crate::directory) role: Role,
    /// Where the directory was moved to.
    pub(in crate::directory) moved_to: Option<String>,
    /// Whether a standby answered.
    pub(in crate::directory) is_standby: bool,
}

/// The state of the tables, and the caller.
pub(in crate::directory) struct TableStatus {
    pub(in crate::directory) version: i64,
    pub(super) reads_from: i64,
    pub(super) key_check: Option<[u8; 32]>,
    pub(in crate::directory) membership: Membership,
}

const TABLE_STATUS: &str = "\
SELECT v.version, v.reads_from, i.key_check, i.moved_to, session_user::text, \
 pg_has_role(session_user, n.nspowner, 'USAGE'), pg_has_role(session_user, n.nspowner, 'MEMBER'), \
 has_any_column_privilege('rotations', 'UPDATE'), pg_is_in_recovery() \
FROM installation i, pg_namespace n, \
 (SELECT MAX(version) AS version, MAX(reads_from) AS reads_from FROM schema_versions) v \
WHERE n.nspname = current_schema()";

impl TableStatus {
    pub(in crate::directory) fn read(tx: &Tx<'_>) -> Result<Self, Fault> {
        let status_row = tx.one(TABLE_STATUS, values![], |row| {
            let (is_owner, is_admin): (bool, bool) = (row.get(5)?, row.get(6)?);
            let version: Option<i64> = row.get(0)?;
            let role = match () {
                () if is_owner => Role::Owner,
                () if is_admin => Role::Admin,
                () if row.get(7)? => Role::Operator,
                () => Role::Viewer,
            };
            Ok::<_, Fault>(Self {
                version: version.unwrap_or_default(),
                reads_from: row.get::<Option<i64>>(1)?.unwrap_or_default(),
                key_check: row.get(2)?,
                membership: Membership {
                    user: row.get(4)?,
                    role,
                    moved_to: row.get(3)?,
                    is_standby: row.get(8)?,
                },
            })
        })?;
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
