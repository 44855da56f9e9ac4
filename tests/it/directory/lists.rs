//! The first rows of a list are the first ones of the whole order.

use std::{cell::Cell, collections::BTreeMap, sync::Arc};

use groupdesk::search::{GroupExtras, Index, Query, Row, SearchRequest, SortBy, run_search};

use proptest::test_runner::TestRunner;

use super::*;
use crate::support::world::wait_for;

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
        let mut found: Vec<_> = first.index.entries().map(Row::id).collect();
        found.sort_unstable();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "{sort:?} {reverse}");
    }
}

/// One directory; each case is a place of its own.
#[test]
fn first_rows_are_the_beginning_of_the_whole_order() {
    let installation = Opened::new();
    let directory = installation.open();
    // A server takes longer.
    let cases = if module_path!().contains("team") {
        6
    } else {
        24
    };
    let ids = "[a-cA-C\u{e9}0-2]{1,3}";
    let names = "[a-cA-B\u{e9}\u{c9} ]{0,2}[0-2]{0,3}";
    let groups = prop::collection::btree_map(ids, names, 2..12);
    let cases_of = (groups, any::<bool>(), any::<bool>(), 1..12_usize);
    let number = Cell::new(0);
    let check = |(groups, by_id, reverse, some): (BTreeMap<String, String>, _, _, usize)| {
        number.set(number.get() + 1);
        let place = place(&directory, &"x".repeat(number.get()));
        let records = groups.iter().map(|(id, name)| {
            let mut observation = observation(id, OLD, 0);
            if let Some(returned) = &mut observation.returned {
                returned.name = Some(name.clone());
            }
            observation_record(observation)
        });
        wait_for(directory.record_all(place, records.collect())).expect("written");
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
        let order = |index: &Index| {
            let found = run_search(index, asked.clone(), None, &|| true).expect("wanted");
            let ids = found.shown.iter().filter_map(|number| index.entry(*number));
            ids.map(|entry| entry.id().to_owned()).collect::<Vec<_>>()
        };
        let all = wait_for(directory.first_groups(place, SortBy::Id, false, (100, 100)));
        let all = order(&all.expect("readable").index);
        prop_assert_eq!(all.len(), groups.len());
        let first = wait_for(directory.first_groups(place, sort, reverse, (1, some)));
        let first = order(&first.expect("readable").index);
        prop_assert_eq!(&first[..], &all[..some.min(all.len())]);
        Ok(())
    };
    let mut runner = TestRunner::new(ProptestConfig {
        cases,
        max_shrink_iters: 32,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let checked = runner.run(&cases_of, check);
    checked.unwrap_or_else(|failure| panic!("{failure}"));
}
