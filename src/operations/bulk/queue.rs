//! The queue of a run: begins items as the pace and the wishes allow, counts how they end, and stops where it must.

use std::{collections::VecDeque, sync::Arc};

use jiff::Timestamp;
use tokio::{sync::mpsc, task::JoinSet, time::Instant};

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
    operations::{Operations, Point},
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
            news: news.clone(),
            keep: self.keep.clone(),
            reason: self.reason.clone(),
            began: self.began,
        };
        let tell = |progress| {
            // The run does not depend on anybody reading.
            drop(news.send(progress));
        };
        let mut halt = self.go(&bench, &tell).await;
        if halt.is_none() && control.wish() != Wish::Stop {
            // A second try to read back what could not be read at once.
            self.waiting = self.rotated_only().await;
            halt = self.go(&bench, &tell).await;
        }
        let ended = self.operations.directory();
        if let Err(error) = ended.end_batch(self.batch, self.operations.now()).await {
            halt = halt.or(Some(Halt::Cannot(error.to_string())));
        }
        let items = self.operations.batch_items(self.batch).await;
        tell(Progress::Finished(Report {
            batch: self.batch,
            counts: items.map_or(self.counts, |items| {
                Counts::of(items.iter().map(BatchItem::standing))
            }),
            halt,
        }));
    }

    /// Works until nothing is in flight and nothing may be begun.
    async fn go(&mut self, bench: &Bench, tell: &impl Fn(Progress)) -> Option<Halt> {
        let mut in_flight: JoinSet<Outcome> = JoinSet::new();
        let mut streak = Streak::new(self.pace.stop_after);
        let mut halt = None;
        let mut next_start = Instant::now();
        loop {
            let has_room = in_flight.len() < self.pace.concurrency.max(1);
            let wants = halt.is_none() && has_room && !self.waiting.is_empty();
            if !wants && in_flight.is_empty() {
                return halt;
            }
            tokio::select! {
                biased;
                Some(joined) = in_flight.join_next() => {
                    let stopped = match joined {
                        Ok(outcome) => self.ended(outcome, &mut streak, tell),
                        // The journal knows how far it came.
                        Err(_) => Some(Halt::Cannot("a rotation broke off in this program".into())),
                    };
                    if halt.is_none() && let Some(stopped) = stopped {
                        // Those who wait for a busy service have sent nothing yet.
                        bench.control.stop();
                        tell(Progress::Halted(stopped.clone()));
                        halt = Some(stopped);
                    }
                }
                may = bench.control.may_begin(next_start), if wants => {
                    if !may {
                        tell(Progress::Halted(Halt::Asked));
                        halt = Some(Halt::Asked);
                    } else if let Some(item) = self.waiting.pop_front() {
                        next_start = self.pace.next_start();
                        tell(Progress::Started(item.place));
                        let bench = bench.clone();
                        match item.rotation {
                            Some(row) => in_flight.spawn(bench.settle(item, row)),
                            None => in_flight.spawn(bench.rotate(item)),
                        };
                    }
                }
            }
        }
    }

    fn ended(
        &mut self,
        outcome: Outcome,
        streak: &mut Streak,
        tell: &impl Fn(Progress),
    ) -> Option<Halt> {
        let Outcome {
            mut ended,
            fatal,
            harmless,
        } = outcome;
        if let Some(now) = self.standings.get_mut(ended.place.position) {
            let before = std::mem::replace(now, ended.standing);
            self.counts.moved(before, ended.standing);
        }
        ended.counts = self.counts;
        let (id, standing) = (ended.user_group_id.clone(), ended.standing);
        tell(Progress::Ended(Box::new(ended)));
        self.operations.reached(Point::ItemEnded);
        if let Some(why) = fatal {
            return Some(Halt::Cannot(why));
        }
        if harmless {
            return None;
        }
        streak.ended(&id, standing)
    }

    async fn rotated_only(&self) -> VecDeque<BatchItem> {
        let items = self.operations.batch_items(self.batch).await;
        let mut items = items.unwrap_or_default();
        items.retain(|item| item.standing() == Standing::Rotated);
        items.into()
    }
}
