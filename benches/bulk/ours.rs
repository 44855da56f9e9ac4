//! The runs themselves, started as the commands start them.

use std::collections::HashMap;

use groupdesk::{
    directory::BatchOptions,
    domain::{
        annotation::AnnotationChange, batch::Plan, change::DesiredFields, group::UserGroupId,
        refresh::ReadResult,
    },
    formats::GroupRow,
    operations::{
        RefreshEvent, RowsToSend, Sending,
        batch::{BatchEvent, RunLimits},
        run::Event,
    },
};
use jiff::Timestamp;
use tokio::sync::mpsc;

use super::world::World;

fn limits(concurrency: usize) -> RunLimits {
    RunLimits {
        concurrency,
        ..RunLimits::default()
    }
}

/// `rotate` for these groups.
pub(crate) async fn rotate(world: &World, ids: &[UserGroupId], concurrency: usize) {
    let plan = Plan {
        ready: ids.to_vec(),
        at: Timestamp::now(),
        ..Plan::default()
    };
    let operations = &world.operations;
    let batch = operations
        .begin_batch(&plan, None, BatchOptions::default())
        .await
        .expect("durable");
    let run = operations.run_batch(batch, limits(concurrency), None).await;
    let mut run = run.expect("it begins");
    let mut said = None;
    loop {
        match run.progress.recv().await.expect("news") {
            BatchEvent::Ended(ended) => said = said.or(ended.note),
            BatchEvent::Finished(report) => {
                let counts = report.counts;
                assert_eq!(counts.confirmed, ids.len(), "{counts}: {said:?}");
                return;
            }
            _ => {}
        }
    }
}

/// `get --refresh-all`.
pub(crate) async fn refresh(world: &World, ids: &[UserGroupId], concurrency: usize) {
    let operations = &world.operations;
    let begun = operations.begin_refresh("").await.expect("durable");
    let planned = operations.plan_reading(ids, false, true).await;
    let run = operations.run_refresh(
        Some(begun.id),
        planned.expect("known"),
        limits(concurrency),
        false,
        None,
    );
    let mut run = run.expect("it begins");
    loop {
        match run.progress.recv().await.expect("news") {
            RefreshEvent::Finished(sum) => {
                assert_eq!(
                    (sum.counts.of(ReadResult::Unchanged), sum.halt),
                    (ids.len(), None)
                );
                return;
            }
            RefreshEvent::Ended(read) => assert!(read.failure.is_none(), "{:?}", read.failure),
            _ => {}
        }
    }
}

/// A row of a file for each group, with its base if that is known.
pub(crate) type Row = (GroupRow, Option<DesiredFields>);

pub(crate) fn row(id: &UserGroupId, name: String) -> GroupRow {
    GroupRow {
        id: id.clone(),
        fields: DesiredFields {
            name: Some(name),
            ..DesiredFields::default()
        },
        annotation: AnnotationChange::default(),
        parts: groupdesk::formats::Parts::default(),
    }
}

/// `import` or `apply` of these rows; checks that each ends with this word.
pub(crate) async fn send(
    world: &World,
    rows: &[Row],
    (create, update): (bool, bool),
    expected: &str,
    concurrency: usize,
) {
    let operations = &world.operations;
    let sending = Sending {
        create,
        update,
        only_differences: false,
    };
    let permit = operations.sending_permitted(sending, rows.len());
    let permit = permit.expect("permitted");
    // Each call counts as another file.
    let mut digest = [0; 32];
    getrandom::fill(&mut digest).expect("random numbers");
    let journal = operations
        .begin_import(digest, false)
        .await
        .expect("durable");
    let numbered = || (1..).zip(rows);
    let bases = numbered().filter_map(|(number, (_, base))| Some((number, base.clone()?)));
    let (file, reader) = mpsc::channel(1);
    let copies: Vec<_> = numbered()
        .map(|(number, (row, _))| (number, row.clone()))
        .collect();
    file.send(Ok(copies)).await.expect("it is read");
    drop(file);
    let all = RowsToSend {
        rows: reader,
        planned: rows.len(),
        permit: permit.into(),
        journal: Some(journal),
        bases: bases.collect(),
        annotations: HashMap::new(),
        completed: HashMap::new(),
    };
    let mut run = operations.send_rows(all, limits(concurrency));
    loop {
        match run.progress.recv().await.expect("news") {
            Event::Ended(row) => assert_eq!(row.end.outcome(), expected, "{:?}", row.end),
            Event::Finished(sum) => {
                assert_eq!((sum.counts.complete(), sum.halt), (rows.len(), None));
                return;
            }
            _ => {}
        }
    }
}
