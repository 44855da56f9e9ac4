//! Ranking, conditions, orders, and that narrowing a search gives the same result as a new one.

mod apart;
mod self_match;

use std::time::Duration;

use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;
use crate::domain::{
    annotation::{Annotation, Label},
    group::EnvironmentTag,
    known::{Known, KnownGroup, LastRotated, Source},
    token::Fingerprint,
};

const NOW: Timestamp = Timestamp::constant(1_793_000_000, 0);

#[expect(clippy::unnecessary_wraps, reason = "it fills optional fields")]
fn known<T>(value: T) -> Option<Known<T>> {
    Some(Known {
        value,
        source: Source::Returned,
        at: NOW,
        by: "ana".into(),
    })
}

fn group(id: &str, name: &str) -> KnownGroup {
    let mut group = KnownGroup::new(UserGroupId::parse(id).expect("an ID"));
    group.name = (!name.is_empty()).then(|| known(name.to_owned())).flatten();
    group
}

fn world() -> Vec<KnownGroup> {
    let mut acme = group("acme-eu", "Acme Europe");
    acme.environment_tag = known(EnvironmentTag::Customer);
    acme.mapping = known(
        [("40", "213"), ("134", "386")]
            .map(|(schema, source)| (schema.to_owned(), source.to_owned()))
            .into_iter()
            .collect(),
    );
    acme.properties =
        known(serde_json::from_str(r#"{"tier":"Gold","seats":12}"#).expect("an object"));
    acme.fingerprint = known(Fingerprint::from_bytes([0x3f; 32]));
    acme.team_id = known(7_701);
    acme.last_rotated = Some(LastRotated {
        at: NOW - SignedDuration::from_hours(24 * 100),
        by: None,
    });
    let mut globex = group("globex", "Globex Retail");
    globex.environment_tag = known(EnvironmentTag::Testing);
    globex.properties = known(serde_json::from_str(r#"{"tier":"silver"}"#).expect("an object"));
    globex.last_rotated = Some(LastRotated {
        at: NOW - SignedDuration::from_hours(24),
        by: Some("ana@bastion2".into()),
    });
    let mut lost = group("gl-ob-ex", "");
    lost.mapping = known([("7".to_owned(), "2130".to_owned())].into_iter().collect());
    if let Some(mapping) = &mut lost.mapping {
        (mapping.source, mapping.by) = (Source::Sent, "Li@desk".into());
    }
    // Never rotated, but seen when it was created.
    let mut zoe = group("zoé", "Zoé & Größe");
    zoe.created_at = Some(NOW - SignedDuration::from_hours(24 * 95));
    let mut groups = vec![acme, globex, lost, zoe];
    groups.sort_by(|a, b| a.id.cmp(&b.id));
    groups
}

fn extras() -> GroupExtras {
    let id = |text: &str| UserGroupId::parse(text).expect("an ID");
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
        open: Arc::new(BTreeMap::from([(
            UserGroupId::parse("globex").expect("an ID"),
            State::Unknown,
        )])),
        extras: extras(),
        at: NOW,
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
fn a_name_is_found_as_it_is_written_in_any_script() {
    let names = [
        "İstanbul Şubesi",
        "ΣΑΣ Ελλάς",
        "STRASSE & Größe",
        "ǅungla",
        "K-Å",
        "ﬁn",
        "Zoe\u{301} (in parts)",
        // Signs that join what follows them, and a line break of two characters.
        "\u{6dd}\u{fffd}\u{fffd}s",
        "?m\u{70f}:ag\u{fffd}=",
        "one\r\ntwo",
        // A mark whose lower case is a letter.
        ":m\u{345}\u{fffd}\u{fffd}I",
    ];
    let groups: Vec<_> = (0..)
        .zip(names)
        .map(|(n, name)| group(&format!("g{n}"), name))
        .collect();
    let index = Index::of(&groups);
    for (number, name) in (0..).zip(names) {
        for text in [name.to_owned(), format!("\"{name}\"")] {
            let found = find(&index, asked(&text));
            assert!(
                ids(&found).contains(&format!("g{number}").as_str()),
                "{text}"
            );
        }
    }
    assert_eq!(ids(&find(&index, asked("istanbul şubesi"))), ["g0"]);
}

#[test]
fn the_best_match_comes_first_and_scattered_letters_last() {
    let index = Index::of(&world());
    let found = find(&index, asked("globex"));
    assert_eq!(ids(&found), ["globex", "gl-ob-ex"]);
    assert_eq!(found.loose, 1);
    assert!(found.is_exact(found.shown[0]) && !found.is_exact(found.shown[1]));

    let groups = ["acme-eu-old", "xacme-eu", "acme-eu", "a-c-m-e-eu"].map(|id| group(id, ""));
    let mut groups = groups.to_vec();
    groups.sort_by(|a, b| a.id.cmp(&b.id));
    let found = find(&Index::of(&groups), asked("acme-eu"));
    assert_eq!(
        ids(&found),
        ["acme-eu", "acme-eu-old", "xacme-eu", "a-c-m-e-eu"],
        "the whole, the beginning, inside, scattered"
    );
}

#[test]
fn a_column_orders_what_was_found_and_the_unknown_stands_last() {
    let index = Index::of(&world());
    let by = |sort, reverse, text: &str| {
        let asked = SearchRequest {
            sort,
            reverse,
            best_first: false,
            ..asked(text)
        };
        let found = find(&index, asked);
        ids(&found)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        by(SortBy::Rotated, false, ""),
        ["acme-eu", "globex", "gl-ob-ex", "zoé"]
    );
    assert_eq!(
        by(SortBy::Rotated, true, ""),
        ["globex", "acme-eu", "gl-ob-ex", "zoé"]
    );
    assert_eq!(by(SortBy::Mapping, false, "")[..2], ["gl-ob-ex", "acme-eu"]);
    assert_eq!(by(SortBy::Id, true, "")[0], "zoé");
    assert_eq!(by(SortBy::Tag, true, "")[0], "globex");
    assert_eq!(by(SortBy::Name, true, "globex"), ["globex", "gl-ob-ex"]);
    assert_eq!(by(SortBy::Name, false, "globex"), ["gl-ob-ex", "globex"]);
    assert_eq!(
        by(SortBy::Property("tier".into()), false, "")[..2],
        ["acme-eu", "globex"]
    );
    assert_eq!(
        by(SortBy::Property("tier".into()), true, "")[..2],
        ["globex", "acme-eu"]
    );
    for sort in SortBy::ALL {
        assert_eq!(by(sort.clone(), false, "").len(), 4, "{sort:?}");
    }
}

#[test]
fn found_letters_are_marked_in_name_and_id() {
    let index = Index::of(&world());
    let marks = |text: &str, id: &str| {
        let entry = index.number(id).and_then(|number| index.entry(number));
        Marker::of(&asked(text).query).marks(entry.expect("a group"))
    };
    assert_eq!(
        marks("acme", "acme-eu"),
        [vec![0, 1, 2, 3], vec![0, 1, 2, 3]]
    );
    assert_eq!(marks("glx", "gl-ob-ex"), [vec![], vec![0, 1, 7]]);
    assert_eq!(marks("größe", "zoé"), [vec![6, 7, 8, 9, 10], vec![]]);
    assert_eq!(
        marks("gold", "acme-eu"),
        [Vec::<usize>::new(), Vec::new()],
        "it is in the properties"
    );
}

#[test]
fn a_group_keeps_its_number_when_it_or_others_change() {
    let mut index = Index::of(&world());
    let before = index.clone();
    let number = index.number("globex").expect("known");
    index.put(&group("globex", "Renamed"));
    index.put(&group("aaa", "New"));
    index.put(&group("aaa", "Newer"));
    assert!(index != before && index.clone() == index);
    assert_eq!(index.number("globex"), Some(number));
    let title = |index: &Index, id: &str| {
        let entry = index.number(id).and_then(|number| index.entry(number));
        entry.map(|entry| entry.title().to_owned())
    };
    assert_eq!(title(&index, "globex").as_deref(), Some("Renamed"));
    assert_eq!(title(&index, "aaa").as_deref(), Some("Newer"));
    assert_eq!(title(&before, "globex").as_deref(), Some("Globex Retail"));
    assert_eq!(title(&before, "aaa"), None);
    assert_eq!(index.len(), 5);
    let by_id = SearchRequest {
        sort: SortBy::Id,
        ..asked("")
    };
    assert_eq!(
        ids(&find(&index, by_id)),
        ["aaa", "acme-eu", "gl-ob-ex", "globex", "zoé"]
    );
}

#[test]
fn numbers_in_names_and_ids_are_sorted_by_value() {
    let names = [
        "Acme 114",
        "acme 12",
        "ACME 2",
        "Acme",
        "Ärger 10",
        "ärger 9",
        "12",
        "9",
    ];
    let mut groups: Vec<_> = ["g114", "g12", "G2", "g2", "g02", "g", "h10", "10"]
        .iter()
        .zip(names)
        .map(|(id, name)| group(id, name))
        .collect();
    groups.sort_by(|a, b| a.id.cmp(&b.id));
    let index = Index::of(&groups);
    let by = |sort: SortBy, reverse| {
        let asked = SearchRequest {
            sort: sort.clone(),
            reverse,
            best_first: false,
            ..asked("")
        };
        let found = find(&index, asked);
        let entries = found
            .shown
            .iter()
            .map(|at| index.entry(*at).expect("a group"));
        let text = |entry: Entry<'_>| match sort {
            SortBy::Id => entry.id().to_owned(),
            _ => entry.title().to_owned(),
        };
        entries.map(text).collect::<Vec<_>>()
    };
    let names = [
        "9",
        "12",
        "Acme",
        "ACME 2",
        "acme 12",
        "Acme 114",
        "ärger 9",
        "Ärger 10",
    ];
    let ids = ["10", "G2", "g", "g02", "g2", "g12", "g114", "h10"];
    assert_eq!(by(SortBy::Name, false), names);
    assert_eq!(by(SortBy::Id, false), ids);
    let mut backwards = names;
    backwards.reverse();
    assert_eq!(by(SortBy::Name, true), backwards);
    // Equal ones stand in the same order in either direction.
    let backwards = ["h10", "g114", "g12", "g02", "g2", "g", "G2", "10"];
    assert_eq!(by(SortBy::Id, true), backwards);
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
                group.fingerprint = known(Fingerprint::from_bytes([tag.len() as u8; 32]));
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
    let groups: Vec<_> = (0..24_576)
        .map(|number| group(&format!("g{number:06}"), &format!("Group {}", number % 977)))
        .collect();
    let index = Index::of(&groups);
    let by_column = SearchRequest {
        sort: SortBy::Id,
        best_first: false,
        ..asked("\"7\"")
    };
    let expected: Vec<_> = groups
        .iter()
        .filter(|group| group.title().contains('7') || group.id.as_str().contains('7'))
        .map(|group| group.id.as_str())
        .collect();
    assert_eq!(ids(&find(&index, by_column.clone())), expected);
    for reverse in [false, true] {
        let by_name = SearchRequest {
            sort: SortBy::Name,
            reverse,
            ..by_column.clone()
        };
        let mut by_title: Vec<_> = groups
            .iter()
            .filter(|group| expected.binary_search(&group.id.as_str()).is_ok())
            .collect();
        by_title.sort_by(|a, b| {
            let titles = natural(&a.title().to_lowercase(), &b.title().to_lowercase());
            let titles = if reverse { titles.reverse() } else { titles };
            titles.then_with(|| a.id.cmp(&b.id))
        });
        let by_title: Vec<_> = by_title.iter().map(|group| group.id.as_str()).collect();
        assert_eq!(ids(&find(&index, by_name)), by_title);
    }
    let ranked = find(&index, asked("\"7\""));
    let mut all = ids(&ranked);
    assert_eq!(
        ranked.index.entry(ranked.shown[0]).and_then(Row::name),
        Some("Group 7"),
        "the word stands alone there"
    );
    all.sort_unstable();
    assert_eq!(all, expected);
}

#[test]
fn users_of_a_source_are_told_once_each() {
    let rows = |rows: [(&str, &str); 2]| {
        let rows = rows.map(|(schema, source)| (schema.to_owned(), source.to_owned()));
        known(rows.into_iter().collect())
    };
    let mut odd = group("odd", "");
    odd.mapping = rows([("1\u{1f}", "77"), ("2", "77")]);
    let mut groups = world();
    groups.push(odd);
    groups.sort_by(|a, b| a.id.cmp(&b.id));
    let mut index = Index::of(&groups);
    let mut twice = group("globex", "");
    twice.mapping = rows([("1", "213"), ("2", "213")]);
    index.put(&twice);
    let mut told = Vec::new();
    index.each_use_of(&["213", "77", "40"], |entry, source| {
        told.push((entry.id().to_owned(), source));
    });
    let told: Vec<_> = told
        .iter()
        .map(|(id, source)| (id.as_str(), *source))
        .collect();
    assert_eq!(told, [("acme-eu", "213"), ("globex", "213"), ("odd", "77")]);
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
