//! Interprets `success`, which services write in more than one way.

use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Success {
    Yes,
    No,
    Missing,
    Odd(&'static str),
}

/// 1, 1.0, true and "1" mean yes; their counterparts mean no.
pub(super) fn success(map: &Map<String, Value>) -> Success {
    match map.get("success") {
        None => Success::Missing,
        Some(Value::Null) => Success::Odd("null"),
        Some(Value::Array(_)) => Success::Odd("an array"),
        Some(Value::Object(_)) => Success::Odd("an object"),
        Some(value @ (Value::Number(_) | Value::String(_) | Value::Bool(_))) => {
            match (flag(value), value.is_string()) {
                (Some(true), _) => Success::Yes,
                (Some(false), _) => Success::No,
                (None, true) => Success::Odd("a string"),
                (None, false) => Success::Odd("another number"),
            }
        }
    }
}

pub(super) fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) if text == "1" => Some(true),
        Value::String(text) if text == "0" => Some(false),
        Value::Number(number) => match number.as_f64() {
            Some(1.0) => Some(true),
            Some(0.0) => Some(false),
            _ => None,
        },
        _ => None,
    }
}
