//! The queue of a run: begins items as pace and control allow, counts how they end, and stops when it must.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use futures_util::{FutureExt, future::BoxFuture};
use tokio::sync::mpsc;

use super::{
    BatchEvent, Control, Report, RunLimits, TokenSink,
    item::{ItemContext, Outcome},
    runs::RunRecord,
};
use crate::{
    directory::{Batch, BatchId, BatchItem},
    domain::{
        batch::{BatchKind, Counts, FailureStreak, Halt, ItemStatus},
        group::UserGroupId,
    },
    operations::{
        Failpoint, Operations,
        batch::concurrency::{self, Slot, Work},
    },
};

pub(super) struct Queue {
    operations: Operations,
    batch: BatchId,
    kind: BatchKind,
    reason: Option<String>,
    noted: i64,
    /// Items to settle first, then items that were not begun.
    waiting: VecDeque<BatchItem>,
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
        let open = items.iter().filter(|item| item.is_open());
        let left = items
            .iter()
            .filter(|item| item.status() == ItemStatus::NotStarted);
        Self {
            operations,
            batch: batch.id,
            kind: batch.kind.clone(),
            reason: batch.reason.clone(),
            noted: batch.noted,
            waiting: open.chain(left).cloned().collect(),
            counts: Counts::of(items.iter().map(BatchItem::status)),
            statuses: items.iter().map(BatchItem::status).collect(),
            pace,
            keep,
        }
    }

    /// Does not begin these groups; what is open of them is settled all the same.
    pub(super) fn leave_out(&mut self, groups: &[UserGroupId]) {
        let groups: HashSet<&UserGroupId> = groups.iter().collect();
        let stays = |item: &BatchItem| item.is_open() || !groups.contains(&item.user_group_id);
        self.waiting.retain(stays);
    }

    pub(super) async fn run(mut self, control: Control, news: mpsc::UnboundedSender<BatchEvent>) {
        let context = ItemContext {
            operations: self.operations.clone(),
            control: control.clone(),
            news,
            keep: self.keep.clone(),
            reason: self.reason.clone(),
            noted: self.noted,
        };
        let (operations, batch) = (self.operations.clone(), self.batch);
        let work = self.run_passes(&context, &control);
        let halt = RunRecord::run_with_heartbeat(&operations, batch, &control, work).await;
        let items = self.operations.batch_items(self.batch).await;
        context.tell(BatchEvent::Finished(Report {
            batch: self.batch,
            counts: items.map_or(self.counts, |items| {
                Counts::of(items.iter().map(BatchItem::status))
            }),
            halt,
        }));
    }

    async fn run_passes(&mut self, context: &ItemContext, control: &Control) -> Option<Halt> {
        let halt = self.run_pass(context).await;
        if halt.is_some() || control.command().is_stop() {
            return halt;
        }
        // Tries once more to confirm what could not be read right after its rotation.
        self.waiting = self.rotated_only().await;
        self.run_pass(context).await
    }

    async fn run_pass(&mut self, context: &ItemContext) -> Option<Halt> {
        let pace = self.pace;
        let mut pass = Pass {
            streak: FailureStreak::new(pace.stop_after),
            queue: self,
            context,
        };
        concurrency::run(&mut pass, pace, &context.control).await
    }

    async fn rotated_only(&self) -> VecDeque<BatchItem> {
        let items = self.operations.batch_items(self.batch).await;
        let mut items = items.unwrap_or_default();
        items.retain(|item| item.status() == ItemStatus::Rotated);
        items.into()
    }
}

/// One pass over the queue, until it is empty or stops.
struct Pass<'a> {
    queue: &'a mut Queue,
    context: &'a ItemContext,
    streak: FailureStreak,
}

impl Work for Pass<'_> {
    type Item = BatchItem;
    type Outcome = Outcome;

    fn waiting(&self) -> usize {
        self.queue.waiting.len()
    }

    fn next(&mut self) -> Option<BatchItem> {
        self.queue.waiting.pop_front()
    }

    fn begin(&self, item: BatchItem, _slot: Slot) -> BoxFuture<'static, Outcome> {
        self.context.tell(BatchEvent::Started(item.key));
        let context = self.context.clone();
        match (&self.queue.kind, item.rotation) {
            (BatchKind::Rotate, Some(row)) => context.settle(item, row).boxed(),
            (BatchKind::Rotate, None) => context.rotate(item).boxed(),
            (BatchKind::Edit(_), _) if item.update.is_some() => context.settle_update(item).boxed(),
            (BatchKind::Edit(change), _) => context.edit(item, change.clone()).boxed(),
        }
    }

    fn ended(&mut self, outcome: Option<Outcome>) -> Option<Halt> {
        let Some(outcome) = outcome else {
            // The task panicked; the journal knows how far it came.
            return Some(Halt::Internal);
        };
        let Outcome {
            mut ended,
            fatal,
            harmless,
            stopped,
        } = outcome;
        if let Some(now) = self.queue.statuses.get_mut(ended.key.position) {
            let before = std::mem::replace(now, ended.status);
            self.queue.counts.moved(before, ended.status);
        }
        ended.counts = self.queue.counts;
        let (id, status) = (ended.user_group_id.clone(), ended.status);
        self.context.tell(BatchEvent::Ended(Box::new(ended)));
        self.queue.operations.reached(Failpoint::ItemEnded);
        if let Some(why) = fatal {
            return Some(Halt::Cannot(why));
        }
        if stopped {
            return Some(self.context.control.halt_reason());
        }
        if harmless {
            return None;
        }
        self.streak.ended(&id, status)
    }

    fn halted(&self, halt: &Halt) {
        self.context.tell(BatchEvent::Halted(halt.clone()));
    }
}
