//! The rows of an arena in the order of a column.

use std::{cmp::Ordering, thread};

use super::{
    SortBy,
    arena::{Arena, Entry},
    query::Number,
};

pub(super) fn by_name(arena: &Arena) -> Vec<u32> {
    sorted(arena, &SortBy::Name, false)
}

/// The rows of an arena that is ordered by id.
pub(super) fn sorted(arena: &Arena, sort: &SortBy, reverse: bool) -> Vec<u32> {
    let rows = 0..arena.rows.len() as u32;
    if *sort == SortBy::Id {
        return if reverse {
            rows.rev().collect()
        } else {
            rows.collect()
        };
    }
    let entry = |row: u32| arena.entry(row as usize);
    let mut unknown = Vec::new();
    let mut known = Vec::with_capacity(arena.rows.len());
    for row in rows {
        match entry(row).and_then(|entry| key(entry, sort)) {
            Some(key) => known.push((if reverse { !key } else { key }, row)),
            None => unknown.push(row),
        }
    }
    // Most are told apart by the key, without a look at their texts.
    let order = |(a_key, a): &(u128, u32), (b_key, b): &(u128, u32)| {
        a_key.cmp(b_key).then_with(|| match (entry(*a), entry(*b)) {
            (Some(a), Some(b)) if is_text(sort) => compare(a, b, sort, reverse),
            _ => a.cmp(b),
        })
    };
    let mut sorted = Vec::with_capacity(arena.rows.len());
    let half = if known.len() < MANY {
        0
    } else {
        known.len() / 2
    };
    let (left, right) = known.split_at_mut(half);
    thread::scope(|scope| {
        if !left.is_empty() {
            scope.spawn(|| left.sort_unstable_by(order));
        }
        right.sort_unstable_by(order);
    });
    let (mut left, mut right) = (&*left, &*right);
    while let ([first, others @ ..], [second, ..]) = (left, right) {
        if order(second, first) == Ordering::Less {
            sorted.push(second.1);
            right = &right[1..];
        } else {
            sorted.push(first.1);
            left = others;
        }
    }
    sorted.extend(left.iter().chain(right).map(|(_, row)| row));
    sorted.extend(unknown);
    sorted
}

/// From so many on two threads sort.
const MANY: usize = 1 << 14;

fn is_text(sort: &SortBy) -> bool {
    matches!(
        sort,
        SortBy::Name | SortBy::Tag | SortBy::Token | SortBy::Property(_)
    )
}

/// A number that stands as the column does, as far as so few bytes can tell; `None` where the column is not known.
fn key(entry: Entry<'_>, sort: &SortBy) -> Option<u128> {
    let time =
        |at: jiff::Timestamp| (i128::from(at.as_microsecond()) - i128::from(i64::MIN)) as u128;
    match sort {
        SortBy::Name => {
            let title = entry.title();
            Some(if title.is_ascii() {
                beginning(title.bytes().map(|byte| byte.to_ascii_lowercase()))
            } else {
                beginning(title.to_lowercase().bytes())
            })
        }
        SortBy::Id => Some(beginning(entry.id().bytes())),
        SortBy::Tag => Some(beginning(entry.tag()?.bytes())),
        SortBy::Token => Some(beginning(entry.fingerprint()?.bytes())),
        SortBy::Mapping => entry.mapped().map(u128::from),
        SortBy::Properties => entry.keys().map(u128::from),
        SortBy::Rotated => entry.rotated().map(time),
        SortBy::Seen => entry.seen().map(time),
        SortBy::Property(key) => {
            let value = entry.property(key)?;
            Some(match Number::parse(&value) {
                Some(number) => u128::from(number.in_order()),
                None => TEXT | beginning(value.to_lowercase().bytes()) >> 1,
            })
        }
    }
}

/// Texts stand behind all numbers.
const TEXT: u128 = 1 << 127;

/// A property as it is ordered.
fn value(text: &str) -> (bool, Option<Number>, String) {
    match Number::parse(text) {
        Some(number) => (false, Some(number), String::new()),
        None => (true, None, text.to_lowercase()),
    }
}

fn beginning(bytes: impl Iterator<Item = u8>) -> u128 {
    let mut first = [0; 16];
    for (slot, byte) in first.iter_mut().zip(bytes) {
        *slot = byte;
    }
    u128::from_be_bytes(first)
}

pub(super) fn compare(a: Entry<'_>, b: Entry<'_>, sort: &SortBy, reverse: bool) -> Ordering {
    let column = match sort {
        SortBy::Id if reverse => b.id().cmp(a.id()),
        SortBy::Id => Ordering::Equal,
        SortBy::Name => {
            let names = caseless(a.title(), b.title());
            if reverse { names.reverse() } else { names }
        }
        SortBy::Tag => known(a.tag(), b.tag(), reverse),
        SortBy::Mapping => known(a.mapped(), b.mapped(), reverse),
        SortBy::Properties => known(a.keys(), b.keys(), reverse),
        SortBy::Token => known(a.fingerprint(), b.fingerprint(), reverse),
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

fn caseless(a: &str, b: &str) -> Ordering {
    if a.is_ascii() && b.is_ascii() {
        let lower = |byte: u8| byte.to_ascii_lowercase();
        a.bytes().map(lower).cmp(b.bytes().map(lower))
    } else {
        a.to_lowercase().cmp(&b.to_lowercase())
    }
}
