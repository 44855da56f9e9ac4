//! Many requests, some at a time: they are begun as pace and wishes allow, what is in flight is finished, and a service
//! that asks to be left alone is waited for. Bulk rotation and the reading of all groups are run by it.

mod control;
mod pace;
mod retry_budget;

use futures_util::future::BoxFuture;
use tokio::task::JoinSet;

pub use control::{Control, RunCommand};
pub(crate) use pace::Pace;
pub(crate) use retry_budget::RetryBudget;

use crate::domain::batch::Halt;

/// How fast a run goes, and when it gives up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLimits {
    /// Items at the same time; at least 1.
    pub concurrency: usize,
    /// Items begun per second, at most.
    pub rate: Option<f64>,
    /// Failures in a row; 0 never stops.
    pub stop_after: usize,
}

impl RunLimits {
    /// When its items may begin; the first one now.
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

/// The items of a run, and what follows from how each ended.
pub(crate) trait Work {
    type Item;
    type Outcome: Send + 'static;

    /// How many are left to begin.
    fn waiting(&self) -> usize;

    /// The next one, if any is left.
    fn next(&mut self) -> Option<Self::Item>;

    /// Begins it.
    fn begin(&self, item: Self::Item) -> BoxFuture<'static, Self::Outcome>;

    /// Takes note of an outcome, `None` where it broke off in this program; says why nothing new may be begun, if so.
    fn ended(&mut self, outcome: Option<Self::Outcome>) -> Option<Halt>;

    /// Nothing new is begun any more.
    fn halted(&self, halt: &Halt);
}

/// Works until nothing is in flight and nothing may be begun; says why something was not begun.
pub(crate) async fn run(
    work: &mut impl Work,
    limits: RunLimits,
    control: &Control,
) -> Option<Halt> {
    let mut in_flight = JoinSet::new();
    let mut halt = None;
    let mut pace = limits.pace();
    loop {
        let has_room = in_flight.len() < limits.concurrency.max(1);
        let wants = halt.is_none() && has_room && work.waiting() > 0;
        if !wants && in_flight.is_empty() {
            return halt;
        }
        tokio::select! {
            biased;
            Some(joined) = in_flight.join_next() => {
                let stopped = work.ended(joined.ok());
                if halt.is_none() && let Some(stopped) = stopped {
                    // Those who wait for a busy service have sent nothing yet.
                    control.end();
                    work.halted(&stopped);
                    halt = Some(stopped);
                }
            }
            may = control.may_begin(pace.next_start()), if wants => {
                if !may {
                    let asked = control.asked();
                    work.halted(&asked);
                    halt = Some(asked);
                } else if let Some(item) = work.next() {
                    pace.begun();
                    in_flight.spawn(work.begin(item));
                }
            }
        }
    }
}
