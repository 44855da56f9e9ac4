//! Every fingerprint that a group ever had, and so whose a token is or was.

use rusqlite::{Connection, params};

use super::{fault::Fault, rows};
use crate::{
    directory::{Owner, PlaceId},
    domain::{group::UserGroupId, token::Fingerprint},
};

const KEEP_FINGERPRINT: &str = "\
INSERT INTO fingerprints (fingerprint, place, user_group_id, first_seen, last_seen) \
VALUES ($1, $2, $3, $4, $4) \
ON CONFLICT (fingerprint, place, user_group_id) DO UPDATE SET last_seen = excluded.last_seen \
WHERE fingerprints.last_seen < excluded.last_seen";

/// Remembers for ever that a group had this token.
pub(super) fn keep(
    tx: &Connection,
    place: PlaceId,
    id: &UserGroupId,
    fingerprint: Fingerprint,
    at: i64,
) -> Result<(), Fault> {
    tx.prepare_cached(KEEP_FINGERPRINT)?.execute(params![
        fingerprint.as_bytes(),
        place.0,
        id.as_str(),
        at
    ])?;
    Ok(())
}

const OWNERS: &str = "\
SELECT p.name, f.user_group_id, COALESCE(g.fingerprint = f.fingerprint, FALSE) AS is_current, f.last_seen, f.place \
FROM fingerprints f JOIN places p ON p.number = f.place \
LEFT JOIN user_groups g ON g.place = f.place AND g.user_group_id = f.user_group_id \
WHERE f.fingerprint = $1 \
ORDER BY is_current DESC, f.last_seen DESC, p.name, f.user_group_id";

pub(crate) fn owners(
    connection: &Connection,
    fingerprint: Fingerprint,
) -> Result<Vec<Owner>, Fault> {
    let mut statement = connection.prepare_cached(OWNERS)?;
    let mut found = statement.query([fingerprint.as_bytes()])?;
    let mut owners = Vec::new();
    while let Some(row) = found.next()? {
        owners.push(rows::owner(row)?.ok_or(Fault::Row("fingerprints"))?);
    }
    Ok(owners)
}
