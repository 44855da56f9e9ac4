//! Every fingerprint that a group ever had, and thereby the owners of a token.

use super::{fault::Fault, rows};
use crate::{
    database::{Access, Statements, values},
    directory::{Directory, DirectoryError, Owner, PlaceId},
    domain::{group::UserGroupId, token::Fingerprint},
};

impl Directory {
    /// Returns every group of every place that has or had the token, current owners first.
    pub async fn owners(&self, fingerprint: Fingerprint) -> Result<Vec<Owner>, DirectoryError> {
        self.execute(Access::Short, move |tx| {
            tx.all(OWNERS, values![fingerprint.as_bytes()], |row| {
                rows::owner(row)?.ok_or(Fault::Row("fingerprints"))
            })
        })
        .await
    }
}

const KEEP_FINGERPRINT: &str = "\
INSERT INTO fingerprints (fingerprint, place, user_group_id, first_seen, last_seen) \
VALUES ($1, $2, $3, $4, $4) \
ON CONFLICT (fingerprint, place, user_group_id) DO UPDATE SET last_seen = excluded.last_seen \
WHERE fingerprints.last_seen < excluded.last_seen";

/// Records for ever that a group had this token.
pub(super) fn keep(
    writes: &mut Statements,
    place: PlaceId,
    id: &UserGroupId,
    fingerprint: Fingerprint,
    at: i64,
) {
    let values = values![fingerprint.as_bytes(), place.0, id.as_str(), at];
    writes.add(KEEP_FINGERPRINT, values);
}

const HAD: &str = "\
SELECT 1 FROM fingerprints WHERE fingerprint = $1 AND place = $2 AND user_group_id = $3";

/// Reads whether the group has, or had, this token: a row if so.
pub(super) fn query_had(
    reads: &mut Statements,
    place: PlaceId,
    id: &UserGroupId,
    fingerprint: Fingerprint,
) {
    reads.add(HAD, values![fingerprint.as_bytes(), place.0, id.as_str()]);
}

const OWNERS: &str = "\
SELECT p.name, f.user_group_id, COALESCE(g.fingerprint = f.fingerprint, FALSE) AS is_current, f.last_seen, f.place \
FROM fingerprints f JOIN places p ON p.number = f.place \
LEFT JOIN user_groups g ON g.place = f.place AND g.user_group_id = f.user_group_id \
WHERE f.fingerprint = $1 \
ORDER BY is_current DESC, f.last_seen DESC, p.name, f.user_group_id";
