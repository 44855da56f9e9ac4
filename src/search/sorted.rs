//! Sorts groups by a column. Unknown values come last in either direction, and equal values are sorted by id.

use std::cmp::Ordering;

use jiff::Timestamp;

use super::{
    SortBy, in_ranges, natural,
    query::Number,
    row::{Entry, Row},
};

/// The numbers of the rows, sorted by a column. The rows must be ordered by id.
pub(super) fn sorted(rows: &[Row], sort: &SortBy, reverse: bool) -> Vec<u32> {
    let compare_keyed = |(key, number): &(Key, u32), (other, against): &(Key, u32)| {
        let keys = if reverse {
            other.cmp(key)
        } else {
            key.cmp(other)
        };
        keys.then_with(|| {
            if key[KEY] == LONGER {
                let (row, other) = (&rows[*number as usize], &rows[*against as usize]);
                compare(row, other, sort, reverse)
            } else {
                number.cmp(against)
            }
        })
    };
    let parts = in_ranges(rows.len(), &|range| {
        let (mut known, mut unknown) = (Vec::with_capacity(range.len()), Vec::new());
        for number in range {
            match bytes(&rows[number], sort) {
                Some(bytes) => known.push((key_of(bytes), number as u32)),
                None => unknown.push(number as u32),
            }
        }
        known.sort_unstable_by(compare_keyed);
        (known, unknown)
    });
    let (known, unknown): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let mut known = known.concat();
    // The stable sort finds the sorted parts and only merges them.
    known.sort_by(compare_keyed);
    let known = known.into_iter().map(|(_, number)| number);
    known.chain(unknown.concat()).collect()
}

/// Bytes that sort like the column, and then how many bytes that were: equal ones are equal in the column, unless there is
/// more text than fits. So that a comparison of two rows hardly ever has to look at them.
type Key = [u8; KEY + 1];

/// The number of bytes of a key that sort.
const KEY: usize = 31;

/// The length of a text that does not fit.
const LONGER: u8 = KEY as u8 + 1;

/// Bytes that sort like the column; `None` if the value is not known.
fn bytes<'a>(entry: Entry<'a>, sort: &SortBy) -> Option<Box<dyn Iterator<Item = u8> + 'a>> {
    let time = |at: Timestamp| Box::new((at.as_microsecond() ^ i64::MIN).to_be_bytes().into_iter());
    let count = |count: u32| Box::new(count.to_be_bytes().into_iter());
    Some(match sort {
        SortBy::Name if entry.title().is_ascii() => {
            let key = natural::key(entry.title().as_bytes());
            Box::new(key.map(|byte| byte.to_ascii_lowercase()))
        }
        SortBy::Name => {
            let title = entry.title().to_lowercase();
            let key: Vec<u8> = natural::key(title.as_bytes()).collect();
            Box::new(key.into_iter())
        }
        SortBy::Id => Box::new(natural::key(entry.id().as_bytes())),
        SortBy::Tag => Box::new(entry.tag()?.bytes()),
        // The part of the fingerprint that is shown.
        SortBy::Token => {
            let shown = *entry.fingerprint()?.as_bytes().first_chunk::<4>()?;
            Box::new(shown.into_iter())
        }
        SortBy::Mapping => count(entry.mapped()?),
        SortBy::Properties => count(entry.keys()?),
        SortBy::Rotated => time(entry.rotated()?),
        SortBy::Seen => time(entry.seen()?),
        SortBy::Property(key) => {
            let value = entry.property(key)?;
            match Number::parse(value) {
                Some(number) => Box::new([0].into_iter().chain(number.in_order())),
                None => Box::new([1].into_iter().chain(value.to_lowercase().into_bytes())),
            }
        }
    })
}

fn key_of(bytes: impl Iterator<Item = u8>) -> Key {
    let mut key = [0; KEY + 1];
    for byte in bytes {
        if key[KEY] == KEY as u8 {
            key[KEY] = LONGER;
            break;
        }
        key[usize::from(key[KEY])] = byte;
        key[KEY] += 1;
    }
    key
}

pub(super) fn compare(a: Entry<'_>, b: Entry<'_>, sort: &SortBy, reverse: bool) -> Ordering {
    let column = match (bytes(a, sort), bytes(b, sort)) {
        (Some(a), Some(b)) if reverse => b.cmp(a),
        (Some(a), Some(b)) => a.cmp(b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    };
    column.then_with(|| a.id().cmp(b.id()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        domain::{
            known::KnownGroup,
            testing::{group, told},
            token::Fingerprint,
        },
        search::Index,
    };

    /// The part of the fingerprint that is shown ends with this byte.
    fn with_token(id: &str, name: &str, last: u8) -> KnownGroup {
        let mut bytes = [7; 32];
        bytes[3] = last;
        KnownGroup {
            fingerprint: Some(told(Fingerprint::from_bytes(bytes))),
            ..group(id, name)
        }
    }

    /// Ids are ordered the other way round than the columns, so that a mix-up of the two is noticed.
    #[test]
    fn what_begins_alike_is_told_apart_by_its_end_and_equals_by_their_ids() {
        // Longer than a sort key.
        let long = "a name that begins like all the others";
        let index = Index::of(&[
            with_token("a", &format!("{long} 3"), 3),
            with_token("b", &format!("{long} 2").to_uppercase(), 2),
            with_token("c", &format!("{long} 1"), 1),
            with_token("d", &format!("{long} 1"), 1),
            with_token("e", "Ähre", 0),
            with_token("f", "ähre", 0),
        ]);
        for (sort, reverse, expected) in [
            (SortBy::Name, false, "cdbaef"),
            (SortBy::Name, true, "efabcd"),
            (SortBy::Token, false, "efcdba"),
            (SortBy::Token, true, "abcdef"),
            (SortBy::Id, true, "fedcba"),
        ] {
            let rows = &index.base.rows;
            let numbers = sorted(rows, &sort, reverse).into_iter();
            let ids: String = numbers.map(|number| rows[number as usize].id()).collect();
            assert_eq!(ids, expected, "{sort:?} {reverse}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Many names share a prefix that is longer than one or two keys.
        #[test]
        fn long_texts_that_begin_alike_stand_as_if_they_were_compared(
            names in prop::collection::vec("(the same beginning of (all|ALL|\u{c9}ll) names? ){0,3}[0-2]{0,3}[a-bA-B\u{e9}\u{0}]{0,2}", 1..80),
            reverse: bool,
        ) {
            let groups = names.iter().enumerate();
            let groups = groups.map(|(at, name)| group(&format!("{}{at}", at % 3), name));
            let mut groups: Vec<_> = groups.collect();
            groups.sort_by(|a, b| a.id.cmp(&b.id));
            let index = Index::of(&groups);
            let rows = &index.base.rows;
            for sort in [SortBy::Name, SortBy::Id, SortBy::Tag] {
                let mut compared: Vec<u32> = (0..groups.len() as u32).collect();
                compared.sort_by(|a, b| {
                    compare(&rows[*a as usize], &rows[*b as usize], &sort, reverse)
                });
                prop_assert_eq!(sorted(rows, &sort, reverse), compared);
            }
        }
    }
}
