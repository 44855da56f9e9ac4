//! Strict JSON of request bodies: rejects what the library accepts (duplicate keys, NUL, deep nesting, keys that the
//! library uses itself) and says where. It never quotes the body, which may contain a token.

use std::{cell::Cell, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::intake::{
    json_key::{Key, RESERVED},
    signs,
};

/// Maximum nesting of objects and arrays.
pub(super) const DEEPEST: usize = 64;

/// What is wrong with a body, and up to where it was read. Lines and columns count from 1; columns are characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the body is not acceptable JSON: line {line}, column {column}{}: {why}",
    field.map_or_else(String::new, |field| format!(" in {field}"))
)]
pub(super) struct Malformed {
    pub(super) line: usize,
    pub(super) column: usize,
    /// The top-level field that contains the error, if it is one of ours.
    pub(super) field: Option<&'static str>,
    pub(super) why: String,
}

/// Parses one JSON value and nothing after it. `fields` are the top-level names that an error may repeat.
pub(super) fn read(body: &[u8], fields: &'static [&'static str]) -> Result<Value, Malformed> {
    let field = Cell::new(None);
    let top = Strict {
        fields,
        field: &field,
        depth: 0,
    };
    let mut text = serde_json::Deserializer::from_slice(body);
    let read = top.deserialize(&mut text);
    let read = read.and_then(|value| text.end().map(|()| value));
    read.map_err(|error| {
        let text = String::from_utf8_lossy(body);
        let (line, column) = signs::position(&text, error.line(), error.column());
        Malformed {
            line,
            column,
            field: field.get(),
            why: why(&error),
        }
    })
}

/// The library's texts contain nothing of what was read.
fn why(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.split(" at line ").next().unwrap_or_default() {
        _ if error.is_eof() => "it ends too early".into(),
        "expected value" | "expected ident" => "a JSON value was expected".into(),
        "trailing characters" => "something follows the JSON value".into(),
        "key must be a string" => "a key in double quotes was expected".into(),
        "invalid unicode code point" => "it is not valid UTF-8".into(),
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => {
            "this is half of a surrogate pair, not a character".into()
        }
        control if control.starts_with("control character") => {
            "a string contains a control character; escape it".into()
        }
        why => why.to_owned(),
    }
}

/// Reads a value at some depth.
#[derive(Clone, Copy)]
struct Strict<'s> {
    fields: &'static [&'static str],
    /// The one that is being read.
    field: &'s Cell<Option<&'static str>>,
    depth: usize,
}

impl Strict<'_> {
    fn inside<E: Error>(self) -> Result<Self, E> {
        if self.depth == DEEPEST {
            return Err(E::custom("it is nested deeper than 64 levels"));
        }
        let depth = self.depth + 1;
        Ok(Self { depth, ..self })
    }
}

fn text<E: Error>(text: &str) -> Result<String, E> {
    if text.contains('\0') {
        return Err(E::custom("NUL characters are not accepted"));
    }
    Ok(text.to_owned())
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        text(value).map(Value::String)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let (inside, mut all) = (self.inside()?, Vec::new());
        while let Some(item) = items.next_element_seed(inside)? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = members.next_key()? {
            let Key::Written(key) = key else {
                let digits = members.next_value::<String>()?;
                let number: Number = serde_json::from_str(&digits).map_err(A::Error::custom)?;
                return Ok(number.into());
            };
            let key = text(&key)?;
            if self.depth == 0 {
                let ours = self.fields.iter().copied().find(|field| *field == key);
                self.field.set(ours);
            }
            if key.starts_with(RESERVED) {
                return Err(A::Error::custom("this key is reserved; use another"));
            }
            if all.contains_key(&key) {
                return Err(A::Error::custom("duplicate key in the object"));
            }
            let value = members.next_value_seed(self.inside()?)?;
            all.insert(key, value);
            if self.depth == 0 {
                self.field.set(None);
            }
        }
        // Not before: a number is a map as well, and no level.
        self.inside().map(|_| Value::Object(all))
    }
}

#[cfg(test)]
mod tests;
