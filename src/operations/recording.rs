//! How operations record what they did.

use serde_json::{Map, Value, json};

use super::{attempts::Recording, groups::claims::Claim, prelude::*};
use crate::{
    api::failure::CallError,
    directory::{ChangeId, Recorded},
    domain::{
        change::{FieldChange, Mark},
        history::{Entry, NOT_KNOWN_BEFORE},
        mutation::fields_of,
    },
};

impl Operations {
    /// Records that a request failed. If it was not sent, that is not waited for without access.
    pub(super) async fn write_failed(
        &self,
        mut record: Record,
        failure: &Failure,
    ) -> Result<Recorded, Failure> {
        let what = match failure.cause() {
            Failure::Unreachable(CallError::NotSent { .. }) => Recording::NotSent,
            _ => Recording::Outcome,
        };
        record.key = self.key_id();
        let written = self.record_outcome(record, what).await;
        written.map_err(Failure::NotWritten)
    }

    /// Records what has become of a request that was sent.
    pub(super) async fn record_outcome(
        &self,
        record: Record,
        what: Recording,
    ) -> Result<Recorded, DirectoryError> {
        let mut attempts = self.recording(what);
        loop {
            let written = self.directory().record(self.here(), record.clone()).await;
            // If it was written after all, it cannot be written again: a step has moved on.
            if !attempts.go_on(&written).await {
                return written;
            }
        }
    }

    pub(super) fn entry(&self, operation: Operation, id: &UserGroupId, ending: Ending) -> Entry {
        Entry {
            at: self.now(),
            by: self.operator().to_owned(),
            profile: self.profile().name.clone(),
            user_group_id: id.clone(),
            operation,
            ending,
            previous_fingerprint: None,
            fingerprint: None,
            reason: None,
            changes: None,
            note: None,
        }
    }

    /// Records a failed mutation in the history together with the end of its claim, and returns the failure.
    pub(super) async fn note_failure(
        &self,
        operation: Operation,
        id: &UserGroupId,
        failure: Failure,
        claim: Claim,
    ) -> Failure {
        let Some(ending) = failure.ending() else {
            return failure;
        };
        let mutation = claim.id();
        let note = Some(failure.to_string());
        let mut entry = self.entry(operation, id, ending);
        entry.note.clone_from(&note);
        let repeated = match ending {
            Ending::Unknown => self.end_repeated(id, claim.id()).await,
            _ => Vec::new(),
        };
        let record = Record {
            // What is repeated has its entry.
            entry: repeated.is_empty().then_some(entry),
            mutation: Some(match ending {
                Ending::Unknown => claim.unknown(note),
                ending => claim.end(ending, note),
            }),
            ..Record::default()
        };
        // The outcome of the request matters more than a failure to record it.
        let written = self.write_failed(record, &failure).await;
        let is_settled =
            matches!(&written, Err(Failure::NotWritten(error)) if error.is_of_others());
        if is_settled && ending == Ending::Unknown {
            let change = ChangeId::Mutation(mutation);
            return self.settled_meanwhile(operation, id, change, failure).await;
        }
        if written.is_ok() && !repeated.is_empty() {
            drop(self.take_steps(repeated).await);
        }
        failure
    }

    /// The failure of a change of ours whose outcome somebody else has recorded while this process was held up: how it ended,
    /// and who has changed the group since. Never that it may be sent again.
    pub(super) async fn settled_meanwhile(
        &self,
        operation: Operation,
        id: &UserGroupId,
        change: ChangeId,
        mut failure: Failure,
    ) -> Failure {
        const NEXT: &str = "Read the group before you decide anything";
        let found = self.directory();
        let found = found.since_last_about(self.here(), id, change).await;
        let found = found.unwrap_or_default();
        let Some((settled, since)) = found.split_first() else {
            return failure;
        };
        let since: Vec<_> = since.iter().filter_map(changed_by).collect();
        let since = match &since[..] {
            [] => String::new(),
            some => format!("; since then, {}", some.join(", ")),
        };
        let found = format!("{} at {}", settled.by, when::second(settled.at));
        let text = match settled.ending {
            Ending::Updated | Ending::Created => {
                let ending = settled.ending.as_str();
                format!("\"{id}\" was {ending} (found by {found})")
            }
            Ending::Rotated | Ending::Confirmed | Ending::Recovered => {
                format!("\"{id}\" was rotated (found by {found})")
            }
            Ending::Unknown => {
                if let Failure::Unknown { why, next, .. } = &mut failure
                    && !since.is_empty()
                {
                    *why += &since;
                    *next = NEXT;
                }
                return failure;
            }
            ending => format!(
                "the {} of \"{id}\" has ended ({}), recorded by {found}",
                operation.as_str(),
                ending.as_str().replace('_', " ")
            ),
        };
        Failure::Settled(settled.ending, format!("{text}{since}. {NEXT}"))
    }
}

/// Who changed a group, and what of it: "cleo@vm changed name and mapping".
fn changed_by(entry: &Entry) -> Option<String> {
    let what = match entry.ending {
        Ending::Created => "created it".to_owned(),
        Ending::Rotated | Ending::Recovered => "rotated it".to_owned(),
        Ending::Updated => {
            let fields = fields_of(entry.changes.as_ref());
            let fields: Vec<_> = fields.iter().map(|field| field.as_str()).collect();
            format!("changed its {}", fields.join(" and "))
        }
        _ => return None,
    };
    Some(format!("{} {what}", entry.by))
}

/// The changed fields for the history: `{"name": ["old", "new"], "mapping": {"7": ["40", "213"]}}`.
pub fn changes_json(change: &Change) -> Option<Value> {
    let mut changes = Map::new();
    for (name, field) in change.fields() {
        let rows: Map<String, Value> = changed_rows(field);
        if rows.is_empty() {
            continue;
        }
        let value = match rows.get("name") {
            Some(pair) if name == "name" => pair.clone(),
            _ => Value::Object(rows),
        };
        changes.insert(name.to_owned(), value);
    }
    (!changes.is_empty()).then_some(Value::Object(changes))
}

/// The changes of an update or a create for the history; for an update also what it replaced without knowing it.
pub(super) fn changes_for_history(operation: Operation, change: &Change) -> Option<Value> {
    let mut changes = changes_json(change)?;
    let replaced: Vec<&str> = change
        .fields()
        .into_iter()
        .filter(|(_, field)| matches!(field, FieldChange::Replaced(_)))
        .map(|(name, _)| name)
        .collect();
    if operation == Operation::Update && !replaced.is_empty() {
        changes[NOT_KNOWN_BEFORE] = json!(replaced);
    }
    Some(changes)
}

fn changed_rows(field: &FieldChange) -> Map<String, Value> {
    field
        .rows()
        .iter()
        .filter(|row| row.mark() != Mark::Same)
        .map(|row| (row.key.clone(), json!([row.before, row.after])))
        .collect()
}
