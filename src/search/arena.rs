//! Many groups in a few buffers: the texts that are searched, one small row each, and in bytes what else is known of
//! them. Any group can be had back whole.

use std::{
    borrow::Cow,
    fmt::{self, Write},
};

use indexmap::IndexSet;
use jiff::Timestamp;
use serde_json::Value;

use super::packed::{JSON, Packed, RECORD, UNIT};
use crate::domain::{
    known::KnownGroup,
    text::{visible, width},
    token::Fingerprint,
};

/// In the place of the rest: the group is one of the odd ones.
pub(super) const ODD_ROW: u32 = 1 << 31;

/// Bytes of a usual group.
const TEXT: usize = 192;
const REST: usize = 96;

/// A count that is not known.
const UNKNOWN: u32 = u32::MAX;
/// A time that is not known.
const NEVER: i64 = i64::MIN;

/// Where the texts of a group end in the arena; each begins where the one before ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextSpan {
    pub(super) start: u32,
    pub(super) name: u32,
    pub(super) id: u32,
    pub(super) tag: u32,
    pub(super) fingerprint: u32,
    pub(super) team: u32,
    pub(super) mapping: u32,
    pub(super) properties: u32,
    mapped: u32,
    keys: u32,
    /// Where the rest begins, or which of the odd ones it is.
    pub(super) rest: u32,
    /// Microseconds.
    rotated: i64,
    created: i64,
    seen: i64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Arena {
    pub(super) text: String,
    pub(super) rows: Vec<TextSpan>,
    /// What stands in no text.
    pub(super) rest: Vec<u8>,
    /// Operators, by their number in `rest`.
    pub(super) people: IndexSet<String>,
    /// Groups that do not fit into the other form.
    pub(super) odd: Vec<KnownGroup>,
    /// Cells of the widest title and of the widest id.
    pub(super) widest: (usize, usize),
}

impl Arena {
    /// Takes in the texts of a group; its row is complete once it says where the rest begins.
    pub(super) fn texts(&mut self, id: &str, group: &Packed<'_>) -> TextSpan {
        let start = self.text.len() as u32;
        self.add(group.name.unwrap_or_default());
        let name = self.end();
        self.add(id);
        let end_of_id = self.end();
        self.add(group.tag.unwrap_or_default());
        let tag = self.end();
        if let Some(fingerprint) = group.fingerprint {
            self.show(&Fingerprint::from_bytes(*fingerprint));
        }
        let fingerprint = self.end();
        if let Some(team) = &group.team_id {
            self.show(team);
        }
        let team = self.end();
        self.add(group.mapping.map_or("", |(_, text)| text));
        let mapping = self.end();
        self.add(group.properties.map_or("", |(_, text)| text));
        let properties = self.end();
        let id_cells = cells(id);
        let title = match group.name {
            Some(name) if !name.is_empty() => cells(name),
            _ => id_cells,
        };
        self.widest = (self.widest.0.max(title), self.widest.1.max(id_cells));
        TextSpan {
            start,
            name,
            id: end_of_id,
            tag,
            fingerprint,
            team,
            mapping,
            properties,
            mapped: group.mapping.map_or(UNKNOWN, |(count, _)| count),
            keys: group.properties.map_or(UNKNOWN, |(count, _)| count),
            rest: 0,
            rotated: group.times.rotated.unwrap_or(NEVER),
            created: group.times.created.unwrap_or(NEVER),
            seen: group.times.seen.unwrap_or(NEVER),
        }
    }

    /// Whether so much more text can be numbered. What cannot is not searched.
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.text.len() + more < u32::MAX as usize
    }

    fn add(&mut self, text: &str) {
        if self.has_room(text.len()) {
            self.text.push_str(text);
        }
    }

    /// A few letters.
    fn show(&mut self, value: &impl fmt::Display) {
        if self.has_room(64) {
            write!(self.text, "{value}").expect("a text takes what is written");
        }
    }

    fn end(&self) -> u32 {
        self.text.len() as u32
    }

    pub(super) fn entry(&self, row: usize) -> Option<Entry<'_>> {
        let row = self.rows.get(row)?;
        Some(Entry { arena: self, row })
    }

    pub(super) fn reserve(&mut self, groups: usize) {
        self.text.reserve(groups.saturating_mul(TEXT));
        self.rows.reserve(groups);
        self.rest.reserve(groups.saturating_mul(REST));
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.rows.shrink_to_fit();
        self.rest.shrink_to_fit();
    }
}

fn cells(text: &str) -> usize {
    if text.is_ascii() && !text.contains(char::is_control) {
        text.len()
    } else {
        width(&visible(text))
    }
}

/// What is kept of one group.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    pub(super) arena: &'a Arena,
    pub(super) row: &'a TextSpan,
}

impl<'a> Entry<'a> {
    pub(super) fn part(self, from: u32, to: u32) -> &'a str {
        &self.arena.text[from as usize..to as usize]
    }

    fn known(self, from: u32, to: u32) -> Option<&'a str> {
        (from < to).then(|| self.part(from, to))
    }

    pub fn name(self) -> Option<&'a str> {
        self.known(self.row.start, self.row.name)
    }

    pub fn id(self) -> &'a str {
        self.part(self.row.name, self.row.id)
    }

    /// The name where one is known, else the id.
    pub fn title(self) -> &'a str {
        self.name().unwrap_or_else(|| self.id())
    }

    pub fn tag(self) -> Option<&'a str> {
        self.known(self.row.id, self.row.tag)
    }

    /// The form people see.
    pub fn fingerprint(self) -> Option<&'a str> {
        self.known(self.row.tag, self.row.fingerprint)
    }

    /// How many rows the mapping has.
    pub fn mapped(self) -> Option<u32> {
        Some(self.row.mapped).filter(|count| *count != UNKNOWN)
    }

    /// How many properties there are.
    pub fn keys(self) -> Option<u32> {
        Some(self.row.keys).filter(|count| *count != UNKNOWN)
    }

    pub fn rotated(self) -> Option<Timestamp> {
        time(self.row.rotated)
    }

    /// When it was made, where this directory saw it.
    pub fn created(self) -> Option<Timestamp> {
        time(self.row.created)
    }

    pub fn seen(self) -> Option<Timestamp> {
        time(self.row.seen)
    }

    /// Tag, fingerprint, team, mapping and properties.
    pub(super) fn rest(self) -> [&'a str; 5] {
        let row = self.row;
        [
            self.part(row.id, row.tag),
            self.part(row.tag, row.fingerprint),
            self.part(row.fingerprint, row.team),
            self.part(row.team, row.mapping),
            self.part(row.mapping, row.properties),
        ]
    }

    /// All of these in a row.
    pub(super) fn rest_text(self) -> &'a str {
        self.part(self.row.id, self.row.properties)
    }

    /// Where each of these ends in it.
    pub(super) fn rest_ends(self) -> [usize; 5] {
        let row = self.row;
        [
            row.tag,
            row.fingerprint,
            row.team,
            row.mapping,
            row.properties,
        ]
        .map(|end| (end - row.id) as usize)
    }

    /// Schema id and data source id of every row of the mapping.
    pub fn mapping(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        pairs(self.mapping_text()).map(|(schema, _, source)| (schema, source))
    }

    /// The mapping as it is kept, for a look at many.
    pub(super) fn mapping_text(self) -> &'a str {
        self.part(self.row.team, self.row.mapping)
    }

    /// Key and value of every property; a value that is no text as JSON.
    pub(super) fn properties(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let properties = self.part(self.row.mapping, self.row.properties);
        pairs(properties).map(|(key, _, value)| (key, value))
    }

    /// The value of a key of the properties; one that is no text as JSON.
    pub fn property(self, key: &str) -> Option<Cow<'a, str>> {
        let Some(odd) = self.odd() else {
            let mut properties = self.properties();
            return properties
                .find(|(known, _)| *known == key)
                .map(|(_, value)| Cow::Borrowed(value));
        };
        Some(match odd.properties.as_ref()?.value.get(key)? {
            Value::String(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(other.to_string()),
        })
    }

    /// The keys of the properties; none of a group whose texts cannot be told apart.
    pub fn property_keys(self) -> impl Iterator<Item = &'a str> {
        let rows = self.properties();
        rows.map(|(key, _)| key)
            .filter(move |_| self.odd().is_none())
    }

    /// The group itself where its texts cannot be told apart.
    pub(super) fn odd(self) -> Option<&'a KnownGroup> {
        let rest = self.row.rest;
        (rest & ODD_ROW != 0).then(|| &self.arena.odd[(rest & !ODD_ROW) as usize])
    }

    /// Whether a row of the mapping, schema id and data source id, is one.
    pub(super) fn has_row(self, mut is_one: impl FnMut(&str, &str) -> bool) -> bool {
        let Some(odd) = self.odd() else {
            return self
                .mapping()
                .any(|(schema, source)| is_one(schema, source));
        };
        let mut rows = odd.mapping.iter().flat_map(|known| &known.value);
        rows.any(|(schema, source)| is_one(schema, source))
    }

    /// Whether a property, key and value, is one; a value that is no text as JSON.
    pub(super) fn has_property(self, mut is_one: impl FnMut(&str, &str) -> bool) -> bool {
        let Some(odd) = self.odd() else {
            return self.properties().any(|(key, value)| is_one(key, value));
        };
        let mut rows = odd.properties.iter().flat_map(|known| &known.value);
        rows.any(|(key, value)| match value {
            Value::String(text) => is_one(key, text),
            other => is_one(key, &other.to_string()),
        })
    }
}

/// Key, what stands between, value.
pub(super) fn pairs(text: &str) -> impl Iterator<Item = (&str, char, &str)> {
    text.split_terminator(RECORD).filter_map(|pair| {
        let at = pair.find([UNIT, JSON])?;
        let between = if pair.as_bytes()[at] == UNIT as u8 {
            UNIT
        } else {
            JSON
        };
        Some((&pair[..at], between, &pair[at + 1..]))
    })
}

fn time(micros: i64) -> Option<Timestamp> {
    if micros == NEVER {
        return None;
    }
    Timestamp::from_microsecond(micros).ok()
}
