//! A record and an intent take two round trips each, however much they ask and write: one to ask, one to write and commit.

use std::sync::atomic::Ordering;

use groupdesk::directory::{KeyId, SnapshotExtras};

use super::*;
use crate::support::cutter::Cutter;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_recorded_takes_two() {
    let (Some(team), Some(server)) = (postgres::team(), postgres::server()) else {
        return;
    };
    let cutter = Cutter::new(server.folder());
    let directory = Directory::open(&postgres::at(cutter.folder.path(), team.schema()));
    let directory = directory.expect("it opens");
    let place = place(&directory, "eu");
    let trips = || cutter.plan.trips.load(Ordering::SeqCst);
    // The first of each kind also prepares its statements.
    for (number, group) in ["first", "second"].into_iter().enumerate() {
        // With a key, the gate is read with it.
        let intent = RotationIntent {
            key: Some(KeyId(1)),
            ..intent(group, OLD)
        };
        let begun = directory.begin_rotation(place, intent).await;
        assert_is!(begun, Ok(BeginResult::Started(_)));
        if number > 0 {
            assert_eq!(trips(), 2, "an intent");
        }
    }
    for (discards_result, gets_then) in [(false, false), (true, false), (false, true)] {
        for (number, group) in ["first", "second"].into_iter().enumerate() {
            let record = Record {
                discards_result,
                then: gets_then.then(SnapshotExtras::default),
                ..observation_record(observation(group, OLD, 0))
            };
            let recorded = directory.record(place, record).await.expect("recorded");
            assert_eq!(recorded.open.is_empty(), discards_result || gets_then);
            let found = recorded.then.map(|found| (found.group, found.open.len()));
            assert_eq!(found, gets_then.then_some((recorded.group, 1)));
            if number > 0 {
                assert_eq!(trips(), 2, "a record");
            }
        }
    }
}
