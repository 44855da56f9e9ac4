//! Many groups in a few buffers: the texts that are searched, one small row each, and in bytes what else is known of
//! them. Any group can be had back whole.

use std::borrow::Cow;

use indexmap::IndexSet;
use jiff::Timestamp;
use serde_json::Value;

use crate::domain::{
    known::KnownGroup,
    text::{visible, width},
};

/// Between a key and its text, between a key and any other value as JSON, and between two rows. Nobody types them;
/// groups that have them in a text all the same are kept as they are.
pub(super) const UNIT: char = '\u{1f}';
pub(super) const JSON: char = '\u{1d}';
pub(super) const RECORD: char = '\u{1e}';

/// In the place of the rest: the group is one of the odd ones.
pub(super) const ODD: u32 = 1 << 31;

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
    pub(super) fn texts(&mut self, group: &KnownGroup) -> TextSpan {
        let start = self.text.len() as u32;
        if let Some(name) = &group.name {
            self.add(&name.value);
        }
        let name = self.end();
        self.add(group.id.as_str());
        let id = self.end();
        if let Some(tag) = &group.environment_tag {
            self.add(tag.value.as_str());
        }
        let tag = self.end();
        if let Some(fingerprint) = &group.fingerprint {
            self.add(&fingerprint.value.to_string());
        }
        let fingerprint = self.end();
        if let Some(team) = &group.team_id {
            self.add(&team.value.to_string());
        }
        let team = self.end();
        for (schema, source) in group.mapping.iter().flat_map(|known| &known.value) {
            self.pair(schema, UNIT, source);
        }
        let mapping = self.end();
        for (key, value) in group.properties.iter().flat_map(|known| &known.value) {
            match value {
                Value::String(text) => self.pair(key, UNIT, text),
                other => self.pair(key, JSON, &other.to_string()),
            }
        }
        let properties = self.end();
        let count = |count: Option<usize>| count.map_or(UNKNOWN, |count| count as u32);
        let time = |at: Option<Timestamp>| at.map_or(NEVER, Timestamp::as_microsecond);
        let title = cells(group.title());
        let id_cells = cells(group.id.as_str());
        self.widest = (self.widest.0.max(title), self.widest.1.max(id_cells));
        TextSpan {
            start,
            name,
            id,
            tag,
            fingerprint,
            team,
            mapping,
            properties,
            mapped: count(group.mapping.as_ref().map(|known| known.value.len())),
            keys: count(group.properties.as_ref().map(|known| known.value.len())),
            rest: 0,
            rotated: time(group.last_rotated.as_ref().map(|last| last.at)),
            created: time(group.created_at),
            seen: time(group.last_seen),
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

    fn pair(&mut self, key: &str, between: char, value: &str) {
        if self.has_room(key.len() + value.len() + 2) {
            self.text.push_str(key);
            self.text.push(between);
            self.text.push_str(value);
            self.text.push(RECORD);
        }
    }

    fn end(&self) -> u32 {
        self.text.len() as u32
    }

    pub(super) fn entry(&self, row: usize) -> Option<Entry<'_>> {
        let row = self.rows.get(row)?;
        Some(Entry { arena: self, row })
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
        (rest & ODD != 0).then(|| &self.arena.odd[(rest & !ODD) as usize])
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
