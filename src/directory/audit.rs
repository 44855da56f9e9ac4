//! What was done in a directory that a team shares, by whom the server knows it to be; and lines of the history that nothing
//! which was done stands behind.

use jiff::Timestamp;

use super::{Directory, DirectoryError, Location, sqlite::Fault};
use crate::{
    database::{Access, Row, Tx, values},
    domain::group::UserGroupId,
};

/// One line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audited {
    /// Counted up; `None` of a line of the history.
    pub number: Option<i64>,
    /// By the clock of the database.
    pub at: Timestamp,
    /// As the server knows them.
    pub who: String,
    /// Where they were connected from; `None`: on the same machine.
    pub address: Option<String>,
    /// `rotation`, `group`, the operation of a change, `role`, `timeline`, …; `history` of a line of the history that has no match.
    pub what: String,
    /// The name of the place.
    pub place: Option<String>,
    pub user_group_id: Option<String>,
    pub rotation: Option<i64>,
    pub before: Option<String>,
    pub after: Option<String>,
}

/// Which lines.
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

/// Whatever changes a group leaves a line in the same transaction, of the group or of what was copied.
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
    /// The newest first; lines of the history that nothing stands behind come last.
    pub async fn audit(&self, filter: AuditFilter) -> Result<Vec<Audited>, DirectoryError> {
        if let Location::File(_) = self.location() {
            return Err(DirectoryError::NoAudit);
        }
        self.ask(Access::Long, move |tx| {
            let mut lines = read(tx, AUDIT, &filter)?;
            lines.extend(read(tx, UNMATCHED, &filter)?);
            Ok(lines)
        })
        .await
    }
}

fn read(tx: &Tx<'_>, text: &'static str, filter: &AuditFilter) -> Result<Vec<Audited>, Fault> {
    let values = values![
        filter
            .user_group_id
            .as_ref()
            .map(|id| id.as_str().to_owned()),
        filter.who.clone(),
        filter.since.map(Timestamp::as_microsecond),
    ];
    tx.all(text, values, line)
}

fn line(row: &Row<'_>) -> Result<Audited, Fault> {
    let micros: i64 = row.get(1)?;
    Ok(Audited {
        number: row.get(0)?,
        at: Timestamp::from_microsecond(micros).unwrap_or_default(),
        who: row.get(2)?,
        address: row.get(3)?,
        what: row.get(4)?,
        place: row.get(5)?,
        user_group_id: row.get(6)?,
        rotation: row.get(7)?,
        before: row.get(8)?,
        after: row.get(9)?,
    })
}
