//! The past of the demo: what the directory recorded about the groups and when, and a short history. All times are in
//! the past; fingerprints are those of the service's real tokens.

mod rotation;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{
    DemoError,
    samples::{SampleEnvironment, SampleGroup, hours_of_rotation},
    seed::SeededGroup,
};
use crate::{
    directory::{Directory, PlaceId, Record},
    domain::{
        fields::DesiredFields,
        group::UserGroupId,
        history::{Ending, Entry, Operation},
        known::{KnownGroup, Observation, Returned},
        token::{Fingerprint, Fingerprinter},
    },
};

/// Records what is known, with the history and the journal of the rotations.
pub(super) async fn record(
    directory: &Directory,
    places: [PlaceId; 2],
    plan: &[SampleGroup],
    tokens: &[SeededGroup],
    now: Timestamp,
) -> Result<(), DemoError> {
    for (place, number) in SampleEnvironment::ALL.into_iter().zip(places) {
        let mut records = Vec::new();
        let (mut rotations, mut entries) = (Vec::new(), Vec::new());
        for seeded in tokens.iter().filter(|seeded| seeded.place == place) {
            let group = &plan[seeded.position];
            let fingerprint = directory.fingerprinter().of(&seeded.token);
            for observation in observations(group, seeded, fingerprint, now)? {
                if observation.rotated_by.is_some() {
                    rotations.push((observation, group.rotated_because.get(&place)));
                } else {
                    records.push((observation.at, record_of(observation)));
                }
            }
            entries.extend(history(group, seeded, fingerprint, now)?);
        }
        records.extend(entries);
        rotations.sort_by_key(|(observation, _)| observation.at);
        for (observation, reason) in rotations {
            records.extend(
                rotation::journaled(directory, (place, number), (observation, reason)).await?,
            );
        }
        // Later events are recorded later; the sort is stable, so steps with the same time keep their order.
        records.sort_by_key(|(at, _)| *at);
        let records = records.into_iter().map(|(_, record)| record).collect();
        directory.record_all(number, records).await?;
    }
    directory.forget_order().await?;
    Ok(())
}

/// Returns what the directory would know about these groups if it had recorded their past.
pub(super) fn known(
    fingerprinter: &Fingerprinter,
    places: [PlaceId; 2],
    plan: &[SampleGroup],
    tokens: &[SeededGroup],
    now: Timestamp,
) -> Result<Vec<(PlaceId, KnownGroup)>, DemoError> {
    let known = tokens.iter().map(|seeded| {
        let group = &plan[seeded.position];
        let fingerprint = fingerprinter.of(&seeded.token);
        let mut past: Vec<_> = observations(group, seeded, fingerprint, now)?.collect();
        past.sort_by_key(|observation| observation.at);
        let mut known = KnownGroup::new(user_group_id(&group.user_group_id)?);
        for observation in past {
            known.observe(observation);
        }
        Ok((places[seeded.place as usize], known))
    });
    known.collect()
}

fn record_of(observation: Observation) -> Record {
    Record {
        observation: Some(observation),
        ..Record::default()
    }
}

/// Returns at most two observations: the rotation, and the last full update or a read.
fn observations(
    group: &SampleGroup,
    seeded: &SeededGroup,
    fingerprint: Fingerprint,
    now: Timestamp,
) -> Result<impl Iterator<Item = Observation>, DemoError> {
    let id = user_group_id(&group.user_group_id)?;
    let place = seeded.place;
    let returned = Returned {
        name: Some(group.name_in(place)),
        team_id: Some(seeded.team_id),
        properties: None,
        environment_tag: Some(place.tag()),
        fingerprint,
    };
    let observation = |hours, rotated: bool, sent, returned| Observation {
        id: id.clone(),
        sent,
        returned: Some(returned),
        rotated_by: rotated.then(|| group.by.clone()),
        at: before(now, hours),
        by: group.by.clone(),
    };
    let sent = DesiredFields {
        name: Some(group.name_in(place)),
        mapping: Some(group.mapping.clone()),
        properties: Some(group.properties.clone()),
    };
    let with_properties = Returned {
        properties: Some(group.properties.clone()),
        ..returned.clone()
    };
    let rotated_hours_ago = group.rotated_days_ago.map(hours_of_rotation);
    let (rotation, rest) = match (rotated_hours_ago, group.sent_hours_ago) {
        (Some(rotated), Some(hours)) if rotated == hours => (
            Some(observation(rotated, true, sent, with_properties)),
            None,
        ),
        (rotated, hours) => (
            rotated
                .map(|hours| observation(hours, true, DesiredFields::default(), returned.clone())),
            Some(match hours {
                Some(hours) => observation(hours, false, sent, with_properties),
                // The answer to a get contains no environment tag.
                None => observation(
                    30,
                    false,
                    DesiredFields::default(),
                    Returned {
                        environment_tag: None,
                        ..returned
                    },
                ),
            }),
        ),
    };
    Ok(rotation.into_iter().chain(rest))
}

/// The entries of its history without the rotations.
fn history(
    group: &SampleGroup,
    seeded: &SeededGroup,
    fingerprint: Fingerprint,
    now: Timestamp,
) -> Result<Vec<(Timestamp, Record)>, DemoError> {
    let told = group.past.iter().filter(|told| told.place == seeded.place);
    let entries = told.map(|told| {
        let at = before(now, told.hours_ago);
        let operation = Operation::parse(&told.operation);
        let (operation, ending) = operation
            .zip(Ending::parse(&told.ending))
            .ok_or_else(|| DemoError::Samples(format!("{told:?}")))?;
        let entry = Entry {
            at,
            by: told.by.clone(),
            profile: seeded.place.environment().into(),
            user_group_id: user_group_id(&group.user_group_id)?,
            operation,
            ending,
            previous_fingerprint: Some(fingerprint),
            fingerprint: (ending != Ending::Unreachable).then_some(fingerprint),
            reason: None,
            changes: told.changes.then(|| changes(group)),
            note: told.note.clone(),
        };
        let record = Record {
            entry: Some(entry),
            ..Record::default()
        };
        Ok((at, record))
    });
    entries.collect()
}

/// A change of the last row of the mapping, as if it had been another data source before.
fn changes(group: &SampleGroup) -> serde_json::Value {
    let row = group
        .mapping
        .last()
        .map(|(schema, source)| (schema.clone(), json!(["17", source])));
    json!({ "mapping": row.into_iter().collect::<serde_json::Map<_, _>>() })
}

fn user_group_id(text: &str) -> Result<UserGroupId, DemoError> {
    UserGroupId::parse(text).map_err(|error| DemoError::Samples(error.to_string()))
}

fn before(now: Timestamp, hours: i64) -> Timestamp {
    now.checked_sub(SignedDuration::from_hours(hours))
        .unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::{
        demo::{
            places,
            seed::{CHUNK_LEN, Filler, chunks},
        },
        service::store::{Options, Store},
    };

    #[tokio::test]
    async fn what_is_filled_in_is_what_would_have_been_recorded() {
        let folder = tempfile::tempdir().expect("a folder");
        let store =
            Store::open(&folder.path().join("service.db"), Options::default()).expect("a store");
        let keys = [("production", "Customer"), ("testing", "Testing")].map(|(name, tag)| {
            let made = store.create_key(name, Some(tag), false);
            made.expect("a key").1
        });
        let file = folder.path().join("directory.db");
        let directory = Directory::open(&file).expect("a directory");
        let now = Timestamp::constant(1_790_000_000, 0);
        let mut both = Vec::new();
        for port in [1, 2] {
            let address = SocketAddr::from(([127, 0, 0, 1], port));
            let places = places(&directory, address, &keys, now).await;
            both.push(places.expect("places"));
        }
        let (mut parts, making) = chunks(store, Some(CHUNK_LEN + 5));
        let mut filler = Filler::of(&directory);
        // Nothing else is written until the filling has ended, so these records are kept for later.
        let mut recorded = Vec::new();
        while let Some(part) = parts.recv().await {
            let (plan, tokens) = part.expect("made");
            let known = known(directory.fingerprinter(), both[0], &plan, &tokens, now);
            filler.add(known.expect("known")).await.expect("written");
            for (place, number) in SampleEnvironment::ALL.into_iter().zip(both[1]) {
                let mut records = Vec::new();
                for seeded in tokens.iter().filter(|seeded| seeded.place == place) {
                    let fingerprint = directory.fingerprinter().of(&seeded.token);
                    let past = observations(&plan[seeded.position], seeded, fingerprint, now);
                    records.extend(past.expect("a past").map(|one| (one.at, record_of(one))));
                }
                records.sort_by_key(|(at, _)| *at);
                let records = records.into_iter().map(|(_, record)| record);
                recorded.push((number, records.collect()));
            }
        }
        making.await.expect("to its end");
        filler.finish().await.expect("written");
        for (number, records) in recorded {
            let written = directory.record_all(number, records).await;
            written.expect("written");
        }
        for (filled, recorded) in both[0].into_iter().zip(both[1]) {
            let ids = directory.known_ids(filled).await.expect("readable");
            let filled = directory.groups_by_ids(filled, ids.clone()).await;
            let filled = filled.expect("readable");
            let recorded = directory.groups_by_ids(recorded, ids).await;
            assert_eq!(filled, recorded.expect("readable"));
            let last = filled.last().and_then(Option::as_ref).expect("some");
            let fingerprint = last.fingerprint.as_ref().expect("known").value;
            let owners = directory.owners(fingerprint).await.expect("readable");
            let of_last: Vec<_> = owners.iter().map(|owner| &owner.user_group_id).collect();
            assert_eq!(of_last, [&last.id; 2], "{owners:?}");
            assert_eq!(owners[0].last_seen, owners[1].last_seen);
        }
        let places = directory.places().await.expect("readable");
        let tags = places.iter().filter(|place| place.tag.is_some());
        assert_eq!(tags.count(), 4, "{places:?}");
    }
}
