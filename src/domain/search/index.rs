//! What the list shows and searches of every group: one arena of text and a small row each. A copy costs next to
//! nothing, so that a search can work on it while groups change.

use std::{collections::BTreeMap, fmt, sync::Arc};

use jiff::Timestamp;
use serde_json::Value;

use crate::domain::{
    known::KnownGroup,
    text::{visible, width},
};

/// Between a key and its value, and between two rows. Nobody types them.
pub(super) const UNIT: char = '\u{1f}';
pub(super) const RECORD: char = '\u{1e}';

/// A count that is not known.
const UNKNOWN: u32 = u32::MAX;
/// A time that is not known.
const NEVER: i64 = i64::MIN;

/// Where the texts of a group end in the arena; each begins where the one before ends.
#[derive(Debug, Clone, Copy)]
struct Row {
    start: u32,
    name: u32,
    id: u32,
    tag: u32,
    fingerprint: u32,
    team: u32,
    mapping: u32,
    properties: u32,
    mapped: u32,
    keys: u32,
    /// Microseconds.
    rotated: i64,
    seen: i64,
}

#[derive(Debug, Clone, Default)]
struct Arena {
    text: String,
    rows: Vec<Row>,
    /// Cells of the widest title and of the widest id.
    widest: (usize, usize),
}

impl Arena {
    fn push(&mut self, group: &KnownGroup) {
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
            self.pair(schema, source);
        }
        let mapping = self.end();
        for (key, value) in group.properties.iter().flat_map(|known| &known.value) {
            match value {
                Value::String(text) => self.pair(key, text),
                other => self.pair(key, &other.to_string()),
            }
        }
        let properties = self.end();
        let count = |count: Option<usize>| count.map_or(UNKNOWN, |count| count as u32);
        let time = |at: Option<Timestamp>| at.map_or(NEVER, Timestamp::as_microsecond);
        self.rows.push(Row {
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
            rotated: time(group.last_rotated.as_ref().map(|last| last.at)),
            seen: time(group.last_seen),
        });
        let title = cells(group.title());
        let id = cells(group.id.as_str());
        self.widest = (self.widest.0.max(title), self.widest.1.max(id));
    }

    /// A text that would not fit into the numbers of a row is not searched.
    fn add(&mut self, text: &str) {
        if self.text.len() + text.len() < u32::MAX as usize {
            self.text.push_str(text);
        }
    }

    fn pair(&mut self, key: &str, value: &str) {
        if self.text.len() + key.len() + value.len() + 2 < u32::MAX as usize {
            self.text.push_str(key);
            self.text.push(UNIT);
            self.text.push_str(value);
            self.text.push(RECORD);
        }
    }

    fn end(&self) -> u32 {
        self.text.len() as u32
    }
}

fn cells(text: &str) -> usize {
    if text.is_ascii() && !text.contains(char::is_control) {
        text.len()
    } else {
        width(&visible(text))
    }
}

/// All groups of a profile. The number of a group stays the same until the index is built anew.
#[derive(Clone, Default)]
pub struct Index {
    /// Ordered by id.
    base: Arc<Arena>,
    /// What changed since.
    fresh: Arena,
    /// From a number to its newer row in `fresh`.
    moved: BTreeMap<u32, u32>,
    /// The rows of groups that are new; their numbers follow those of `base`.
    added: Vec<u32>,
}

/// The same state of the same index.
impl PartialEq for Index {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.base, &other.base) && self.fresh.rows.len() == other.fresh.rows.len()
    }
}

impl Eq for Index {}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Index({} groups)", self.len())
    }
}

impl Index {
    /// `groups` must be ordered by id, each there once.
    pub fn of<'a>(groups: impl IntoIterator<Item = &'a KnownGroup>) -> Self {
        let mut base = Arena::default();
        for group in groups {
            base.push(group);
        }
        base.text.shrink_to_fit();
        base.rows.shrink_to_fit();
        Self {
            base: Arc::new(base),
            ..Self::default()
        }
    }

    /// Takes in what is known of one group now.
    pub fn put(&mut self, group: &KnownGroup) {
        let row = self.fresh.rows.len() as u32;
        let number = self.number(group.id.as_str());
        self.fresh.push(group);
        let first = self.base.rows.len();
        match number {
            None => self.added.push(row),
            Some(number) if (number as usize) < first => {
                self.moved.insert(number, row);
            }
            Some(number) => self.added[number as usize - first] = row,
        }
    }

    pub fn len(&self) -> usize {
        self.base.rows.len() + self.added.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of a group.
    pub fn number(&self, id: &str) -> Option<u32> {
        let base = &self.base;
        let found = base.rows.binary_search_by(|row| {
            let entry = Entry { arena: base, row };
            entry.id().cmp(id)
        });
        if let Ok(at) = found {
            return Some(at as u32);
        }
        let first = base.rows.len() as u32;
        (first..self.len() as u32).find(|number| self.entry(*number).is_some_and(|e| e.id() == id))
    }

    /// A group by its number.
    pub fn entry(&self, number: u32) -> Option<Entry<'_>> {
        let number = number as usize;
        if let Some(row) = self.base.rows.get(number) {
            if !self.moved.is_empty()
                && let Some(moved) = self.moved.get(&(number as u32))
            {
                return self.newer(*moved);
            }
            let arena = self.base.as_ref();
            return Some(Entry { arena, row });
        }
        self.newer(*self.added.get(number - self.base.rows.len())?)
    }

    fn newer(&self, row: u32) -> Option<Entry<'_>> {
        let row = self.fresh.rows.get(row as usize)?;
        let arena = &self.fresh;
        Some(Entry { arena, row })
    }

    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.len() as u32).filter_map(|number| self.entry(number))
    }

    /// Whether the numbers are in the order of the ids.
    pub(super) fn is_by_id(&self) -> bool {
        self.added.is_empty()
    }

    /// Cells that the widest title and the widest id take; columns so wide never jump.
    pub fn widest(&self) -> (usize, usize) {
        let (old, new) = (self.base.widest, self.fresh.widest);
        (old.0.max(new.0), old.1.max(new.1))
    }
}

/// What is kept of one group.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    arena: &'a Arena,
    row: &'a Row,
}

impl<'a> Entry<'a> {
    fn part(self, from: u32, to: u32) -> &'a str {
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

    /// Schema id and data source id of every row of the mapping.
    pub(super) fn mapping(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        pairs(self.part(self.row.team, self.row.mapping))
    }

    /// Key and value of every property; a value that is no text as JSON.
    pub(super) fn properties(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        pairs(self.part(self.row.mapping, self.row.properties))
    }
}

fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_terminator(RECORD)
        .filter_map(|pair| pair.split_once(UNIT))
}

fn time(micros: i64) -> Option<Timestamp> {
    if micros == NEVER {
        return None;
    }
    Timestamp::from_microsecond(micros).ok()
}
