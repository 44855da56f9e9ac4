//! The filter language: every text has a meaning, a narrowed filter finds the same as a search from scratch, and a
//! group is found by its own texts.

use std::{sync::Arc, time::Duration};

use groupdesk::{
    domain::{
        group::{EnvironmentTag, UserGroupId},
        known::{Known, KnownGroup, LastRotated, Source},
    },
    search::{GroupExtras, Index, Marker, Query, SearchRequest, SearchResults, SortBy, run_search},
};
use jiff::Timestamp;

use super::is_safe;

const NOW: Timestamp = Timestamp::constant(1_793_000_000, 0);

/// One byte for the order, one for where the filter is cut, the filter, a zero byte, and texts of groups.
pub fn run(data: &[u8]) {
    let [order, cut, rest @ ..] = data else {
        return;
    };
    let rest = String::from_utf8_lossy(rest);
    let (filter, texts) = rest.split_once('\0').unwrap_or((&rest, "Acme\0acme-eu"));
    let query = parse(filter);
    let groups = groups(texts);
    let index = Index::of(&groups);
    let ask = |query: &Query| SearchRequest {
        query: query.clone(),
        sort: SortBy::ALL[usize::from(*order) % SortBy::ALL.len()].clone(),
        reverse: order & 0x40 != 0,
        best_first: order & 0x80 != 0,
        open: Arc::default(),
        extras: GroupExtras::default(),
        at: NOW,
    };
    let find = |query: &Query, before: Option<&SearchResults>| {
        run_search(&index, ask(query), before, &|| true).expect("it is wanted")
    };
    let whole = find(&query, None);
    let start: String = filter.chars().take(usize::from(*cut)).collect();
    let wider = find(&parse(&start), None);
    assert_eq!(
        find(&query, Some(&wider)).shown,
        whole.shown,
        "narrowed from {start:?}"
    );
    assert!(whole.loose <= whole.shown.len());
    let mut marker = Marker::of(&query);
    for number in whole.shown.iter() {
        let entry = index.entry(*number).expect("it is there");
        let [name, id] = marker.marks(entry);
        assert!(
            name.iter()
                .all(|at| *at < entry.name().unwrap_or_default().len().max(entry.id().len()))
        );
        assert!(id.iter().all(|at| *at < entry.id().len()));
    }
    found_by_itself(&groups, usize::from(*cut), find);
}

fn parse(text: &str) -> Query {
    let query = Query::parse(text, Some(Duration::from_hours(90 * 24)));
    for wrong in &query.wrong {
        is_hidden_free(wrong);
    }
    assert!(query.words.iter().all(|word| !word.text.is_empty()));
    assert!(query.is_within(&query));
    assert_eq!(
        query.is_empty(),
        query.words.is_empty() && query.tests.is_empty() && query.without.is_empty()
    );
    query
}

/// Checks the text without the canary: a filter may be shown as it was typed, even with a secret in it.
fn is_hidden_free(text: &str) {
    is_safe(&text.to_lowercase().replace(super::CANARY, ""));
}

fn groups(texts: &str) -> Vec<KnownGroup> {
    let known = |value: String| {
        Some(Known {
            value,
            source: Source::Returned,
            at: NOW,
            by: "ana".into(),
        })
    };
    let mut groups: Vec<KnownGroup> = Vec::new();
    for (number, text) in texts.split('\0').take(8).enumerate() {
        let id: String = text.chars().take(40).collect();
        let Ok(id) = UserGroupId::parse(id) else {
            continue;
        };
        let mut group = KnownGroup::new(id);
        group.name = known(text.chars().rev().collect()).filter(|_| number % 2 == 0);
        group.environment_tag = Some(Known {
            value: EnvironmentTag::parse(text),
            source: Source::Sent,
            at: NOW,
            by: String::new(),
        });
        let seconds = Duration::from_secs(number as u64 * 86_400 * 40);
        group.last_rotated = (number % 3 == 1).then(|| LastRotated {
            at: NOW - seconds,
            by: None,
        });
        groups.push(group);
    }
    groups.sort_by(|a, b| a.id.cmp(&b.id));
    groups.dedup_by(|a, b| a.id == b.id);
    groups
}

/// By its whole id, and by a part of it that begins and ends with ASCII, in either case.
fn found_by_itself(
    groups: &[KnownGroup],
    cut: usize,
    find: impl Fn(&Query, Option<&SearchResults>) -> SearchResults,
) {
    for group in groups {
        let id = group.id.as_str();
        if id.contains('"') || id.trim().is_empty() {
            continue;
        }
        let edges = id.char_indices().filter(|(_, c)| c.is_ascii());
        let edges: Vec<usize> = edges.map(|(at, _)| at).chain([id.len()]).collect();
        let from = cut % edges.len();
        let to = from + cut / edges.len() % (edges.len() - from);
        let part = &id[edges[from]..edges[to]];
        for typed in [id, part, &part.to_ascii_uppercase()] {
            let found = find(&parse(&format!("\"{typed}\"")), None);
            let is_it = |number: &u32| {
                found
                    .index
                    .entry(*number)
                    .is_some_and(|entry| entry.id() == id)
            };
            assert!(
                found.shown.iter().any(is_it),
                "{id:?} is not found by {typed:?}"
            );
        }
    }
}
