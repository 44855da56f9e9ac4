//! The audit of a team's directory: what was done, by whom according to the server; and history entries that no audited
//! change stands behind.

use jiff::Timestamp;

use super::{Directory, DirectoryError, Location, Result};
use crate::{
    db::{Access, record, values},
    domain::group::UserGroupId,
};

/// One line of the audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    /// Ascending number; `None` for a history entry.
    pub number: Option<i64>,
    /// By the clock of the database.
    pub at: Timestamp,
    /// User name as the server knows it.
    pub who: String,
    /// Client address; `None` if connected on the same machine.
    pub address: Option<String>,
    /// `rotation`, `group`, the operation of a change, `role`, `timeline`, …; `history` for a history entry without a
    /// matching change.
    pub what: String,
    /// Name of the place.
    pub place: Option<String>,
    pub user_group_id: Option<String>,
    pub rotation: Option<i64>,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Selects lines of the audit.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    pub user_group_id: Option<UserGroupId>,
    pub who: Option<String>,
    pub since: Option<Timestamp>,
}

const AUDIT: &str = "\
SELECT number, (extract(epoch FROM at) * 1000000)::bigint, who::text, host(address), what, \
 (SELECT name FROM places p WHERE p.number = a.place), user_group_id, rotation, before, after FROM audit a \
WHERE ($1::text IS NULL OR user_group_id = $1) AND ($2::text IS NULL OR who::text = $2) \
 AND ($3::bigint IS NULL OR at >= to_timestamp($3 / 1000000.0)) ORDER BY number DESC";

/// Every change of a group leaves a line in the same transaction: its own, or that of the copy which brought it.
const UNMATCHED: &str = "\
SELECT NULL::bigint, (extract(epoch FROM db_at) * 1000000)::bigint, db_user::text, NULL::text, 'history', \
 (SELECT name FROM places p WHERE p.number = h.place), user_group_id, NULL::bigint, NULL::text, \
 operation || ' ' || ending || ', by ' || by FROM history h \
WHERE ending IN ('created', 'updated', 'rotated', 'confirmed', 'recovered') \
 AND NOT EXISTS (SELECT FROM audit a WHERE a.written_in = h.written_in \
  AND (a.user_group_id = h.user_group_id OR a.what = 'copy')) \
 AND ($1::text IS NULL OR user_group_id = $1) AND ($2::text IS NULL OR db_user::text = $2) \
 AND ($3::bigint IS NULL OR db_at >= to_timestamp($3 / 1000000.0)) ORDER BY number DESC";

impl Directory {
    /// Returns audit lines, newest first; unmatched history entries come last.
    pub async fn audit(&self, filter: AuditFilter) -> Result<Vec<Audited>> {
        if let Location::File(_) = self.location() {
            return Err(DirectoryError::NoAudit);
        }
        self.execute(Access::Long, move |tx| {
            let mut lines = Vec::new();
            for text in [AUDIT, UNMATCHED] {
                let (group, who) = (filter.user_group_id.as_ref(), filter.who.as_ref());
                lines.extend(tx.all::<Audited>(text, values![group, who, filter.since])?);
            }
            Ok(lines)
        })
        .await
    }
}

record!(Audited, "audit" { number, at, who, address, what, place, user_group_id, rotation, before, after });
