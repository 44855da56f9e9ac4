//! A group as one row of bytes in the layout of the arena. The directory stores it next to the group, so that a list is
//! loaded by copying. Invalid bytes are rejected as a whole; the group's own row is the truth.

use jiff::Timestamp;
use serde_json::Value;

use super::varint::{ByteReader, put_text, put_varint};
use crate::domain::{
    group::EnvironmentTag,
    known::{Known, KnownGroup, Source},
};

/// Separators: between a key and a text, between a key and another value as JSON, and between two rows. Nobody types
/// them; groups whose texts contain them anyway are stored unpacked.
pub(super) const UNIT: char = '\u{1f}';
pub(super) const JSON: char = '\u{1d}';
pub(super) const RECORD: char = '\u{1e}';

/// Fields that have an origin, in bit order.
pub(super) const FIELDS: usize = 6;
/// The bit, among those of known values, for who rotated last.
pub(super) const BY: u8 = 1 << FIELDS;

/// The first byte. Another layout gets another number.
const VERSION: u8 = 1;
/// The second byte of a group that could not be restored exactly from its texts; no other group has it.
const UNPACKED: u8 = 1 << 7;

pub(super) type Origin<'a> = (Source, Timestamp, &'a str);

/// In microseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) rotated: Option<i64>,
    pub(super) created: Option<i64>,
    pub(super) seen: Option<i64>,
}

/// The parts of a packed group.
#[derive(Default)]
pub(super) struct Packed<'a> {
    /// For each field, one bit per byte: the value is known, was returned, was imported, has another origin than the
    /// previous field.
    pub(super) bits: [u8; 4],
    pub(super) times: Times,
    /// The origins that differ from the previous one, in field order.
    pub(super) origins: [Option<(i64, &'a str)>; FIELDS],
    pub(super) rotated_by: Option<&'a str>,
    pub(super) fingerprint: Option<&'a [u8; 32]>,
    pub(super) team_id: Option<i64>,
    pub(super) name: Option<&'a str>,
    pub(super) tag: Option<&'a str>,
    /// The number of rows, and their text.
    pub(super) mapping: Option<(u32, &'a str)>,
    pub(super) properties: Option<(u32, &'a str)>,
}

fn origin<T>(known: Option<&Known<T>>) -> Option<Origin<'_>> {
    known.map(|known| (known.source, known.at, known.by.as_str()))
}

pub(super) fn origins(group: &KnownGroup) -> [Option<Origin<'_>>; FIELDS] {
    [
        origin(group.name.as_ref()),
        origin(group.team_id.as_ref()),
        origin(group.mapping.as_ref()),
        origin(group.properties.as_ref()),
        origin(group.environment_tag.as_ref()),
        origin(group.fingerprint.as_ref()),
    ]
}

pub(super) fn rotated_by(group: &KnownGroup) -> Option<&str> {
    group.last_rotated.as_ref()?.by.as_deref()
}

/// The list sorts groups by this: the name, or else the id, in lower case.
pub fn title_key(group: &KnownGroup) -> String {
    let name = group.name.as_ref().map(|known| known.value.as_str());
    let name = name.filter(|name| !name.is_empty());
    name.unwrap_or(group.id.as_str()).to_lowercase()
}

/// Whether the bytes mark a group that must be read from its own row.
pub fn is_unpacked(packed: &[u8]) -> bool {
    packed == [VERSION, UNPACKED]
}

/// Packs all that is known of a group, except its id.
pub fn pack(group: &KnownGroup) -> Vec<u8> {
    if !fits(group) {
        return vec![VERSION, UNPACKED];
    }
    let mut packed = Vec::with_capacity(256);
    let mut bits = [0_u8; 4];
    let start = packed.len() + 1;
    packed.push(VERSION);
    packed.extend(bits);
    let micros = Timestamp::as_microsecond;
    let times = [
        group.last_rotated.as_ref().map(|last| last.at),
        group.created_at,
        group.last_seen,
    ];
    let is_there = |bit: usize| u8::from(times[bit].is_some()) << bit;
    packed.push((0..times.len()).map(is_there).sum());
    for at in times.into_iter().flatten() {
        packed.extend(micros(at).to_le_bytes());
    }
    let mut before = None;
    for (field, origin) in origins(group).into_iter().enumerate() {
        let Some((source, at, by)) = origin else {
            continue;
        };
        bits[0] |= 1 << field;
        match source {
            Source::Sent => {}
            Source::Returned => bits[1] |= 1 << field,
            Source::Imported => bits[2] |= 1 << field,
        }
        if before != Some((at, by)) {
            bits[3] |= 1 << field;
            packed.extend(micros(at).to_le_bytes());
            put_text(&mut packed, by);
        }
        before = Some((at, by));
    }
    if let Some(by) = rotated_by(group) {
        bits[0] |= BY;
        put_text(&mut packed, by);
    }
    if let Some(fingerprint) = &group.fingerprint {
        packed.extend(fingerprint.value.as_bytes());
    }
    if let Some(team) = &group.team_id {
        packed.extend(team.value.to_le_bytes());
    }
    if let Some(name) = &group.name {
        put_text(&mut packed, &name.value);
    }
    if let Some(tag) = &group.environment_tag {
        put_text(&mut packed, tag.value.as_str());
    }
    if let Some(mapping) = &group.mapping {
        put_varint(&mut packed, mapping.value.len() as u64);
        put_text(&mut packed, &mapping_text(group));
    }
    if let Some(properties) = &group.properties {
        put_varint(&mut packed, properties.value.len() as u64);
        put_text(&mut packed, &properties_text(group));
    }
    packed[start..start + bits.len()].copy_from_slice(&bits);
    packed
}

/// The rows of a mapping in searchable form.
pub(super) fn mapping_text(group: &KnownGroup) -> String {
    let mut text = String::new();
    for (schema, source) in group.mapping.iter().flat_map(|known| &known.value) {
        add_pair(&mut text, schema, UNIT, source);
    }
    text
}

/// The properties in searchable form.
pub(super) fn properties_text(group: &KnownGroup) -> String {
    let mut text = String::new();
    for (key, value) in group.properties.iter().flat_map(|known| &known.value) {
        match value {
            Value::String(value) => add_pair(&mut text, key, UNIT, value),
            other => add_pair(&mut text, key, JSON, &other.to_string()),
        }
    }
    text
}

fn add_pair(text: &mut String, key: &str, between: char, value: &str) {
    text.push_str(key);
    text.push(between);
    text.push_str(value);
    text.push(RECORD);
}

/// Whether the group can be restored exactly from its packed form. Nearly all groups can.
pub(super) fn fits(group: &KnownGroup) -> bool {
    let between = [UNIT, JSON, RECORD].map(|c| c as u8);
    let is_plain = |text: &str| !text.bytes().any(|byte| between.contains(&byte));
    let is_kept = |at: Timestamp| {
        Timestamp::from_microsecond(at.as_microsecond()).is_ok_and(|kept| kept == at)
    };
    let origins = origins(group).into_iter().flatten();
    let mut times = origins.map(|(_, at, _)| at).chain(
        [
            group.last_rotated.as_ref().map(|last| last.at),
            group.created_at,
            group.last_seen,
        ]
        .into_iter()
        .flatten(),
    );
    let mut rows = group.mapping.iter().flat_map(|known| &known.value);
    let mut properties = group.properties.iter().flat_map(|known| &known.value);
    let tag = group.environment_tag.as_ref().map(|known| &known.value);
    times.all(is_kept)
        && tag.is_none_or(|tag| EnvironmentTag::parse(tag.as_str()) == *tag)
        && rows.all(|(schema, source)| is_plain(schema) && is_plain(source))
        && properties.all(|(key, value)| {
            is_plain(key)
                && match value {
                    Value::String(text) => is_plain(text),
                    Value::Null | Value::Bool(_) => true,
                    other => serde_json::from_str::<Value>(&other.to_string())
                        .is_ok_and(|read| read == *other),
                }
        })
}

/// A time that is known to be present.
fn time(bytes: &mut ByteReader<'_>) -> Option<i64> {
    let micros = long(bytes)?;
    Timestamp::from_microsecond(micros)
        .is_ok()
        .then_some(micros)
}

fn long(bytes: &mut ByteReader<'_>) -> Option<i64> {
    bytes.array().copied().map(i64::from_le_bytes)
}

fn count(bytes: &mut ByteReader<'_>) -> Option<u32> {
    bytes.varint()?.try_into().ok()
}

impl<'a> Packed<'a> {
    /// Returns `None` if the bytes are not a packed group: another layout, the mark of an unpacked group, or damaged.
    pub(super) fn read(packed: &'a [u8]) -> Option<Self> {
        let mut bytes = ByteReader(packed);
        let [version, known, returned, imported, differs, times] = *bytes.array()?;
        if version != VERSION || known & UNPACKED != 0 || times >= 1 << 3 {
            return None;
        }
        let mut read = Self {
            bits: [known, returned, imported, differs],
            ..Self::default()
        };
        let mut known_time = |bit: u8| match times & bit {
            0 => Some(None),
            _ => time(&mut bytes).map(Some),
        };
        read.times = Times {
            rotated: known_time(1)?,
            created: known_time(2)?,
            seen: known_time(4)?,
        };
        let mut is_first = true;
        for (field, origin) in read.origins.iter_mut().enumerate() {
            let bit = 1 << field;
            if differs & bit != 0 {
                *origin = Some((time(&mut bytes)?, bytes.text()?));
            } else if known & bit != 0 && is_first {
                return None;
            }
            is_first &= known & bit == 0;
        }
        if differs & !known != 0 {
            return None;
        }
        let has = |field: usize| known & (1 << field) != 0;
        if known & BY != 0 {
            read.rotated_by = Some(bytes.text()?);
        }
        if has(5) {
            read.fingerprint = Some(bytes.array()?);
        }
        if has(1) {
            read.team_id = Some(long(&mut bytes)?);
        }
        if has(0) {
            read.name = Some(bytes.text()?);
        }
        if has(4) {
            read.tag = Some(bytes.text()?);
        }
        if has(2) {
            read.mapping = Some((count(&mut bytes)?, bytes.text()?));
        }
        if has(3) {
            read.properties = Some((count(&mut bytes)?, bytes.text()?));
        }
        bytes.0.is_empty().then_some(read)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::{group::UserGroupId, known::LastRotated, token::Fingerprint};

    fn known<T>(value: T) -> Known<T> {
        Known {
            value,
            source: Source::Returned,
            at: Timestamp::UNIX_EPOCH,
            by: "ana".into(),
        }
    }

    fn group() -> KnownGroup {
        let mut group = KnownGroup::new(UserGroupId::parse("acme").expect("a valid id"));
        group.name = Some(known("Acme".to_owned()));
        group.fingerprint = Some(known(Fingerprint::from_bytes([7; 32])));
        let row = ("40".to_owned(), "213".to_owned());
        group.mapping = Some(known(std::iter::once(row).collect()));
        group.last_rotated = Some(LastRotated {
            at: Timestamp::UNIX_EPOCH,
            by: Some("li".into()),
        });
        group
    }

    #[test]
    fn a_part_of_the_bytes_is_nothing() {
        let whole = pack(&group());
        assert!(Packed::read(&whole).is_some());
        for length in 0..whole.len() {
            assert!(Packed::read(&whole[..length]).is_none(), "{length}");
        }
        let mut longer = whole.clone();
        longer.push(0);
        assert!(Packed::read(&longer).is_none());
        assert!(Packed::read(&[VERSION, UNPACKED]).is_none());
        let mut odd = group();
        odd.last_seen = Some(Timestamp::constant(0, 1));
        assert!(is_unpacked(&pack(&odd)) && !is_unpacked(&whole));
    }

    proptest! {
        #[test]
        fn damaged_bytes_are_refused_or_read_and_never_a_panic(at in 0..120_usize, byte: u8) {
            let mut damaged = pack(&group());
            let at = at % damaged.len();
            damaged[at] = byte;
            let mut arena = super::super::arena::Arena::default();
            if arena.unpack("acme", &damaged) {
                let entry = arena.entry(0).expect("it was taken in");
                let _ = entry.to_group();
            }
        }
    }
}
