//! The packed copies of groups from which lists are read: whoever writes a group, a list shows its current values.

use std::sync::Arc;

use groupdesk::{
    directory::{FirstGroups, PlaceId, inspect},
    domain::known::KnownGroup,
    search::{Entry, GroupExtras, Index, Query, SearchRequest, SortBy, run_search},
};

use super::*;
use crate::support::world::wait_for;

const ALL: usize = 100;

async fn first_groups(directory: &Directory, place: PlaceId) -> FirstGroups {
    let first = directory.first_groups(place, SortBy::Name, false, (ALL, ALL));
    first.await.expect("readable")
}

/// All groups of a place, after checking that both ways of reading give the same.
async fn listed(directory: &Directory, place: PlaceId) -> Vec<KnownGroup> {
    let first = first_groups(directory, place).await;
    assert!(first.is_all);
    let groups: Vec<_> = first.index.entries().map(Entry::to_group).collect();
    assert_eq!(first.total, groups.len());
    let (builder, unreadable) = directory
        .load_groups(place, |_| true)
        .await
        .expect("readable");
    assert_eq!(unreadable, first.unreadable);
    let loaded = builder.finish();
    assert_eq!(
        loaded.entries().map(Entry::to_group).collect::<Vec<_>>(),
        groups
    );
    groups
}

fn by_hand(installation: &Opened, sql: &str) {
    let raw = installation.raw();
    assert!(raw.execute(sql, []).expect("SQL") > 0, "{sql}");
}

fn wrong_copies(installation: &Opened) -> u32 {
    let inspected = inspect(&installation.path()).expect("ours");
    inspected.contents.expect("of the newest schema").differing
}

#[tokio::test]
async fn groups_written_by_other_programs_are_listed_and_repaired() {
    let installation = Opened::new();
    let directory = installation.open();
    let eu = place(&directory, "eu");
    let records = ["b", "é", "a", "B", "aa"].map(|id| observation_record(observation(id, OLD, 0)));
    let written = directory.record_all(eu, records.to_vec()).await;
    written.expect("written");
    let full = directory
        .record(eu, observation_record(full_observation()))
        .await;
    full.expect("written");
    let groups = directory.groups(eu).await.expect("readable");
    assert_eq!(groups.len(), 6);
    assert_eq!(listed(&directory, eu).await, groups);
    assert_eq!(first_groups(&directory, eu).await.unreadable, []);

    // As a program that does not know the copies.
    for sql in [
        "UPDATE user_groups SET name = 'Zoë', origin = '{\"name\": [\"sent\", 1, \"li\"]}' WHERE user_group_id = 'a'",
        "INSERT INTO user_groups (place, user_group_id, name, origin) \
         SELECT place, 'new', 'Ärger', '{\"name\": [\"imported\", 1, \"li\"]}' FROM user_groups LIMIT 1",
        "DELETE FROM user_groups WHERE user_group_id = 'b'",
        "UPDATE user_groups SET user_group_id = 'bb' WHERE user_group_id = 'B'",
        "UPDATE user_groups SET fingerprint = zeroblob(32) WHERE user_group_id = 'aa'",
    ] {
        by_hand(&installation, sql);
        let groups = directory.groups(eu).await.expect("readable");
        assert_eq!(listed(&directory, eu).await, groups, "{sql}");
        assert_eq!(
            first_groups(&directory, eu).await.total,
            groups.len(),
            "{sql}"
        );
    }
    let unreadable = first_groups(&directory, eu).await.unreadable;
    assert_eq!(unreadable, ["a", "aa", "bb", "new"].map(id));
    let repaired = directory.repair_copies(eu, unreadable).await;
    repaired.expect("written");
    assert_eq!(first_groups(&directory, eu).await.unreadable, []);
    let groups = directory.groups(eu).await.expect("readable");
    assert_eq!(listed(&directory, eu).await, groups);
    drop(directory);
    assert_eq!(wrong_copies(&installation), 0);
}

#[tokio::test]
async fn a_wrong_copy_is_found_and_rebuilt() {
    let installation = Opened::new();
    let directory = installation.open();
    let eu = place(&directory, "eu");
    let records = ["a", "b", "c"].map(|id| observation_record(observation(id, OLD, 0)));
    let written = directory.record_all(eu, records.to_vec()).await;
    written.expect("written");
    let groups = directory.groups(eu).await.expect("readable");
    drop(directory);
    assert_eq!(wrong_copies(&installation), 0);
    for sql in [
        "UPDATE packed_groups SET packed = zeroblob(7) WHERE user_group_id = 'a'",
        "UPDATE packed_groups SET title = 'zz' WHERE user_group_id = 'a'",
        "DELETE FROM packed_groups WHERE user_group_id = 'c'",
        "UPDATE group_counts SET groups = 7",
        "INSERT INTO group_counts (place, groups) VALUES (99, 3)",
        "DELETE FROM group_counts",
    ] {
        by_hand(&installation, sql);
        assert_eq!(wrong_copies(&installation), 1, "{sql}");
        let directory = installation.open();
        directory.rebuild_copies().await.expect("written");
        assert_eq!(listed(&directory, eu).await, groups, "{sql}");
        drop(directory);
        assert_eq!(wrong_copies(&installation), 0, "{sql}");
    }
}

#[tokio::test]
async fn a_damaged_copy_is_repaired_as_an_empty_one_is() {
    let installation = Opened::new();
    let directory = installation.open();
    let eu = place(&directory, "eu");
    let records = ["a", "b", "c"].map(|id| observation_record(observation(id, OLD, 0)));
    let written = directory.record_all(eu, records.to_vec()).await;
    written.expect("written");
    let groups = directory.groups(eu).await.expect("readable");
    by_hand(
        &installation,
        "UPDATE packed_groups SET packed = zeroblob(7) WHERE user_group_id = 'b'",
    );
    assert_eq!(listed(&directory, eu).await, groups);
    let unreadable = first_groups(&directory, eu).await.unreadable;
    assert_eq!(unreadable, [id("b")]);
    let repaired = directory.repair_copies(eu, unreadable).await;
    repaired.expect("written");
    assert_eq!(first_groups(&directory, eu).await.unreadable, []);
    drop(directory);
    assert_eq!(wrong_copies(&installation), 0);
}

#[tokio::test]
async fn a_lost_index_is_rebuilt_with_the_copies() {
    let installation = Opened::new();
    let directory = installation.open();
    place(&directory, "eu");
    let schema = |installation: &Opened| -> Vec<String> {
        let raw = installation.raw();
        let mut schema = raw
            .prepare("SELECT sql FROM sqlite_schema WHERE tbl_name = 'packed_groups' AND sql <> '' ORDER BY name")
            .expect("SQL");
        let schema = schema.query_map([], |row| row.get(0)).expect("SQL");
        schema.collect::<Result<_, _>>().expect("texts")
    };
    let before = schema(&installation);
    assert_eq!(before.len(), 2, "{before:?}");
    for drops in [false, true] {
        if drops {
            let raw = installation.raw();
            raw.execute_batch("DROP INDEX packed_groups_by_title")
                .expect("SQL");
        }
        directory.rebuild_copies().await.expect("written");
        assert_eq!(schema(&installation), before);
    }
}

/// Moving groups from one place to another, or removing values, keeps the copies right.
#[tokio::test]
async fn copies_are_right_after_an_alarm_is_resolved_and_after_places_are_merged() {
    let installation = Opened::new();
    let directory = installation.open();
    let eu = place(&directory, "eu");
    let full = directory
        .record(eu, observation_record(full_observation()))
        .await;
    full.expect("written");
    let groups = directory.groups(eu).await.expect("readable");
    assert!(groups[0].environment_tag.is_some(), "{groups:?}");
    let acknowledged = directory.acknowledge(eu, None, second(9), "ana", "seen");
    acknowledged.await.expect("written");
    let groups = directory.groups(eu).await.expect("readable");
    assert!(groups[0].environment_tag.is_none(), "{groups:?}");
    assert_eq!(listed(&directory, eu).await, groups);
    assert_eq!(first_groups(&directory, eu).await.unreadable, []);

    let us = place(&directory, "us");
    let records = ["acme", "b"].map(|id| observation_record(observation(id, NEW, 5)));
    let written = directory.record_all(us, records.to_vec()).await;
    written.expect("written");
    let merged = directory.merge_places(us, eu, second(1_000), "ana").await;
    merged.expect("written").expect("nothing is under way");
    let groups = directory.groups(eu).await.expect("readable");
    assert_eq!(groups.len(), 2);
    assert_eq!(
        groups[0].fingerprint.as_ref().map(|known| known.value),
        Some(NEW)
    );
    assert_eq!(listed(&directory, eu).await, groups);
    assert_eq!(first_groups(&directory, eu).await.unreadable, []);
    drop(directory);
    assert_eq!(wrong_copies(&installation), 0);
}

/// Of two values of one group the one that was recorded later is the current one, whatever the clocks said.
#[tokio::test]
async fn of_merged_places_the_values_recorded_later_are_the_current_ones() {
    for (first, then) in [("eu", "us"), ("us", "eu")] {
        let installation = Opened::new();
        let directory = installation.open();
        // The clock of whoever recorded the old ones was ahead.
        for (name, token, at) in [(first, OLD, 5_000), (then, NEW, 5)] {
            let place = place(&directory, name);
            for (token, value) in [(Fingerprint::from_bytes([9; 32]), "before"), (token, name)] {
                let mut observation = observation("acme", token, at);
                if let Some(returned) = &mut observation.returned {
                    returned.name = Some(value.into());
                }
                let written = directory
                    .record(place, observation_record(observation))
                    .await;
                written.expect("written");
            }
        }
        let (us, eu) = (place(&directory, "us"), place(&directory, "eu"));
        let merged = directory.merge_places(us, eu, second(1_000), "ana").await;
        merged.expect("written").expect("nothing is under way");
        let groups = directory.groups(eu).await.expect("readable");
        let token = groups[0].fingerprint.as_ref().map(|known| known.value);
        assert_eq!(token, Some(NEW), "{first} first");
        let name = groups[0].name.as_ref().map(|known| known.value.as_str());
        assert_eq!(name, Some(then), "{first} first");
    }
}

/// One number stands for name, mapping and properties: a later change of the name brings back no older mapping.
#[tokio::test]
async fn of_merged_places_a_later_name_brings_back_no_older_mapping() {
    for (first, then) in [("eu", "us"), ("us", "eu")] {
        let installation = Opened::new();
        let directory = installation.open();
        let record = async |name: &str, at: i64, sent: Sent| {
            let place = place(&directory, name);
            let observation = Observation {
                sent,
                ..observation("acme", OLD, at)
            };
            let written = directory
                .record(place, observation_record(observation))
                .await;
            written.expect("written");
        };
        let mapping = |source: &str| Sent {
            mapping: Some([("7".to_owned(), source.to_owned())].into_iter().collect()),
            ..Sent::default()
        };
        let named = |name: &str| Sent {
            name: Some(name.to_owned()),
            ..Sent::default()
        };
        record(then, 1, mapping("old")).await;
        record(first, 2, mapping("before")).await;
        record(first, 9, mapping("new")).await;
        record(then, 10, named("before")).await;
        record(then, 11, named("later")).await;
        let (us, eu) = (place(&directory, "us"), place(&directory, "eu"));
        let merged = directory.merge_places(us, eu, second(1_000), "ana").await;
        merged.expect("written").expect("nothing is under way");
        let groups = directory.groups(eu).await.expect("readable");
        let name = groups[0].name.as_ref().map(|known| known.value.as_str());
        assert_eq!(name, Some("later"));
        let mapping = groups[0].mapping.as_ref().expect("known");
        assert_eq!(mapping.value["7"], "new", "{first} first");
    }
}

#[tokio::test]
async fn the_first_groups_are_the_first_by_the_order() {
    let installation = Opened::new();
    let directory = installation.open();
    let eu = place(&directory, "eu");
    let ids = ["d", "B", "c", "a", "Ä", "e"];
    let records = ids.map(|id| observation_record(observation(id, OLD, 0)));
    let written = directory.record_all(eu, records.to_vec()).await;
    written.expect("written");
    for (sort, reverse, expected) in [
        (SortBy::Name, false, &["a", "B", "c"][..]),
        (SortBy::Name, true, &["Ä", "e", "d"]),
        (SortBy::Id, false, &["B", "a", "c"]),
        (SortBy::Id, true, &["Ä", "e", "d"]),
        (SortBy::Seen, false, &[]),
    ] {
        let first = directory.first_groups(eu, sort.clone(), reverse, (5, 3));
        let first = first.await.expect("readable");
        assert!(!first.is_all && first.total == 6, "{sort:?}");
        let mut found: Vec<_> = first.index.entries().map(Entry::id).collect();
        found.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "{sort:?} {reverse}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn first_rows_are_the_beginning_of_the_whole_order(
        groups in prop::collection::btree_map("[a-cA-C\u{e9}0-2]{1,3}", "[a-cA-B\u{e9}\u{c9} ]{0,2}[0-2]{0,3}", 2..12),
        by_id: bool,
        reverse: bool,
        some in 1..12_usize,
    ) {
        let installation = Opened::new();
        let directory = installation.open();
        let eu = place(&directory, "eu");
        let records = groups.iter().map(|(id, name)| {
            let mut observation = observation(id, OLD, 0);
            if let Some(returned) = &mut observation.returned {
                returned.name = Some(name.clone());
            }
            observation_record(observation)
        });
        wait_for(directory.record_all(eu, records.collect())).expect("written");
        let sort = if by_id { SortBy::Id } else { SortBy::Name };
        let asked = SearchRequest {
            query: Query::default(),
            sort: sort.clone(),
            reverse,
            best_first: false,
            open: Arc::default(),
            extras: GroupExtras::default(),
            at: second(0),
        };
        let all = wait_for(directory.first_groups(eu, SortBy::Id, false, (100, 100)));
        let order = |index: &Index| {
            let found = run_search(index, asked.clone(), None, &|| true).expect("wanted");
            let ids = found.shown.iter().filter_map(|number| index.entry(*number));
            ids.map(|entry| entry.id().to_owned()).collect::<Vec<_>>()
        };
        let all = order(&all.expect("readable").index);
        prop_assert_eq!(all.len(), groups.len());
        let first = wait_for(directory.first_groups(eu, sort, reverse, (1, some)));
        let first = order(&first.expect("readable").index);
        prop_assert_eq!(&first[..], &all[..some.min(all.len())]);
    }
}
