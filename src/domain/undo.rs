//! Reconstructs the request behind a history entry, to repeat it or to take it back, or says why that is impossible.
//! Nothing is guessed.

use serde_json::Value;

use super::{
    facts::Field,
    fields::{DesiredFields, Part, parts},
    history::{Ending, Entry, NOT_KNOWN_BEFORE, Operation},
};

/// The fields of a create.
///
/// # Errors
///
/// The reason why the history does not contain them, as text.
pub fn created_with(entry: &Entry) -> Result<DesiredFields, &'static str> {
    match (entry.operation, entry.ending) {
        (Operation::Create, Ending::Created) => {
            wanted(entry.changes.as_ref()).ok_or("its changes cannot be read")
        }
        (Operation::Create, _) => Err("the request is kept only if the group was created"),
        (Operation::Update, _) => Err("the history keeps what changed, not the whole request"),
        (Operation::Rotate, _) => Err("its request is a token, which is never kept"),
        (Operation::Get, _) => Err("to repeat a get, read the group"),
        (Operation::HandOff, _) => Err("a hand-off is not a request to the service"),
    }
}

/// The fields that a create sent, given its changes; `None` if those cannot be read.
pub fn wanted(changes: Option<&Value>) -> Option<DesiredFields> {
    let Some(changes) = changes else {
        return Some(DesiredFields::default());
    };
    sides(changes).map(|(_, after)| after)
}

/// The fields that an update or a create changed, before and after; no other fields.
///
/// # Errors
///
/// The reason why the history does not contain them, as text.
pub fn changed(entry: &Entry) -> Result<(DesiredFields, DesiredFields), &'static str> {
    if !matches!(entry.operation, Operation::Update | Operation::Create) {
        return Err("it changed no name, mapping or property");
    }
    let changes = entry.changes.as_ref().ok_or("it changed nothing")?;
    sides(changes).ok_or("its changes cannot be read")
}

/// The parts that an update changed, and their values before.
///
/// # Errors
///
/// The reason why the history does not contain them, as text.
pub fn before(entry: &Entry) -> Result<(Vec<Part>, DesiredFields), &'static str> {
    if entry.operation != Operation::Update || entry.ending != Ending::Updated {
        return Err("only an update that took effect can be undone");
    }
    let changes = entry.changes.as_ref().ok_or("it changed nothing")?;
    let fields = changes.as_object().ok_or("its changes cannot be read")?;
    if fields.contains_key(NOT_KNOWN_BEFORE) {
        return Err("the previous values are unknown");
    }
    if fields.get("name").is_some_and(|pair| pair[0].is_null()) {
        return Err("the previous name is unknown");
    }
    let (before, after) = sides(changes).ok_or("its changes cannot be read")?;
    let parts = parts(&[&before, &after]);
    if parts.is_empty() {
        return Err("it changed nothing");
    }
    Ok((parts, before))
}

/// Both sides of the changes, `{"name": [before, after], "mapping": {"40": [before, after]}, …}`; `None` if they are not in
/// the format of this installation.
pub(super) fn sides(changes: &Value) -> Option<(DesiredFields, DesiredFields)> {
    let mut sides = [DesiredFields::default(), DesiredFields::default()];
    let fields = changes.as_object()?.iter();
    for (name, value) in fields.filter(|(name, _)| *name != NOT_KNOWN_BEFORE) {
        let rows = match Field::parse(name)? {
            Field::Name => vec![(Part::name(), value)],
            field => {
                let rows = value.as_object()?.iter();
                let part = |key: &String| Part {
                    field,
                    key: key.clone(),
                };
                rows.map(|(key, pair)| (part(key), pair)).collect()
            }
        };
        for (part, pair) in rows {
            let pair: [Option<String>; 2] = serde_json::from_value(pair.clone()).ok()?;
            for (side, text) in sides.iter_mut().zip(pair) {
                let value = match text {
                    Some(text) => Some(part.parse(text)?),
                    None => None,
                };
                part.set(value, side);
            }
        }
    }
    Some(sides.into())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::domain::testing::{fields, id};

    fn entry(operation: Operation, ending: Ending, changes: Value) -> Entry {
        Entry {
            at: Timestamp::UNIX_EPOCH,
            by: "ana".into(),
            profile: "eu".into(),
            user_group_id: id("acme"),
            operation,
            ending,
            previous_fingerprint: None,
            fingerprint: None,
            reason: None,
            changes: Some(changes),
            note: None,
        }
    }

    fn updated(changes: Value) -> Entry {
        entry(Operation::Update, Ending::Updated, changes)
    }

    #[test]
    fn an_update_is_taken_back_part_by_part() {
        let entry = updated(json!({
            "name": ["Acme", "Acme plc"],
            "mapping": {"7": ["40", "213"], "8": [null, "1"], "9": ["2", null]},
            "properties": {"big": ["12345678901234567890.10", "1"], "beta": [null, "true"]},
        }));
        let (parts, before) = before(&entry).expect("it is known");
        let rows = [("7", "213"), ("8", "1"), ("1", "1")];
        let mut now = fields(
            "Acme plc",
            &rows,
            r#"{"big": 1, "beta": true, "tier": "gold"}"#,
        );
        for part in &parts {
            part.carry(&before, &mut now);
        }
        assert_eq!(now.name.as_deref(), Some("Acme"));
        let mapping = json!(now.mapping.expect("known"));
        assert_eq!(mapping, json!({"7": "40", "9": "2", "1": "1"}));
        let properties = Value::Object(now.properties.expect("known")).to_string();
        assert_eq!(
            properties,
            r#"{"big":12345678901234567890.10,"tier":"gold"}"#
        );
    }

    #[test]
    fn what_the_history_does_not_know_is_not_taken_back() {
        let gaps = json!({"mapping": {"7": [null, "1"]}, "not_known_before": ["mapping"]});
        let name = || json!({"name": ["a", "b"]});
        for (entry, why) in [
            (updated(gaps), "unknown"),
            (updated(json!({"name": [null, "Acme"]})), "unknown"),
            (updated(json!({"later": 1})), "cannot be read"),
            (updated(json!({"mapping": {"7": ["1"]}})), "cannot be read"),
            (updated(json!({})), "nothing"),
            (
                entry(Operation::Update, Ending::Unknown, name()),
                "took effect",
            ),
            (
                entry(Operation::Create, Ending::Created, name()),
                "took effect",
            ),
        ] {
            let said = before(&entry).expect_err("unknown");
            assert!(said.contains(why), "{said} for {:?}", entry.changes);
        }
    }

    #[test]
    fn a_create_is_written_down_again_and_nothing_else_is() {
        use Operation::{Create, Get, HandOff, Rotate, Update};
        let changes = json!({"name": [null, "Acme"], "mapping": {"7": [null, "40"]}});
        let wanted = created_with(&entry(Create, Ending::Created, changes));
        let expected = DesiredFields {
            properties: None,
            ..fields("Acme", &[("7", "40")], "{}")
        };
        assert_eq!(wanted, Ok(expected));
        for operation in [Get, Update, Rotate, HandOff] {
            let other = entry(operation, Ending::Created, json!({}));
            assert!(created_with(&other).is_err());
        }
        assert!(created_with(&entry(Create, Ending::Existed, json!({}))).is_err());
    }
}
