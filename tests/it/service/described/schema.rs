//! As much of JSON Schema as the description uses; an unknown keyword is an error, not a pass.

use serde_json::Value;

/// The target of a `$ref`; any other value itself.
pub(super) fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value.get("$ref").and_then(Value::as_str) {
        Some(to) => {
            let pointer = to.strip_prefix('#').expect("within the document");
            document
                .pointer(pointer)
                .unwrap_or_else(|| panic!("{to} leads nowhere"))
        }
        None => value,
    }
}

/// How a value differs from its schema, and where; `None` when it matches.
pub(super) fn mismatch(
    document: &Value,
    schema: &Value,
    value: &Value,
    at: &str,
) -> Option<String> {
    let words = resolved(document, schema).as_object().expect("a schema");
    words.iter().find_map(|(word, limit)| match word.as_str() {
        "description" => None,
        "allOf" => list(limit).find_map(|schema| mismatch(document, schema, value, at)),
        "type" => (!is_of(value, limit)).then(|| format!("{at} is not {limit}")),
        "const" => (value != limit).then(|| format!("{at} is not {limit}")),
        "enum" => {
            (!list(limit).any(|one| one == value)).then(|| format!("{at} is none of {limit}"))
        }
        "required" => {
            let mut names = list(limit).filter_map(Value::as_str);
            let missing = names.find(|name| value.get(name).is_none());
            missing.map(|name| format!("{at}/{name} is missing"))
        }
        "properties" => {
            let mut properties = limit.as_object().expect("properties").iter();
            properties.find_map(|(name, schema)| {
                mismatch(document, schema, value.get(name)?, &format!("{at}/{name}"))
            })
        }
        "additionalProperties" => match limit {
            Value::Bool(true) => None,
            Value::Bool(false) => {
                let known = &words["properties"];
                let mut names = value.as_object().into_iter().flatten().map(|entry| entry.0);
                let more = names.find(|name| known.get(name).is_none());
                more.map(|name| format!("{at}/{name} is not described"))
            }
            _ => panic!("additionalProperties as a schema is not used in answers"),
        },
        "minLength" | "maxLength" => {
            let limit = limit.as_u64().expect("a number") as usize;
            let length = value.as_str().map_or(limit, |text| text.chars().count());
            let is_short = word == "minLength" && length < limit;
            let is_long = word == "maxLength" && length > limit;
            let what = if is_short { "short" } else { "long" };
            (is_short || is_long).then(|| format!("{at} is too {what}"))
        }
        "minimum" => {
            let least = limit.as_i64().expect("a number");
            let is_less = value.as_i64().is_some_and(|number| number < least);
            is_less.then(|| format!("{at} is less than {limit}"))
        }
        "pattern" => {
            assert_eq!(limit, "^[0-9a-f]{64}$", "the only pattern");
            let text = value.as_str().unwrap_or_default();
            let is_hex = text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            (text.len() != 64 || !is_hex).then(|| format!("{at} does not look like a token"))
        }
        other => panic!("unknown schema word {other}"),
    })
}

fn list(value: &Value) -> std::slice::Iter<'_, Value> {
    value.as_array().expect("a list").iter()
}

fn is_of(value: &Value, kinds: &Value) -> bool {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    match kinds {
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        one => one == kind,
    }
}

#[test]
fn mismatches_are_found() {
    let document = serde_json::json!({"x": {"type": "string", "minLength": 2}});
    let schema = serde_json::json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": {"a": {"$ref": "#/x"}, "b": {"type": ["integer", "null"], "minimum": 1}},
    });
    #[rustfmt::skip] // A table: one case per line.
    let table = [
        (serde_json::json!({"a": "ab", "b": null}), None),
        (serde_json::json!({"a": "ab", "b": 0}), Some("/b is less than 1")),
        (serde_json::json!({"a": "a"}), Some("/a is too short")),
        (serde_json::json!({"a": 1}), Some("/a is not \"string\"")),
        (serde_json::json!({}), Some("/a is missing")),
        (serde_json::json!({"a": "ab", "c": 1}), Some("/c is not described")),

    ];
    for (value, expected) in table {
        let found = mismatch(&document, &schema, &value, "");
        assert_eq!(found.as_deref(), expected, "{value}");
    }
}
