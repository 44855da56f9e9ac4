//! A directory that a team shares, in a schema of a PostgreSQL database: how it is recognised, opened and asked for its
//! status.

mod key;
mod migrations;
mod roles;
mod table_status;

use jiff::Timestamp;
use zeroize::Zeroizing;

use super::{
    DirectoryError,
    engine::Engine,
    location::{TeamFault, TeamLocation},
    sql::Fault,
    tables::{MIGRATIONS, NEWEST, Role},
};
use crate::{
    database::{Access, ServerFault, values},
    domain::token::Fingerprinter,
};
pub(super) use key::outside as key_outside;
pub use migrations::{Migrated, migrate, set_up, set_up_sql};
pub use roles::{grant, members, revoke};
pub(super) use table_status::{Membership, TableStatus, execute};

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
pub fn team_status(team: &TeamLocation) -> Result<TeamStatus, DirectoryError> {
    let status = execute(&Engine::of_team(team)?, Access::Short, |tx| {
        let status_row = TableStatus::read(tx)?;
        let open = tx.all(OPEN, values![])?;
        let membership = status_row.membership;
        let status: Option<(String, String, i64, Timestamp, String)> = tx.one(STATUS, values![])?;
        Ok(status.map(
            |(server, synchronous, sessions, clock, timeline)| TeamStatus {
                server,
                user: membership.user,
                role: membership.role,
                schema: status_row.version,
                is_readable: status_row.version >= NEWEST && status_row.reads_from <= NEWEST,
                synchronous,
                sessions,
                clock,
                timeline,
                moved_to: membership.moved_to,
                open,
            },
        ))
    })?;
    status.ok_or_else(|| DirectoryError::of_team(team, TeamFault::Server(ServerFault::NotThere)))
}

const KEY: &str = "SELECT key FROM fingerprint_key";

/// Opens a directory that was set up before. Blocks.
pub(super) fn open(
    team: &TeamLocation,
) -> Result<(Engine, Fingerprinter, Membership), DirectoryError> {
    let engine = Engine::of_team(team)?;
    let at = team.clone();
    let (fingerprinter, membership) = execute(&engine, Access::Short, move |tx| {
        // First, because a person may have to type something for it.
        let outside = key::outside(&at)?;
        let status_row = TableStatus::read(tx)?;
        let refused = |fault| Fault::from(DirectoryError::of_team(&at, fault));
        match TeamFault::of_version(status_row.version, MIGRATIONS) {
            // Newer tables may still be readable.
            Some(TeamFault::Newer { .. }) if status_row.reads_from <= NEWEST => {}
            Some(fault) => return Err(refused(fault)),
            None => {}
        }
        // A viewer does not test tokens.
        let kept = match status_row.membership.role {
            Role::Viewer => None,
            _ => tx.one::<[u8; 32]>(KEY, values![])?,
        };
        let key = match (outside, kept.map(Zeroizing::new)) {
            (Some(key), _) | (None, Some(key)) => key,
            (None, None) if status_row.membership.role == Role::Viewer => key::random()?,
            (None, None) => return Err(refused(TeamFault::NoKey)),
        };
        let fingerprinter = Fingerprinter::new(&key);
        let is_right = status_row.key_check == Some(*fingerprinter.check().as_bytes());
        if !is_right && status_row.membership.role != Role::Viewer {
            return Err(refused(TeamFault::WrongKey));
        }
        Ok((fingerprinter, status_row.membership))
    })?;
    Ok((engine, fingerprinter, membership))
}
