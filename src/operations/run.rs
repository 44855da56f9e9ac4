//! Everything that goes over many groups: reading them, sending the rows of a file, rotating, editing, exporting tokens.
//! The driver begins items as pace and control allow, waits when the service asks for a pause, counts failures in a row,
//! and stops when the next item would fail too. What is done for one item is a `Work`.

mod control;
mod pace;
mod retry_budget;
mod slots;

use std::{io, sync::atomic::Ordering};

use tokio::{sync::mpsc, task::JoinSet};

pub use control::{Control, RunCommand};
use pace::Pace;
pub use retry_budget::Hold;
pub(crate) use retry_budget::RetryBudget;
pub use slots::Slot;
use slots::SlotPool;

use super::prelude::*;

/// How fast a run goes, and when it gives up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLimits {
    /// Items in flight at the same time; at least 1.
    pub concurrency: usize,
    /// Maximum number of items started per second.
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

/// Receives tokens, for example to write them to a file. Called after the fingerprint of the token is durable, and before
/// the confirming get of a rotation. May block.
pub trait TokenSink: Send + Sync {
    /// Stores the token durably; an error stops the run.
    fn keep(&self, done: &Done) -> io::Result<()>;
}

/// Passes a token to its sink.
pub(crate) async fn keep(sink: Arc<dyn TokenSink>, done: &Done) -> io::Result<()> {
    let done = done.clone();
    let kept = tokio::task::spawn_blocking(move || sink.keep(&done)).await;
    kept.unwrap_or_else(|_| Err(io::Error::other("internal error")))
}

/// What the events of one kind of run hold.
pub trait Kind: fmt::Debug + 'static {
    /// Names an item that begins.
    type Key: fmt::Debug + Send;
    /// How one item ended, with the counts after it.
    type End: fmt::Debug + Send;
    /// How the run ended.
    type Sum: fmt::Debug + Send;
    /// How many items ended how.
    type Counts: Counts;
}

/// How many items ended how. Together with those not started they are all that was planned.
pub trait Counts: fmt::Display + fmt::Debug + Send {
    /// All but those not started.
    fn done(&self) -> usize;
    fn planned(&self) -> usize;
}

/// Events of a run, in order. The run never waits for the receiver.
#[derive(Debug, Clone)]
pub enum Event<K: Kind> {
    /// The first read or request of this item begins.
    Started(K::Key),
    /// The service asked for a pause of this length; nothing is sent meanwhile.
    Throttled(Duration),
    /// The directory is unreachable; nothing is started, and it is tried again after this time.
    NoDirectory(Duration),
    Ended(Box<K::End>),
    /// Nothing new will be started; what is in flight is finished.
    Halted(Halt),
    /// The last event.
    Finished(K::Sum),
}

impl<K: Kind> From<Hold> for Event<K> {
    fn from(hold: Hold) -> Self {
        match hold {
            Hold::Service(wait) => Self::Throttled(wait),
            Hold::Directory => Self::NoDirectory(hold.wait()),
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sum<C> {
    pub counts: C,
    /// Why some items were not started.
    pub halt: Option<Halt>,
}

/// A run in progress. It continues if this is dropped.
#[derive(Debug)]
pub struct Run<K: Kind> {
    /// The counts when it began.
    pub counts: K::Counts,
    pub control: Control,
    pub progress: mpsc::UnboundedReceiver<Event<K>>,
}

/// What every item of a run needs.
pub(crate) struct Context<K: Kind> {
    pub(crate) control: Control,
    events: mpsc::UnboundedSender<Event<K>>,
}

impl<K: Kind> Clone for Context<K> {
    fn clone(&self) -> Self {
        Self {
            control: self.control.clone(),
            events: self.events.clone(),
        }
    }
}

impl<K: Kind> Context<K> {
    /// The context of a run that begins with these counts.
    pub(crate) fn new(counts: K::Counts) -> (Self, Run<K>) {
        let control = Control::default();
        let (events, progress) = mpsc::unbounded_channel();
        let run = Run {
            counts,
            control: control.clone(),
            progress,
        };
        (Self { control, events }, run)
    }

    /// Whether there is something to wait for; if so, nothing is sent for that time.
    pub(crate) fn is_held(&self, hold: Option<Hold>) -> bool {
        if let Some(hold) = hold {
            self.control.hold_for(hold.wait());
            self.tell(hold.into());
        }
        hold.is_some()
    }

    /// Tells why nothing new is started.
    pub(crate) fn halted(&self, halt: Halt) -> Halt {
        self.tell(Event::Halted(halt.clone()));
        halt
    }

    /// Sends an event. The run does not depend on a receiver.
    pub(crate) fn tell(&self, event: Event<K>) {
        drop(self.events.send(event));
    }
}

/// What the end of one item means for the others.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Consequence {
    Good,
    /// It says nothing about the next one.
    Neutral,
    /// Some of these in a row stop the run.
    Bad,
    /// Nothing new may be started.
    Stop(Halt),
    /// The run was stopped before anything was sent for it.
    NotStarted,
}

/// Counts failures in a row, in the order in which items end.
struct FailureStreak {
    /// Zero means never.
    stop_after: usize,
    failures: usize,
}

impl FailureStreak {
    fn new(stop_after: usize) -> Self {
        Self {
            stop_after,
            failures: 0,
        }
    }

    fn succeeded(&mut self) {
        self.failures = 0;
    }

    /// Counts a failure; returns whether the run must stop after it.
    fn failed(&mut self) -> Option<Halt> {
        self.failures += 1;
        (self.stop_after > 0 && self.failures >= self.stop_after)
            .then_some(Halt::Failures(self.failures))
    }
}

impl Failure {
    /// Whether the next group of a run would fail in the same way, or could not be recorded.
    pub(crate) fn concerns_all(&self) -> bool {
        match self.cause() {
            Self::Place(_)
            | Self::Key(_)
            | Self::KeyRefused { .. }
            | Self::Client(_)
            | Self::Forbidden { .. }
            | Self::ReadOnly { .. } => true,
            Self::NothingSent(error) | Self::NotKept(error) | Self::NotWritten(error) => {
                !error.is_of_others()
            }
            _ => false,
        }
    }

    /// Whether the directory was unreachable before anything was changed: the same may be tried again once it is back.
    pub(crate) fn lacks_directory(&self) -> bool {
        match self.cause() {
            Self::NothingSent(error) => error.is_unreachable(),
            // A read is repeated whether or not it was recorded.
            Self::NotKept(error) => error.is_unreachable() || error.is_unclear(),
            _ => false,
        }
    }

    /// Whether it is unknown if the intent was recorded, because the directory was lost meanwhile. Nothing was sent.
    pub(crate) fn has_unclear_intent(&self) -> bool {
        matches!(self, Self::NothingSent(error) if error.is_unclear())
    }

    /// Whether it follows from what colleagues and the directory say about this group: nothing was sent, so it says
    /// nothing about the service or the next group.
    pub(crate) fn concerns_one_group(&self) -> bool {
        match self.cause() {
            Self::ChangedSince { .. }
            | Self::Held(_)
            | Self::RotationTaken { .. }
            | Self::JustRotated { .. }
            | Self::TokenChanged { by: Some(_), .. }
            | Self::Stale(_) => true,
            Self::NothingSent(error) => error.is_of_others(),
            _ => false,
        }
    }
}

/// A failure that the next item would meet too stops the run; one that a colleague caused has no consequence; any other
/// counts towards those in a row.
impl From<&Failure> for Consequence {
    fn from(failure: &Failure) -> Self {
        if failure.concerns_all() {
            Self::Stop(Halt::Cannot(failure.to_string()))
        } else if failure.concerns_one_group() {
            Self::Neutral
        } else {
            Self::Bad
        }
    }
}

/// The items of a run, and what follows from their ends.
pub(crate) trait Work: Send {
    type Kind: Kind;
    type Item: Send;
    type Outcome: Send + 'static;

    /// Takes the next item, if any is left. May wait for it; no item is lost if the wait is cancelled.
    fn next(&mut self) -> impl Future<Output = Result<Option<Self::Item>, Halt>> + Send;

    /// Whether no other item may be in flight beside one.
    fn is_alone(&self) -> bool {
        false
    }

    /// Begins the item. Its slot may be released before it ends, once it certainly ends well.
    fn begin(
        &self,
        item: Self::Item,
        context: Context<Self::Kind>,
        slot: Slot,
    ) -> BoxFuture<'static, Self::Outcome>;

    /// Counts an item and reports it.
    fn ended(&mut self, outcome: Self::Outcome, context: &Context<Self::Kind>) -> Consequence;

    /// All items have ended: whether there are more now.
    fn again(&mut self) -> impl Future<Output = bool> + Send {
        std::future::ready(false)
    }
}

/// Runs until nothing is in flight and nothing more may be started. Returns why items were not started, if any.
pub(crate) async fn drive<W: Work>(
    work: &mut W,
    limits: RunLimits,
    context: &Context<W::Kind>,
) -> Option<Halt> {
    let control = &context.control;
    let mut in_flight: JoinSet<(W::Outcome, bool)> = JoinSet::new();
    let mut streak = FailureStreak::new(limits.stop_after);
    let mut pace = Pace::new(limits.rate);
    let slots = SlotPool::of(limits);
    let (mut halt, mut ready, mut is_all) = (None, None, false);
    loop {
        let goes_on = halt.is_none();
        let has_slot = slots.is_free(in_flight.len()) && (in_flight.is_empty() || !work.is_alone());
        let is_left = goes_on && ready.is_some();
        let stopped = tokio::select! {
            biased;
            Some(joined) = in_flight.join_next() => {
                if slots.take_released() {
                    streak.succeeded();
                }
                match joined {
                    Ok((outcome, was_early)) => match work.ended(outcome, context) {
                        Consequence::Good => {
                            // Others may have failed since it released its slot.
                            if !was_early {
                                streak.succeeded();
                            }
                            None
                        }
                        Consequence::Neutral => None,
                        Consequence::Bad => streak.failed(),
                        Consequence::Stop(halt) => Some(halt),
                        Consequence::NotStarted => Some(control.halt_reason()),
                    },
                    // The task panicked; the journal knows how far it came.
                    Err(_) => Some(Halt::Internal),
                }
            }
            next = work.next(), if goes_on && ready.is_none() && !is_all => match next {
                Ok(next) => {
                    is_all = next.is_none();
                    ready = next;
                    None
                }
                Err(halt) => Some(halt),
            },
            () = control.stopped(), if goes_on && (ready.is_some() || !is_all) => {
                Some(control.halt_reason())
            }
            () = slots.freed(), if is_left && !has_slot => None,
            may = control.may_begin(pace.next_start()), if is_left && has_slot => {
                if may && let Some(item) = ready.take() {
                    pace.begun();
                    let slot = slots.slot();
                    let early = slot.early();
                    let task = work.begin(item, context.clone(), slot);
                    in_flight.spawn(async move {
                        let outcome = task.await;
                        (outcome, early.load(Ordering::SeqCst))
                    });
                    None
                } else {
                    Some(control.halt_reason())
                }
            }
            else => {
                if halt.is_some() || control.command().is_stop() || !work.again().await {
                    return halt;
                }
                streak = FailureStreak::new(limits.stop_after);
                is_all = false;
                None
            }
        };
        if let (true, Some(stopped)) = (goes_on, stopped) {
            // Items that wait for a busy service have sent nothing yet; end their wait.
            control.end();
            halt = Some(context.halted(stopped));
        }
    }
}

#[cfg(test)]
mod tests;
