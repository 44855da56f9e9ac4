//! An entry of the append-only history: who did what to which group, and how it ended. Never contains a token.

use jiff::Timestamp;
use serde_json::Value;

use super::{group::UserGroupId, token::Fingerprint};

/// What an operator can do to a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    Get,
    Create,
    Update,
    Rotate,
    /// A new token was passed to the command of the profile.
    HandOff,
}

impl Operation {
    pub const ALL: [Self; 5] = [
        Self::Get,
        Self::Create,
        Self::Update,
        Self::Rotate,
        Self::HandOff,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Create => "create",
            Self::Update => "update",
            Self::Rotate => "rotate",
            Self::HandOff => "handoff",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }
}

/// How an operation ended. The words are those of the JSON output (docs/reference/json.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The group existed and is unchanged.
    Found,
    /// This call, or one just before it, created the group.
    Created,
    /// A create found that the group existed already; nothing was changed.
    Existed,
    Updated,
    /// Rotated; the answer contained the new token.
    Rotated,
    /// Rotated, and a get returned the same new token.
    Confirmed,
    /// The answer was lost, but a get returned a new token.
    Recovered,
    /// The token is still the old one; it is safe to try again.
    NotApplied,
    /// Rotated, and somebody has rotated again since.
    Superseded,
    /// The answers contradict each other; a person must look.
    Conflict,
    /// The service refused; nothing was changed.
    Refused,
    /// It may or may not have taken effect.
    Unknown,
    /// The service could not be reached; nothing was sent.
    Unreachable,
    /// A get of a known id created it: it had vanished, or this is another environment (hazard 1).
    CreatedByGet,
    /// A person closed a rotation with an unknown outcome.
    Abandoned,
    /// The command accepted the new token.
    HandedOff,
    /// The command failed or did not run; it is not known whether the token has arrived.
    NotHandedOff,
}

impl Ending {
    pub const ALL: [Self; 17] = [
        Self::Found,
        Self::Created,
        Self::Existed,
        Self::Updated,
        Self::Rotated,
        Self::Confirmed,
        Self::Recovered,
        Self::NotApplied,
        Self::Superseded,
        Self::Conflict,
        Self::Refused,
        Self::Unknown,
        Self::Unreachable,
        Self::CreatedByGet,
        Self::Abandoned,
        Self::HandedOff,
        Self::NotHandedOff,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Created => "created",
            Self::Existed => "existed",
            Self::Updated => "updated",
            Self::Rotated => "rotated",
            Self::Confirmed => "confirmed",
            Self::Recovered => "recovered",
            Self::NotApplied => "not_applied",
            Self::Superseded => "superseded",
            Self::Conflict => "conflict",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
            Self::Unreachable => "unreachable",
            Self::CreatedByGet => "created_by_get",
            Self::Abandoned => "abandoned",
            Self::HandedOff => "handed_off",
            Self::NotHandedOff => "not_handed_off",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }
}

/// Who did what, when, to which group of which profile, and how it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub at: Timestamp,
    /// For example `ana@bastion2`.
    pub by: String,
    pub profile: String,
    pub user_group_id: UserGroupId,
    pub operation: Operation,
    pub ending: Ending,
    pub previous_fingerprint: Option<Fingerprint>,
    pub fingerprint: Option<Fingerprint>,
    /// The operator's reason (for a rotation).
    pub reason: Option<String>,
    /// The changed fields, before and after: `{"name": ["old", "new"], "mapping": {"7": ["40", "213"]}}`. A field whose
    /// value before was not known here is named under [`NOT_KNOWN_BEFORE`].
    pub changes: Option<Value>,
    /// What was observed, in a sentence: the service's own words, or what was unclear.
    pub note: Option<String>,
}

/// Lists the fields that an update replaced without knowing their values.
pub const NOT_KNOWN_BEFORE: &str = "not_known_before";

/// The changes of an entry as text: `{"name": [a, b], "mapping": {"7": [c, d]}}` becomes `name: a -> b, mapping 7: c ->
/// d`.
pub fn changes_text(changes: &Value) -> String {
    let pair = |pair: &Value| {
        let sides = pair.as_array().map_or(&[][..], Vec::as_slice).iter();
        let sides = sides.map(|side| side.as_str().unwrap_or("(none)"));
        sides.collect::<Vec<_>>().join(" -> ")
    };
    let fields = changes.as_object().into_iter().flatten();
    let fields = fields.filter(|(field, _)| *field != NOT_KNOWN_BEFORE);
    let texts = fields.flat_map(|(field, value)| match value {
        Value::Object(rows) => rows
            .iter()
            .map(|(key, value)| format!("{field} {key}: {}", pair(value)))
            .collect(),
        value => vec![format!("{field}: {}", pair(value))],
    });
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_parses_back() {
        for ending in Ending::ALL {
            assert_eq!(Ending::parse(ending.as_str()), Some(ending));
        }
        for operation in Operation::ALL {
            assert_eq!(Operation::parse(operation.as_str()), Some(operation));
        }
    }
}
