//! Lists of a file: after other programs wrote it, after places were merged, and while the index of titles is dropped.

use groupdesk::{
    directory::{FirstGroups, PlaceId, Statement},
    domain::{
        facts::{Basis, Fact, RESTORED},
        known::KnownGroup,
    },
    search::{Row, SortBy},
};

use super::*;

const ALL: usize = 100;

async fn first_groups(directory: &Directory, place: PlaceId) -> FirstGroups {
    let first = directory.first_groups(place, SortBy::Name, false, (ALL, ALL));
    first.await.expect("readable")
}

/// All groups of a place, after checking that both ways of reading give the same.
async fn listed(directory: &Directory, place: PlaceId) -> Vec<KnownGroup> {
    let first = first_groups(directory, place).await;
    assert!(first.is_all);
    let groups: Vec<_> = first.index.entries().map(Row::to_group).collect();
    assert_eq!(first.total, groups.len());
    let builder = directory.load_groups(place, |_| true).await;
    let loaded = builder.expect("readable").finish();
    assert_eq!(
        loaded.entries().map(Row::to_group).collect::<Vec<_>>(),
        groups
    );
    groups
}

/// The ids that would be shown first, in the order of their titles.
async fn first_by_name(directory: &Directory, place: PlaceId) -> Vec<String> {
    let mut ids = Vec::new();
    for some in 1.. {
        let first = directory.first_groups(place, SortBy::Name, false, (0, some));
        let index = first.await.expect("readable").index;
        let new = index
            .entries()
            .map(Row::id)
            .find(|id| !ids.iter().any(|known| known == id));
        let Some(new) = new else {
            break;
        };
        ids.push(new.to_owned());
    }
    ids
}

#[tokio::test]
async fn groups_written_by_other_programs_are_listed() {
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

    // As a program that does not know of titles.
    for sql in [
        "UPDATE user_groups SET name = 'Zo\u{eb}', origin = '{\"name\": [\"sent\", 1, \"li\"]}' WHERE user_group_id = 'a'",
        "INSERT INTO user_groups (place, user_group_id, name, origin) \
         SELECT place, 'new', '\u{c4}rger', '{\"name\": [\"imported\", 1, \"li\"]}' FROM user_groups LIMIT 1",
        "DELETE FROM user_groups WHERE user_group_id = 'b'",
        "UPDATE user_groups SET user_group_id = 'bb' WHERE user_group_id = 'B'",
        "UPDATE user_groups SET fingerprint = zeroblob(32) WHERE user_group_id = 'aa'",
    ] {
        let raw = installation.raw();
        assert!(raw.execute(sql, []).expect("SQL") > 0, "{sql}");
        let groups = directory.groups(eu).await.expect("readable");
        assert_eq!(listed(&directory, eu).await, groups, "{sql}");
        assert_eq!(
            first_groups(&directory, eu).await.total,
            groups.len(),
            "{sql}"
        );
    }
    // A row without a title is only listed with all of them.
    let first = first_by_name(&directory, eu).await;
    assert!(!first.contains(&"new".to_owned()), "{first:?}");
}

#[tokio::test]
async fn an_index_that_is_dropped_for_filling_is_created_as_it_was() {
    let installation = Opened::new();
    let directory = installation.open();
    place(&directory, "eu");
    let schema = |installation: &Opened| -> Vec<String> {
        let raw = installation.raw();
        let mut schema = raw
            .prepare("SELECT sql FROM sqlite_schema WHERE tbl_name = 'user_groups' AND sql <> '' ORDER BY name")
            .expect("SQL");
        let schema = schema.query_map([], |row| row.get(0)).expect("SQL");
        schema.collect::<Result<_, _>>().expect("texts")
    };
    let before = schema(&installation);
    let is_index = |sql: &String| sql.contains("(place, title)");
    assert!(before.iter().any(is_index), "{before:?}");
    directory.begin_filling().await.expect("written");
    assert!(!schema(&installation).iter().any(is_index));
    directory.end_filling().await.expect("written");
    assert_eq!(schema(&installation), before);
}

/// Renaming a group, moving groups from one place to another, or removing values keeps lists and titles right.
#[tokio::test]
async fn lists_are_right_after_an_alarm_is_resolved_and_after_places_are_merged() {
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

    let us = place(&directory, "us");
    let records = [named("acme", "Zorn", 5), named("b", "Anger", 5)];
    let written = directory.record_all(us, records.to_vec()).await;
    written.expect("written");
    assert_eq!(first_by_name(&directory, us).await, ["b", "acme"]);
    let groups = merged(&directory).await;
    assert_eq!(groups.len(), 2);
    let token = groups[0].fingerprint.as_ref().map(|known| known.value);
    assert_eq!(token, Some(NEW));
    assert_eq!(listed(&directory, eu).await, groups);
    assert_eq!(first_by_name(&directory, eu).await, ["b", "acme"]);
    recorded(&directory, named("acme", "\u{c0} la carte", 2_000)).await;
    assert_eq!(first_by_name(&directory, eu).await, ["b", "acme"]);
    recorded(&directory, named("acme", "Advent", 3_000)).await;
    assert_eq!(first_by_name(&directory, eu).await, ["acme", "b"]);
}

/// The groups after `us` was found to be the same as `eu`.
async fn merged(directory: &Directory) -> Vec<KnownGroup> {
    let (us, eu) = (place(directory, "us"), place(directory, "eu"));
    let merged = directory.merge_places(us, eu, second(1_000), "ana").await;
    merged.expect("written").expect("nothing is under way");
    groups(directory).await
}

/// Of two values of one group the one that was recorded later is the current one, whatever the clocks said.
#[tokio::test]
async fn of_merged_places_the_values_recorded_later_are_the_current_ones() {
    for (first, then) in [("eu", "us"), ("us", "eu")] {
        let installation = Opened::new();
        let directory = installation.open();
        // The clock of whoever recorded the old ones was ahead.
        for (profile, token, at) in [(first, OLD, 5_000), (then, NEW, 5)] {
            for (token, value) in [(fp(9), "before"), (token, profile)] {
                let mut record = named("acme", value, at);
                let observation = record.observation.as_mut().expect("one");
                observation
                    .returned
                    .as_mut()
                    .expect("an answer")
                    .fingerprint = token;
                let place = place(&directory, profile);
                let written = directory.record(place, record).await;
                written.expect("written");
            }
        }
        let groups = merged(&directory).await;
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
        let record = async |name: &str, at: i64, sent: DesiredFields| {
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
        let mapping = |source: &str| DesiredFields {
            mapping: Some([("7".to_owned(), source.to_owned())].into_iter().collect()),
            ..DesiredFields::default()
        };
        let named = |name: &str| DesiredFields {
            name: Some(name.to_owned()),
            ..DesiredFields::default()
        };
        record(then, 1, mapping("old")).await;
        record(first, 2, mapping("before")).await;
        record(first, 9, mapping("new")).await;
        record(then, 10, named("before")).await;
        record(then, 11, named("later")).await;
        let groups = merged(&directory).await;
        let name = groups[0].name.as_ref().map(|known| known.value.as_str());
        assert_eq!(name, Some("later"));
        let mapping = groups[0].mapping.as_ref().expect("known");
        assert_eq!(mapping.value["7"], "new", "{first} first");
    }
}

/// Of two places of a restored directory neither is known better for being merged.
#[tokio::test]
async fn of_merged_places_the_later_mark_of_a_restore_stays() {
    for marked in [&["us"][..], &["eu"], &["us", "eu"], &["eu", "us"]] {
        let installation = Opened::new();
        let directory = installation.open();
        for name in ["us", "eu"] {
            place(&directory, name);
        }
        for (name, at) in marked.iter().zip(7..) {
            let statement = Statement {
                fact: Fact::SoleWriter(false),
                basis: Basis::Proven,
                at: second(at),
                by: RESTORED.into(),
            };
            let place = place(&directory, name);
            let stated = directory.state_facts(place, vec![statement]).await;
            stated.expect("written");
        }
        merged(&directory).await;
        let facts = directory.facts(place(&directory, "eu")).await;
        let facts = facts.expect("readable");
        let last = second(6 + marked.len() as i64);
        assert_eq!(facts.restored_at(), Some(last), "{marked:?}");
    }
}
