//! A past rotation: intent, request, answer and confirming read, each a step of the state machine, journaled in the
//! same way as `operations` journals a rotation today.

use std::time::Duration;

use jiff::Timestamp;

use crate::{
    demo::{DemoError, samples::SampleEnvironment},
    directory::{BeginResult, Directory, PlaceId, Record, RotationIntent, RotationStep},
    domain::{
        history::{Ending, Entry, Operation},
        known::Observation,
        rotation::{Event, RotateOutcome, Rotation, settle_window},
        token::Token,
    },
};

/// Time between the answer and the read that confirmed it.
const READ_AFTER: Duration = Duration::from_secs(1);

/// The same note as a real rotation has.
const READ_BACK: &str = "read back: the service has the new token";

fn note_of(ending: Ending) -> Option<String> {
    (ending == Ending::Confirmed).then(|| READ_BACK.to_owned())
}

/// Makes the intent durable; returns the steps that follow, each with its observation and its history entry.
pub(super) async fn journaled(
    directory: &Directory,
    (place, number): (SampleEnvironment, PlaceId),
    (observation, reason): (Observation, Option<&String>),
) -> Result<Vec<(Timestamp, Record)>, DemoError> {
    let Some(new) = observation.returned.as_ref().map(|found| found.fingerprint) else {
        return Ok(Vec::new());
    };
    let (id, profile) = (observation.id.clone(), place.environment());
    let former = Token::new(format!("former token of {id} in {profile}"));
    let previous = directory.fingerprinter().of(&former);
    let intent = RotationIntent {
        user_group_id: id.clone(),
        previous,
        by: observation.by.clone(),
        reason: reason.cloned(),
        at: observation.at,
        profile: profile.into(),
        hands_off: false,
        settles_in: Duration::ZERO,
        to_file: false,
        key: None,
        item: None,
        noted: None,
        spares: Duration::ZERO,
    };
    let BeginResult::Started(row) = directory.begin_rotation(number, intent).await? else {
        return Err(DemoError::Samples(format!("{id} is rotated twice at once")));
    };
    let sent = observation.at;
    let read = sent.checked_add(READ_AFTER).unwrap_or(sent);
    let entry = |at, ending| Entry {
        at,
        by: observation.by.clone(),
        profile: profile.into(),
        user_group_id: id.clone(),
        operation: Operation::Rotate,
        ending,
        previous_fingerprint: Some(previous),
        fingerprint: Some(new),
        reason: reason.cloned(),
        changes: None,
        note: note_of(ending),
    };
    let reading = Event::Read {
        fingerprint: new,
        since_sent: READ_AFTER,
    };
    let steps = [
        (sent, Event::Sending, None),
        (
            sent,
            Event::Answered(RotateOutcome::NewToken(new)),
            Some(Ending::Rotated),
        ),
        (read, reading, Some(Ending::Confirmed)),
    ];
    let mut rotation = Rotation::intended(previous);
    let mut records = Vec::new();
    for (at, event, ending) in steps {
        let from = rotation.state;
        rotation = rotation
            .step(event, settle_window(Duration::ZERO))
            .map_err(|error| DemoError::Samples(error.to_string()))?;
        let record = Record {
            observation: (ending == Some(Ending::Rotated)).then(|| observation.clone()),
            entry: ending.map(|ending| entry(at, ending)),
            rotation: Some(RotationStep {
                id: row,
                from,
                event,
                after: rotation,
                at,
                note: ending.and_then(note_of),
                written: false,
            }),
            ..Record::default()
        };
        records.push((at, record));
    }
    Ok(records)
}
