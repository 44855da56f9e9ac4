//! Reads the state of one group together: on a server this is one round trip.

use super::{facts, fault::Fault, groups, journal, mutations, places};
use crate::{
    database::{Request, Results, Statements},
    directory::{GroupSnapshot, PlaceId, SnapshotExtras},
    domain::group::UserGroupId,
};

pub(crate) struct TakeSnapshot {
    pub(crate) place: PlaceId,
    pub(crate) id: UserGroupId,
    pub(crate) extras: SnapshotExtras,
}

impl Request for TakeSnapshot {
    type Answer = GroupSnapshot;
    type Error = Fault;

    fn read(&self) -> Statements {
        let Self { place, id, extras } = self;
        let mut reads = Statements::default();
        groups::query(&mut reads, *place, id);
        journal::query_open(&mut reads, *place, id);
        mutations::query_open(&mut reads, *place, id);
        mutations::query_recorded(&mut reads, *place, id);
        facts::query(&mut reads, *place);
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
        let snapshot = GroupSnapshot {
            group: groups::parse(found)?,
            open: found.next().all(journal::parse_row)?,
            mutations: found.next().all(mutations::parse_row)?,
            recorded: mutations::parse_recorded(found)?.unwrap_or_default(),
            facts: facts::parse(found)?,
            bound: match extras.profile {
                Some(_) => found.next().first(places::place_id)?,
                None => None,
            },
            gate: extras.key.map(|_| places::gate(found)).transpose()?,
        };
        Ok((Statements::default(), snapshot))
    }
}
