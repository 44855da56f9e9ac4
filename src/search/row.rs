//! One group as lists show and search it: its texts one after another in one allocation, and everything else as numbers.
//! The group can be restored from it exactly.

use std::{collections::HashSet, sync::Arc};

use jiff::Timestamp;
use serde_json::Value;

use crate::domain::{
    group::{EnvironmentTag, UserGroupId},
    known::{Known, KnownGroup, LastRotated, Source},
    text::{is_hidden, visible, width},
    token::Fingerprint,
};

/// Follows each text, so that no word is found across two of them. Nobody types it.
const BREAK: char = '\u{1e}';
/// Flag in `ends`: the text is JSON, not the value itself.
const JSON: u32 = 1 << 31;
/// The number of fields that have an origin.
const FIELDS: usize = 6;
/// A field that is not known.
const UNKNOWN: u8 = u8::MAX;
/// A time that is not known; no time has this number.
const NEVER: i64 = i64::MIN;

/// Texts by number: tag, token, team; then the rows of the mapping and the properties, two texts each.
const TAG: usize = 0;
const TEAM: usize = 2;
const MAPPING: usize = 3;

/// Where values come from. Most fields of a group share one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    at: i64,
    by: Arc<str>,
    source: Source,
}

/// Times in microseconds, as the directory stores them.
#[derive(Debug)]
pub struct Row {
    /// Name and id, then the other texts.
    texts: Box<str>,
    name: u32,
    id: u32,
    /// Where each of the other texts ends; empty if there are none.
    ends: Box<[u32]>,
    /// The number of rows of the mapping; the properties follow.
    mapped: u32,
    /// For each field the number of its origin, or [`UNKNOWN`].
    origin_of: [u8; FIELDS],
    origins: Box<[Origin]>,
    /// When it was rotated, created and seen.
    times: [i64; 3],
    rotated_by: Option<Arc<str>>,
    fingerprint: Option<Fingerprint>,
}

pub type Entry<'a> = &'a Row;

/// Makes rows. The names of operators are shared by the rows of one maker.
#[derive(Debug, Default)]
pub(super) struct RowMaker {
    texts: String,
    ends: Vec<u32>,
    operators: HashSet<Arc<str>>,
}

impl RowMaker {
    pub(super) fn row(&mut self, group: &KnownGroup) -> Row {
        self.texts.clear();
        self.ends.clear();
        let name = self.add(group.name.as_ref().map_or("", |known| &known.value));
        let id = self.add(group.id.as_str());
        self.add_others(group);
        let (mut origins, mut origin_of) = (Vec::new(), [UNKNOWN; FIELDS]);
        for (field, known) in origin_of.iter_mut().zip(origins_of(group)) {
            let Some((source, at, by)) = known else {
                continue;
            };
            let at = at.as_microsecond();
            let is_same = |one: &Origin| one.source == source && one.at == at && *one.by == *by;
            let number = origins.iter().position(is_same).unwrap_or(origins.len());
            if number == origins.len() {
                let by = self.operator(by);
                origins.push(Origin { at, by, source });
            }
            *field = number as u8;
        }
        let last = group.last_rotated.as_ref();
        let times = [last.map(|last| last.at), group.created_at, group.last_seen];
        Row {
            texts: self.texts.as_str().into(),
            name,
            id,
            ends: self.ends.as_slice().into(),
            mapped: group.mapping.as_ref().map_or(0, |known| known.value.len()) as u32,
            origin_of,
            origins: origins.into(),
            times: times.map(|at| at.map_or(NEVER, Timestamp::as_microsecond)),
            rotated_by: last
                .and_then(|last| last.by.as_deref())
                .map(|by| self.operator(by)),
            fingerprint: group.fingerprint.as_ref().map(|known| known.value),
        }
    }

    /// Returns where the text ends.
    fn add(&mut self, text: &str) -> u32 {
        self.texts.push_str(text);
        let end = self.texts.len() as u32;
        self.texts.push(BREAK);
        end
    }

    fn add_others(&mut self, group: &KnownGroup) {
        let mut add = |text: &str, flag: u32| {
            let end = self.add(text);
            self.ends.push(end | flag);
        };
        let tag = group.environment_tag.as_ref();
        let token = group.fingerprint.as_ref().map(|known| known.value);
        let team = group.team_id.as_ref().map(|known| known.value);
        let mut rows = group
            .mapping
            .iter()
            .flat_map(|known| &known.value)
            .peekable();
        let mut properties = group
            .properties
            .iter()
            .flat_map(|known| &known.value)
            .peekable();
        let is_bare = tag.is_none() && token.is_none() && team.is_none();
        if is_bare && rows.peek().is_none() && properties.peek().is_none() {
            return;
        }
        add(tag.map_or("", |known| known.value.as_str()), 0);
        add(
            &token.map_or_else(String::new, |token| token.to_string()),
            0,
        );
        add(&team.map_or_else(String::new, |team| team.to_string()), 0);
        for (schema, source) in rows {
            add(schema, 0);
            add(source, 0);
        }
        for (key, value) in properties {
            add(key, 0);
            match value {
                Value::String(text) => add(text, 0),
                other => add(&other.to_string(), JSON),
            }
        }
    }

    fn operator(&mut self, by: &str) -> Arc<str> {
        if let Some(known) = self.operators.get(by) {
            return Arc::clone(known);
        }
        let by: Arc<str> = by.into();
        self.operators.insert(Arc::clone(&by));
        by
    }
}

fn origins_of(group: &KnownGroup) -> [Option<(Source, Timestamp, &str)>; FIELDS] {
    fn origin<T>(known: Option<&Known<T>>) -> Option<(Source, Timestamp, &str)> {
        known.map(|known| (known.source, known.at, known.by.as_str()))
    }
    [
        origin(group.name.as_ref()),
        origin(group.team_id.as_ref()),
        origin(group.mapping.as_ref()),
        origin(group.properties.as_ref()),
        origin(group.environment_tag.as_ref()),
        origin(group.fingerprint.as_ref()),
    ]
}

fn time(micros: i64) -> Option<Timestamp> {
    Timestamp::from_microsecond(micros).ok()
}

impl Row {
    pub fn name(&self) -> Option<&str> {
        Some(&self.texts[..self.name as usize]).filter(|name| !name.is_empty())
    }

    pub fn id(&self) -> &str {
        &self.texts[self.name as usize + BREAK.len_utf8()..self.id as usize]
    }

    /// The name if it is known, otherwise the id.
    pub fn title(&self) -> &str {
        self.name().unwrap_or_else(|| self.id())
    }

    /// All texts except name and id, to search in.
    pub(super) fn others(&self) -> &str {
        &self.texts[self.id as usize + BREAK.len_utf8()..]
    }

    /// One of the other texts, and whether it is JSON; empty if there is none of this number.
    fn text(&self, number: usize) -> (&str, bool) {
        let Some(end) = self.ends.get(number) else {
            return ("", false);
        };
        let before = number
            .checked_sub(1)
            .map_or(self.id, |before| self.ends[before] & !JSON);
        let start = before as usize + BREAK.len_utf8();
        (&self.texts[start..(end & !JSON) as usize], end & JSON != 0)
    }

    fn is_known(&self, field: usize) -> bool {
        self.origin_of[field] != UNKNOWN
    }

    pub fn tag(&self) -> Option<&str> {
        Some(self.text(TAG).0).filter(|tag| !tag.is_empty())
    }

    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.fingerprint
    }

    /// The number of rows of the mapping.
    pub fn mapped(&self) -> Option<u32> {
        self.is_known(2).then_some(self.mapped)
    }

    /// The number of properties.
    pub fn keys(&self) -> Option<u32> {
        let texts = self.ends.len().saturating_sub(MAPPING) as u32;
        self.is_known(3).then_some(texts / 2 - self.mapped)
    }

    pub fn rotated(&self) -> Option<Timestamp> {
        time(self.times[0])
    }

    pub fn seen(&self) -> Option<Timestamp> {
        time(self.times[2])
    }

    /// When it was rotated, when it was created (if this directory saw that), and when it was last seen.
    pub fn times(&self) -> (Option<Timestamp>, Option<Timestamp>, Option<Timestamp>) {
        self.times.map(time).into()
    }

    pub fn rotated_by(&self) -> Option<&str> {
        self.rotated_by.as_deref()
    }

    /// Schema ids and data source ids.
    pub(super) fn mapping(&self) -> impl Iterator<Item = (&str, &str)> {
        let rows = 0..self.mapped as usize;
        rows.map(|row| MAPPING + 2 * row)
            .map(|at| (self.text(at).0, self.text(at + 1).0))
    }

    /// Keys and values, and whether the value is JSON.
    fn json_properties(&self) -> impl Iterator<Item = (&str, (&str, bool))> {
        let first = MAPPING + 2 * self.mapped as usize;
        let texts = (first..self.ends.len()).step_by(2);
        texts.map(|at| (self.text(at).0, self.text(at + 1)))
    }

    /// Keys and values; a value that is not text as JSON.
    pub(super) fn properties(&self) -> impl Iterator<Item = (&str, &str)> {
        self.json_properties().map(|(key, (value, _))| (key, value))
    }

    pub fn property_keys(&self) -> impl Iterator<Item = &str> {
        self.properties().map(|(key, _)| key)
    }

    /// The value of a property; as JSON if it is not text.
    pub fn property(&self, key: &str) -> Option<&str> {
        let mut properties = self.properties();
        properties
            .find(|(known, _)| *known == key)
            .map(|(_, value)| value)
    }

    /// Operators who sent a value of the group or rotated its token.
    pub(super) fn operators(&self) -> impl Iterator<Item = &str> {
        let sent = self
            .origins
            .iter()
            .filter(|origin| origin.source == Source::Sent);
        sent.map(|origin| &*origin.by).chain(self.rotated_by())
    }

    /// All that is known of the group, exactly as it was added.
    pub fn to_group(&self) -> KnownGroup {
        let mapping = self
            .mapping()
            .map(|(schema, source)| (schema.to_owned(), source.to_owned()));
        let properties = self.json_properties().map(|(key, (text, is_json))| {
            let value = is_json.then(|| serde_json::from_str(text).ok()).flatten();
            let value = value.unwrap_or_else(|| Value::String(text.to_owned()));
            (key.to_owned(), value)
        });
        KnownGroup {
            name: self.known(0, || Some(self.texts[..self.name as usize].to_owned())),
            team_id: self.known(1, || self.text(TEAM).0.parse().ok()),
            mapping: self.known(2, || Some(mapping.collect())),
            properties: self.known(3, || Some(properties.collect())),
            environment_tag: self.known(4, || Some(EnvironmentTag::parse(self.text(TAG).0))),
            fingerprint: self.known(5, || self.fingerprint),
            last_rotated: self.rotated().map(|at| LastRotated {
                at,
                by: self.rotated_by().map(str::to_owned),
            }),
            created_at: time(self.times[1]),
            last_seen: self.seen(),
            ..KnownGroup::new(UserGroupId::parse(self.id()).expect("it was one before"))
        }
    }

    fn known<T>(&self, field: usize, value: impl FnOnce() -> Option<T>) -> Option<Known<T>> {
        let origin = self.origins.get(usize::from(self.origin_of[field]))?;
        Some(Known {
            value: value()?,
            source: origin.source,
            at: time(origin.at)?,
            by: origin.by.to_string(),
        })
    }

    /// The wider ones of these widths and those of title and id, in cells.
    pub(super) fn widest(&self, (title, id): (usize, usize)) -> (usize, usize) {
        (wider(title, self.title()), wider(id, self.id()))
    }
}

/// The larger of `most` and the width of a text in cells. Without hidden characters, a text has no more cells than bytes.
fn wider(most: usize, text: &str) -> usize {
    let is_shown = if text.is_ascii() {
        // Checks all bytes without branches, so that the compiler can vectorise the loop.
        let bytes = text.bytes();
        !bytes.fold(false, |found, byte| found | byte.is_ascii_control())
    } else {
        !text.contains(is_hidden)
    };
    if is_shown && text.len() <= most {
        most
    } else {
        most.max(width(&visible(text)))
    }
}

#[cfg(test)]
mod tests;
