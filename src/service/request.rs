//! What a request asks for, parsed strictly from its body. The limits are our own, because the interface names none;
//! they are deliberately not shared with the client.

use indexmap::IndexMap;
use secrecy::SecretString;
use serde_json::{Map, Value};

use super::{json, refusal::Refusal};
use crate::api::wire::GroupRequest;

/// Maximum length of `user_group_id`, in characters.
const MAX_ID_LEN: usize = 255;
/// Maximum length of `name`, in characters.
const LONGEST_NAME: usize = 1_000;
/// Maximum length of schema ids and data source ids in a mapping, in characters.
const LONGEST_MAPPING_TEXT: usize = 255;

const GROUP_FIELDS: &[&str] = &["name", "user_group_id", "mapping", "properties"];
const ROTATE_FIELDS: &[&str] = &["current_token"];

/// Parses the body of get-or-create and of update; an absent or null field is `None`. Other fields are ignored.
pub(super) fn group(body: &[u8]) -> Result<GroupRequest, Refusal> {
    let mut fields = object(body, GROUP_FIELDS)?;
    let fields = GroupRequest {
        user_group_id: required_text(&mut fields, "user_group_id")?,
        name: match fields.remove("name") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name),
            Some(other) => return Err(wrong_type("name", "a string", &other)),
        },
        mapping: mapping(fields.remove("mapping"))?,
        properties: match fields.remove("properties") {
            None | Some(Value::Null) => None,
            Some(Value::Object(properties)) => Some(properties),
            Some(other) => return Err(wrong_type("properties", "an object", &other)),
        },
    };
    within_limits(&fields).map_err(Refusal::Invalid)?;
    Ok(fields)
}

/// Parses the body of rotate.
pub(super) fn current_token(body: &[u8]) -> Result<SecretString, Refusal> {
    let mut fields = object(body, ROTATE_FIELDS)?;
    let token = required_text(&mut fields, "current_token")?;
    if token.is_empty() {
        let why = "current_token is empty; send the token to replace";
        return Err(Refusal::Invalid(why.into()));
    }
    Ok(SecretString::from(token))
}

/// Checks the limits; the error names the field.
pub(super) fn within_limits(fields: &GroupRequest) -> Result<(), String> {
    length("user_group_id", &fields.user_group_id, MAX_ID_LEN)?;
    if let Some(name) = &fields.name {
        length("name", name, LONGEST_NAME)?;
    }
    for (index, (schema, source)) in fields.mapping.iter().flatten().enumerate() {
        // Named by number instead of key: the content of a body is never repeated.
        let entry = index + 1;
        for (part, text) in [("key", schema), ("value", source)] {
            let what = format!("the {part} of entry {entry} of mapping");
            length(&what, text, LONGEST_MAPPING_TEXT)?;
        }
    }
    Ok(())
}

fn object(body: &[u8], fields: &'static [&'static str]) -> Result<Map<String, Value>, Refusal> {
    if body.trim_ascii().is_empty() {
        return Err(Refusal::EmptyBody);
    }
    match json::read(body, fields)? {
        Value::Object(fields) => Ok(fields),
        other => Err(wrong_type("the body", "a JSON object", &other)),
    }
}

fn required_text(fields: &mut Map<String, Value>, field: &str) -> Result<String, Refusal> {
    match fields.remove(field) {
        Some(Value::String(text)) => Ok(text),
        None => Err(Refusal::Invalid(format!("{field} is missing"))),
        Some(other) => Err(wrong_type(field, "a string", &other)),
    }
}

fn mapping(value: Option<Value>) -> Result<Option<IndexMap<String, String>>, Refusal> {
    let entries = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Object(entries)) => entries,
        Some(other) => return Err(wrong_type("mapping", "an object of strings", &other)),
    };
    let texts = entries.into_iter().enumerate();
    texts
        .map(|(index, (schema, source))| match source {
            Value::String(source) => Ok((schema, source)),
            other => {
                // The interface also allows "the data source itself"; none is stored here, so an object would be lost.
                let value = format!("the value of entry {} of mapping", index + 1);
                Err(wrong_type(
                    &value,
                    "a string, the ID of a data source",
                    &other,
                ))
            }
        })
        .collect::<Result<_, _>>()
        .map(Some)
}

fn length(what: &str, text: &str, longest: usize) -> Result<(), String> {
    match text.chars().count() {
        0 => Err(format!(
            "{what} is empty; 1 to {longest} characters are needed"
        )),
        count if count > longest => Err(format!(
            "{what} has {count} characters; at most {longest} are allowed"
        )),
        _ => Ok(()),
    }
}

fn wrong_type(what: &str, wanted: &str, found: &Value) -> Refusal {
    let found = match found {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    Refusal::Invalid(format!("{what} must be {wanted}, not {found}"))
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn message(body: &str) -> String {
        group(body.as_bytes())
            .expect_err("it is refused")
            .to_string()
    }

    #[test]
    fn absent_and_null_are_the_same_and_other_fields_are_ignored() {
        let absent = group(br#"{"user_group_id":"a"}"#).expect("valid");
        let null = br#"{"user_group_id":"a","name":null,"mapping":null,"properties":null,"x":[1]}"#;
        assert_eq!(group(null).expect("valid"), absent);
        assert_eq!(absent.name, None);
    }

    #[test]
    fn each_field_is_named_when_it_is_wrong() {
        let entry = "entry 1 of mapping must be a string, the ID of a data source";
        for (rest, field, why) in [
            (r#""mapping":"x""#, "mapping", "not a string"),
            (
                r#""mapping":{"1":"2","3":4}"#,
                "entry 2 of mapping",
                "not a number",
            ),
            (r#""mapping":{"1":{"host":"db"}}"#, entry, "not an object"),
            (
                r#""mapping":{"":"2"}"#,
                "key of entry 1 of mapping",
                "empty",
            ),
            (
                r#""mapping":{"1":""}"#,
                "value of entry 1 of mapping",
                "empty",
            ),
            (r#""properties":[]"#, "properties", "not an array"),
            (
                r#""properties":{"a":1,"a":2}"#,
                "properties",
                "duplicate key",
            ),
            (r#""name":"""#, "name", "empty"),
            (r#""name":[]"#, "name", "not an array"),
        ] {
            let found = message(&format!(r#"{{"user_group_id":"a",{rest}}}"#));
            assert!(
                found.contains(field) && found.contains(why),
                "{rest}: {found}"
            );
        }
        for (body, field, why) in [
            ("{}", "user_group_id", "missing"),
            (r#"{"user_group_id":7}"#, "user_group_id", "not a number"),
            (r#"{"user_group_id":null}"#, "user_group_id", "not null"),
            (r#"{"user_group_id":""}"#, "user_group_id", "empty"),
            ("[]", "body", "not an array"),
            ("null", "body", "not null"),
            (" \n", "body", "empty"),
        ] {
            let found = message(body);
            assert!(
                found.contains(field) && found.contains(why),
                "{body}: {found}"
            );
        }
    }

    #[test]
    fn limits_count_characters_and_are_exact() {
        let body = |id: usize, name: usize, text: usize| {
            let (id, name, text) = ("é".repeat(id), "é".repeat(name), "é".repeat(text));
            format!(r#"{{"user_group_id":"{id}","name":"{name}","mapping":{{"{text}":"{text}"}}}}"#)
        };
        assert!(group(body(255, 1_000, 255).as_bytes()).is_ok());
        for (body, field) in [
            (body(256, 1, 1), "user_group_id has 256"),
            (body(1, 1_001, 1), "name has 1001"),
            (body(1, 1, 256), "mapping has 256"),
        ] {
            assert!(message(&body).contains(field), "{}", message(&body));
        }
    }

    #[test]
    fn a_refused_rotation_never_repeats_the_token() {
        let token = current_token(br#"{"current_token":"canary"}"#).expect("valid");
        assert_eq!(token.expose_secret(), "canary");
        for body in [
            r#"{"current_token":["canary"]}"#,
            r#"{"current_token":"canary""#,
            r#"{"current_token":"canary","current_token":"canary"}"#,
            r#"{"token":"canary"}"#,
            r#""canary""#,
        ] {
            let refusal = current_token(body.as_bytes()).expect_err("it is refused");
            assert!(!format!("{refusal:?} {refusal}").contains("canary"));
        }
    }
}
