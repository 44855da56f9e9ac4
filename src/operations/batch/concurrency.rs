//! Runs many requests, a limited number at a time: begins them as pace and control allow, finishes what is in flight,
//! and waits when the service asks for a pause. Used by bulk rotation and by the refresh of all groups.

mod control;
mod pace;
mod retry_budget;
mod slots;

use futures_util::future::BoxFuture;
use tokio::task::JoinSet;

pub use control::{Control, RunCommand};
pub(crate) use pace::Pace;
pub(crate) use retry_budget::RetryBudget;
pub use slots::{Slot, SlotPool};

use crate::{directory::BatchOptions, domain::batch::Halt};

/// How fast a run goes, and when it gives up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLimits {
    /// Items in flight at the same time; at least 1.
    pub concurrency: usize,
    /// Maximum number of items begun per second.
    pub rate: Option<f64>,
    /// Stop after this many failures in a row; 0 never stops.
    pub stop_after: usize,
}

impl RunLimits {
    /// As the command of the batch was told.
    pub fn of(options: BatchOptions) -> Self {
        let usual = Self::default();
        Self {
            concurrency: options.concurrency.map_or(usual.concurrency, usize::from),
            rate: options.rate,
            stop_after: options.stop_after.map_or(usual.stop_after, usize::from),
        }
    }

    /// The pace at which items may begin; the first may begin now.
    pub(crate) fn pace(self) -> Pace {
        Pace::new(self.rate)
    }
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            concurrency: 4,
            rate: None,
            stop_after: 3,
        }
    }
}

/// The items of a run, and what follows from their outcomes.
pub(crate) trait Work {
    type Item;
    type Outcome: Send + 'static;

    /// How many items are left to begin.
    fn waiting(&self) -> usize;

    /// Takes the next item, if any is left.
    fn next(&mut self) -> Option<Self::Item>;

    /// Begins the item. Its slot may be released before it ends.
    fn begin(&self, item: Self::Item, slot: Slot) -> BoxFuture<'static, Self::Outcome>;

    /// An item has gone well and released its slot; its outcome is still to come.
    fn succeeded_early(&mut self) {}

    /// Records an outcome (`None` if the task panicked). Returns the reason if nothing new may be begun.
    fn ended(&mut self, outcome: Option<Self::Outcome>) -> Option<Halt>;

    /// Called when nothing new will be begun.
    fn halted(&self, halt: &Halt);
}

/// Runs until nothing is in flight and nothing more may be begun. Returns why items were not begun, if any.
pub(crate) async fn run(
    work: &mut impl Work,
    limits: RunLimits,
    control: &Control,
) -> Option<Halt> {
    let mut in_flight = JoinSet::new();
    let mut halt = None;
    let mut pace = limits.pace();
    let slots = SlotPool::of(limits);
    loop {
        let has_slot = slots.is_free(in_flight.len());
        let is_left = halt.is_none() && work.waiting() > 0;
        let wants = is_left && has_slot;
        if !wants && in_flight.is_empty() {
            return halt;
        }
        tokio::select! {
            biased;
            Some(joined) = in_flight.join_next() => {
                if slots.take_released() {
                    work.succeeded_early();
                }
                let stopped = work.ended(joined.ok());
                if halt.is_none() && let Some(stopped) = stopped {
                    // Items waiting for a busy service have sent nothing yet; end their wait.
                    control.end();
                    work.halted(&stopped);
                    halt = Some(stopped);
                }
            }
            () = slots.freed(), if is_left && !has_slot => {}
            may = control.may_begin(pace.next_start()), if wants => {
                if !may {
                    let reason = control.halt_reason();
                    work.halted(&reason);
                    halt = Some(reason);
                } else if let Some(item) = work.next() {
                    pace.begun();
                    in_flight.spawn(work.begin(item, slots.slot()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    /// Items that end one after another, the last begun first; what happened, in order.
    struct Items {
        left: usize,
        releases: bool,
        log: Arc<Mutex<Vec<String>>>,
        /// Ends the item before.
        before: Mutex<Option<oneshot::Sender<()>>>,
    }

    impl Items {
        fn record(&self, what: String) {
            self.log.lock().expect("no panic").push(what);
        }
    }

    impl Work for Items {
        type Item = usize;
        type Outcome = usize;

        fn waiting(&self) -> usize {
            self.left
        }

        fn next(&mut self) -> Option<usize> {
            self.left = self.left.checked_sub(1)?;
            Some(self.left)
        }

        fn begin(&self, item: usize, mut slot: Slot) -> BoxFuture<'static, usize> {
            self.record(format!("begun {item}"));
            let (end, ends) = oneshot::channel();
            let before = self.before.lock().expect("no panic").replace(end);
            let (releases, is_last) = (self.releases, item == 0);
            async move {
                if releases {
                    slot.release();
                    // Written down when the next one is under way.
                    let _ = before.map(|before| before.send(()));
                    if !is_last {
                        ends.await.expect("another one begins");
                    }
                }
                item
            }
            .boxed()
        }

        fn ended(&mut self, outcome: Option<usize>) -> Option<Halt> {
            let item = outcome.expect("no panic");
            self.record(format!("ended {item}"));
            (item == 1).then_some(Halt::Internal)
        }

        fn halted(&self, _: &Halt) {}
    }

    async fn run_log(releases: bool) -> Vec<String> {
        let mut items = Items {
            left: 4,
            releases,
            log: Arc::default(),
            before: Mutex::default(),
        };
        let limits = RunLimits {
            concurrency: 1,
            ..RunLimits::default()
        };
        let halt = run(&mut items, limits, &Control::default()).await;
        assert_eq!(halt, Some(Halt::Internal));
        let log = items.log.lock().expect("no panic");
        log.clone()
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_next_one_begins_when_the_end_was_handled_or_the_slot_released() {
        let one_by_one = [
            "begun 3", "ended 3", "begun 2", "ended 2", "begun 1", "ended 1",
        ];
        assert_eq!(run_log(false).await, one_by_one, "none after the halt");
        let log = run_log(true).await;
        let place = |what: &str| log.iter().position(|event| event == what);
        for item in 1..4 {
            let (next, end) = (format!("begun {}", item - 1), format!("ended {item}"));
            assert!(place(&next) < place(&end), "{log:?}");
        }
    }
}
