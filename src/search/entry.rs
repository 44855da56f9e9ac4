//! The values of a group in the arena: tag, fingerprint, times, mapping and properties, read from its packed bytes, or from
//! the group itself if it could not be packed.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::Value;

use super::{arena::Entry, packed_values::ValueReader};
use crate::domain::token::Fingerprint;

impl<'a> Entry<'a> {
    pub fn tag(self) -> Option<&'a str> {
        let tag = match ValueReader::of(self) {
            Ok(mut reader) => {
                let number = reader.tag()? as usize;
                self.arena.words.get_index(number)?.as_str()
            }
            Err(unpacked) => unpacked.environment_tag.as_ref()?.value.as_str(),
        };
        (!tag.is_empty()).then_some(tag)
    }

    pub fn fingerprint(self) -> Option<Fingerprint> {
        match ValueReader::of(self) {
            Ok(reader) => reader
                .fingerprint
                .map(|bytes| Fingerprint::from_bytes(*bytes)),
            Err(unpacked) => unpacked.fingerprint.as_ref().map(|known| known.value),
        }
    }

    /// The number of rows of the mapping.
    pub fn mapped(self) -> Option<u32> {
        match ValueReader::of(self) {
            Ok(reader) => reader.at_mapping().mapping().count,
            Err(unpacked) => unpacked
                .mapping
                .as_ref()
                .map(|known| known.value.len() as u32),
        }
    }

    /// The number of properties.
    pub fn keys(self) -> Option<u32> {
        match ValueReader::of(self) {
            Ok(reader) => reader.at_properties().properties().count,
            Err(unpacked) => unpacked
                .properties
                .as_ref()
                .map(|known| known.value.len() as u32),
        }
    }

    pub fn rotated(self) -> Option<Timestamp> {
        self.times().0
    }

    pub fn seen(self) -> Option<Timestamp> {
        self.times().2
    }

    /// When it was rotated, when it was created (if this directory saw that), and when it was last seen.
    pub fn times(self) -> (Option<Timestamp>, Option<Timestamp>, Option<Timestamp>) {
        match ValueReader::of(self) {
            Ok(reader) => reader.at_times().times().into(),
            Err(unpacked) => (
                unpacked.last_rotated.as_ref().map(|last| last.at),
                unpacked.created_at,
                unpacked.last_seen,
            ),
        }
    }

    /// The value of a property; as JSON if it is not text.
    pub fn property(self, key: &str) -> Option<Cow<'a, str>> {
        match ValueReader::of(self) {
            Ok(reader) => {
                let mut properties = reader.at_properties().properties().parts();
                properties
                    .find(|(known, _, _)| *known == key)
                    .map(|(_, _, value)| Cow::Borrowed(value))
            }
            Err(unpacked) => Some(value_text(unpacked.properties.as_ref()?.value.get(key)?)),
        }
    }

    /// The keys of the properties. Empty for a group whose texts contain the separators.
    pub fn property_keys(self) -> impl Iterator<Item = &'a str> {
        let properties =
            ValueReader::of(self).map(|reader| reader.at_properties().properties().parts());
        properties.into_iter().flatten().map(|(key, _, _)| key)
    }

    /// Whether `is_one` accepts a row of the mapping, given as schema id and data source id.
    pub(super) fn has_row(self, mut is_one: impl FnMut(&'a str, &'a str) -> bool) -> bool {
        match ValueReader::of(self) {
            Ok(reader) => {
                let mut rows = reader.at_mapping().mapping().parts();
                rows.any(|(schema, _, source)| is_one(schema, source))
            }
            Err(unpacked) => {
                let mut rows = unpacked.mapping.iter().flat_map(|known| &known.value);
                rows.any(|(schema, source)| is_one(schema, source))
            }
        }
    }

    /// Whether `is_one` accepts a property, given as key and value; a value that is not text as JSON.
    pub(super) fn has_property(self, mut is_one: impl FnMut(&str, &str) -> bool) -> bool {
        match ValueReader::of(self) {
            Ok(reader) => {
                let mut rows = reader.at_properties().properties().parts();
                rows.any(|(key, _, value)| is_one(key, value))
            }
            Err(unpacked) => {
                let mut rows = unpacked.properties.iter().flat_map(|known| &known.value);
                rows.any(|(key, value)| is_one(key, &value_text(value)))
            }
        }
    }
}

/// A text as it is, anything else as JSON.
fn value_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}
