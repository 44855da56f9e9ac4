//! The packed values of a group besides name and id, written and read in one order: fingerprint, tag, team, the rows of the
//! mapping and of the properties, times, and the origin of each field.

use jiff::Timestamp;

use super::{
    arena::{Arena, Entry, Shape},
    interner::{Interner, TextTable},
    packed::{BY, FIELDS, JSON, Origin, Packed, RECORD, UNIT},
    varint::{ByteReader, put_signed_varint, put_text, put_varint},
};
use crate::domain::known::{KnownGroup, Source};

/// Number of entries at the beginning of a table that are searched one by one before it is hashed: most are among them.
const MAX_LINEAR: usize = 8;

impl Arena {
    /// Appends the values of a group. Returns `None`, perhaps after appending some of them, if the rows are malformed.
    pub(super) fn add_values(&mut self, group: &Packed<'_>) -> Option<()> {
        let [known, returned, imported, differs] = group.bits;
        let times = [group.times.rotated, group.times.created, group.times.seen];
        let is_there = |(bit, at): (usize, &Option<i64>)| u8::from(at.is_some()) << bit;
        let there = times.iter().enumerate().map(is_there).sum();
        let shape = [known, returned, imported, differs, there];
        let mut first = self.shapes.iter().take(MAX_LINEAR);
        let number = first.position(|known| *known == shape);
        let number = number.unwrap_or_else(|| self.shapes.insert_full(shape).0);
        put_varint(&mut self.values, number as u64);
        if let Some(fingerprint) = group.fingerprint {
            self.values.extend_from_slice(fingerprint);
        }
        // Twice the length of everything up to the times, plus one if a key or value of a row is inline.
        let start = self.values.len();
        self.values.push(0);
        if let Some(tag) = group.tag {
            self.add_word(tag);
        }
        if let Some(team) = group.team_id {
            put_signed_varint(&mut self.values, team);
        }
        let mut has_inline = false;
        for rows in [group.mapping, group.properties].into_iter().flatten() {
            has_inline |= self.add_rows(rows)?;
        }
        let length = (self.values.len() - start - 1) << 1 | usize::from(has_inline);
        if length < 1 << 7 {
            self.values[start] = length as u8;
        } else {
            let mut number = Vec::new();
            put_varint(&mut number, length as u64);
            self.values.splice(start..=start, number);
        }
        if self.rows.is_empty() {
            self.epoch = times.into_iter().flatten().next().unwrap_or_default();
        }
        let mut before = self.epoch;
        for at in times.into_iter().flatten() {
            self.add_time(at, &mut before);
        }
        for (at, by) in group.origins.into_iter().flatten() {
            self.add_time(at, &mut before);
            self.add_word(by);
        }
        if let Some(by) = group.rotated_by {
            self.add_word(by);
        }
        Some(())
    }

    fn add_word(&mut self, word: &str) {
        let number = self
            .words
            .iter()
            .take(MAX_LINEAR)
            .position(|known| known == word)
            .or_else(|| self.words.get_index_of(word))
            .unwrap_or_else(|| self.words.insert_full(word.to_owned()).0);
        put_varint(&mut self.values, number as u64);
    }

    /// Appends the difference to the previous time: many times are equal.
    fn add_time(&mut self, at: i64, before: &mut i64) {
        put_signed_varint(&mut self.values, at.wrapping_sub(*before));
        *before = at;
    }

    /// Appends the rows: for each the number of its key plus one, or zero and the key; then the value with the separator
    /// before it. Returns whether any key or value is inline.
    fn add_rows(&mut self, (count, text): (u32, &str)) -> Option<bool> {
        put_varint(&mut self.values, u64::from(count));
        let (mut left, mut start, mut key) = (count, 0, None);
        let mut has_inline = false;
        for (at, byte) in text.bytes().enumerate() {
            if byte == RECORD as u8 {
                left = left.checked_sub(1)?;
                let middle = key.take()?;
                has_inline |= !self.add_key_value(&text[start..middle], &text[middle..at]);
                start = at + 1;
            } else if key.is_none() && (byte == UNIT as u8 || byte == JSON as u8) {
                key = Some(at);
            }
        }
        (left == 0 && start == text.len()).then_some(has_inline)
    }

    /// Returns whether both are interned.
    fn add_key_value(&mut self, key: &str, value: &str) -> bool {
        let key_number = self.interner.key(key);
        if let Some(number) = key_number {
            put_varint(&mut self.values, u64::from(number) + 1);
        } else {
            put_varint(&mut self.values, 0);
            put_text(&mut self.values, key);
        }
        // Twice the number of the value; or twice its length plus one, and the value itself.
        if let Some(number) = key_number.and_then(|key| self.interner.value(key, value)) {
            put_varint(&mut self.values, u64::from(number) << 1);
            true
        } else {
            put_varint(&mut self.values, (value.len() as u64) << 1 | 1);
            self.values.extend_from_slice(value.as_bytes());
            false
        }
    }
}

/// The panic message: only bytes that were written here are read.
const VALID: &str = "it was written";

/// Reads the values of one group. The methods must be called in the order in which the values are stored.
#[derive(Clone, Copy)]
pub(super) struct ValueReader<'a> {
    bytes: ByteReader<'a>,
    times: ByteReader<'a>,
    pub(super) arena: &'a Arena,
    pub(super) fingerprint: Option<&'a [u8; 32]>,
    /// Whether any key or value of a row is inline.
    pub(super) has_inline: bool,
    shape: Shape,
    before: i64,
}

impl<'a> ValueReader<'a> {
    /// `Err` is the group itself, if it is stored unpacked.
    pub(super) fn of(entry: Entry<'a>) -> Result<Self, &'a KnownGroup> {
        let arena = entry.arena;
        let start = entry.values_start()?;
        let mut bytes = ByteReader(&arena.values[start..]);
        let shape = bytes.varint().expect(VALID) as usize;
        let shape = *arena.shapes.get_index(shape).expect(VALID);
        let has_fingerprint = shape[0] & 1 << 5 != 0;
        let fingerprint = has_fingerprint.then(|| bytes.array().expect(VALID));
        let length = bytes.varint().expect(VALID);
        Ok(Self {
            bytes,
            times: ByteReader(&bytes.0[(length >> 1) as usize..]),
            arena,
            fingerprint,
            has_inline: length & 1 != 0,
            shape,
            before: arena.epoch,
        })
    }

    fn number(&mut self) -> u32 {
        self.bytes.varint().expect(VALID) as u32
    }

    fn word(&mut self) -> &'a str {
        let number = self.number() as usize;
        self.arena.words.get_index(number).expect(VALID)
    }

    /// Whether a field, by its number among those with an origin, is known.
    fn has(&self, field: usize) -> bool {
        self.shape[0] & 1 << field != 0
    }

    /// The number of the tag among the words.
    pub(super) fn tag(&mut self) -> Option<u32> {
        self.has(4).then(|| self.number())
    }

    pub(super) fn team(&mut self) -> Option<i64> {
        self.has(1)
            .then(|| self.bytes.signed_varint().expect(VALID))
    }

    pub(super) fn mapping(self) -> Rows<'a> {
        self.rows(2)
    }

    pub(super) fn properties(self) -> Rows<'a> {
        self.rows(3)
    }

    fn rows(mut self, field: usize) -> Rows<'a> {
        let count = self.has(field).then(|| self.number());
        Rows {
            count,
            left: count.unwrap_or_default(),
            reader: self,
        }
    }

    /// Skips tag and team.
    pub(super) fn at_mapping(mut self) -> Self {
        self.tag();
        self.team();
        self
    }

    pub(super) fn at_properties(self) -> Self {
        self.at_mapping().mapping().skip_to_end()
    }

    pub(super) fn at_times(self) -> Self {
        Self {
            bytes: self.times,
            ..self
        }
    }

    fn time(&mut self) -> i64 {
        self.before = self
            .before
            .wrapping_add(self.bytes.signed_varint().expect(VALID));
        self.before
    }

    /// When it was rotated, made and seen.
    pub(super) fn times(&mut self) -> [Option<Timestamp>; 3] {
        std::array::from_fn(|bit| {
            let is_there = self.shape[4] & 1 << bit != 0;
            is_there.then(|| Timestamp::from_microsecond(self.time()).expect(VALID))
        })
    }

    /// Where the fields came from, and who rotated last.
    pub(super) fn origins(&mut self) -> ([Option<Origin<'a>>; FIELDS], Option<&'a str>) {
        let [known, returned, imported, differs, _] = self.shape;
        let mut before = (Timestamp::UNIX_EPOCH, "");
        let origins = std::array::from_fn(|field| {
            let bit = 1 << field;
            if known & bit == 0 {
                return None;
            }
            if differs & bit != 0 {
                let at = Timestamp::from_microsecond(self.time()).expect(VALID);
                before = (at, self.word());
            }
            let source = if returned & bit != 0 {
                Source::Returned
            } else if imported & bit != 0 {
                Source::Imported
            } else {
                Source::Sent
            };
            Some((source, before.0, before.1))
        });
        let by = (known & BY != 0).then(|| self.word());
        (origins, by)
    }
}

/// Rows of a mapping or of properties.
pub(super) struct Rows<'a> {
    /// The total number of rows, if the field is known.
    pub(super) count: Option<u32>,
    left: u32,
    reader: ValueReader<'a>,
}

impl<'a> Rows<'a> {
    /// Skips the remaining rows, and returns the reader of the values after them.
    pub(super) fn skip_to_end(mut self) -> ValueReader<'a> {
        while self.next().is_some() {}
        self.reader
    }

    /// The rows as key, separator and value.
    pub(super) fn parts(self) -> impl Iterator<Item = (&'a str, char, &'a str)> {
        let Interner { keys, values, .. } = &self.reader.arena.interner;
        self.map(move |(key, value)| {
            let value = value.of(values);
            let between = if value.as_bytes()[0] == UNIT as u8 {
                UNIT
            } else {
                JSON
            };
            (key.of(keys), between, &value[1..])
        })
    }
}

impl<'a> Iterator for Rows<'a> {
    /// Key, and value with the separator before it.
    type Item = (TextRef<'a>, TextRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let key = match self.reader.bytes.varint().expect(VALID) {
            0 => TextRef::Inline(self.reader.bytes.text().expect(VALID)),
            number => TextRef::Interned(number as u32 - 1),
        };
        let value = self.reader.bytes.varint().expect(VALID);
        let value = if value & 1 == 0 {
            TextRef::Interned((value >> 1) as u32)
        } else {
            TextRef::Inline(self.reader.bytes.text_of(value >> 1).expect(VALID))
        };
        Some((key, value))
    }
}

#[derive(Clone, Copy)]
pub(super) enum TextRef<'a> {
    /// The number of the text in the interner.
    Interned(u32),
    Inline(&'a str),
}

impl<'a> TextRef<'a> {
    pub(super) fn of(self, texts: &'a TextTable) -> &'a str {
        match self {
            Self::Interned(number) => texts.get(number),
            Self::Inline(text) => text,
        }
    }
}
