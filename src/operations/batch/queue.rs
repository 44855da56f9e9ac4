//! The queue of a run: begins items as pace and control allow, counts how they end, and stops when it must.

use std::collections::VecDeque;

use super::{
    BatchEvent, Bulk, Report, RunLimits, TokenSink,
    item::{ItemContext, Outcome},
    runs::RunRecord,
    with_status,
};
use crate::{
    domain::batch::Counts,
    operations::{
        Failpoint,
        prelude::*,
        run::{self, Consequence, Context, Slot, Work},
    },
};

pub(super) struct Queue {
    operations: Operations,
    batch: BatchId,
    kind: BatchKind,
    reason: Option<String>,
    noted: i64,
    /// Items to settle, and those whose token is to be read for the file; then items that were not started.
    waiting: VecDeque<BatchItem>,
    /// Whether those that could not be read back have been tried again.
    was_again: bool,
    /// Status of each item, by position.
    statuses: Vec<ItemStatus>,
    counts: Counts,
    pace: RunLimits,
    keep: Option<Arc<dyn TokenSink>>,
}

impl Queue {
    pub(super) fn new(
        operations: Operations,
        batch: &Batch,
        items: &[BatchItem],
        pace: RunLimits,
        keep: Option<Arc<dyn TokenSink>>,
    ) -> Self {
        let is_unwritten = |item: &BatchItem| item.unwritten && keep.is_some();
        let open = items
            .iter()
            .filter(|item| item.is_open() || is_unwritten(item));
        let left = with_status(items, ItemStatus::NotStarted);
        Self {
            operations,
            batch: batch.id,
            kind: batch.kind.clone(),
            reason: batch.reason.clone(),
            noted: batch.noted,
            waiting: open.chain(left).cloned().collect(),
            was_again: false,
            counts: Counts::of(items.iter().map(BatchItem::status)),
            statuses: items.iter().map(BatchItem::status).collect(),
            pace,
            keep,
        }
    }

    /// Does not begin these groups; what is open of them is settled anyway.
    pub(super) fn leave_out(&mut self, groups: &[UserGroupId]) {
        let groups: HashSet<&UserGroupId> = groups.iter().collect();
        let stays = |item: &BatchItem| {
            item.rotation.is_some() || item.is_open() || !groups.contains(&item.user_group_id)
        };
        self.waiting.retain(stays);
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// `caller` records the run itself: whether that waits for the directory is up to its program.
    pub(super) async fn run(mut self, context: Context<Bulk>, caller: Operations) {
        let (operations, batch, pace) = (self.operations.clone(), self.batch, self.pace);
        let work = run::drive(&mut self, pace, &context);
        let halt = RunRecord::run_with_heartbeat(&caller, batch, &context, work).await;
        let items = operations.batch_items(batch).await;
        context.tell(BatchEvent::Finished(Report {
            batch,
            counts: items.map_or(self.counts, |items| {
                Counts::of(items.iter().map(BatchItem::status))
            }),
            halt,
        }));
    }
}

impl Work for Queue {
    type Kind = Bulk;
    type Item = BatchItem;
    type Outcome = Outcome;

    async fn next(&mut self) -> Result<Option<BatchItem>, Halt> {
        Ok(self.waiting.pop_front())
    }

    fn begin(
        &self,
        item: BatchItem,
        run: Context<Bulk>,
        _slot: Slot,
    ) -> BoxFuture<'static, Outcome> {
        run.tell(BatchEvent::Started(item.key));
        let context = ItemContext {
            operations: self.operations.clone(),
            run,
            keep: self.keep.clone(),
            reason: self.reason.clone(),
            noted: self.noted,
        };
        match (&self.kind, item.rotation) {
            (BatchKind::Rotate, Some(row)) => context.settle(item, row).boxed(),
            (BatchKind::Rotate, None) => context.rotate(item).boxed(),
            (BatchKind::Edit(_), _) if item.update.is_some() => context.settle_update(item).boxed(),
            (BatchKind::Edit(change), _) => context.edit(item, change.clone()).boxed(),
        }
    }

    fn ended(&mut self, outcome: Outcome, context: &Context<Bulk>) -> Consequence {
        let Outcome {
            mut ended,
            consequence,
        } = outcome;
        if let Some(now) = self.statuses.get_mut(ended.key.position) {
            let before = std::mem::replace(now, ended.status);
            self.counts.moved(before, ended.status);
        }
        ended.counts = self.counts;
        context.tell(BatchEvent::Ended(Box::new(ended)));
        self.operations.reached(Failpoint::ItemEnded);
        consequence
    }

    /// Tries once more to confirm what could not be read right after its rotation.
    async fn again(&mut self) -> bool {
        if std::mem::replace(&mut self.was_again, true) {
            return false;
        }
        let items = self.operations.batch_items(self.batch).await;
        let mut items = items.unwrap_or_default();
        items.retain(|item| item.status() == ItemStatus::Rotated);
        self.waiting = items.into();
        !self.waiting.is_empty()
    }
}
