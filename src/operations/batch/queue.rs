//! The queue of a run: begins items as the pace and the wishes allow, counts how they end, and stops where it must.

use std::{collections::VecDeque, sync::Arc};

use futures_util::{FutureExt, future::BoxFuture};
use jiff::Timestamp;
use tokio::sync::mpsc;

use super::{
    Control, Keep, Pace, Progress, Report, Wish,
    item::{Bench, Outcome},
};
use crate::{
    directory::{Batch, BatchId, BatchItem},
    domain::{
        batch::{Counts, Halt, Standing, Streak},
        rotation::State,
    },
    operations::{
        Operations, Point,
        batch::concurrency::{self, Work},
    },
};

pub(super) struct Queue {
    operations: Operations,
    batch: BatchId,
    reason: Option<String>,
    began: Timestamp,
    /// What is to be settled first, then what was not begun.
    waiting: VecDeque<BatchItem>,
    /// By position.
    standings: Vec<Standing>,
    counts: Counts,
    pace: Pace,
    keep: Option<Arc<dyn Keep>>,
}

impl Queue {
    pub(super) fn new(
        operations: Operations,
        batch: &Batch,
        items: &[BatchItem],
        pace: Pace,
        keep: Option<Arc<dyn Keep>>,
    ) -> Self {
        let open = items
            .iter()
            .filter(|item| item.state.is_some_and(State::is_open));
        let left = items
            .iter()
            .filter(|item| item.standing() == Standing::NotStarted);
        Self {
            operations,
            batch: batch.id,
            reason: batch.reason.clone(),
            began: batch.started_at,
            waiting: open.chain(left).cloned().collect(),
            counts: Counts::of(items.iter().map(BatchItem::standing)),
            standings: items.iter().map(BatchItem::standing).collect(),
            pace,
            keep,
        }
    }

    pub(super) async fn run(mut self, control: Control, news: mpsc::UnboundedSender<Progress>) {
        let bench = Bench {
            operations: self.operations.clone(),
            control: control.clone(),
            news,
            keep: self.keep.clone(),
            reason: self.reason.clone(),
            began: self.began,
        };
        let mut halt = self.go(&bench).await;
        if halt.is_none() && control.wish() != Wish::Stop {
            // A second try to read back what could not be read at once.
            self.waiting = self.rotated_only().await;
            halt = self.go(&bench).await;
        }
        let ended = self.operations.directory();
        if let Err(error) = ended.end_batch(self.batch, self.operations.now()).await {
            halt = halt.or(Some(Halt::Cannot(error.to_string())));
        }
        let items = self.operations.batch_items(self.batch).await;
        bench.tell(Progress::Finished(Report {
            batch: self.batch,
            counts: items.map_or(self.counts, |items| {
                Counts::of(items.iter().map(BatchItem::standing))
            }),
            halt,
        }));
    }

    async fn go(&mut self, bench: &Bench) -> Option<Halt> {
        let pace = self.pace;
        let mut shift = Shift {
            streak: Streak::new(pace.stop_after),
            queue: self,
            bench,
        };
        concurrency::run(&mut shift, pace, &bench.control).await
    }

    async fn rotated_only(&self) -> VecDeque<BatchItem> {
        let items = self.operations.batch_items(self.batch).await;
        let mut items = items.unwrap_or_default();
        items.retain(|item| item.standing() == Standing::Rotated);
        items.into()
    }
}

/// The queue at work, until it is empty or stops.
struct Shift<'a> {
    queue: &'a mut Queue,
    bench: &'a Bench,
    streak: Streak,
}

impl Work for Shift<'_> {
    type Item = BatchItem;
    type Outcome = Outcome;

    fn waiting(&self) -> usize {
        self.queue.waiting.len()
    }

    fn next(&mut self) -> Option<BatchItem> {
        self.queue.waiting.pop_front()
    }

    fn begin(&self, item: BatchItem) -> BoxFuture<'static, Outcome> {
        self.bench.tell(Progress::Started(item.key));
        let bench = self.bench.clone();
        match item.rotation {
            Some(row) => bench.settle(item, row).boxed(),
            None => bench.rotate(item).boxed(),
        }
    }

    fn ended(&mut self, outcome: Option<Outcome>) -> Option<Halt> {
        let Some(outcome) = outcome else {
            // The journal knows how far it came.
            return Some(Halt::Cannot("a rotation broke off in this program".into()));
        };
        let Outcome {
            mut ended,
            fatal,
            harmless,
            stopped,
        } = outcome;
        if let Some(now) = self.queue.standings.get_mut(ended.key.position) {
            let before = std::mem::replace(now, ended.standing);
            self.queue.counts.moved(before, ended.standing);
        }
        ended.counts = self.queue.counts;
        let (id, standing) = (ended.user_group_id.clone(), ended.standing);
        self.bench.tell(Progress::Ended(Box::new(ended)));
        self.queue.operations.reached(Point::ItemEnded);
        if let Some(why) = fatal {
            return Some(Halt::Cannot(why));
        }
        if stopped {
            return Some(Halt::Asked);
        }
        if harmless {
            return None;
        }
        self.streak.ended(&id, standing)
    }

    fn halted(&self, halt: &Halt) {
        self.bench.tell(Progress::Halted(halt.clone()));
    }
}
