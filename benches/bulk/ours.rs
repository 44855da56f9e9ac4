//! The runs themselves, started as the commands start them.

use futures_util::{StreamExt, stream::FuturesUnordered};
use groupdesk::{
    directory::ImportId,
    domain::{
        annotation::AnnotationChange, batch::Plan, change::DesiredFields, group::UserGroupId,
    },
    formats::GroupRow,
    operations::{
        RefreshEvent, RowEnd, Sending,
        batch::{BatchEvent, Control, RunLimits, SlotPool},
    },
};
use jiff::Timestamp;

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
    let batch = operations.begin_batch(&plan, None).await.expect("durable");
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
    );
    let mut run = run.expect("it begins");
    loop {
        match run.progress.recv().await.expect("news") {
            RefreshEvent::Finished { counts, halt } => {
                assert_eq!((counts.unchanged, halt), (ids.len(), None));
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
    let permit = &permit.expect("permitted");
    // Each call counts as another file.
    let mut digest = [0; 32];
    getrandom::fill(&mut digest).expect("random numbers");
    let import: ImportId = operations.begin_import(digest).await.expect("durable").id;
    let control = &Control::default();
    let slots = SlotPool::of(limits(concurrency));
    let mut waiting = rows.iter().enumerate();
    let mut flying = FuturesUnordered::new();
    loop {
        if slots.is_free(flying.len())
            && let Some((number, (row, base))) = waiting.next()
        {
            assert!(control.may_begin(tokio::time::Instant::now()).await);
            let (at, steered) = (Some((import, number + 1)), (control, slots.slot()));
            flying.push(operations.send_row(permit, at, row, base.as_ref(), steered, |_| {}));
            continue;
        }
        tokio::select! {
            () = slots.freed() => {}
            end = flying.next() => {
                let Some(end) = end else { break };
                assert!(matches!(end, RowEnd::Done { .. }), "{end:?}");
                assert_eq!(end.outcome(), expected);
            }
        }
    }
    operations.end_import(import).await.expect("durable");
}
