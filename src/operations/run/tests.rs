//! The driver: when items begin, and when a run stops.

use std::sync::Mutex;

use futures_util::FutureExt;
use tokio::sync::oneshot;

use super::*;
use crate::{
    directory::{DirectoryError, MutationId, RotationId},
    domain::{batch::StopCause, group::UserGroupId, rotation::State},
    operations::Warning,
};

#[derive(Debug)]
struct Numbers;

impl Kind for Numbers {
    type Key = usize;
    type End = usize;
    type Sum = ();
    type Counts = usize;
}

impl Counts for usize {
    fn done(&self) -> usize {
        0
    }

    fn planned(&self) -> usize {
        *self
    }
}

/// Items that end one after another, the last started first; what happened, in order.
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
    type Kind = Numbers;
    type Item = usize;
    type Outcome = usize;

    async fn next(&mut self) -> Result<Option<usize>, Halt> {
        let next = self.left.checked_sub(1);
        self.left = next.unwrap_or_default();
        Ok(next)
    }

    fn begin(&self, item: usize, _: Context<Numbers>, mut slot: Slot) -> BoxFuture<'static, usize> {
        self.record(format!("begun {item}"));
        let (end, ends) = oneshot::channel();
        let before = self.before.lock().expect("no panic").replace(end);
        let (releases, is_last) = (self.releases, item == 0);
        async move {
            if releases {
                slot.release();
                // Written down when the next one is in progress.
                let _ = before.map(|before| before.send(()));
                if !is_last {
                    ends.await.expect("another one begins");
                }
            }
            item
        }
        .boxed()
    }

    fn ended(&mut self, item: usize, _: &Context<Numbers>) -> Consequence {
        self.record(format!("ended {item}"));
        if item == 1 {
            Consequence::Stop(Halt::Internal)
        } else {
            Consequence::Good
        }
    }
}

fn one_at_a_time() -> RunLimits {
    RunLimits {
        concurrency: 1,
        ..RunLimits::default()
    }
}

async fn run_log(releases: bool) -> Vec<String> {
    let mut items = Items {
        left: 4,
        releases,
        log: Arc::default(),
        before: Mutex::default(),
    };
    let (context, _run) = Context::new(4);
    let halt = drive(&mut items, one_at_a_time(), &context).await;
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

/// Items with these consequences; counts those that ended.
struct Verdicts {
    left: std::vec::IntoIter<Consequence>,
    ended: usize,
    stops_at: usize,
}

impl Work for Verdicts {
    type Kind = Numbers;
    type Item = Consequence;
    type Outcome = Consequence;

    async fn next(&mut self) -> Result<Option<Consequence>, Halt> {
        Ok(self.left.next())
    }

    fn begin(
        &self,
        item: Consequence,
        _: Context<Numbers>,
        _: Slot,
    ) -> BoxFuture<'static, Consequence> {
        std::future::ready(item).boxed()
    }

    fn ended(&mut self, verdict: Consequence, context: &Context<Numbers>) -> Consequence {
        self.ended += 1;
        if self.ended == self.stops_at {
            context.control.stop(StopCause::Signal);
        }
        verdict
    }
}

async fn verdicts(
    all: Vec<Consequence>,
    stop_after: usize,
    stops_at: usize,
) -> (usize, Option<Halt>) {
    let mut work = Verdicts {
        left: all.into_iter(),
        ended: 0,
        stops_at,
    };
    let limits = RunLimits {
        stop_after,
        ..one_at_a_time()
    };
    let (context, mut run) = Context::new(4);
    let halt = drive(&mut work, limits, &context).await;
    let told = run.progress.try_recv().ok().map(|event| match event {
        Event::Halted(halt) => halt,
        other => panic!("{other:?}"),
    });
    assert_eq!(told, halt, "a halt is told once");
    (work.ended, halt)
}

#[tokio::test]
async fn only_failures_in_a_row_stop_a_run_and_an_alarm_at_once() {
    use Consequence::{Bad, Good, Neutral, Stop};
    let failures = |count| Some(Halt::Failures(count));
    let row = || vec![Bad, Good, Bad, Neutral, Bad, Good];
    assert_eq!(verdicts(row(), 2, 0).await, (5, failures(2)));
    assert_eq!(verdicts(row(), 3, 0).await, (6, None));
    let many = || std::iter::repeat_with(|| Bad).take(99).collect();
    assert_eq!(verdicts(many(), 0, 0).await, (99, None));
    let stops = vec![Good, Stop(Halt::Internal), Good];
    assert_eq!(verdicts(stops, 0, 0).await, (2, Some(Halt::Internal)));
}

#[tokio::test]
async fn a_stop_that_leaves_nothing_out_is_no_halt() {
    let good = || vec![Consequence::Good, Consequence::Good, Consequence::Good];
    let asked = Some(Halt::Asked(StopCause::Signal));
    assert_eq!(verdicts(good(), 3, 1).await, (1, asked));
    assert_eq!(verdicts(good(), 3, 3).await, (3, None));
}

#[test]
fn what_others_did_to_one_group_has_no_consequence_for_the_next() {
    let (id, from, now) = (RotationId(1), State::Intended, State::NotApplied);
    let moved = || DirectoryError::MovedOn { id, from, now };
    let claim = DirectoryError::ClaimMoved { id: MutationId(1) };
    let group = UserGroupId::parse("acme").expect("a valid ID");
    let stale = Failure::Stale(Warning::StaleAnswer).before(&group, "rotated");
    for failure in [
        Failure::NothingSent(moved()),
        Failure::NothingSent(claim).of_change(&group, "updated"),
        stale,
    ] {
        assert_eq!(
            Consequence::from(&failure),
            Consequence::Neutral,
            "{failure}"
        );
    }
    // It was sent, and its result is unknown.
    let lost = Failure::NotWritten(moved());
    assert_eq!(Consequence::from(&lost), Consequence::Bad);
    let stopped = DirectoryError::Stopped { path: "d".into() };
    let consequence = Consequence::from(&Failure::NothingSent(stopped));
    assert!(
        matches!(consequence, Consequence::Stop(_)),
        "{consequence:?}"
    );
}
