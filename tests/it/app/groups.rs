//! Groups as the directory of a scene has them.

use groupdesk::domain::{
    facts::{Basis, Facts, OmittedField, Stated},
    known::{Observation, Returned},
};
use groupdesk::search::Index;

use super::prelude::*;

pub(super) use crate::support::fields::wanted;

/// The values of every group before any change.
pub(super) fn base(id: &str) -> DesiredFields {
    wanted(
        &format!("Name of {id}"),
        &[("7", "40")],
        r#"{"tier":"gold"}"#,
    )
}

/// The answer to a job that reads the list: these groups, in any order.
pub(super) fn list_of(mut groups: Vec<KnownGroup>) -> Outcome {
    groups.sort_by(|a, b| a.id.cmp(&b.id));
    Outcome::Listed(Box::new(Index::of(&groups).into()))
}

/// A group as the directory knows it, with a fingerprint of its own.
pub(super) fn group(id: &str, fingerprint: u8) -> KnownGroup {
    known_group(id, &base(id), fingerprint)
}

pub(super) fn known_as(id: &str, wanted: &DesiredFields, _profile: ProfileIndex) -> KnownGroup {
    known_group(id, wanted, 1)
}

pub(crate) fn known_group(name: &str, wanted: &DesiredFields, fingerprint: u8) -> KnownGroup {
    let mut group = KnownGroup::new(id(name));
    group.observe(Observation {
        id: id(name),
        sent: DesiredFields {
            name: wanted.name.clone(),
            mapping: wanted.mapping.clone(),
            properties: wanted.properties.clone(),
        },
        returned: Some(Returned {
            name: wanted.name.clone(),
            team_id: Some(7),
            properties: wanted.properties.clone(),
            environment_tag: None,
            fingerprint: Fingerprint::from_bytes([fingerprint; 32]),
        }),
        rotated_by: None,
        at: BEGIN,
        by: "ana@bastion2".into(),
    });
    group
}

/// What an operator has stated about the service, so that tests of other things send updates without a warning.
pub(super) fn stated() -> Facts {
    fn as_told<T>(value: T) -> Stated<T> {
        Stated {
            value,
            basis: Basis::Told,
            at: None,
            by: None,
        }
    }
    Facts {
        absent_name: as_told(OmittedField::Unknown),
        absent_mapping: as_told(OmittedField::Unknown),
        absent_properties: as_told(OmittedField::Unknown),
        sole_writer: as_told(true),
        ..Facts::default()
    }
}
