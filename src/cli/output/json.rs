//! The JSON of the command line, which other programs rely on. Times are RFC 3339; unknown values are null; a token is
//! included only if it was requested. `contract` defines each field.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    cli::{
        output::{
            human::{Column, Columns, Listed},
            proposals,
        },
        process::exit::Exit,
    },
    directory::Numbered,
    domain::{
        annotation::Label,
        group::{Mapping, Properties},
        handoff::HandOff,
        history::{Ending, Entry},
        known::KnownGroup,
        operation_record::OperationRecord,
        token::Token,
    },
    operations::{self, Done, HandedOff, Mutation, Recovered, RotationRow},
};

/// A group as `list` and `show` print it.
#[derive(Serialize)]
pub(crate) struct Group<'a> {
    user_group_id: &'a str,
    name: Option<&'a str>,
    team_id: Option<i64>,
    environment_tag: Option<&'a str>,
    /// The 8 digits that are shown to people.
    fingerprint: Option<String>,
    mapping: Option<&'a Mapping>,
    properties: Option<&'a Properties>,
    last_rotated: Option<String>,
    last_seen: Option<String>,
    #[serde(rename = "environment")]
    place: Option<&'a str>,
    /// Only if a column needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    favourite: Option<bool>,
}

impl<'a> Group<'a> {
    /// A group with its annotations, as far as the columns need them.
    pub(crate) fn listed(
        (group, beside): &'a Listed,
        columns: &Columns,
        place: Option<&'a str>,
    ) -> Self {
        let asks = |column| columns.shows(&column);
        let beside = beside.as_ref();
        let labels = || beside.into_iter().flat_map(|beside| &beside.labels);
        Self {
            note: asks(Column::Note).then(|| json!(beside.and_then(|beside| beside.note.as_ref()))),
            labels: asks(Column::Labels).then(|| labels().map(Label::as_str).collect()),
            favourite: asks(Column::Favourite)
                .then(|| beside.is_some_and(|beside| beside.is_favourite)),
            ..Self::of(group, place)
        }
    }

    /// `place` is the name of the place.
    pub(crate) fn of(group: &'a KnownGroup, place: Option<&'a str>) -> Self {
        Self {
            user_group_id: group.id.as_str(),
            name: group.name.as_ref().map(|known| known.value.as_str()),
            team_id: group.team_id.as_ref().map(|known| known.value),
            environment_tag: group
                .environment_tag
                .as_ref()
                .map(|known| known.value.as_str()),
            fingerprint: group
                .fingerprint
                .as_ref()
                .map(|known| known.value.to_string()),
            mapping: group.mapping.as_ref().map(|known| &known.value),
            properties: group.properties.as_ref().map(|known| &known.value),
            last_rotated: group.last_rotated.as_ref().map(|last| last.at.to_string()),
            last_seen: group.last_seen.map(|at| at.to_string()),
            place,
            note: None,
            labels: None,
            favourite: None,
        }
    }
}

/// What is printed about a rotation besides its [`Done`].
#[derive(Clone, Copy)]
pub(crate) struct Rotation<'a> {
    /// `None` if nothing was to be handed off.
    pub(crate) handed: Option<&'a HandedOff>,
}

/// What `get`, `create`, `update` and `rotate` print.
#[derive(Serialize)]
pub(crate) struct Answered<'a> {
    #[serde(flatten)]
    group: Group<'a>,
    outcome: &'static str,
    /// Only for a rotation; null if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_fingerprint: Option<Value>,
    /// Only for a rotation; null if nothing is handed off.
    #[serde(skip_serializing_if = "Option::is_none")]
    handoff: Option<Value>,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
}

impl<'a> Answered<'a> {
    /// `place` is the name of the place; `token` includes the token, as requested.
    pub(crate) fn of(
        done: &'a Done,
        place: Option<&'a str>,
        rotation: Option<Rotation<'_>>,
        token: Option<&'a Token>,
    ) -> Self {
        Self {
            group: Group::of(&done.group, place),
            outcome: done.ending.as_str(),
            previous_fingerprint: rotation.map(|_| {
                json!(
                    done.previous_fingerprint
                        .map(|fingerprint| fingerprint.to_string())
                )
            }),
            handoff: rotation
                .map(|rotation| json!(rotation.handed.map(|handed| hand_off(&handed.handoff)))),
            warnings: done
                .warnings
                .iter()
                .map(|warning| proposals::complete(&warning.to_string()).into_owned())
                .collect(),
            token: token.map(Token::expose),
        }
    }
}

/// The state of a hand-off.
pub(crate) fn hand_off(handoff: &HandOff) -> Value {
    json!({
        "state": handoff.state.as_str(),
        "exit": handoff.exit,
        "note": handoff.note,
    })
}

/// An entry of the history; `place` is the name of its place.
pub(crate) fn entry(line: &Numbered<Entry>, place: Option<&str>) -> Value {
    let Entry {
        at,
        by,
        profile,
        user_group_id,
        operation,
        ending,
        previous_fingerprint,
        fingerprint,
        reason,
        changes,
        note,
    } = &line.value;
    json!({
        "number": line.number,
        "at": at.to_string(),
        "by": by,
        "profile": profile,
        "user_group_id": user_group_id.as_str(),
        "operation": operation.as_str(),
        "outcome": ending.as_str(),
        "previous_fingerprint": previous_fingerprint.map(|fingerprint| fingerprint.to_string()),
        "fingerprint": fingerprint.map(|fingerprint| fingerprint.to_string()),
        "reason": reason,
        "changes": changes,
        "note": note,
        "environment": place,
    })
}

/// An operation record, as `history --deeds` prints them.
pub(crate) fn operation_record(record: &OperationRecord, place: Option<&str>) -> Value {
    let (number, first) = record.first();
    let (_, last) = record.last();
    let line = Numbered {
        number: *number,
        value: Entry {
            ending: last.ending,
            fingerprint: last.fingerprint.or(first.fingerprint),
            note: last.note.clone().or(first.note.clone()),
            ..first.clone()
        },
    };
    let mut value = entry(&line, place);
    let ended = record.steps.last().map(|(_, step)| step.at.to_string());
    value["ended_at"] = json!(ended);
    value["handoff"] = json!(record.handed_off().map(Ending::as_str));
    let steps = record.steps.iter().map(|(number, step)| {
        json!({
            "number": number,
            "at": step.at.to_string(),
            "by": step.by,
            "operation": step.operation.as_str(),
            "outcome": step.ending.as_str(),
            "note": step.note,
        })
    });
    value["steps"] = steps.collect();
    value
}

/// A create or an update as `history --open` prints it.
pub(crate) fn change(change: &Mutation, place: Option<&str>) -> Value {
    json!({
        "change": format!("m{}", change.id.0),
        "at": change.since().to_string(),
        "by": change.by,
        "profile": change.profile,
        "user_group_id": change.user_group_id.as_str(),
        "operation": change.operation.as_str(),
        "state": change.state.as_str(),
        "outcome": change.ending.map(Ending::as_str),
        "changes": change.changes,
        "note": change.note,
        "environment": place,
    })
}

/// A rotation as `rotations` prints it.
pub(crate) fn rotation(row: &RotationRow, place: Option<&str>) -> Value {
    json!({
        "rotation": row.id.0,
        "user_group_id": row.user_group_id.as_str(),
        "state": row.rotation.state.as_str(),
        "previous_fingerprint": row.rotation.previous.to_string(),
        "fingerprint": row.rotation.fingerprint.map(|fingerprint| fingerprint.to_string()),
        "started_at": row.started_at.to_string(),
        "by": row.by,
        "reason": row.reason,
        "handoff": row.handoff.state.as_str(),
        "environment": place,
    })
}

/// A rotation as `rotations check` prints it, with the reason why it is still open, if it is.
pub(crate) fn recovered(recovered: &Recovered, place: Option<&str>) -> Value {
    let mut value = rotation(recovered.row(), place);
    value["why"] = match recovered {
        Recovered::Settled(_) => Value::Null,
        Recovered::Alarmed(_, alarm) => json!(alarm.to_string()),
        Recovered::Open(open) => json!(open.why),
    };
    value
}

/// The groups that have or had one token.
pub(crate) fn owners(answered: &operations::TokenReport) -> impl Iterator<Item = Value> {
    answered.owners.iter().map(|owner| {
        json!({
            "profile": owner.profile,
            "user_group_id": owner.user_group_id.as_str(),
            "current": owner.current,
            "last_seen": owner.last_seen.to_string(),
            "fingerprint": answered.fingerprint.to_string(),
            "environment": owner.profile,
        })
    })
}

/// What is printed when a command fails.
pub(crate) fn failure(ending: Option<Ending>, error: &str, exit: Exit) -> Value {
    let error = proposals::complete(error);
    json!({ "outcome": ending.map(Ending::as_str), "error": error, "exit": exit as u8 })
}
