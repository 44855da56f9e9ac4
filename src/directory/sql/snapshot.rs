//! Reads the state of one group together: on a server this is one round trip.

use super::{facts, fault::Fault, fingerprints, groups, journal, mutations, order, places};
use crate::{
    database::{Access, Asked, Tx, values},
    directory::{Directory, DirectoryError, GroupSnapshot, PlaceId, SnapshotExtras},
    domain::group::UserGroupId,
};

impl Directory {
    /// Returns one group if it is known, what is open of it, the facts of the place, and the requested extras.
    pub async fn snapshot(
        &self,
        place: PlaceId,
        id: &UserGroupId,
        extras: SnapshotExtras,
    ) -> Result<GroupSnapshot, DirectoryError> {
        let id = id.clone();
        self.execute(Access::Short, move |tx| {
            read(tx, place, &id, &extras, false)
        })
        .await
    }
}

/// `locks` keeps it true until the end of the transaction.
pub(super) fn read(
    tx: &Tx<'_>,
    place: PlaceId,
    id: &UserGroupId,
    extras: &SnapshotExtras,
    locks: bool,
) -> Result<GroupSnapshot, Fault> {
    let of_group = || values![place, id];
    // Rotations before groups, as everywhere.
    let (open, mutations, group) = if locks {
        (
            tx.lock(journal::OPEN_OF_GROUP, of_group())?,
            tx.lock(mutations::OPEN_OF_GROUP, of_group())?,
            tx.lock(groups::GROUP, of_group())?,
        )
    } else {
        (
            tx.ask(journal::OPEN_OF_GROUP, of_group())?,
            tx.ask(mutations::OPEN_OF_GROUP, of_group())?,
            tx.ask(groups::GROUP, of_group())?,
        )
    };
    // Read after the locks, which may have waited for a change.
    let last = order::ask(tx, place, id)?;
    let facts = facts::ask(tx, place)?;
    let fingerprint = extras.fingerprint;
    let had_token = fingerprint.map(|token| fingerprints::ask_had(tx, place, id, token));
    let profile = extras.profile.as_ref();
    let bound = profile.map(|(profile, url)| places::ask_place(tx, profile, url));
    let gate = extras.key.map(|key| places::ask_gate(tx, place, key));
    let (had_token, bound, gate) = (
        had_token.transpose()?,
        bound.transpose()?,
        gate.transpose()?,
    );
    let (open, mutations) = (open.all()?, mutations.all()?);
    let group = groups::known(group)?;
    let last = order::of(last.all()?)?;
    Ok(GroupSnapshot {
        group,
        open,
        mutations,
        noted: last.noted,
        token: last.token,
        facts: facts::of(facts.all()?),
        had_token: had_token.map_or(Ok(None), Asked::one)?.is_some(),
        bound: bound.map_or(Ok(None), Asked::one)?,
        gate: gate.map(places::GateAsked::read).transpose()?,
    })
}
