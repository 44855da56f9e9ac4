//! The first rows of a list are the first ones of the whole order.

use std::sync::Arc;

use groupdesk::search::{GroupExtras, Index, Query, Row, SearchRequest, SortBy, run_search};

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

proptest! {
    // A server takes longer.
    #![proptest_config(ProptestConfig::with_cases(if module_path!().contains("team") { 6 } else { 24 }))]
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
