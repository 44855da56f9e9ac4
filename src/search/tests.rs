//! Ranking, conditions, orders, and that narrowing a search gives the same result as a new one.

mod apart;
mod exclusions;
mod self_match;

use std::time::Duration;

use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;
use crate::domain::{
    annotation::{Annotation, Label},
    group::EnvironmentTag,
    known::{Known, KnownGroup, LastRotated, Source},
    testing::{fields, fingerprint, group, id, mapping, told},
};

const NOW: Timestamp = Timestamp::constant(1_793_000_000, 0);

#[expect(clippy::unnecessary_wraps, reason = "it fills optional fields")]
fn known<T>(value: T) -> Option<Known<T>> {
    Some(told(value))
}

fn world() -> Vec<KnownGroup> {
    let ago = |days: i64| NOW - SignedDuration::from_hours(24 * days);
    let rotated = |days, by: Option<&str>| LastRotated {
        at: ago(days),
        by: by.map(Into::into),
    };
    let with = |name, rows: &[_], properties| {
        let all = fields("", rows, properties);
        KnownGroup {
            mapping: all.mapping.filter(|rows| !rows.is_empty()).map(told),
            properties: all.properties.filter(|all| !all.is_empty()).map(told),
            ..name
        }
    };
    let rows = [("40", "213"), ("134", "386")];
    let acme = KnownGroup {
        environment_tag: known(EnvironmentTag::Customer),
        fingerprint: known(fingerprint(0x3f)),
        team_id: known(7_701),
        last_rotated: Some(rotated(100, None)),
        ..with(
            group("acme-eu", "Acme Europe"),
            &rows,
            r#"{"tier":"Gold","seats":12}"#,
        )
    };
    let globex = KnownGroup {
        environment_tag: known(EnvironmentTag::Testing),
        last_rotated: Some(rotated(1, Some("ana@bastion2"))),
        ..with(
            group("globex", "Globex Retail"),
            &[],
            r#"{"tier":"silver"}"#,
        )
    };
    let mut lost = with(group("gl-ob-ex", ""), &[("7", "2130")], "{}");
    if let Some(mapping) = &mut lost.mapping {
        (mapping.source, mapping.by) = (Source::Sent, "Li@desk".into());
    }
    // Never rotated, but seen when it was created.
    let zoe = KnownGroup {
        created_at: Some(ago(95)),
        ..group("zoé", "Zoé & Größe")
    };
    vec![acme, lost, globex, zoe]
}

fn extras() -> GroupExtras {
    let globex = Annotation {
        note: Some("Call first".into()),
        labels: Label::parse_all("vip").expect("labels"),
        ..Annotation::default()
    };
    let zoe = Annotation {
        is_favourite: true,
        ..Annotation::default()
    };
    GroupExtras {
        annotations: Arc::new([(id("globex"), globex), (id("zoé"), zoe)].into()),
        drafts: Arc::new([id("acme-eu")].into()),
        changed: Arc::new([id("zoé")].into()),
        new: Arc::default(),
    }
}

fn asked(text: &str) -> SearchRequest {
    SearchRequest {
        query: Query::parse(text, Some(Duration::from_hours(90 * 24))),
        sort: SortBy::Name,
        reverse: false,
        best_first: true,
        open: Arc::new([(id("globex"), State::Unknown)].into()),
        extras: extras(),
        at: NOW,
    }
}

fn sorted_by(sort: SortBy, reverse: bool, text: &str) -> SearchRequest {
    SearchRequest {
        sort,
        reverse,
        best_first: false,
        ..asked(text)
    }
}

fn find(index: &Index, asked: SearchRequest) -> SearchResults {
    run_search(index, asked, None, &|| true).expect("it is wanted")
}

fn ids(found: &SearchResults) -> Vec<&str> {
    let entries = found.shown.iter().map(|at| found.index.entry(*at));
    entries.map(|entry| entry.expect("a group").id()).collect()
}

#[test]
fn every_part_of_a_group_is_found() {
    let index = Index::of(&world());
    for (text, expected) in [
        ("", &["acme-eu", "gl-ob-ex", "globex", "zoé"][..]),
        ("acme", &["acme-eu"]),
        ("EUROPE", &["acme-eu"]),
        ("retail", &["globex"]),
        ("3f3f", &["acme-eu"]),
        ("7701", &["acme-eu"]),
        ("386", &["acme-eu"]),
        ("gold", &["acme-eu"]),
        ("zoe", &["zoé"]),
        ("GRÖSSE", &[]),
        ("größe", &["zoé"]),
        ("tier glob", &["globex"]),
        ("tag:cust", &["acme-eu"]),
        ("tag:?", &["gl-ob-ex", "zoé"]),
        ("map:213", &["acme-eu"]),
        ("map:134=386", &["acme-eu"]),
        ("map:134=213", &[]),
        ("prop:tier", &["acme-eu", "globex"]),
        ("prop:tier=gold", &["acme-eu"]),
        ("prop:seats=12", &["acme-eu"]),
        ("age>90d", &["acme-eu", "zoé"]),
        ("age<7d", &["globex"]),
        ("old", &["acme-eu", "zoé"]),
        ("state:open", &["globex"]),
        ("state:unknown", &["globex"]),
        ("state:sent", &[]),
        ("tag:test prop:tier age<7d glo", &["globex"]),
        ("age>xx acme", &["acme-eu"]),
        ("-acme", &["gl-ob-ex", "globex", "zoé"]),
        ("-tag:? -age>90d", &["globex"]),
        ("-obx", &["acme-eu", "gl-ob-ex", "globex", "zoé"]),
        ("glob -\"ob-ex\"", &["globex"]),
        ("map>1", &["acme-eu"]),
        ("map<=1", &["gl-ob-ex"]),
        ("props>=1", &["acme-eu", "globex"]),
        ("prop:seats>5", &["acme-eu"]),
        ("prop:seats>12", &[]),
        ("prop:seats<100 prop:seats>=12.0", &["acme-eu"]),
        ("prop:tier>1", &[]),
        ("due<14d", &["acme-eu", "zoé"]),
        ("due>14d", &["globex"]),
        ("due<14d -old", &[]),
        ("label:vip", &["globex"]),
        ("label:", &["globex"]),
        ("-label:vip", &["acme-eu", "gl-ob-ex", "zoé"]),
        ("fav", &["zoé"]),
        ("note:CALL", &["globex"]),
        ("note:", &["globex"]),
        ("note:late", &[]),
        ("draft", &["acme-eu"]),
        ("flag:changed", &["zoé"]),
        ("by:li", &["gl-ob-ex"]),
        ("by:ana", &["globex"]),
        ("\"ob-ex\"", &["gl-ob-ex"]),
        ("\"obx\"", &[]),
    ] {
        assert_eq!(ids(&find(&index, asked(text))), expected, "{text}");
    }
}

#[test]
fn the_best_match_comes_first_and_scattered_letters_last() {
    let index = Index::of(&world());
    let found = find(&index, asked("globex"));
    assert_eq!(ids(&found), ["globex", "gl-ob-ex"]);
    assert_eq!(found.loose, 1);
    assert!(found.is_exact(found.shown[0]) && !found.is_exact(found.shown[1]));
    // The whole, the beginning, inside, scattered.
    let order = ["acme-eu", "acme-eu-old", "xacme-eu", "a-c-m-e-eu"];
    let mut groups = order.map(|id| group(id, ""));
    groups.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(ids(&find(&Index::of(&groups), asked("acme-eu"))), order);
}

#[test]
fn a_column_orders_what_was_found_and_the_unknown_stands_last() {
    let index = Index::of(&world());
    let tier = || SortBy::Property("tier".into());
    for (sort, reverse, text, first) in [
        (
            SortBy::Rotated,
            false,
            "",
            &["acme-eu", "globex", "gl-ob-ex", "zoé"][..],
        ),
        (
            SortBy::Rotated,
            true,
            "",
            &["globex", "acme-eu", "gl-ob-ex", "zoé"],
        ),
        (SortBy::Mapping, false, "", &["gl-ob-ex", "acme-eu"]),
        (SortBy::Id, true, "", &["zoé"]),
        (SortBy::Tag, true, "", &["globex"]),
        (SortBy::Name, true, "globex", &["globex", "gl-ob-ex"]),
        (SortBy::Name, false, "globex", &["gl-ob-ex", "globex"]),
        (tier(), false, "", &["acme-eu", "globex"]),
        (tier(), true, "", &["globex", "acme-eu"]),
    ] {
        let found = find(&index, sorted_by(sort.clone(), reverse, text));
        assert_eq!(ids(&found)[..first.len()], *first, "{sort:?}");
    }
    for sort in SortBy::ALL {
        assert_eq!(find(&index, sorted_by(sort, false, "")).shown.len(), 4);
    }
}

#[test]
fn found_letters_are_marked_in_name_and_id() {
    let index = Index::of(&world());
    for (text, id, marks) in [
        ("acme", "acme-eu", [vec![0, 1, 2, 3], vec![0, 1, 2, 3]]),
        ("glx", "gl-ob-ex", [vec![], vec![0, 1, 7]]),
        ("größe", "zoé", [vec![6, 7, 8, 9, 10], vec![]]),
        // In the properties.
        ("gold", "acme-eu", [vec![], vec![]]),
    ] {
        let entry = index.number(id).and_then(|number| index.entry(number));
        let mut marker = Marker::of(&asked(text).query);
        assert_eq!(marker.marks(entry.expect("a group")), marks, "{text}");
    }
}

#[test]
fn a_group_keeps_its_number_when_it_or_others_change() {
    let mut index = Index::of(&world());
    let before = index.clone();
    let number = index.number("globex").expect("known");
    for (id, name) in [("globex", "Renamed"), ("aaa", "New"), ("aaa", "Newer")] {
        index.put(&group(id, name));
    }
    assert!(index != before && index.clone() == index);
    assert_eq!(index.number("globex"), Some(number));
    for (index, id, title) in [
        (&index, "globex", Some("Renamed")),
        (&index, "aaa", Some("Newer")),
        (&before, "globex", Some("Globex Retail")),
        (&before, "aaa", None),
    ] {
        let entry = index.number(id).and_then(|number| index.entry(number));
        assert_eq!(entry.map(super::row::Row::title), title, "{id}");
    }
    let by_id = find(&index, sorted_by(SortBy::Id, false, ""));
    assert_eq!(ids(&by_id), ["aaa", "acme-eu", "gl-ob-ex", "globex", "zoé"]);
}

#[test]
fn a_search_that_nobody_wants_stops() {
    let index = Index::of(&world());
    assert!(run_search(&index, asked("acme"), None, &|| false).is_none());
}

fn some_group() -> impl Strategy<Value = (String, String, String)> {
    ("[a-cé]{1,5}", "[A-Ca-c é]{0,6}", "[a-c12]{0,4}")
}

proptest! {
    #[test]
    fn narrowing_finds_what_a_search_from_the_beginning_finds(
        groups in prop::collection::btree_map("[a-cé]{1,5}", some_group(), 1..30),
        typed in "([abcé\" -]|tag:|map:|age>){0,8}",
        best_first in any::<bool>(),
    ) {
        let groups: Vec<KnownGroup> = groups.iter().map(|(id, (_, name, source))| {
            let mut group = group(id, name);
            group.mapping = known([("1".to_owned(), source.clone())].into_iter().collect());
            group
        }).collect();
        let mut sorted: Vec<_> = groups.iter().collect();
        sorted.sort_by(|a, b| a.id.cmp(&b.id));
        let index = Index::of(sorted);
        let mut before: Option<SearchResults> = None;
        for end in typed.char_indices().map(|(at, c)| at + c.len_utf8()) {
            let asked = SearchRequest { best_first, ..asked(&typed[..end]) };
            let narrowed = run_search(&index, asked.clone(), before.as_ref(), &|| true).expect("wanted");
            let whole = find(&index, asked);
            prop_assert_eq!(&narrowed.shown, &whole.shown);
            prop_assert_eq!(narrowed.loose, whole.loose);
            before = Some(narrowed);
        }
    }
}

proptest! {
    #[test]
    fn a_mended_order_is_the_one_from_the_beginning(
        groups in prop::collection::btree_map("[a-cé]{1,4}", some_group(), 0..20),
        changes in prop::collection::vec(("[a-cé]{1,4}", some_group()), 0..6),
        sort in 0..=SortBy::ALL.len(),
        reverse in any::<bool>(),
        typed in "[abcé]{0,2}",
    ) {
        let make = |id: &str, (tag, name, source): &(String, String, String)| {
            let mut group = group(id, name);
            if tag.len() > 2 {
                group.environment_tag = known(EnvironmentTag::parse(tag));
                group.last_seen = Some(NOW - SignedDuration::from_secs(tag.len() as i64));
                group.fingerprint = known(fingerprint(tag.len() as u8));
                let value = tag.parse::<i64>().map_or_else(|_| tag.as_str().into(), serde_json::Value::from);
                group.properties = known([("seats".to_owned(), value)].into_iter().collect());
            }
            if source.len() > 1 {
                group.mapping = known([("1".to_owned(), source.clone())].into_iter().collect());
            }
            group
        };
        let mut now: BTreeMap<String, KnownGroup> = BTreeMap::new();
        for (id, parts) in &groups {
            now.insert(id.clone(), make(id, parts));
        }
        let mut index = Index::of(now.values());
        let asked = SearchRequest { sort: SortBy::ALL.get(sort).cloned().unwrap_or_else(|| SortBy::Property("seats".into())), reverse, best_first: false, ..asked(&typed) };
        let mut before = find(&index, asked.clone());
        for (id, parts) in &changes {
            let group = make(id, parts);
            index.put(&group);
            now.insert(id.clone(), group);
            let mended = run_search(&index, asked.clone(), Some(&before), &|| true).expect("wanted");
            let whole = find(&Index::of(now.values()), asked.clone());
            prop_assert_eq!(ids(&mended), ids(&whole));
            let fresh = find(&index, asked.clone());
            prop_assert_eq!(ids(&fresh), ids(&whole));
            before = mended;
        }
    }
}

#[test]
fn every_group_is_in_one_range_and_the_ranges_are_in_order() {
    let many = 4 * GROUPS_PER_THREAD + 1;
    for count in [0, 1, GROUPS_PER_THREAD, many] {
        let ranges = in_ranges(count, &|range| range);
        let wanted = (count / GROUPS_PER_THREAD).clamp(1, *PROCESSORS);
        assert_eq!(ranges.len(), wanted, "{count}");
        assert!(ranges.into_iter().flatten().eq(0..count), "{count}");
    }
}

#[test]
fn many_are_found_in_their_order() {
    let groups = (0..24_576).map(|n| group(&format!("g{n:06}"), &format!("Group {}", n % 977)));
    let groups: Vec<_> = groups.collect();
    let index = Index::of(&groups);
    let has_7 =
        |group: &&KnownGroup| group.title().contains('7') || group.id.as_str().contains('7');
    let all: Vec<_> = groups.iter().filter(has_7).collect();
    let expected: Vec<_> = all.iter().map(|group| group.id.as_str()).collect();
    let by_id = sorted_by(SortBy::Id, false, "\"7\"");
    assert_eq!(ids(&find(&index, by_id)), expected);
    for reverse in [false, true] {
        let mut by_title = all.clone();
        by_title.sort_by(|a, b| {
            let titles = natural(&a.title().to_lowercase(), &b.title().to_lowercase());
            let titles = if reverse { titles.reverse() } else { titles };
            titles.then_with(|| a.id.cmp(&b.id))
        });
        let by_title: Vec<_> = by_title.iter().map(|group| group.id.as_str()).collect();
        let by_name = sorted_by(SortBy::Name, reverse, "\"7\"");
        assert_eq!(ids(&find(&index, by_name)), by_title);
    }
    let ranked = find(&index, asked("\"7\""));
    let best = ranked.index.entry(ranked.shown[0]).and_then(Row::name);
    assert_eq!(best, Some("Group 7"), "the word stands alone there");
    let mut all = ids(&ranked);
    all.sort_unstable();
    assert_eq!(all, expected);
}

#[test]
fn users_of_a_source_are_told_once_each() {
    let with = |id, rows: [(&str, &str); 2]| KnownGroup {
        mapping: known(mapping(&rows)),
        ..group(id, "")
    };
    let mut groups = world();
    groups.insert(3, with("odd", [("1\u{1f}", "77"), ("2", "77")]));
    let mut index = Index::of(&groups);
    index.put(&with("globex", [("1", "213"), ("2", "213")]));
    let mut told = Vec::new();
    index.each_use_of(&["213", "77", "40"], |entry, source| {
        told.push(format!("{} {source}", entry.id()));
    });
    assert_eq!(told, ["acme-eu 213", "globex 213", "odd 77"]);
}

proptest! {
    /// As if each row had been inserted at its old position, the upper ones first.
    #[test]
    fn rows_that_are_not_found_any_more_stand_where_they_stood(
        before in Just((0..40_u32).collect::<Vec<_>>()).prop_shuffle(),
        after in Just((0..40_u32).collect::<Vec<_>>()).prop_shuffle(),
        (was, is) in (0..=40_usize, 0..=40_usize),
    ) {
        let groups: Vec<_> = (0..40).map(|n| group(&format!("g{n:02}"), "")).collect();
        let found = find(&Index::of(&groups), asked(""));
        let showing = |shown: &[u32]| SearchResults { shown: shown.into(), ..found.clone() };
        let (old, new) = (showing(&before[..was]), showing(&after[..is]));
        let mut wanted = after[..is].to_vec();
        for (row, number) in before[..was].iter().enumerate() {
            if !after[..is].contains(number) {
                wanted.insert(row.min(wanted.len()), *number);
            }
        }
        let shown = new.keeping_rows_of(&old).map(|all| all.shown.to_vec());
        prop_assert_eq!(shown, (wanted.len() > is).then_some(wanted));
    }
}
