//! The rows of an index, sorted by a column.

use std::cmp::Ordering;

use jiff::Timestamp;

use super::{
    SortBy, in_ranges,
    natural::{self, natural},
    query::Number,
    row::{Entry, Row},
};

pub(super) fn by_name(rows: &[Row]) -> Vec<u32> {
    sorted(rows, &SortBy::Name, false)
}

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
            match key(&rows[number], sort) {
                Some(key) => known.push((key, number as u32)),
                None => unknown.push(number as u32),
            }
        }
        known.sort_unstable_by(compare_keyed);
        (known, unknown)
    });
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for (some, others) in parts {
        known = if known.is_empty() {
            some
        } else {
            [known, some].concat()
        };
        unknown.extend(others);
    }
    // The stable sort finds the sorted parts and only merges them.
    known.sort_by(compare_keyed);
    let known = known.into_iter().map(|(_, number)| number);
    known.chain(unknown).collect()
}

/// Bytes that sort like the column, and then how many bytes that were: equal ones are equal in the column, unless there is
/// more text than fits. So that a comparison of two rows hardly ever has to look at them.
type Key = [u8; KEY + 1];

/// The number of bytes of a key that sort.
const KEY: usize = 31;

/// The length of a text that does not fit.
const LONGER: u8 = KEY as u8 + 1;

/// `None` if the value is not known.
fn key(entry: Entry<'_>, sort: &SortBy) -> Option<Key> {
    let time = |at: Timestamp| of_bytes((at.as_microsecond() ^ i64::MIN).to_be_bytes());
    let count = |count: u32| of_bytes(count.to_be_bytes());
    Some(match sort {
        SortBy::Name => of_title(entry.title()),
        SortBy::Id => of_bytes(natural::key(entry.id().as_bytes())),
        SortBy::Tag => of_bytes(entry.tag()?.bytes()),
        SortBy::Token => count(token(entry)?),
        SortBy::Mapping => count(entry.mapped()?),
        SortBy::Properties => count(entry.keys()?),
        SortBy::Rotated => time(entry.rotated()?),
        SortBy::Seen => time(entry.seen()?),
        SortBy::Property(key) => {
            let value = entry.property(key)?;
            match Number::parse(value) {
                Some(number) => of_bytes([0].into_iter().chain(number.in_order().to_be_bytes())),
                None => of_bytes([1].into_iter().chain(value.to_lowercase().into_bytes())),
            }
        }
    })
}

fn of_title(title: &str) -> Key {
    if title.is_ascii() {
        let key = natural::key(title.as_bytes());
        of_bytes(key.map(|byte| byte.to_ascii_lowercase()))
    } else {
        of_bytes(natural::key(title.to_lowercase().as_bytes()))
    }
}

fn of_bytes(bytes: impl IntoIterator<Item = u8>) -> Key {
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

/// The part of the fingerprint that is shown.
fn token(entry: Entry<'_>) -> Option<u32> {
    let bytes = entry.fingerprint()?;
    bytes
        .as_bytes()
        .first_chunk()
        .map(|first| u32::from_be_bytes(*first))
}

/// A property's value in sortable form.
fn value(text: &str) -> (bool, Option<Number>, String) {
    match Number::parse(text) {
        Some(number) => (false, Some(number), String::new()),
        None => (true, None, text.to_lowercase()),
    }
}

pub(super) fn compare(a: Entry<'_>, b: Entry<'_>, sort: &SortBy, reverse: bool) -> Ordering {
    let column = match sort {
        SortBy::Id => {
            let ids = natural(a.id(), b.id());
            if reverse { ids.reverse() } else { ids }
        }
        SortBy::Name => {
            let names = compare_ignoring_case(a.title(), b.title());
            if reverse { names.reverse() } else { names }
        }
        SortBy::Tag => known(a.tag(), b.tag(), reverse),
        SortBy::Mapping => known(a.mapped(), b.mapped(), reverse),
        SortBy::Properties => known(a.keys(), b.keys(), reverse),
        SortBy::Token => known(token(a), token(b), reverse),
        SortBy::Rotated => known(a.rotated(), b.rotated(), reverse),
        SortBy::Seen => known(a.seen(), b.seen(), reverse),
        SortBy::Property(key) => {
            let value = |entry: Entry<'_>| entry.property(key).map(value);
            known(value(a), value(b), reverse)
        }
    };
    column.then_with(|| a.id().cmp(b.id()))
}

fn known<K: Ord>(a: Option<K>, b: Option<K>, reverse: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if reverse => b.cmp(&a),
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

fn compare_ignoring_case(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() {
        let key = |text| natural::key(text).map(|byte| byte.to_ascii_lowercase());
        key(a.as_bytes()).cmp(key(b.as_bytes()))
    } else {
        natural(&a.to_lowercase(), &b.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::{
        domain::{
            group::UserGroupId,
            known::{Known, KnownGroup, Source},
        },
        search::Index,
    };

    proptest! {
        /// Many names share a prefix that is longer than one or two keys.
        #[test]
        fn long_texts_that_begin_alike_stand_as_if_they_were_compared(
            names in prop::collection::vec("(the same beginning of (all|ALL|\u{c9}ll) names? ){0,3}[0-2]{0,3}[a-bA-B\u{e9}\u{0}]{0,2}", 1..80),
            reverse: bool,
        ) {
            let groups = names.into_iter().enumerate().map(|(at, value)| {
                let id = UserGroupId::parse(format!("{}{at}", at % 3)).expect("a valid ID");
                let mut group = KnownGroup::new(id);
                group.name = Some(Known {
                    value,
                    source: Source::Sent,
                    at: Timestamp::UNIX_EPOCH,
                    by: "ana".into(),
                });
                group
            });
            let mut groups: Vec<_> = groups.collect();
            groups.sort_by(|a, b| a.id.cmp(&b.id));
            let index = Index::of(&groups);
            let rows = index.base();
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
