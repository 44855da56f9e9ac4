//! Reads the state of one group together: on a server this is one round trip.

use super::{facts, fault::Fault, groups, journal, mutations, places};
use crate::{
    database::{Found, Request, Statements},
    directory::{AskedBeside, GroupSnapshot, PlaceId},
    domain::group::UserGroupId,
};

pub(crate) struct TakeSnapshot {
    pub(crate) place: PlaceId,
    pub(crate) id: UserGroupId,
    pub(crate) beside: AskedBeside,
}

impl Request for TakeSnapshot {
    type Answer = GroupSnapshot;
    type Error = Fault;

    fn read(&self) -> Statements {
        let Self { place, id, beside } = self;
        let mut reads = Statements::default();
        groups::look_at(&mut reads, *place, id);
        journal::look_for_open(&mut reads, *place, id);
        mutations::look_for_open(&mut reads, *place, id);
        mutations::look_for_recorded(&mut reads, *place, id);
        facts::look(&mut reads, *place);
        if let Some(profile) = &beside.profile {
            places::look_for_place(&mut reads, profile);
        }
        if let Some(key) = beside.key {
            places::look_at_gate(&mut reads, *place, key);
        }
        reads
    }

    fn decide(&self, found: &mut Found) -> Result<(Statements, GroupSnapshot), Fault> {
        let Self { beside, .. } = self;
        let snapshot = GroupSnapshot {
            group: groups::found(found)?,
            open: found.next().all(journal::understood)?,
            mutations: found.next().all(mutations::understood)?,
            recorded: mutations::found_recorded(found)?.unwrap_or_default(),
            facts: facts::found(found)?,
            bound: match beside.profile {
                Some(_) => found.next().first(places::number)?,
                None => None,
            },
            gate: beside.key.map(|_| places::gate(found)).transpose()?,
        };
        Ok((Statements::default(), snapshot))
    }
}
