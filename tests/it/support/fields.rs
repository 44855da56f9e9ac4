//! Values that many tests write: the fields of a group, a draft, the steps of a rotation.

use std::time::Duration;

use groupdesk::{
    directory::{Record, RotationId, RotationIntent, RotationStep},
    domain::{
        change::DesiredFields,
        draft::{Draft, DraftFields},
        rotation::{Event, Rotation},
        token::Fingerprint,
    },
};
use jiff::Timestamp;

use super::world::id;

/// `properties` is a JSON object.
pub(crate) fn wanted(name: &str, mapping: &[(&str, &str)], properties: &str) -> DesiredFields {
    DesiredFields {
        name: Some(name.into()),
        mapping: Some(
            mapping
                .iter()
                .map(|(schema, source)| ((*schema).to_owned(), (*source).to_owned()))
                .collect(),
        ),
        properties: Some(serde_json::from_str(properties).expect("an object")),
    }
}

/// What is recorded before a rotation is sent.
pub(crate) fn intent(
    group: &str,
    previous: Fingerprint,
    (by, profile): (&str, &str),
    at: Timestamp,
) -> RotationIntent {
    RotationIntent {
        user_group_id: id(group),
        previous,
        by: by.into(),
        reason: None,
        at,
        profile: profile.into(),
        hands_off: false,
        settles_in: Duration::ZERO,
        to_file: false,
        key: None,
        item: None,
        noted: None,
        spares: Duration::ZERO,
    }
}

/// A step of a rotation, which must be possible.
pub(crate) fn step(
    id: RotationId,
    before: Rotation,
    event: Event,
    horizon: Duration,
    at: Timestamp,
) -> RotationStep {
    RotationStep {
        id,
        from: before.state,
        event,
        after: before.step(event, horizon).expect("in order"),
        at,
        note: None,
        written: false,
    }
}

pub(crate) fn step_record(step: RotationStep) -> Record {
    Record {
        rotation: Some(step),
        ..Record::default()
    }
}

/// An unsent form, in which nothing was typed.
pub(crate) fn draft(group: &str, at: Timestamp) -> Draft {
    Draft {
        user_group_id: id(group),
        creating: false,
        loaded_from: None,
        taken_over: std::collections::BTreeSet::new(),
        typed: DraftFields::default(),
        base: DesiredFields::default(),
        base_at: at,
        changed_at: at,
        continues: Vec::new(),
    }
}
