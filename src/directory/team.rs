//! A directory that a team shares, in a schema of a PostgreSQL database: how it is recognised, opened and asked for its
//! status.

mod migrations;
mod roles;

use std::sync::{Mutex, atomic::AtomicU64};

use jiff::Timestamp;
use zeroize::Zeroizing;

use super::{
    Inner, Result,
    engine::Engine,
    location::{TeamFault, TeamLocation},
    sql::{Fault, random_key},
    tables::{MIGRATIONS, NEWEST, Role},
};
use crate::{
    db::{Access, ServerFault, Tx, record, values},
    domain::token::Fingerprinter,
};
pub use migrations::{Migrated, migrate, set_up, set_up_sql};
pub use roles::{grant, members, revoke};

/// The caller's identity, and what the directory allows.
#[derive(Debug, Clone)]
pub(super) struct Membership {
    /// The user name as the server knows it.
    pub(super) user: String,
    pub(super) role: Role,
    /// Where the directory was moved to.
    pub(super) moved_to: Option<String>,
    /// The oldest version that may still write the tables.
    pub(super) writes_from: i64,
}

/// The state of the tables, and the caller.
pub(super) struct TableStatus {
    pub(super) version: i64,
    reads_from: i64,
    key_check: Option<[u8; 32]>,
    pub(super) membership: Membership,
}

record!(Membership, "installation" {
    user = "session_user::text",
    role = "CASE WHEN pg_has_role(session_user, n.nspowner, 'USAGE') THEN 'owner' \
        WHEN pg_has_role(session_user, n.nspowner, 'MEMBER') THEN 'admin' \
        WHEN has_any_column_privilege('rotations', 'UPDATE') THEN 'operator' ELSE 'viewer' END",
    moved_to = "i.moved_to", writes_from = "COALESCE(v.writes_from, 0)",
});
record!(TableStatus, "installation" {
    version = "COALESCE(v.version, 0)", reads_from = "COALESCE(v.reads_from, 0)", key_check = "i.key_check", membership,
});

const TABLE_STATUS: &str = "\
SELECT * FROM installation i, pg_namespace n, \
(SELECT MAX(version) AS version, MAX(reads_from) AS reads_from, MAX(writes_from) AS writes_from FROM schema_versions) v \
WHERE n.nspname = current_schema()";

impl TableStatus {
    pub(super) fn read(tx: &Tx<'_>) -> Result<Self, Fault> {
        let row = tx.one(TABLE_STATUS, values![])?;
        row.ok_or_else(|| TeamFault::Server(ServerFault::NotThere).into())
    }

    /// Refuses what needs a higher role.
    pub(super) fn requires(&self, needs: Role) -> Result<(), Fault> {
        let has = self.membership.role;
        if has < needs {
            return Err(TeamFault::NeedsRole { needs, has }.into());
        }
        Ok(())
    }
}

/// The status of the server and of the directory on it.
#[derive(Debug, Clone)]
pub struct TeamStatus {
    /// The version of PostgreSQL.
    pub server: String,
    /// The caller's user name there.
    pub user: String,
    pub role: Role,
    /// The version of the tables.
    pub schema: i64,
    /// Whether this groupdesk can read these tables.
    pub is_readable: bool,
    /// `synchronous_standby_names`; if empty, an answered change may be lost in a failover.
    pub synchronous: String,
    /// Number of groupdesk connections to the database.
    pub sessions: i64,
    /// The server's time.
    pub clock: Timestamp,
    /// Changes with a failover.
    pub timeline: String,
    /// Where the directory was moved to.
    pub moved_to: Option<String>,
    /// Rotations with an unknown outcome (number, group, state, operator), by number.
    pub open: Vec<(i64, String, String, String)>,
}

const STATUS: &str = "\
SELECT current_setting('server_version'), current_setting('synchronous_standby_names'), \
 (SELECT count(*) FROM pg_stat_activity WHERE application_name = 'groupdesk' AND datname = current_database()), \
 (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, timeline()";

const OPEN: &str = "\
SELECT id, user_group_id, state, by FROM rotations \
WHERE state IN ('intended', 'sent', 'rotated', 'unknown') ORDER BY id";

/// Returns the status, even if this groupdesk cannot use the tables. Blocks.
pub fn team_status(team: &TeamLocation) -> Result<TeamStatus> {
    Engine::of_team(team)?.block(Access::Short, |tx| {
        let status = TableStatus::read(tx)?;
        let open = tx.all(OPEN, values![])?;
        let membership = status.membership;
        let found: Option<(String, String, i64, Timestamp, String)> = tx.one(STATUS, values![])?;
        let found = found.ok_or(TeamFault::Server(ServerFault::NotThere))?;
        let (server, synchronous, sessions, clock, timeline) = found;
        Ok(TeamStatus {
            server,
            user: membership.user,
            role: membership.role,
            schema: status.version,
            is_readable: status.version >= NEWEST && status.reads_from <= NEWEST,
            synchronous,
            sessions,
            clock,
            timeline,
            moved_to: membership.moved_to,
            open,
        })
    })
}

/// The fingerprint key, if it is in the database.
pub(super) const KEY: &str = "SELECT key FROM fingerprint_key";

/// Opens a directory that was set up before. Blocks.
pub(super) fn open(team: &TeamLocation) -> Result<Inner> {
    let engine = Engine::of_team(team)?;
    let at = team.clone();
    let (fingerprinter, membership) = engine.block(Access::Short, move |tx| {
        // First, because a person may have to type something for it.
        let outside = outside_key(&at)?;
        let status = TableStatus::read(tx)?;
        match TeamFault::of_version(status.version, MIGRATIONS) {
            // Newer tables may still be readable.
            Some(TeamFault::Newer { .. }) if status.reads_from <= NEWEST => {}
            Some(fault) => return Err(fault.into()),
            None => {}
        }
        // A viewer does not test tokens.
        let is_viewer = status.membership.role == Role::Viewer;
        let kept = if is_viewer {
            None
        } else {
            tx.one::<[u8; 32]>(KEY, values![])?
        };
        let key = match outside.or(kept.map(Zeroizing::new)) {
            Some(key) => key,
            None if is_viewer => random_key()?,
            None => return Err(TeamFault::NoKey.into()),
        };
        let fingerprinter = Fingerprinter::new(&key);
        let is_right = status.key_check == Some(*fingerprinter.check().as_bytes());
        if !is_right && !is_viewer {
            return Err(TeamFault::WrongKey.into());
        }
        Ok((fingerprinter, status.membership))
    })?;
    Ok(Inner {
        engine,
        fingerprinter,
        membership: Some(membership),
        at_work: Mutex::default(),
        latest_change: None,
        written_beside: AtomicU64::default(),
    })
}

type Key = Zeroizing<[u8; 32]>;

/// Reads the fingerprint key if the configuration names a source for it. Blocks; must not be called on a thread of the async
/// runtime.
pub(super) fn outside_key(team: &TeamLocation) -> Result<Option<Key>, Fault> {
    let Some(source) = &team.fingerprint_key else {
        return Ok(None);
    };
    let refused = |why: String| Fault::from(TeamFault::NoOutsideKey(why));
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build();
    let runtime = runtime.map_err(|why| refused(why.to_string()))?;
    let text = runtime.block_on(source()).map_err(refused)?;
    let key = parse_key(&text)
        .ok_or_else(|| refused("it is not a key: expected 64 hexadecimal digits".into()))?;
    Ok(Some(key))
}

fn parse_key(text: &[u8]) -> Option<Key> {
    let text = std::str::from_utf8(text).ok()?.trim();
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut key = Zeroizing::new([0; 32]);
    for (at, byte) in key.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_64_hexadecimal_digits() {
        let text = "00ff".repeat(16);
        let key = parse_key(format!("{text}\n").as_bytes()).expect("a key");
        assert_eq!(key[..4], [0, 0xff, 0, 0xff]);
        for text in [
            "",
            &text[2..],
            &text.replace("ff", "fg"),
            &text.replace("ff", "+f"),
        ] {
            assert!(parse_key(text.as_bytes()).is_none(), "{text}");
        }
    }
}
