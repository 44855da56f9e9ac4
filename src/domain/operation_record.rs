//! Groups history entries that belong to the same operation: a rotation and the read that confirmed it, or an update
//! whose answer was lost and what a later read found out. `history --by-operation` prints one entry for each.

use std::collections::HashMap;

use super::{
    group::UserGroupId,
    history::{Ending, Entry, Operation},
};

/// One operation with its history entries, oldest first, each with its number.
#[derive(Debug, Clone, PartialEq)]
pub struct OperationRecord {
    pub steps: Vec<(i64, Entry)>,
}

impl OperationRecord {
    /// The entry that it began with.
    pub fn first(&self) -> &(i64, Entry) {
        &self.steps[0]
    }

    /// How it ended, as far as recorded; the hand-off is reported separately.
    pub fn last(&self) -> &(i64, Entry) {
        let of_service = |(_, entry): &&(i64, Entry)| entry.operation != Operation::HandOff;
        let last = self.steps.iter().rev().find(of_service);
        last.unwrap_or_else(|| self.first())
    }

    /// The operation as one entry: how it began, with how it ended.
    pub fn whole(&self) -> (i64, Entry) {
        let (number, mut entry) = self.first().clone();
        let last = self.last().1.clone();
        entry.ending = last.ending;
        entry.fingerprint = last.fingerprint.or(entry.fingerprint);
        entry.note = last.note.or(entry.note);
        entry.reason = entry.reason.or(last.reason);
        (number, entry)
    }

    /// How the last hand-off of its token ended.
    pub fn handed_off(&self) -> Option<Ending> {
        let mut steps = self.steps.iter().rev();
        let found = steps.find(|(_, entry)| entry.operation == Operation::HandOff);
        found.map(|(_, entry)| entry.ending)
    }

    /// Whether this older entry belongs to it.
    fn continues(&self, older: &Entry) -> bool {
        let (_, newer) = self.first();
        if older.user_group_id != newer.user_group_id || !may_be_continued(older) {
            return false;
        }
        let same_token = older.fingerprint.is_some() && older.fingerprint == newer.fingerprint;
        match (older.operation, newer.operation) {
            (Operation::Rotate | Operation::HandOff, Operation::HandOff) => same_token,
            (Operation::Rotate, Operation::Rotate) => {
                let before = newer.previous_fingerprint;
                before.is_some() && older.previous_fingerprint == before
            }
            (older_is, newer_is) => older_is == newer_is && older.changes == newer.changes,
        }
    }
}

/// Whether a later entry may belong to the same operation.
fn may_be_continued(entry: &Entry) -> bool {
    match entry.operation {
        Operation::Rotate => matches!(
            entry.ending,
            Ending::Rotated | Ending::Unknown | Ending::Confirmed | Ending::Recovered
        ),
        Operation::HandOff => true,
        Operation::Get | Operation::Create | Operation::Update => entry.ending == Ending::Unknown,
    }
}

/// How the notes begin that `operations` writes for what it found out later.
pub const SETTLED: &str = "started by";
/// How they began in version 0.2.0.
const SETTLED_BEFORE: &str = "begun by";

fn is_settlement_note(note: &str) -> bool {
    note.starts_with(SETTLED) || note.starts_with(SETTLED_BEFORE)
}

/// A first cause and what was found out after it, as one text.
pub fn followed_by(first: &str, note: &str) -> String {
    match note.split_once(", ") {
        Some((who, what)) if is_settlement_note(who) => format!("{first}; then {what} ({who})"),
        _ => format!("{first}; then {note}"),
    }
}

/// Whether it concerns the token: a rotation and its hand-off are distinguished from changes of the group.
fn concerns_token(entry: &Entry) -> bool {
    matches!(entry.operation, Operation::Rotate | Operation::HandOff)
}

/// Whether an earlier entry may belong to the same operation.
fn may_continue(entry: &Entry) -> bool {
    match entry.operation {
        Operation::Rotate => !matches!(
            entry.ending,
            Ending::Rotated | Ending::Unknown | Ending::Refused | Ending::Unreachable
        ),
        Operation::HandOff => true,
        Operation::Get | Operation::Create | Operation::Update => {
            matches!(
                entry.ending,
                Ending::Updated | Ending::Created | Ending::NotApplied | Ending::Abandoned
            ) && entry.note.as_deref().is_some_and(is_settlement_note)
        }
    }
}

/// Groups entries into operations; entries arrive newest first. Per group, at most one rotation and one change wait for
/// their beginning.
#[derive(Debug, Default)]
pub struct RecordGrouper {
    /// By group, and by whether the operation concerns the token.
    waiting: HashMap<(UserGroupId, bool), OperationRecord>,
}

impl RecordGrouper {
    /// Adds the next older entry; returns the records that are now complete.
    pub fn push(&mut self, number: i64, entry: Entry) -> Vec<OperationRecord> {
        let key = (entry.user_group_id.clone(), concerns_token(&entry));
        let is_begun = may_continue(&entry);
        let (mut record, mut complete) = (OperationRecord { steps: Vec::new() }, Vec::new());
        match self.waiting.remove(&key) {
            Some(newer) if newer.continues(&entry) => record = newer,
            Some(newer) if is_begun => complete.push(newer),
            Some(newer) => drop(self.waiting.insert(key.clone(), newer)),
            None => {}
        }
        record.steps.insert(0, (number, entry));
        if is_begun {
            self.waiting.insert(key, record);
        } else {
            complete.push(record);
        }
        complete
    }

    /// Returns what is left after the oldest entry, newest first.
    pub fn finish(self) -> Vec<OperationRecord> {
        let mut left: Vec<OperationRecord> = self.waiting.into_values().collect();
        left.sort_by_key(|record| -record.first().0);
        left
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::domain::testing::{fingerprint, id};

    /// Written as `ID OPERATION ENDING BEFORE AFTER`, with the tokens as numbers; 0 is none.
    fn line(text: &str) -> Entry {
        let words: Vec<_> = text.split(' ').collect();
        let token = |word: &str| {
            let byte: u8 = word.parse().expect("a number");
            (byte > 0).then(|| fingerprint(byte))
        };
        Entry {
            at: Timestamp::UNIX_EPOCH,
            by: "ana".into(),
            profile: "eu".into(),
            user_group_id: id(words[0]),
            operation: Operation::parse(words[1]).expect("an operation"),
            ending: Ending::parse(words[2]).expect("an ending"),
            previous_fingerprint: token(words[3]),
            fingerprint: token(words[4]),
            reason: None,
            changes: None,
            note: Some(format!("{SETTLED} ana")),
        }
    }

    /// The entry numbers of each deed; `lines` is oldest first.
    fn records(lines: &[&str]) -> Vec<Vec<i64>> {
        let mut records = RecordGrouper::default();
        let mut found = Vec::new();
        for (number, entry) in lines.iter().enumerate().rev() {
            found.extend(records.push(number as i64, line(entry)));
        }
        found.extend(records.finish());
        let steps = found.into_iter().map(|record| record.steps);
        steps
            .map(|steps| steps.iter().map(|(number, _)| *number).collect())
            .collect()
    }

    #[test]
    fn a_rotation_its_confirmation_and_its_hand_off_are_one_deed() {
        let found = records(&[
            "a rotate not_applied 1 0",
            "a rotate rotated 1 2",
            "b update updated 9 9",
            "a rotate confirmed 1 2",
            "a update updated 2 2",
            "a handoff not_handed_off 0 2",
            "a handoff handed_off 0 2",
        ]);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found.contains(&vec![1, 3, 5, 6]), "{found:?}");
        assert!(found.contains(&vec![0]), "another try: {found:?}");
        let found = records(&[
            "a update unknown 1 1",
            "b rotate unknown 3 0",
            "a update updated 1 1",
            "b rotate recovered 3 4",
            "b rotate rotated 4 5",
        ]);
        assert_eq!(
            found,
            [vec![4], vec![1, 3], vec![0, 2]],
            "what was unknown and is found out"
        );
    }
}
