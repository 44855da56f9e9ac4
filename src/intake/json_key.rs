//! Keys of JSON objects as serde_json passes them to a visitor.

use std::fmt;

use serde::{Deserialize, Deserializer, de::Visitor};

/// Prefix of the keys that serde_json uses internally to pass numbers. An object with such a key would be read back as
/// a number.
pub const RESERVED: &str = "$serde_json::private::";

/// Tells a key that was written from the one under which serde_json passes a number: only a written key supports being
/// deserialised as an option.
pub enum Key {
    Written(String),
    OfNumber,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(KeyVisitor)
    }
}

struct KeyVisitor;

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        String::deserialize(deserializer).map(Key::Written)
    }

    fn visit_str<E>(self, _: &str) -> Result<Key, E> {
        Ok(Key::OfNumber)
    }
}
