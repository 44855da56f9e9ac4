//! Sorts groups by a column. Unknown values come last in either direction, and equal values are sorted by id. An
//! existing order is only updated where groups changed.

use std::{cmp::Ordering, sync::Arc};

use super::{
    Index, SearchResults, SortBy,
    sorted::{compare, sorted},
};

/// All numbers of an index, sorted. `before` is an earlier result that may save work.
pub(super) fn all(
    index: &Index,
    sort: &SortBy,
    reverse: bool,
    before: Option<&SearchResults>,
) -> Arc<[u32]> {
    let mut changed = index.changed();
    let before = before.filter(|before| {
        before.index.has_same_numbers_as(index)
            && (&before.request.sort, before.request.reverse) == (sort, reverse)
    });
    let (order, mut stale) = match before {
        Some(before) if before.index == *index => return before.order.clone(),
        Some(before) => (before.order.clone(), before.index.changed()),
        None if (sort, reverse) == (&SortBy::Name, false) => {
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

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::domain::{
        group::UserGroupId,
        known::{Known, KnownGroup, Source},
        token::Fingerprint,
    };

    /// Longer than a sort key, and common to all names.
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
        let mut group = KnownGroup::new(UserGroupId::parse(id).expect("an ID"));
        group.name = Some(told(name.to_owned()));
        let mut bytes = [7; 32];
        bytes[3] = token;
        group.fingerprint = Some(told(Fingerprint::from_bytes(bytes)));
        group
    }

    fn ids(index: &Index, sort: &SortBy, reverse: bool) -> Vec<String> {
        let numbers = all(index, sort, reverse, None);
        let entries = numbers.iter().filter_map(|number| index.entry(*number));
        entries.map(|entry| entry.id().to_owned()).collect()
    }

    /// Ids are ordered the other way round than the columns, so that a mix-up of the two is noticed.
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
            assert_eq!(ids(&index, &SortBy::Name, false), name, "{round}");
            assert_eq!(ids(&index, &SortBy::Name, true), backwards_name, "{round}");
            assert_eq!(ids(&index, &SortBy::Token, false), token, "{round}");
            assert_eq!(
                ids(&index, &SortBy::Token, true),
                backwards_token,
                "{round}"
            );
            assert_eq!(
                ids(&index, &SortBy::Id, true),
                ["f", "e", "d", "c", "b", "a"]
            );
            // The same result if groups are added later.
            let late = groups.split_off(groups.len() - 3);
            index = Index::of(&groups);
            for one in &late {
                index.put(one);
            }
            groups.extend(late);
        }
    }
}
