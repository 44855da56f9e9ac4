//! The rows of an arena, sorted by a column.

use std::{cmp::Ordering, panic::resume_unwind, thread};

use super::{
    SortBy,
    arena::{Arena, Entry},
    natural::{self, natural},
    query::Number,
};

pub(super) fn by_name(arena: &Arena) -> Vec<u32> {
    sorted(arena, &SortBy::Name, false)
}

/// Sorts the rows of an arena. They must be ordered by id.
pub(super) fn sorted(arena: &Arena, sort: &SortBy, reverse: bool) -> Vec<u32> {
    let rows = 0..arena.rows.len() as u32;
    let mut known: Vec<Keyed> = rows.map(Keyed::from).collect();
    let middle = |count| if count < PARALLEL_ROWS { 0 } else { count / 2 };
    let half = middle(known.len());
    let unknown = on_two_threads(&mut known, half, |part| {
        let mut unknown = Vec::new();
        for keyed in part {
            let row = row_of(*keyed);
            let key = arena.entry(row as usize).and_then(|entry| key(entry, sort));
            *keyed = key.map_or(NO_ROW, |key| with_key(row, key, reverse));
            unknown.extend(key.is_none().then_some(row));
        }
        unknown
    });
    if unknown.iter().any(|part| !part.is_empty()) {
        known.retain(|keyed| *keyed != NO_ROW);
    }
    let half = middle(known.len());
    if half > 0 {
        // Partitions the keys around the middle.
        known.select_nth_unstable(half);
    }
    on_two_threads(&mut known, half, <[_]>::sort_unstable);
    if is_text(sort) {
        let is_same =
            |at: usize| at > 0 && at < known.len() && key_of(known[at]) == key_of(known[at - 1]);
        let border = (half..=known.len())
            .find(|at| !is_same(*at))
            .unwrap_or(half);
        on_two_threads(&mut known, border, |part| {
            split_ties(arena, part, (sort, reverse), 1);
        });
    }
    // Collects into the same allocation.
    let mut order: Vec<u32> = known.into_iter().map(row_of).collect();
    order.extend(unknown.into_iter().flatten());
    order
}

/// A sort key with its row in the low bits: one number, so that a million rows need little memory.
type Keyed = u128;

/// Number of low bits that hold the row.
const ROW_BITS: u32 = u32::BITS;

/// Marks a row without a key; row numbers are never this high.
const NO_ROW: Keyed = Keyed::MAX;

fn row_of(keyed: Keyed) -> u32 {
    keyed as u32
}

fn key_of(keyed: Keyed) -> u128 {
    keyed >> ROW_BITS
}

fn with_key(row: u32, key: u128, reverse: bool) -> Keyed {
    let key = if reverse { !key } else { key };
    key << ROW_BITS | Keyed::from(row)
}

/// Runs `work` on the parts before and after `half`, each on its own thread.
fn on_two_threads<T: Send>(
    all: &mut [Keyed],
    half: usize,
    work: impl Fn(&mut [Keyed]) -> T + Sync,
) -> [T; 2] {
    let (left, right) = all.split_at_mut(half);
    if left.is_empty() {
        return [work(left), work(right)];
    }
    thread::scope(|scope| {
        let left = scope.spawn(|| work(left));
        let right = work(right);
        [
            left.join().unwrap_or_else(|panic| resume_unwind(panic)),
            right,
        ]
    })
}

/// Sorts rows with equal keys by the next bytes of their texts, so that a text is read once per key and not once per
/// comparison.
fn split_ties(arena: &Arena, keyed: &mut [Keyed], (sort, reverse): (&SortBy, bool), depth: usize) {
    let entry = |keyed: Keyed| arena.entry(row_of(keyed) as usize);
    for ties in keyed.chunk_by_mut(|a, b| key_of(*a) == key_of(*b)) {
        let next = |keyed: Keyed| entry(keyed).and_then(|entry| key_at(entry, sort, depth));
        if ties.len() > MAX_DIRECT && depth < MAX_DEPTH && next(ties[0]).is_some() {
            for keyed in &mut *ties {
                let key = next(*keyed).unwrap_or_default();
                *keyed = with_key(row_of(*keyed), key, reverse);
            }
            ties.sort_unstable();
            split_ties(arena, ties, (sort, reverse), depth + 1);
        } else if ties.len() > 1 {
            ties.sort_unstable_by(|a, b| match (entry(*a), entry(*b)) {
                (Some(a), Some(b)) => compare(a, b, sort, reverse),
                _ => a.cmp(b),
            });
        }
    }
}

/// Up to this many rows are compared with each other directly.
const MAX_DIRECT: usize = 8;
/// From this depth on, texts are compared as a whole: they are equal, or long.
const MAX_DEPTH: usize = 10;

/// From this many rows on, two threads sort.
const PARALLEL_ROWS: usize = 1 << 14;

fn is_text(sort: &SortBy) -> bool {
    matches!(
        sort,
        SortBy::Name | SortBy::Id | SortBy::Tag | SortBy::Property(_)
    )
}

/// A number that sorts like the column, as far as its bytes suffice; `None` if the value is not known.
fn key(entry: Entry<'_>, sort: &SortBy) -> Option<u128> {
    let time =
        |at: jiff::Timestamp| (i128::from(at.as_microsecond()) - i128::from(i64::MIN)) as u128;
    match sort {
        SortBy::Name | SortBy::Id | SortBy::Tag => key_at(entry, sort, 0),
        SortBy::Token => token(entry).map(u128::from),
        SortBy::Mapping => entry.mapped().map(u128::from),
        SortBy::Properties => entry.keys().map(u128::from),
        SortBy::Rotated => entry.rotated().map(time),
        SortBy::Seen => entry.seen().map(time),
        SortBy::Property(key) => {
            let value = entry.property(key)?;
            Some(match Number::parse(&value) {
                Some(number) => u128::from(number.in_order()),
                None => TEXT | number(prefix(value.to_lowercase().as_bytes())) >> 1,
            })
        }
    }
}

/// The key at the given depth: the next bytes of the text. `None` if the column is not plain text, or not known.
fn key_at(entry: Entry<'_>, sort: &SortBy, depth: usize) -> Option<u128> {
    let part = |text: &[u8]| prefix(text.get(depth * KEY..).unwrap_or_default());
    Some(match sort {
        SortBy::Name => {
            let title = entry.title();
            if title.is_ascii() {
                let mut first = natural_part(title.as_bytes(), depth);
                first.make_ascii_lowercase();
                number(first)
            } else {
                number(natural_part(title.to_lowercase().as_bytes(), depth))
            }
        }
        SortBy::Id => number(natural_part(entry.id().as_bytes(), depth)),
        SortBy::Tag => number(part(entry.tag()?.as_bytes())),
        _ => return None,
    })
}

/// The part of the fingerprint that is shown.
fn token(entry: Entry<'_>) -> Option<u32> {
    let bytes = entry.fingerprint()?;
    bytes
        .as_bytes()
        .first_chunk()
        .map(|first| u32::from_be_bytes(*first))
}

/// Bytes of a key.
const KEY: usize = 12;

/// The bit that sorts texts after all numbers.
const TEXT: u128 = 1 << (8 * KEY - 1);

/// A property's value in sortable form.
fn value(text: &str) -> (bool, Option<Number>, String) {
    match Number::parse(text) {
        Some(number) => (false, Some(number), String::new()),
        None => (true, None, text.to_lowercase()),
    }
}

/// The first bytes of a text.
fn prefix(text: &[u8]) -> [u8; KEY] {
    let mut first = [0; KEY];
    let length = text.len().min(KEY);
    first[..length].copy_from_slice(&text[..length]);
    first
}

/// The bytes of the natural order at the given depth.
fn natural_part(text: &[u8], depth: usize) -> [u8; KEY] {
    let mut part = [0; KEY];
    let bytes = natural::key(text).skip(depth * KEY);
    part.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    part
}

/// A number that sorts like the bytes.
fn number(first: [u8; KEY]) -> u128 {
    let mut bytes = [0; size_of::<u128>()];
    bytes[size_of::<u128>() - KEY..].copy_from_slice(&first);
    u128::from_be_bytes(bytes)
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
            let value = |entry: Entry<'_>| entry.property(key).map(|text| value(&text));
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
            let arena = index.base();
            for sort in [SortBy::Name, SortBy::Id, SortBy::Tag] {
                let mut compared: Vec<u32> = (0..groups.len() as u32).collect();
                compared.sort_by(|a, b| {
                    let entry = |row: u32| arena.entry(row as usize).expect("there");
                    compare(entry(*a), entry(*b), &sort, reverse)
                });
                prop_assert_eq!(sorted(arena, &sort, reverse), compared);
            }
        }
    }
}
