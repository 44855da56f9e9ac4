//! Many groups in a few buffers: names and ids, a small row each, and the other values packed into bytes. Every group can be
//! restored in full.

use indexmap::IndexSet;

use super::interner::Interner;
use crate::domain::{
    known::KnownGroup,
    text::{is_hidden, visible, width},
};

/// Which fields of a group are known, returned by the service, imported; which origins differ from the one before; and
/// which times are there.
pub(super) type Shape = [u8; 5];

/// Flag in `values`: the group is in `unpacked`, and the other bits are its index.
pub(super) const UNPACKED_ROW: u32 = 1 << 31;

/// Bytes of a typical group. Reserved pages that are never written take no memory.
const TEXT_PER_GROUP: usize = 96;
const VALUES_PER_GROUP: usize = 128;

/// Where the name begins and ends; the id follows, until the next name.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextSpan {
    start: u32,
    name: u32,
    /// Index in [`Arena::values`] or, with [`UNPACKED_ROW`], in [`Arena::unpacked`].
    values: u32,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Arena {
    /// Names and ids.
    pub(super) text: String,
    pub(super) rows: Vec<TextSpan>,
    /// The packed values of each group, except name and id.
    pub(super) values: Vec<u8>,
    /// Operators and tags; `values` refers to them by number.
    pub(super) words: IndexSet<String>,
    pub(super) shapes: IndexSet<Shape>,
    pub(super) interner: Interner,
    /// The time that the first time of a group is relative to.
    pub(super) epoch: i64,
    /// Groups that cannot be packed.
    pub(super) unpacked: Vec<KnownGroup>,
    /// Width of the widest title and of the widest id, in cells.
    pub(super) widest: (usize, usize),
}

impl Arena {
    /// Reserves room for this many typical groups, and interns the texts that many of them share.
    pub(super) fn for_groups(count: usize) -> Self {
        let mut arena = Self {
            interner: Interner::new(),
            ..Self::default()
        };
        arena.text.reserve(count.saturating_mul(TEXT_PER_GROUP));
        arena.rows.reserve(count);
        arena.values.reserve(count.saturating_mul(VALUES_PER_GROUP));
        arena
    }

    /// Frees what is only needed while groups are added.
    pub(super) fn close(&mut self) {
        self.interner.close();
        self.text.shrink_to_fit();
        self.rows.shrink_to_fit();
        self.values.shrink_to_fit();
    }

    /// Adds a row whose other values were added at this index before.
    pub(super) fn add_row(&mut self, id: &str, name: &str, values: u32) {
        let start = self.end();
        self.add(name);
        let end_of_name = self.end();
        self.add(id);
        let title = if name.is_empty() { id } else { name };
        self.widest.0 = wider(self.widest.0, title);
        self.widest.1 = wider(self.widest.1, id);
        self.rows.push(TextSpan {
            start,
            name: end_of_name,
            values,
        });
    }

    /// Whether this much more text is still addressable. Text beyond that is not searched.
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.text.len() + more < u32::MAX as usize
    }

    fn add(&mut self, text: &str) {
        if self.has_room(text.len()) {
            self.text.push_str(text);
        }
    }

    fn end(&self) -> u32 {
        self.text.len() as u32
    }

    pub(super) fn entry(&self, row: usize) -> Option<Entry<'_>> {
        (row < self.rows.len()).then_some(Entry { arena: self, row })
    }

    /// The row of a group. The arena must be ordered by id.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        let entry = |row| Entry { arena: self, row };
        let (mut from, mut to) = (0, self.rows.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            match entry(middle).id().cmp(id) {
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        None
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

/// Access to one group of the arena.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    pub(super) arena: &'a Arena,
    row: usize,
}

impl<'a> Entry<'a> {
    fn span(self) -> &'a TextSpan {
        &self.arena.rows[self.row]
    }

    pub fn name(self) -> Option<&'a str> {
        let TextSpan { start, name, .. } = *self.span();
        (start < name).then(|| &self.arena.text[start as usize..name as usize])
    }

    pub fn id(self) -> &'a str {
        let start = self.span().name as usize;
        match self.arena.rows.get(self.row + 1) {
            Some(next) => &self.arena.text[start..next.start as usize],
            None => &self.arena.text[start..],
        }
    }

    /// The name if it is known, otherwise the id.
    pub fn title(self) -> &'a str {
        self.name().unwrap_or_else(|| self.id())
    }

    /// Where the packed values begin; `Err` is the group itself, if it is stored unpacked.
    pub(super) fn values_start(self) -> Result<usize, &'a KnownGroup> {
        let values = self.span().values;
        if values & UNPACKED_ROW == 0 {
            Ok(values as usize)
        } else {
            Err(&self.arena.unpacked[(values & !UNPACKED_ROW) as usize])
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::domain::{
        group::{EnvironmentTag, UserGroupId},
        known::{Known, LastRotated, Source},
        token::Fingerprint,
    };

    /// Counted, not measured: the same on every machine.
    #[test]
    fn a_usual_group_takes_little_beside_its_name_and_id() {
        const COUNT: usize = 20_000;
        fn told<T>(value: T, at: Timestamp) -> Known<T> {
            Known {
                value,
                source: Source::Returned,
                at,
                by: "ana@bastion2".into(),
            }
        }
        let mut arena = Arena::for_groups(COUNT);
        for number in 0..COUNT {
            let id = format!("group-eu-{number:06}");
            let mut group = KnownGroup::new(UserGroupId::parse(id).expect("a valid ID"));
            let at = Timestamp::from_microsecond(1_790_000_000_123_457 + number as i64 * 1_000_003);
            let at = at.expect("a time");
            let mapping = (0..4).map(|row| {
                let source = 200 + (number * 7 + row * 31) % 2_000;
                ((40 + row * 17).to_string(), source.to_string())
            });
            let properties = serde_json::json!({
                "tier": (["gold", "silver"][number % 2]),
                "seats": number % 300,
                "contact": format!("{number}@example.com"),
            });
            group.name = Some(told(format!("Pied Piper Insurance {number}"), at));
            group.team_id = Some(told(number as i64, at));
            group.environment_tag = Some(told(EnvironmentTag::Customer, at));
            group.fingerprint = Some(told(Fingerprint::from_bytes([number as u8; 32]), at));
            group.mapping = Some(told(mapping.collect(), at));
            group.properties = Some(told(properties.as_object().expect("an object").clone(), at));
            let by = Some("li@desk".to_owned());
            group.last_rotated = Some(LastRotated { at, by });
            group.last_seen = Some(at);
            arena.push(&group);
        }
        arena.close();
        assert_eq!(arena.unpacked.len(), 0);
        let rows = arena.rows.len() * size_of::<TextSpan>();
        let each = (rows + arena.values.len() + arena.interner.bytes()) / COUNT;
        // Including 32 for the fingerprint, 19 for the unique contact, and 12 for the row.
        assert!(each <= 100, "{each} bytes a group");
    }
}
