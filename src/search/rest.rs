//! The packed values of a group besides name and id, written and read in one order: fingerprint, tag, team, the rows of the
//! mapping and of the properties, times, and the origin of each field.

use jiff::Timestamp;

use super::{
    arena::{Arena, Entry, Shape},
    bytes::{Bytes, add_number, add_signed, add_text},
    packed::{BY, FIELDS, JSON, Origin, Packed, RECORD, UNIT},
    pairs::{Pairs, Texts},
};
use crate::domain::known::{KnownGroup, Source};

/// So few of the first are compared, each by itself: most are among them.
const FIRST: usize = 8;

impl Arena {
    /// Puts all of it behind the others; `None`, and a part may be there, where the rows are not as they are written.
    pub(super) fn add_rest(&mut self, group: &Packed<'_>) -> Option<()> {
        let [known, returned, imported, differs] = group.bits;
        let times = [group.times.rotated, group.times.created, group.times.seen];
        let is_there = |(bit, at): (usize, &Option<i64>)| u8::from(at.is_some()) << bit;
        let there = times.iter().enumerate().map(is_there).sum();
        let shape = [known, returned, imported, differs, there];
        let mut first = self.shapes.iter().take(FIRST);
        let number = first.position(|known| *known == shape);
        let number = number.unwrap_or_else(|| self.shapes.insert_full(shape).0);
        add_number(&mut self.rest, number as u64);
        if let Some(fingerprint) = group.fingerprint {
            self.rest.extend_from_slice(fingerprint);
        }
        // How long all until the times is, twice, and one more where a row is not kept once.
        let start = self.rest.len();
        self.rest.push(0);
        if let Some(tag) = group.tag {
            self.add_word(tag);
        }
        if let Some(team) = group.team_id {
            add_signed(&mut self.rest, team);
        }
        let mut has_own = false;
        for rows in [group.mapping, group.properties].into_iter().flatten() {
            has_own |= self.add_rows(rows)?;
        }
        let length = (self.rest.len() - start - 1) << 1 | usize::from(has_own);
        if length < 1 << 7 {
            self.rest[start] = length as u8;
        } else {
            let mut number = Vec::new();
            add_number(&mut number, length as u64);
            self.rest.splice(start..=start, number);
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
            .take(FIRST)
            .position(|known| known == word)
            .or_else(|| self.words.get_index_of(word))
            .unwrap_or_else(|| self.words.insert_full(word.to_owned()).0);
        add_number(&mut self.rest, number as u64);
    }

    /// Many are the same as the one before.
    fn add_time(&mut self, at: i64, before: &mut i64) {
        add_signed(&mut self.rest, at.wrapping_sub(*before));
        *before = at;
    }

    /// A row is the number of its key and one more, or a nought and the key; and the value with what stands before it.
    /// Whether one of them stays with the group.
    fn add_rows(&mut self, (count, text): (u32, &str)) -> Option<bool> {
        add_number(&mut self.rest, u64::from(count));
        let (mut left, mut start, mut key) = (count, 0, None);
        let mut has_own = false;
        for (at, byte) in text.bytes().enumerate() {
            if byte == RECORD as u8 {
                left = left.checked_sub(1)?;
                let middle = key.take()?;
                has_own |= !self.add_row_of(&text[start..middle], &text[middle..at]);
                start = at + 1;
            } else if key.is_none() && (byte == UNIT as u8 || byte == JSON as u8) {
                key = Some(at);
            }
        }
        (left == 0 && start == text.len()).then_some(has_own)
    }

    /// Whether both are kept once.
    fn add_row_of(&mut self, key: &str, value: &str) -> bool {
        let key_number = self.pairs.key(key);
        if let Some(number) = key_number {
            add_number(&mut self.rest, u64::from(number) + 1);
        } else {
            add_number(&mut self.rest, 0);
            add_text(&mut self.rest, key);
        }
        // Twice the number of the value; or one more than twice its length, and the value.
        if let Some(number) = key_number.and_then(|key| self.pairs.value(key, value)) {
            add_number(&mut self.rest, u64::from(number) << 1);
            true
        } else {
            add_number(&mut self.rest, (value.len() as u64) << 1 | 1);
            self.rest.extend_from_slice(value.as_bytes());
            false
        }
    }
}

/// Why all of this can be read.
const WRITTEN: &str = "it was written";

/// One part is asked for after the other, in the order of the methods.
#[derive(Clone, Copy)]
pub(super) struct Rest<'a> {
    bytes: Bytes<'a>,
    times: Bytes<'a>,
    pub(super) arena: &'a Arena,
    pub(super) fingerprint: Option<&'a [u8; 32]>,
    /// Whether a part of a row is not among those that are kept once.
    pub(super) has_own: bool,
    shape: Shape,
    before: i64,
}

impl<'a> Rest<'a> {
    /// The group itself where it is one of the odd ones.
    pub(super) fn of(entry: Entry<'a>) -> Result<Self, &'a KnownGroup> {
        let arena = entry.arena;
        let start = entry.odd_or_rest()?;
        let mut bytes = Bytes(&arena.rest[start..]);
        let shape = bytes.number().expect(WRITTEN) as usize;
        let shape = *arena.shapes.get_index(shape).expect(WRITTEN);
        let has_fingerprint = shape[0] & 1 << 5 != 0;
        let fingerprint = has_fingerprint.then(|| bytes.array().expect(WRITTEN));
        let length = bytes.number().expect(WRITTEN);
        Ok(Self {
            bytes,
            times: Bytes(&bytes.0[(length >> 1) as usize..]),
            arena,
            fingerprint,
            has_own: length & 1 != 0,
            shape,
            before: arena.epoch,
        })
    }

    fn number(&mut self) -> u32 {
        self.bytes.number().expect(WRITTEN) as u32
    }

    fn word(&mut self) -> &'a str {
        let number = self.number() as usize;
        self.arena.words.get_index(number).expect(WRITTEN)
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
        self.has(1).then(|| self.bytes.signed().expect(WRITTEN))
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
            rest: self,
        }
    }

    /// Behind tag and team.
    pub(super) fn at_mapping(mut self) -> Self {
        self.tag();
        self.team();
        self
    }

    pub(super) fn at_properties(self) -> Self {
        self.at_mapping().mapping().behind()
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
            .wrapping_add(self.bytes.signed().expect(WRITTEN));
        self.before
    }

    /// When it was rotated, made and seen.
    pub(super) fn times(&mut self) -> [Option<Timestamp>; 3] {
        std::array::from_fn(|bit| {
            let is_there = self.shape[4] & 1 << bit != 0;
            is_there.then(|| Timestamp::from_microsecond(self.time()).expect(WRITTEN))
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
                let at = Timestamp::from_microsecond(self.time()).expect(WRITTEN);
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
    /// How many there are in all, where they are known.
    pub(super) count: Option<u32>,
    left: u32,
    rest: Rest<'a>,
}

impl<'a> Rows<'a> {
    /// What stands behind them.
    pub(super) fn behind(mut self) -> Rest<'a> {
        while self.next().is_some() {}
        self.rest
    }

    /// Key, what stands between, value.
    pub(super) fn parts(self) -> impl Iterator<Item = (&'a str, char, &'a str)> {
        let Pairs { keys, values, .. } = &self.rest.arena.pairs;
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
    /// Key, and value with what stands before it.
    type Item = (Part<'a>, Part<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let key = match self.rest.bytes.number().expect(WRITTEN) {
            0 => Part::Own(self.rest.bytes.text().expect(WRITTEN)),
            number => Part::Kept(number as u32 - 1),
        };
        let value = self.rest.bytes.number().expect(WRITTEN);
        let value = if value & 1 == 0 {
            Part::Kept((value >> 1) as u32)
        } else {
            Part::Own(self.rest.bytes.text_of(value >> 1).expect(WRITTEN))
        };
        Some((key, value))
    }
}

#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    /// By its number.
    Kept(u32),
    Own(&'a str),
}

impl<'a> Part<'a> {
    pub(super) fn of(self, texts: &'a Texts) -> &'a str {
        match self {
            Self::Kept(number) => texts.get(number),
            Self::Own(text) => text,
        }
    }
}
