//! Reads the state of one group together: on a server this is one round trip.

use super::{facts, fault::Fault, groups, journal, mutations, places};
use crate::{
    database::{Found, Request, Statements},
    directory::{GroupSnapshot, PlaceId},
    domain::group::UserGroupId,
};

pub(crate) struct TakeSnapshot {
    pub(crate) place: PlaceId,
    pub(crate) id: UserGroupId,
    /// Name and address of a profile, to look up which place they mean now.
    pub(crate) profile: Option<(String, String)>,
}

impl Request for TakeSnapshot {
    type Answer = GroupSnapshot;
    type Error = Fault;

    fn read(&self) -> Statements {
        let Self { place, id, profile } = self;
        let mut reads = Statements::default();
        groups::look_at(&mut reads, *place, id);
        journal::look_for_open(&mut reads, *place, id);
        mutations::look_for_open(&mut reads, *place, id);
        mutations::look_for_recorded(&mut reads, *place, id);
        facts::look(&mut reads, *place);
        if let Some(profile) = profile {
            places::look_for_place(&mut reads, profile);
        }
        reads
    }

    fn decide(&self, found: &mut Found) -> Result<(Statements, GroupSnapshot), Fault> {
        let snapshot = GroupSnapshot {
            group: groups::found(found)?,
            open: found.next().all(journal::understood)?,
            mutations: found.next().all(mutations::understood)?,
            recorded: mutations::found_recorded(found)?.unwrap_or_default(),
            facts: facts::found(found)?,
            bound: found.next().first(places::number)?,
        };
        Ok((Statements::default(), snapshot))
    }
}
