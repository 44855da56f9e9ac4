//! Groups, history and token owners: what is recorded, what stays, and in which order it is returned.

use crate::support::world::place;
use groupdesk::search::{ListColumn, ListView, SortBy};

use super::*;

#[tokio::test]
async fn fields_missing_in_an_answer_stay() {
    let installation = Opened::new();
    let directory = installation.open();
    let first = directory
        .record(
            place(&directory, "eu"),
            observation_record(full_observation()),
        )
        .await
        .expect("written")
        .group
        .expect("a group");
    let silent = directory
        .record(
            place(&directory, "eu"),
            observation_record(observation("acme", NEW, 5)),
        )
        .await
        .expect("written");
    assert!(silent.noticed.token_changed_elsewhere);
    let group = silent.group.expect("a group");
    assert_eq!(
        (&group.name, &group.mapping, &group.properties),
        (&first.name, &first.mapping, &first.properties)
    );
    assert_eq!(group.environment_tag, first.environment_tag);
    let mapping = group.mapping.clone().expect("known");
    assert_eq!((mapping.source, mapping.at), (Source::Sent, second(0)));
    assert_eq!(group.last_seen, Some(second(5)));

    let read = directory
        .group(place(&directory, "eu"), &id("acme"))
        .await
        .expect("read");
    assert_eq!(
        read.as_ref(),
        Some(&group),
        "the answer equals the stored value"
    );
    let keys: Vec<_> = mapping.value.keys().cloned().collect();
    assert_eq!(keys, ["40", "7"], "in the order given");
    let properties = group.properties.expect("known").value;
    assert_eq!(properties["z"].to_string(), "12345678901234567890.10");
    assert_eq!(
        directory
            .group(place(&directory, "us"), &id("acme"))
            .await
            .expect("read"),
        None
    );
}

#[tokio::test]
async fn groups_come_ordered_by_id_and_many_records_are_one_transaction() {
    let installation = Opened::new();
    let directory = installation.open();
    let ids = ["b", "é", "a", "B", "aa"];
    let records = ids
        .map(|id| observation_record(observation(id, OLD, 0)))
        .to_vec();
    let recorded = directory
        .record_all(place(&directory, "eu"), records)
        .await
        .expect("written");
    let answered: Vec<_> = recorded
        .into_iter()
        .map(|r| r.group.expect("a group").id.as_str().to_owned())
        .collect();
    assert_eq!(answered, ids);
    let listed: Vec<_> = directory
        .groups(place(&directory, "eu"))
        .await
        .expect("read");
    let listed: Vec<_> = listed.iter().map(|group| group.id.as_str()).collect();
    assert_eq!(listed, ["B", "a", "aa", "b", "é"]);

    let mut records = vec![observation_record(observation("new", OLD, 1))];
    let rotation = Rotation::intended(OLD);
    records.push(step_record(step(
        RotationId(99),
        rotation,
        Event::Sending,
        1,
    )));
    let refused = directory.record_all(place(&directory, "eu"), records).await;
    assert!(
        matches!(refused, Err(DirectoryError::NoRotation { .. })),
        "{refused:?}"
    );
    assert_eq!(
        directory
            .groups(place(&directory, "eu"))
            .await
            .expect("read")
            .len(),
        5
    );
}

#[tokio::test]
async fn a_damaged_group_hides_no_other_and_is_named() {
    let installation = Opened::new();
    let directory = installation.open();
    let records = vec![
        observation_record(full_observation()),
        observation_record(observation("globex", NEW, 0)),
    ];
    directory
        .record_all(place(&directory, "eu"), records)
        .await
        .expect("written");
    assert!(
        directory
            .damaged(place(&directory, "eu"))
            .await
            .expect("read")
            .is_empty()
    );
    installation.tamper("UPDATE user_groups SET mapping = '[1]' WHERE user_group_id = 'acme'");

    let groups = directory
        .groups(place(&directory, "eu"))
        .await
        .expect("read");
    assert_eq!(groups.len(), 2);
    assert_eq!(groups[0].mapping, None);
    assert!(groups[0].properties.is_some());
    let damaged = directory
        .damaged(place(&directory, "eu"))
        .await
        .expect("read");
    assert_eq!(damaged.len(), 1);
    assert_eq!(
        (damaged[0].user_group_id.as_str(), &damaged[0].fields[..]),
        ("acme", &["mapping"][..])
    );

    // An observation of other fields leaves the damage visible; one with the mapping repairs it.
    directory
        .record(
            place(&directory, "eu"),
            observation_record(observation("acme", OLD, 1)),
        )
        .await
        .expect("written");
    assert_eq!(
        directory
            .damaged(place(&directory, "eu"))
            .await
            .expect("read"),
        damaged
    );
    let stored = "SELECT mapping FROM user_groups WHERE user_group_id = 'acme'";
    assert_eq!(installation.ask(stored), "[1]");
    directory
        .record(
            place(&directory, "eu"),
            observation_record(full_observation()),
        )
        .await
        .expect("written");
    assert!(
        directory
            .damaged(place(&directory, "eu"))
            .await
            .expect("read")
            .is_empty()
    );
    if installation.team.is_some() {
        // A server accepts no such text.
        return;
    }
    installation
        .tamper("UPDATE user_groups SET name = CAST(x'ff' AS TEXT) WHERE user_group_id = 'acme'");
    let eu = place(&directory, "eu");
    let groups = directory.groups(eu).await.expect("read");
    assert_eq!(groups.len(), 2);
    assert_eq!(
        (groups[0].name.as_ref(), groups[0].mapping.is_some()),
        (None, true)
    );
    let damaged = directory.damaged(eu).await.expect("read");
    assert_eq!(damaged[0].fields, ["name"]);
    let listed = directory
        .first_groups(eu, SortBy::Name, false, (9, 0))
        .await;
    assert_eq!(listed.expect("read").index.len(), 2);
    directory
        .record(eu, observation_record(full_observation()))
        .await
        .expect("written");
    assert!(directory.damaged(eu).await.expect("read").is_empty());
}

#[tokio::test]
async fn owners_are_found_by_current_and_former_tokens() {
    let installation = Opened::new();
    let directory = installation.open();
    for (profile, group, fingerprint, at) in [
        ("eu", "acme", OLD, 0),
        ("eu", "acme", OLD, 1),
        ("eu", "acme", NEW, 2),
        ("us", "acme", OLD, 3),
    ] {
        let record = observation_record(observation(group, fingerprint, at));
        directory
            .record(place(&directory, profile), record)
            .await
            .expect("written");
    }
    let told: Vec<_> = directory
        .owners(OLD)
        .await
        .expect("read")
        .into_iter()
        .map(|owner| (owner.profile, owner.current, owner.last_seen))
        .collect();
    let expected = [
        ("us".to_owned(), true, second(3)),
        ("eu".to_owned(), false, second(1)),
    ];
    assert_eq!(told, expected);
    let current = directory.owners(NEW).await.expect("read");
    assert_eq!((current.len(), current[0].current), (1, true));
    assert!(directory.owners(fp(9)).await.expect("read").is_empty());
}

#[tokio::test]
async fn history_is_listed_newest_first_and_filtered() {
    let installation = Opened::new();
    let directory = installation.open();
    // The clock goes back; the order of writing counts.
    for (profile, group, at) in [
        ("eu", "a", 9),
        ("us", "a", 8),
        ("eu", "b", 7),
        ("eu", "a", 6),
    ] {
        let record = history_record(entry(profile, group, at));
        directory
            .record(place(&directory, profile), record)
            .await
            .expect("written");
    }
    let list = async |filter| -> Vec<i64> {
        let lines = directory.history(filter).await.expect("read");
        lines.into_iter().map(|line| line.number).collect()
    };
    let all = HistoryFilter::default();
    assert_eq!(list(all.clone()).await, [4, 3, 2, 1]);
    let eu = HistoryFilter {
        place: Some(place(&directory, "eu")),
        ..all.clone()
    };
    assert_eq!(list(eu.clone()).await, [4, 3, 1]);
    let group = HistoryFilter {
        user_group_id: Some(id("a")),
        ..all.clone()
    };
    assert_eq!(list(group.clone()).await, [4, 2, 1]);
    let both = HistoryFilter {
        user_group_id: group.user_group_id,
        before: Some(4),
        ..eu
    };
    assert_eq!(list(both).await, [1]);
    let page = HistoryFilter {
        limit: Some(2),
        before: Some(4),
        ..all
    };
    assert_eq!(list(page).await, [3, 2]);
}

#[tokio::test]
async fn a_write_whose_caller_was_dropped_is_still_done() {
    let installation = Opened::new();
    let directory = installation.open();
    {
        let mut write = Box::pin(directory.record(
            place(&directory, "eu"),
            history_record(entry("eu", "acme", 0)),
        ));
        let polled = futures_util::poll!(write.as_mut());
        drop(polled);
    }
    let lines = directory.history(HistoryFilter::default()).await;
    assert_eq!(lines.expect("read").len(), 1);
}

#[tokio::test]
async fn what_an_answer_means_is_decided_on_what_is_recorded_now_and_counted_in_order() {
    let installation = Opened::new();
    let directory = installation.open();
    let here = place(&directory, "eu");
    let acme = observation("acme", OLD, 1).id;
    let take = async |fingerprint| {
        let record = observation_record(observation("acme", fingerprint, 1));
        let decide = move |found: &GroupSnapshot, _: bool| {
            let token = found
                .group
                .as_ref()
                .and_then(|group| group.fingerprint.as_ref());
            let token = token.map(|known| known.value);
            (vec![record.clone()], (token, found.noted, found.had_token))
        };
        let decided = directory.decide(here, &acme, Some(OLD), 0, decide).await;
        decided.expect("written").1
    };
    let (token, first, had) = take(OLD).await;
    assert_eq!((token, first, had), (None, Noted::default(), false));
    let (token, same, had) = take(NEW).await;
    assert_eq!(
        (token, same, had),
        (Some(OLD), first, true),
        "nothing was changed"
    );
    let (token, later, _) = take(NEW).await;
    assert_eq!(token, Some(NEW));
    assert!(later.token > same.token && later.fields == same.fields);
    let (_, again, _) = take(NEW).await;
    assert_eq!(again, later);
    assert_eq!(
        directory.last_number().await.expect("readable"),
        again.token
    );
}

#[tokio::test]
async fn the_view_of_a_list_is_stored_per_profile() {
    let installation = Opened::new();
    let view = ListView {
        filter: "tag:customer \u{e9}\"x".into(),
        sort: SortBy::Rotated,
        reverse: true,
        best_first: false,
        columns: ListColumn::parse_all("name,id,prop.tier").expect("columns"),
    };
    {
        let directory = installation.open();
        assert_eq!(directory.view("eu").await.expect("read"), None);
        for view in [ListView::default(), view.clone()] {
            directory.keep_view("eu", view).await.expect("written");
        }
    }
    let directory = installation.open();
    assert_eq!(directory.view("eu").await.expect("read"), Some(view));
    assert_eq!(directory.view("us").await.expect("read"), None);
}
