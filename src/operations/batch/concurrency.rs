//! Runs many requests, a limited number at a time: begins them as pace and control allow, finishes what is in flight,
//! and waits when the service asks for a pause. Used by bulk rotation and by the refresh of all groups.

mod control;
mod pace;
mod retry_budget;
mod room;

use futures_util::future::BoxFuture;
use tokio::task::JoinSet;

pub use control::{Control, RunCommand};
pub(crate) use pace::Pace;
pub(crate) use retry_budget::RetryBudget;
pub use room::{Room, Slot};

use crate::domain::batch::Halt;

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

    /// Begins it. Its slot may be given back before it ends.
    fn begin(&self, item: Self::Item, slot: Slot) -> BoxFuture<'static, Self::Outcome>;

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
    let room = Room::of(limits);
    loop {
        let has_room = room.is_free(in_flight.len());
        let is_left = halt.is_none() && work.waiting() > 0;
        let wants = is_left && has_room;
        if !wants && in_flight.is_empty() {
            return halt;
        }
        tokio::select! {
            biased;
            Some(joined) = in_flight.join_next() => {
                let stopped = work.ended(joined.ok());
                if halt.is_none() && let Some(stopped) = stopped {
                    // Items waiting for a busy service have sent nothing yet; end their wait.
                    control.end();
                    work.halted(&stopped);
                    halt = Some(stopped);
                }
            }
            () = room.freed(), if is_left && !has_room => {}
            may = control.may_begin(pace.next_start()), if wants => {
                if !may {
                    let asked = control.asked();
                    work.halted(&asked);
                    halt = Some(asked);
                } else if let Some(item) = work.next() {
                    pace.begun();
                    in_flight.spawn(work.begin(item, room.slot()));
                }
            }
        }
    }
}
