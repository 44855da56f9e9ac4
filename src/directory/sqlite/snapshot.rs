//! Reads the state of one group together: on a server this is one round trip.

use super::{facts, fault::Fault, fingerprints, groups, journal, mutations, order, places};
use crate::{
    database::{Access, Request, Results, Statements},
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
        let request = TakeSnapshot {
            place,
            id,
            extras,
            locks: false,
        };
        // The request that follows is decided by this, so the read must be current.
        self.execute(Access::Current, move |tx| tx.run(&request))
            .await
    }
}

pub(crate) struct TakeSnapshot {
    pub(crate) place: PlaceId,
    pub(crate) id: UserGroupId,
    pub(crate) extras: SnapshotExtras,
    /// Keeps it true until the end of the transaction.
    pub(crate) locks: bool,
}

impl Request for TakeSnapshot {
    type Answer = GroupSnapshot;
    type Error = Fault;

    fn read(&self) -> Statements {
        let Self {
            place, id, extras, ..
        } = self;
        let mut reads = Statements::default();
        if self.locks {
            // Rotations before groups, as everywhere.
            journal::query_open_locked(&mut reads, *place, id);
            mutations::query_open_locked(&mut reads, *place, id);
            groups::query_locked(&mut reads, *place, id);
        } else {
            journal::query_open(&mut reads, *place, id);
            mutations::query_open(&mut reads, *place, id);
            groups::query(&mut reads, *place, id);
        }
        // Read after the locks, which may have waited for a change.
        order::query(&mut reads, *place, id);
        facts::query(&mut reads, *place);
        if let Some(fingerprint) = extras.fingerprint {
            fingerprints::query_had(&mut reads, *place, id, fingerprint);
        }
        if let Some(profile) = &extras.profile {
            places::query_place(&mut reads, profile);
        }
        if let Some(key) = extras.key {
            places::query_gate(&mut reads, *place, key);
        }
        reads
    }

    fn decide(&self, found: &mut Results) -> Result<(Statements, GroupSnapshot), Fault> {
        let Self { extras, .. } = self;
        let open = found.next().all(journal::parse_row)?;
        let mutations = found.next().all(mutations::parse_row)?;
        let group = groups::parse(found)?;
        let last = order::parse(found)?;
        let snapshot = GroupSnapshot {
            group,
            open,
            mutations,
            noted: last.noted,
            token: last.token,
            facts: facts::parse(found)?,
            had_token: match extras.fingerprint {
                Some(_) => !found.next().is_empty(),
                None => false,
            },
            bound: match extras.profile {
                Some(_) => found.next().first(places::place_id)?,
                None => None,
            },
            gate: extras.key.map(|_| places::gate(found)).transpose()?,
        };
        Ok((Statements::default(), snapshot))
    }
}
