//! An entry of the append-only history: who did what to which group, and how it ended. Never contains a token.

use std::str::FromStr;

use jiff::Timestamp;
use serde_json::Value;

use super::{group::UserGroupId, token::Fingerprint, word_enum::word_enum};

word_enum! {
    /// The operations an operator can do to a group.
    #[derive(Hash)]
    pub enum Operation {
        Get = "get",
        Create = "create",
        Update = "update",
        Rotate = "rotate",
        /// A new token was handed to the command of the profile.
        HandOff = "handoff",
    }
}

impl FromStr for Operation {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        Self::parse(text).ok_or("expected get, create, update, rotate or handoff")
    }
}

word_enum! {
    /// How an operation ended. The words are those of the JSON output (docs/reference/json.md).
    #[derive(Hash)]
    pub enum Ending {
        /// The group was there and is unchanged.
        Found = "found",
        /// This call, or one just before it, made the group.
        Created = "created",
        /// A create met a group that was already there; nothing was changed.
        Existed = "existed",
        Updated = "updated",
        /// Rotated; the new token was in the answer.
        Rotated = "rotated",
        /// Rotated, and a get returned the same new token.
        Confirmed = "confirmed",
        /// The answer was lost, but a get returned a new token.
        Recovered = "recovered",
        /// The token is still the old one; it is safe to try again.
        NotApplied = "not_applied",
        /// Rotated, and somebody rotated again after us.
        Superseded = "superseded",
        /// The answers contradict each other; investigate.
        Conflict = "conflict",
        /// The service said no; nothing was changed.
        Refused = "refused",
        /// It may or may not have taken effect.
        Unknown = "unknown",
        /// The service could not be reached; nothing was sent.
        Unreachable = "unreachable",
        /// A get of a known id created it: it had vanished, or this is another environment (hazard 1).
        CreatedByGet = "created_by_get",
        /// A person closed a rotation whose outcome was open.
        Abandoned = "abandoned",
        /// The command took the new token.
        HandedOff = "handed_off",
        /// The command failed, or did not run; the token is not known to have arrived.
        NotHandedOff = "not_handed_off",
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
    /// The changed fields, before and after: `{"name": ["old", "new"], "mapping": {"7": ["40", "213"]}}`. A field whose value
    /// before was unknown is named under [`NOT_KNOWN_BEFORE`].
    pub changes: Option<Value>,
    /// What was observed, in a sentence: the service's own words, or what was unclear.
    pub note: Option<String>,
}

/// Lists the fields that an update replaced without knowing their values.
pub const NOT_KNOWN_BEFORE: &str = "not_known_before";

/// The changes of an entry as text, here with the arrow `->`: `{"name": [a, b], "mapping": {"7": [c, d]}}` becomes `name:
/// a -> b, mapping 7: c -> d`.
pub fn changes_text(changes: &Value, arrow: &str) -> String {
    let pair = |pair: &Value| {
        let sides = pair.as_array().map_or(&[][..], Vec::as_slice).iter();
        let sides = sides.map(|side| side.as_str().unwrap_or("(none)"));
        sides.collect::<Vec<_>>().join(&format!(" {arrow} "))
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
