//! One group as lists show and search it: its texts one after another in one allocation, and everything else as numbers.
//! The group can be restored from it exactly.

use std::{collections::HashSet, sync::Arc};

use indexmap::IndexMap;
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
/// A time that is not known; no time has this number.
const NEVER: i64 = i64::MIN;

/// Texts by number: tag, token, team; then the rows of the mapping and the properties, two texts each.
const TAG: usize = 0;
const TEAM: usize = 2;
const MAPPING: usize = 3;

/// Where the values of these fields come from. Most fields of a group share one origin.
#[derive(Debug)]
struct Origin {
    /// A bit for each field.
    fields: u8,
    at: i64,
    by: Arc<str>,
    source: Source,
}

/// Fields by the numbers of their bits.
const NAME: u8 = 0;
const TEAM_ID: u8 = 1;
const ROWS: u8 = 2;
const PROPERTIES: u8 = 3;
const ENVIRONMENT: u8 = 4;
const FINGERPRINT: u8 = 5;

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
        let name = self.add(value_of(group.name.as_ref()).map_or("", String::as_str));
        let id = self.add(group.id.as_str());
        self.add_others(group);
        let last = group.last_rotated.as_ref();
        let times = [last.map(|last| last.at), group.created_at, group.last_seen];
        let by = last.and_then(|last| last.by.as_deref());
        Row {
            texts: self.texts.as_str().into(),
            name,
            id,
            ends: self.ends.as_slice().into(),
            mapped: value_of(group.mapping.as_ref()).map_or(0, IndexMap::len) as u32,
            origins: self.origins(group),
            times: times.map(|at| at.map_or(NEVER, Timestamp::as_microsecond)),
            rotated_by: by.map(|by| self.operator(by)),
            fingerprint: value_of(group.fingerprint.as_ref()).copied(),
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
        let tag = value_of(group.environment_tag.as_ref());
        let token = value_of(group.fingerprint.as_ref());
        let team = value_of(group.team_id.as_ref());
        let rows = value_of(group.mapping.as_ref()).into_iter().flatten();
        let properties = value_of(group.properties.as_ref()).into_iter().flatten();
        let before = self.texts.len();
        let mut add = |text: &str, flag: u32| {
            let end = self.add(text);
            self.ends.push(end | flag);
        };
        add(tag.map_or("", EnvironmentTag::as_str), 0);
        add(&token.map_or_else(String::new, ToString::to_string), 0);
        add(&team.map_or_else(String::new, ToString::to_string), 0);
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
        // Most groups of a sorted `list` have none.
        if self.texts.len() == before + MAPPING * BREAK.len_utf8() {
            self.texts.truncate(before);
            self.ends.clear();
        }
    }

    fn origins(&mut self, group: &KnownGroup) -> Box<[Origin]> {
        let mut origins: Vec<Origin> = Vec::new();
        let mut add = |field: u8, (source, at, by): (Source, Timestamp, &str)| {
            let at = at.as_microsecond();
            let is_same =
                |one: &&mut Origin| one.source == source && one.at == at && *one.by == *by;
            let fields = 1 << field;
            match origins.iter_mut().find(is_same) {
                Some(origin) => origin.fields |= fields,
                None => origins.push(Origin {
                    fields,
                    at,
                    by: self.operator(by),
                    source,
                }),
            }
        };
        for (field, origin) in [
            (NAME, origin_of(group.name.as_ref())),
            (TEAM_ID, origin_of(group.team_id.as_ref())),
            (ROWS, origin_of(group.mapping.as_ref())),
            (PROPERTIES, origin_of(group.properties.as_ref())),
            (ENVIRONMENT, origin_of(group.environment_tag.as_ref())),
            (FINGERPRINT, origin_of(group.fingerprint.as_ref())),
        ] {
            if let Some(origin) = origin {
                add(field, origin);
            }
        }
        origins.into()
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

fn value_of<T>(known: Option<&Known<T>>) -> Option<&T> {
    known.map(|known| &known.value)
}

fn origin_of<T>(known: Option<&Known<T>>) -> Option<(Source, Timestamp, &str)> {
    known.map(|known| (known.source, known.at, known.by.as_str()))
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

    /// Where the value of a field comes from, if it is known.
    fn origin(&self, field: u8) -> Option<&Origin> {
        let mut origins = self.origins.iter();
        origins.find(|origin| origin.fields & 1 << field != 0)
    }

    pub fn tag(&self) -> Option<&str> {
        Some(self.text(TAG).0).filter(|tag| !tag.is_empty())
    }

    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.fingerprint
    }

    /// The number of rows of the mapping.
    pub fn mapped(&self) -> Option<u32> {
        self.origin(ROWS).map(|_| self.mapped)
    }

    /// The number of properties.
    pub fn keys(&self) -> Option<u32> {
        let texts = self.ends.len().saturating_sub(MAPPING) as u32;
        self.origin(PROPERTIES).map(|_| texts / 2 - self.mapped)
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
        properties.find_map(|(known, value)| (known == key).then_some(value))
    }

    /// Operators who rotated its token or sent a value that no answer has contained since, such as the mapping.
    pub(super) fn operators(&self) -> impl Iterator<Item = &str> {
        let origins = self.origins.iter();
        let sent = origins.filter(|origin| origin.source == Source::Sent);
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
            name: self.known(NAME, || Some(self.texts[..self.name as usize].to_owned())),
            team_id: self.known(TEAM_ID, || self.text(TEAM).0.parse().ok()),
            mapping: self.known(ROWS, || Some(mapping.collect())),
            properties: self.known(PROPERTIES, || Some(properties.collect())),
            environment_tag: self.known(ENVIRONMENT, || {
                Some(EnvironmentTag::parse(self.text(TAG).0))
            }),
            fingerprint: self.known(FINGERPRINT, || self.fingerprint),
            last_rotated: self.rotated().map(|at| LastRotated {
                at,
                by: self.rotated_by().map(str::to_owned),
            }),
            created_at: time(self.times[1]),
            last_seen: self.seen(),
            ..KnownGroup::new(UserGroupId::parse(self.id()).expect("it was one before"))
        }
    }

    fn known<T>(&self, field: u8, value: impl FnOnce() -> Option<T>) -> Option<Known<T>> {
        let origin = self.origin(field)?;
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
