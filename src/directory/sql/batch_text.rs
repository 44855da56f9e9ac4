//! Encodes what a batch does, and why it stopped, as text in its row and in the rows of its items. These formats must not
//! change; what a later version wrote counts as unknown.

use serde::{Deserialize, Serialize};

use crate::{
    db::{self, Cursor, Read},
    directory::BatchOptions,
    domain::{
        batch::{BatchKind, BulkChange, Halt, ItemEdit, LastRun, OnlyWhere, StopCause, Target},
        change::DesiredFields,
        group::{Mapping, Properties, UserGroupId},
        merge::Part,
    },
};

const ROTATE: &str = "rotate";
const EDIT: &str = "edit";

/// `{"field": "mapping", "key": "40", "to": "214", "where": "213"}`. A null `to` removes the row, a null `where` means
/// that there is no row, and without `where` any value matches. A reverse edit has `reverses` instead of `to`.
#[derive(Serialize, Deserialize)]
struct StoredChange {
    field: String,
    key: String,
    #[serde(default)]
    to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reverses: Option<i64>,
    #[serde(
        default,
        rename = "where",
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    #[expect(clippy::option_option, reason = "null and absent differ")]
    only_where: Option<Option<String>>,
    #[serde(default)]
    options: BatchOptions,
}

/// Of a rotation this is all, and of any batch this is read alone: `{"options": {"rate": 5.0, "token_out": true}}`.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredOptions {
    options: BatchOptions,
}

/// The options of a batch; none were stored by an older version.
pub(super) fn options(change: Option<&str>) -> BatchOptions {
    let stored = change.and_then(|text| serde_json::from_str::<StoredOptions>(text).ok());
    stored.unwrap_or_default().options
}

#[expect(clippy::option_option, reason = "null and absent differ")]
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(from).map(Some)
}

#[derive(Serialize, Deserialize)]
struct StoredItem {
    name: Option<String>,
    mapping: Option<Mapping>,
    properties: Option<Properties>,
    to: Option<String>,
}

pub(super) fn kind_word(kind: &BatchKind) -> &'static str {
    match kind {
        BatchKind::Rotate => ROTATE,
        BatchKind::Edit(_) => EDIT,
    }
}

pub(super) fn change_text(kind: &BatchKind, options: &BatchOptions) -> Option<String> {
    let BatchKind::Edit(change) = kind else {
        return serde_json::to_string(&StoredOptions { options: *options }).ok();
    };
    let (to, reverses) = match &change.to {
        Target::Value(value) => (value.clone(), None),
        Target::AsBefore(batch) => (None, Some(*batch)),
    };
    let stored = StoredChange {
        field: change.row.field.as_str().to_owned(),
        key: change.key().to_owned(),
        to,
        reverses,
        only_where: match &change.only_where {
            OnlyWhere::Any => None,
            OnlyWhere::Is(value) => Some(value.clone()),
        },
        options: *options,
    };
    serde_json::to_string(&stored).ok()
}

impl Read for BatchKind {
    fn columns(_: &'static str, list: &mut Vec<&'static str>) {
        list.push("kind, change");
    }

    fn read(row: &mut Cursor<'_>) -> Result<Self, db::Fault> {
        let (word, change): (String, Option<String>) = (row.next()?, row.next()?);
        kind(&word, change.as_deref()).ok_or(db::Fault::Column)
    }
}

/// `None` if the word is unknown.
fn kind(word: &str, change: Option<&str>) -> Option<BatchKind> {
    match (word, change) {
        (ROTATE, _) => Some(BatchKind::Rotate),
        (EDIT, Some(text)) => {
            let stored: StoredChange = serde_json::from_str(text).ok()?;
            let row = match stored.field.as_str() {
                "mapping" => Part::mapping(stored.key),
                "properties" => Part::property(stored.key),
                _ => return None,
            };
            Some(BatchKind::Edit(BulkChange {
                row,
                to: match stored.reverses {
                    Some(batch) => Target::AsBefore(batch),
                    None => Target::Value(stored.to),
                },
                only_where: stored.only_where.map_or(OnlyWhere::Any, OnlyWhere::Is),
            }))
        }
        _ => None,
    }
}

pub(in crate::directory) fn of_item(edit: &ItemEdit) -> String {
    let base = edit.base.clone();
    let stored = StoredItem {
        name: base.name,
        mapping: base.mapping,
        properties: base.properties,
        to: edit.to.clone(),
    };
    serde_json::to_string(&stored).unwrap_or_default()
}

pub(in crate::directory) fn item(text: &str) -> Option<ItemEdit> {
    let StoredItem {
        name,
        mapping,
        properties,
        to,
    } = serde_json::from_str(text).ok()?;
    let base = DesiredFields {
        name,
        mapping,
        properties,
    };
    Some(ItemEdit { base, to })
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
enum StoredRun {
    Running,
    Failures { count: usize },
    Conflict { group: String },
    Alarm { group: String },
    Asked,
    Quit,
    LineLost,
    Signal,
    TakenOver,
    Internal,
    Cannot { text: String },
}

pub(in crate::directory) fn of_run(run: &LastRun) -> String {
    let stored = match run {
        LastRun::Begun => StoredRun::Running,
        LastRun::Stopped(halt) => match halt {
            Halt::Failures(count) => StoredRun::Failures { count: *count },
            Halt::Conflict(id) => StoredRun::Conflict {
                group: id.to_string(),
            },
            Halt::Alarm(id) => StoredRun::Alarm {
                group: id.to_string(),
            },
            Halt::Asked(StopCause::Person) => StoredRun::Asked,
            Halt::Asked(StopCause::Quit) => StoredRun::Quit,
            Halt::Asked(StopCause::TerminalLost) => StoredRun::LineLost,
            Halt::Asked(StopCause::Signal) => StoredRun::Signal,
            Halt::Asked(StopCause::TakenOver) => StoredRun::TakenOver,
            Halt::Internal => StoredRun::Internal,
            Halt::Cannot(text) => StoredRun::Cannot { text: text.clone() },
        },
    };
    serde_json::to_string(&stored).unwrap_or_default()
}

pub(in crate::directory) fn run(text: &str) -> Option<LastRun> {
    let group = |id| UserGroupId::parse(id).ok();
    let halt = match serde_json::from_str(text).ok()? {
        StoredRun::Running => return Some(LastRun::Begun),
        StoredRun::Failures { count } => Halt::Failures(count),
        StoredRun::Conflict { group: id } => Halt::Conflict(group(id)?),
        StoredRun::Alarm { group: id } => Halt::Alarm(group(id)?),
        StoredRun::Asked => Halt::Asked(StopCause::Person),
        StoredRun::Quit => Halt::Asked(StopCause::Quit),
        StoredRun::LineLost => Halt::Asked(StopCause::TerminalLost),
        StoredRun::Signal => Halt::Asked(StopCause::Signal),
        StoredRun::TakenOver => Halt::Asked(StopCause::TakenOver),
        StoredRun::Internal => Halt::Internal,
        StoredRun::Cannot { text } => Halt::Cannot(text),
    };
    Some(LastRun::Stopped(halt))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_read_back_and_one_of_a_later_version_is_none() {
        let id = UserGroupId::parse("acme").expect("an id");
        let asked = [
            StopCause::Person,
            StopCause::Quit,
            StopCause::TerminalLost,
            StopCause::Signal,
            StopCause::TakenOver,
        ];
        let halts = [
            Halt::Failures(3),
            Halt::Conflict(id.clone()),
            Halt::Alarm(id),
            Halt::Internal,
            Halt::Cannot("no \"room\"".into()),
        ];
        let halts = halts.into_iter().chain(asked.map(Halt::Asked));
        for run in halts.map(LastRun::Stopped).chain([LastRun::Begun]) {
            let stored = of_run(&run);
            assert_eq!(super::run(&stored), Some(run), "{stored}");
        }
        assert_eq!(run("{\"why\":\"eclipse\"}"), None);
    }
}
