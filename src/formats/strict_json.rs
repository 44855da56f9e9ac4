//! Strict parsing of JSON from files, arguments and answers: a duplicate key is an error, and errors give line and
//! column but never quote the content.

use std::{cell::Cell, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{
        DeserializeOwned, DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
    },
};
use serde_json::{Map, Number, Value, error::Category};

use crate::{
    domain::group::{Mapping, Properties},
    intake::{
        json_key::{Key, RESERVED},
        signs,
    },
};

const DUPLICATE_KEY: &str = "a key appears twice";
const TOO_MANY: &str = "too many values";
const RESERVED_KEY: &str =
    "a key begins with $serde_json::private:: and cannot be sent; use another name";

/// Parses a JSON object of texts without duplicate keys.
///
/// # Errors
///
/// The position and kind of the mistake, without quoting the text. The same applies to the other functions.
pub fn mapping(text: &str) -> Result<Mapping, String> {
    parse::<UniqueMapping>(
        text,
        "a mapping must be an object of strings, for example {\"40\": \"213\"}",
    )
    .map(|rows| rows.0)
}

/// Parses a JSON object without duplicate keys, also in nested objects.
pub fn properties(text: &str) -> Result<Properties, String> {
    match parse::<UniqueValue>(
        text,
        "properties must be an object, for example {\"tier\": \"gold\"}",
    )? {
        UniqueValue(Value::Object(properties)) => Ok(properties),
        _ => Err("properties must be an object, for example {\"tier\": \"gold\"}".into()),
    }
}

/// Parses any JSON value without duplicate keys.
pub fn value(text: &str) -> Result<Value, String> {
    parse::<UniqueValue>(text, "not a JSON value").map(|value| value.0)
}

/// What is wrong with JSON from an untrusted source, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonError {
    NotJson {
        line: usize,
        column: usize,
        /// The text ends too early; it could be the start of valid JSON.
        early: bool,
    },
    /// A key occurs twice in one object. Parsers differ in how they read that.
    DuplicateKey { line: usize, column: usize },
    /// There are more values than allowed.
    TooMany,
}

/// Parses untrusted JSON without duplicate keys and with at most `most` values, because a value needs many times the
/// memory of its text.
pub fn parse_untrusted(bytes: &[u8], most: usize) -> Result<Value, JsonError> {
    let left = Cell::new(most);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = LimitedValue { left: &left }.deserialize(&mut reader);
    read.and_then(|value| reader.end().map(|()| value))
        .map_err(|error| {
            let text = String::from_utf8_lossy(bytes);
            let (line, column) = signs::position(&text, error.line(), error.column());
            let words = (error.classify() == Category::Data).then(|| error.to_string());
            match words {
                Some(words) if words.starts_with(DUPLICATE_KEY) => {
                    JsonError::DuplicateKey { line, column }
                }
                Some(words) if words.starts_with(TOO_MANY) => JsonError::TooMany,
                _ => JsonError::NotJson {
                    line,
                    column,
                    early: error.is_eof(),
                },
            }
        })
}

fn parse<T: DeserializeOwned>(text: &str, expected: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        // The error's own text quotes the content.
        let what = match error.classify() {
            Category::Data if error.to_string().starts_with(DUPLICATE_KEY) => DUPLICATE_KEY,
            Category::Data if error.to_string().starts_with(RESERVED_KEY) => RESERVED_KEY,
            Category::Data => expected,
            Category::Eof => "not JSON: it ends too early",
            Category::Syntax | Category::Io => "not JSON, or nested too deeply",
        };
        let sign = match error.classify() {
            Category::Syntax => signs::at(text, error.line(), error.column()),
            Category::Data | Category::Eof | Category::Io => None,
        };
        let (line, column) = signs::position(text, error.line(), error.column());
        let sign = sign.map_or_else(String::new, |sign| format!(": {sign}"));
        format!("line {line}, column {column}: {what}{sign}")
    })
}

struct UniqueMapping(Mapping);

impl<'de> Deserialize<'de> for UniqueMapping {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UniqueMappingVisitor).map(Self)
    }
}

struct UniqueMappingVisitor;

impl<'de> Visitor<'de> for UniqueMappingVisitor {
    type Value = Mapping;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of strings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Mapping, A::Error> {
        let mut rows = Mapping::new();
        while let Some(key) = map.next_key::<String>()? {
            if key.starts_with(RESERVED) {
                return Err(A::Error::custom(RESERVED_KEY));
            }
            if rows.contains_key(&key) {
                return Err(A::Error::custom(DUPLICATE_KEY));
            }
            rows.insert(key, map.next_value()?);
        }
        Ok(rows)
    }
}

struct UniqueValue(Value);

impl<'de> Deserialize<'de> for UniqueValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let left = Cell::new(usize::MAX);
        LimitedValue { left: &left }
            .deserialize(deserializer)
            .map(Self)
    }
}

/// Reads a value without duplicate keys and with no more values than are left.
struct LimitedValue<'l> {
    left: &'l Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for LimitedValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let left = self.left.get().checked_sub(1);
        self.left
            .set(left.ok_or_else(|| D::Error::custom(TOO_MANY))?);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for LimitedValue<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element_seed(LimitedValue { left: self.left })? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<Key>()? {
            let Key::Written(key) = key else {
                let digits = map.next_value::<String>()?;
                let number: Number = digits.parse().map_err(|_| A::Error::custom("a number"))?;
                map.next_key::<IgnoredAny>()?;
                return Ok(Value::Number(number));
            };
            if key.starts_with(RESERVED) {
                return Err(A::Error::custom(RESERVED_KEY));
            }
            if object.contains_key(&key) {
                return Err(A::Error::custom(DUPLICATE_KEY));
            }
            let value = map.next_value_seed(LimitedValue { left: self.left })?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_right_is_kept_as_written() {
        let text = r#"{"b":123456789012345678901234567890,"a":{"x":[1.50,null,true,"é"]},"n":-0.0,"m":-7,"f":1.0}"#;
        let read = properties(text).expect("properties");
        assert_eq!(Value::Object(read).to_string(), text);
        let rows = mapping(r#"{"40":"213","7":"x"}"#).expect("a mapping");
        assert_eq!(rows.keys().collect::<Vec<_>>(), ["40", "7"]);
    }

    #[test]
    fn a_strangers_json_is_read_once_and_within_its_limit() {
        let text = br#"{"a":[1,{"b":1.50}],"b":9007199254740993}"#;
        let read = parse_untrusted(text, 6).expect("six values");
        assert_eq!(read.to_string().as_bytes(), text);
        assert_eq!(parse_untrusted(text, 5), Err(JsonError::TooMany));
        let twice = parse_untrusted(br#"{"a":1,"\u0061":[2]}"#, 9);
        assert!(
            matches!(twice, Err(JsonError::DuplicateKey { line: 1, .. })),
            "{twice:?}"
        );
        for (text, early) in [
            ("{\"a\":1} canary xyz", false),
            ("{\"a\":{\"canary\":1", true),
        ] {
            let wrong = parse_untrusted(text.as_bytes(), 9).expect_err(text);
            let is_early = matches!(wrong, JsonError::NotJson { line: 1, early, .. } if early);
            assert_eq!(is_early, early, "{text}: {wrong:?}");
            assert!(
                matches!(wrong, JsonError::NotJson { .. }),
                "{text}: {wrong:?}"
            );
        }
        assert!(parse_untrusted("[".repeat(1_000).as_bytes(), usize::MAX).is_err());
    }

    #[test]
    fn a_key_that_would_be_read_back_as_a_number_is_refused() {
        for name in ["Number", "RawValue"] {
            let key = format!("$serde_json::private::{name}");
            for text in [
                format!(r#"{{"a": {{"{key}": "5"}}}}"#),
                format!(r#"{{"{key}": "5"}}"#),
                format!(r#"{{"{}": "x"}}"#, key.replace('$', "\\u0024")),
            ] {
                let error = properties(&text).expect_err(&text);
                assert!(error.contains("cannot be sent"), "{text}: {error}");
                assert_eq!(value(&text).expect_err(&text), error);
            }
            let error = mapping(&format!(r#"{{"{key}": "5"}}"#)).expect_err(name);
            assert!(error.contains("cannot be sent"), "{error}");
        }
    }

    #[test]
    fn errors_name_the_place_and_quote_nothing() {
        for (text, place) in [
            ("{\"canary\": 1,\n \"canary\": 2}", "line 2, column"),
            (
                "{\"a\": {\"canary\": 1, \"canary\": 2}}",
                "a key appears twice",
            ),
            ("{\"a\": canary}", "line 1, column"),
            ("{\"a\":", "it ends too early"),
            ("[\"canary\"]", "an object"),
            ("{} canary", "line 1, column 4"),
        ] {
            let error = properties(text).expect_err(text);
            assert!(error.contains(place), "{text}: {error}");
            assert!(!error.contains("canary"), "{error}");
        }
        for text in [r#"{"40": 213}"#, r#"{"40":"1","40":"2"}"#, r#"["canary"]"#] {
            let error = mapping(text).expect_err(text);
            assert!(error.contains("line 1, column"), "{text}: {error}");
        }
    }
}
