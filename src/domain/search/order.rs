//! The groups in the order of a column: what is not known stands last either way, and equals by their ids. An order that
//! is there already is only mended where groups changed.

use std::{cmp::Ordering, sync::Arc};

use super::{
    Found, Index, SortBy,
    arena::{Arena, Entry},
};

/// All numbers of an index in order; `before` is an earlier answer that may spare work.
pub(super) fn all(
    index: &Index,
    sort: SortBy,
    reverse: bool,
    before: Option<&Found>,
) -> Arc<[u32]> {
    let mut changed = index.changed();
    let before = before.filter(|before| {
        before.index.has_numbers_of(index)
            && (before.look.sort, before.look.reverse) == (sort, reverse)
    });
    let (order, mut stale) = match before {
        Some(before) if before.index == *index => return before.order.clone(),
        Some(before) => (before.order.clone(), before.index.changed()),
        None if (sort, reverse) == (SortBy::Name, false) => {
            (index.base_by_name().clone(), Vec::new())
        }
        None => (sorted(index.base(), sort, reverse).into(), Vec::new()),
    };
    stale.extend(&changed);
    if stale.is_empty() {
        return order;
    }
    stale.sort_unstable();
    let is_fresh = |number: &&u32| stale.binary_search(number).is_err();
    let order: Vec<u32> = order.iter().filter(is_fresh).copied().collect();
    let compare = |a: u32, b: u32| match (index.entry(a), index.entry(b)) {
        (Some(a), Some(b)) => compare(a, b, sort, reverse),
        _ => a.cmp(&b),
    };
    changed.sort_unstable_by(|a, b| compare(*a, *b));
    let mut mended = Vec::with_capacity(order.len() + changed.len());
    let mut rest = order.as_slice();
    for number in changed {
        let at = rest.partition_point(|other| compare(*other, number) == Ordering::Less);
        mended.extend_from_slice(&rest[..at]);
        mended.push(number);
        rest = &rest[at..];
    }
    mended.extend_from_slice(rest);
    mended.into()
}

pub(super) fn by_name(arena: &Arena) -> Vec<u32> {
    sorted(arena, SortBy::Name, false)
}

/// The rows of an arena that is ordered by id.
fn sorted(arena: &Arena, sort: SortBy, reverse: bool) -> Vec<u32> {
    let rows = 0..arena.rows.len() as u32;
    if sort == SortBy::Id {
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
    known.sort_unstable_by(|(a_key, a), (b_key, b)| {
        a_key.cmp(b_key).then_with(|| match (entry(*a), entry(*b)) {
            (Some(a), Some(b)) if is_text(sort) => compare(a, b, sort, reverse),
            _ => a.cmp(b),
        })
    });
    let known = known.into_iter().map(|(_, row)| row);
    known.chain(unknown).collect()
}

fn is_text(sort: SortBy) -> bool {
    matches!(sort, SortBy::Name | SortBy::Tag | SortBy::Token)
}

/// A number that stands as the column does, as far as so few bytes can tell; `None` where the column is not known.
fn key(entry: Entry<'_>, sort: SortBy) -> Option<u128> {
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
    }
}

fn beginning(bytes: impl Iterator<Item = u8>) -> u128 {
    let mut first = [0; 16];
    for (slot, byte) in first.iter_mut().zip(bytes) {
        *slot = byte;
    }
    u128::from_be_bytes(first)
}

fn compare(a: Entry<'_>, b: Entry<'_>, sort: SortBy, reverse: bool) -> Ordering {
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

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::domain::{
        group::UserGroupId,
        known::{Known, KnownGroup, Source},
        token::Fingerprint,
    };

    /// More than a key holds, the same in all.
    const LONG: &str = "a name that begins alike";

    fn told<T>(value: T) -> Known<T> {
        Known {
            value,
            source: Source::Returned,
            at: Timestamp::UNIX_EPOCH,
            by: "ana".into(),
        }
    }

    fn group(id: &str, name: &str, token: u8) -> KnownGroup {
        let mut group = KnownGroup::new(UserGroupId::parse(id).expect("an id"));
        group.name = Some(told(name.to_owned()));
        let mut bytes = [7; 32];
        bytes[3] = token;
        group.fingerprint = Some(told(Fingerprint::from_bytes(bytes)));
        group
    }

    fn ids(index: &Index, sort: SortBy, reverse: bool) -> Vec<String> {
        let numbers = all(index, sort, reverse, None);
        let entries = numbers.iter().filter_map(|number| index.entry(*number));
        entries.map(|entry| entry.id().to_owned()).collect()
    }

    /// Ids stand the other way round than the columns, so that none can take the place of another.
    #[test]
    fn what_begins_alike_is_told_apart_by_its_end_and_equals_by_their_ids() {
        let mut groups = vec![
            group("a", &format!("{LONG} 3"), 3),
            group("b", &format!("{LONG} 2").to_uppercase(), 2),
            group("c", &format!("{LONG} 1"), 1),
            group("d", &format!("{LONG} 1"), 1),
            group("e", "Ähre", 0),
            group("f", "ähre", 0),
        ];
        let name = ["c", "d", "b", "a", "e", "f"];
        let token = ["e", "f", "c", "d", "b", "a"];
        let backwards_name = ["e", "f", "a", "b", "c", "d"];
        let backwards_token = ["a", "b", "c", "d", "e", "f"];
        let mut index = Index::of(&groups);
        for round in 0..2 {
            assert_eq!(ids(&index, SortBy::Name, false), name, "{round}");
            assert_eq!(ids(&index, SortBy::Name, true), backwards_name, "{round}");
            assert_eq!(ids(&index, SortBy::Token, false), token, "{round}");
            assert_eq!(ids(&index, SortBy::Token, true), backwards_token, "{round}");
            assert_eq!(
                ids(&index, SortBy::Id, true),
                ["f", "e", "d", "c", "b", "a"]
            );
            // The same where groups are put in later.
            let late = groups.split_off(groups.len() - 3);
            index = Index::of(&groups);
            for one in &late {
                index.put(one);
            }
            groups.extend(late);
        }
    }
}
