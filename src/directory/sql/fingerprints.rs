//! Every fingerprint that a group ever had, and so the owners of a token.

use jiff::Timestamp;

use super::fault::Fault;
use crate::{
    db::{Access, Tx, values},
    directory::{Directory, Owner, PlaceId, Result},
    domain::{group::UserGroupId, token::Fingerprint},
};

impl Directory {
    /// Returns every group of every place that has or had the token, current owners first.
    pub async fn owners(&self, fingerprint: Fingerprint) -> Result<Vec<Owner>> {
        self.execute(Access::Short, move |tx| {
            let mut owners: Vec<Owner> = tx.all(OWNERS, values![fingerprint])?;
            for owner in &mut owners {
                owner.bound = tx.all(BOUND_TO, values![owner.place])?;
            }
            Ok(owners)
        })
        .await
    }
}

const BOUND_TO: &str = "SELECT profile, url FROM bindings WHERE place = $1 ORDER BY profile, url";

const KEEP_FINGERPRINT: &str = "\
INSERT INTO fingerprints (fingerprint, place, user_group_id, first_seen, last_seen) \
VALUES ($1, $2, $3, $4, $4) \
ON CONFLICT (fingerprint, place, user_group_id) DO UPDATE SET last_seen = excluded.last_seen \
WHERE fingerprints.last_seen < excluded.last_seen";

/// Records permanently that a group had this token.
pub(super) fn keep(
    tx: &Tx<'_>,
    place: PlaceId,
    id: &UserGroupId,
    fingerprint: Fingerprint,
    at: Timestamp,
) -> Result<(), Fault> {
    Ok(tx.put(KEEP_FINGERPRINT, values![fingerprint, place, id, at])?)
}

/// A row if the group has, or had, this token.
pub(super) const HAD: &str =
    "SELECT 1 FROM fingerprints WHERE fingerprint = $1 AND place = $2 AND user_group_id = $3";

const OWNERS: &str = "\
SELECT * FROM fingerprints f JOIN places p ON p.number = f.place \
LEFT JOIN user_groups g ON g.place = f.place AND g.user_group_id = f.user_group_id \
WHERE f.fingerprint = $1 \
ORDER BY is_current DESC, f.last_seen DESC, p.name, f.user_group_id";
