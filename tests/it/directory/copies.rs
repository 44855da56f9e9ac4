//! The packed copies that lists are read from: whoever writes a group, a list shows what the group itself says.

use groupdesk::{
    directory::{FirstGroups, PlaceId, inspect},
    domain::known::KnownGroup,
    search::{Entry, SortBy},
};

use super::*;

const ALL: usize = 100;

async fn first(directory: &Directory, place: PlaceId) -> FirstGroups {
    let first = directory.first_groups(place, SortBy::Name, false, (ALL, ALL));
    first.await.expect("readable")
}

/// The same, whether the first ones are read or all.
async fn listed(directory: &Directory, place: PlaceId) -> Vec<KnownGroup> {
    let first = first(directory, place).await;
    assert!(first.is_all);
    let groups: Vec<_> = first.index.entries().map(Entry::whole).collect();
    assert_eq!(first.total, groups.len());
    let (builder, empty) = directory
        .load_groups(place, |_| true)
        .await
        .expect("readable");
    assert_eq!(empty, first.empty);
    let loaded = builder.finish();
    assert_eq!(
        loaded.entries().map(Entry::whole).collect::<Vec<_>>(),
        groups
    );
    groups
}

fn by_hand(installation: &Opened, sql: &str) {
    let raw = installation.raw();
    assert!(raw.execute(sql, []).expect("SQL") > 0, "{sql}");
}

fn differing(installation: &Opened) -> u32 {
    let inspected = inspect(&installation.path()).expect("ours");
    inspected.contents.expect("of the newest schema").differing
}

#[tokio::test]
async fn what_any_program_writes_is_listed_and_mended() {
    let installation = Opened::new();
    let directory = installation.open();
    let eu = place(&directory, "eu");
    let records = ["b", "é", "a", "B", "aa"].map(|id| learnt(observation(id, OLD, 0)));
    let written = directory.record_all(eu, records.to_vec()).await;
    written.expect("written");
    let full = directory.record(eu, learnt(full_observation())).await;
    full.expect("written");
    let groups = directory.groups(eu).await.expect("readable");
    assert_eq!(groups.len(), 6);
    assert_eq!(listed(&directory, eu).await, groups);
    assert_eq!(first(&directory, eu).await.empty, 0);

    // As a program does that knows nothing of copies.
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
        assert_eq!(first(&directory, eu).await.total, groups.len(), "{sql}");
    }
    let empty = first(&directory, eu).await.empty;
    assert_eq!(empty, 4);
    assert_eq!(directory.mend_copies(eu).await.expect("written"), empty);
    assert_eq!(first(&directory, eu).await.empty, 0);
    let groups = directory.groups(eu).await.expect("readable");
    assert_eq!(listed(&directory, eu).await, groups);
    drop(directory);
    assert_eq!(differing(&installation), 0);
}

#[tokio::test]
async fn a_copy_that_says_something_else_is_found_and_made_anew() {
    let installation = Opened::new();
    let directory = installation.open();
    let eu = place(&directory, "eu");
    let records = ["a", "b", "c"].map(|id| learnt(observation(id, OLD, 0)));
    let written = directory.record_all(eu, records.to_vec()).await;
    written.expect("written");
    let groups = directory.groups(eu).await.expect("readable");
    drop(directory);
    assert_eq!(differing(&installation), 0);
    for sql in [
        "UPDATE packed_groups SET packed = zeroblob(7) WHERE user_group_id = 'a'",
        "UPDATE packed_groups SET title = 'zz' WHERE user_group_id = 'a'",
        "DELETE FROM packed_groups WHERE user_group_id = 'c'",
        "UPDATE group_counts SET groups = 7",
    ] {
        by_hand(&installation, sql);
        assert_eq!(differing(&installation), 1, "{sql}");
        let directory = installation.open();
        directory.rebuild_copies().await.expect("written");
        assert_eq!(listed(&directory, eu).await, groups, "{sql}");
        drop(directory);
        assert_eq!(differing(&installation), 0, "{sql}");
    }
}

#[tokio::test]
async fn the_first_ones_are_those_of_the_order() {
    let installation = Opened::new();
    let directory = installation.open();
    let eu = place(&directory, "eu");
    let ids = ["d", "B", "c", "a", "Ä", "e"];
    let records = ids.map(|id| learnt(observation(id, OLD, 0)));
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
