//! Reports a run over many groups to a person and to programs: a line or an object for each group that ended, what needs
//! a person, the sum, how to resume. After the first signal nothing new is started, and requests in flight may finish within a time
//! limit. A second Ctrl-C leaves at once. A system that ends a session often sends its signal twice, which counts as one.

use std::future::pending;

use tokio::{sync::watch, time::Instant};

use super::prelude::*;
use crate::operations::{
    Unrecorded,
    batch::Control,
    run::{Counts as _, Event, Kind, Run},
};

/// How many progress lines there are without a progress bar.
const STEPS: usize = 10;

/// How long a run reports nothing before it is asked whether the directory is lost.
const UNTOLD: Duration = Duration::from_secs(5);

const NO_DIRECTORY: &str =
    "the directory cannot be reached, or accepts no more connections; waiting, nothing is sent";

const RECORDED: &str = "nothing is waiting to be recorded now";

/// How long nothing more is said of results that wait to be recorded.
const SAID_AGAIN: Duration = Duration::from_mins(10);

/// Says what waits to be recorded: at once, now and then, and when nothing does.
struct Waiting {
    unrecorded: watch::Receiver<Unrecorded>,
    pause: Duration,
    /// When it is said again, if it was said.
    again: Option<Instant>,
}

impl Waiting {
    fn of(operations: &Operations) -> Self {
        let mut unrecorded = operations.unrecorded();
        // The run has begun already.
        unrecorded.mark_changed();
        Self {
            unrecorded,
            pause: SAID_AGAIN,
            again: None,
        }
    }

    /// Waits for the next line. Nothing is lost if that is cancelled.
    async fn next(&mut self) -> String {
        loop {
            let again = async {
                match self.again {
                    Some(again) => tokio::time::sleep_until(again).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                Ok(()) = self.unrecorded.changed() => {}
                () = again => {}
            }
            let text = self.unrecorded.borrow_and_update().text();
            let is_due = self.again.is_none_or(|again| again <= Instant::now());
            match text {
                Some(text) if is_due => {
                    self.again = Some(Instant::now() + self.pause);
                    return text;
                }
                None if self.again.take().is_some() => return RECORDED.to_owned(),
                _ => {}
            }
        }
    }
}

/// What is particular to the report of one kind of run.
pub(crate) trait RunReport {
    type Of: Kind;

    /// Reports an item that ended. Returns the counts after it, if it was started.
    fn ended(
        &mut self,
        session: &Session,
        progress: &Progress,
        end: &<Self::Of as Kind>::End,
    ) -> Option<<Self::Of as Kind>::Counts>;

    /// Whether groups may end without a line, so that a person without a progress bar wants a line now and then.
    const HAS_STEPS: bool = false;

    /// The command that continues with what is left, if it can be continued.
    fn again(&self) -> Option<String>;

    /// How it ended.
    async fn summary(self, session: &Session, sum: <Self::Of as Kind>::Sum) -> Summary;
}

/// What is reported when a run has ended.
pub(crate) struct Summary {
    pub(crate) exit: Exit,
    /// What needs a person; reported first.
    pub(crate) alarms: Vec<String>,
    /// The last line on standard output: the sum as JSON, or as text.
    pub(crate) result: Option<String>,
    /// The sum for a person, if it is no result.
    pub(crate) said: Option<String>,
    /// What to do next.
    pub(crate) next: Vec<String>,
    /// Something is left, or failed.
    pub(crate) is_left: bool,
}

impl Summary {
    /// Of a run that is reported by its exit code alone.
    pub(crate) fn of(exit: Exit) -> Self {
        Self {
            exit,
            alarms: Vec::new(),
            result: None,
            said: None,
            next: Vec::new(),
            is_left: false,
        }
    }
}

/// Waits for a run without reporting it; hands over what has ended. Returns the sum, unless the run was interrupted.
pub(crate) async fn unreported<K: Kind>(
    session: &Session,
    mut run: Run<K>,
    mut each: impl FnMut(K::End),
) -> Option<K::Sum> {
    let mut waiting = Waiting::of(&session.operations);
    let mut is_told = false;
    loop {
        let event = tokio::select! {
            biased;
            event = run.progress.recv() => event?,
            line = waiting.next() => {
                output::alarm(&line);
                continue;
            }
        };
        match event {
            Event::Ended(end) => {
                is_told = false;
                each(*end);
            }
            Event::NoDirectory(_) if !std::mem::replace(&mut is_told, true) => {
                output::say(NO_DIRECTORY);
            }
            Event::Finished(sum) => return Some(sum),
            _ => {}
        }
    }
}

/// Reports the run until it has ended.
pub(crate) async fn follow<R: RunReport>(
    session: &Session,
    signals: &mut Signals,
    run: Run<R::Of>,
    report: R,
) -> Result<Exit, CliError> {
    follow_until(session, signals, run, report, pending()).await
}

/// The same; `stopped` stops the run like a signal.
pub(crate) async fn follow_until<R: RunReport>(
    session: &Session,
    signals: &mut Signals,
    mut run: Run<R::Of>,
    mut report: R,
    stopped: impl Future<Output = StopCause>,
) -> Result<Exit, CliError> {
    let progress = Progress::start(run.counts.planned());
    progress.counts(run.counts.done(), &run.counts);
    let mut last = None;
    let mut steps = 0;
    let mut shutdown = Shutdown::of(signals);
    let mut waiting = Waiting::of(&session.operations);
    let mut stopped = std::pin::pin!(stopped);
    let (mut is_stopped, mut is_told) = (false, false);
    let sum = loop {
        let event = tokio::select! {
            biased;
            event = run.progress.recv() => event,
            cause = &mut stopped, if !is_stopped => {
                is_stopped = true;
                run.control.stop(cause);
                continue;
            }
            asked = shutdown.next_request(&run.control, &progress) => match asked {
                ShutdownRequest::Finish => continue,
                ShutdownRequest::Abandon => None,
            },
            line = waiting.next() => {
                progress.alarm(line);
                continue;
            }
            () = tokio::time::sleep(UNTOLD), if !is_told => {
                if session.operations.directory().is_lost() {
                    is_told = true;
                    progress.say(NO_DIRECTORY.into());
                }
                continue;
            }
        };
        match event {
            Some(Event::Ended(end)) => {
                is_told = false;
                let Some(counts) = report.ended(session, &progress, &end) else {
                    continue;
                };
                progress.counts(counts.done(), &counts);
                let step = counts.done() * STEPS / counts.planned().max(1);
                if R::HAS_STEPS && !progress.has_bar && step > steps {
                    steps = step;
                    progress.say(format!("{} of {}", counts.done(), counts.planned()));
                }
                last = Some(counts);
            }
            Some(Event::Throttled(wait)) => progress.held(wait),
            // Each item in flight reports it, every two seconds.
            Some(Event::NoDirectory(_)) => {
                if !std::mem::replace(&mut is_told, true) {
                    progress.say(NO_DIRECTORY.into());
                }
            }
            Some(Event::Halted(halt)) => progress.alarm(halt.to_string()),
            Some(Event::Started(_)) => {}
            Some(Event::Finished(sum)) => break Some(sum),
            None => break None,
        }
    };
    let again = report.again();
    let Some(sum) = sum else {
        let _ = progress.end(Exit::Interrupted, None).await;
        if let Some(again) = again {
            output::alarm(&format!("progress is saved. To resume: {again}"));
        }
        return Err(CliError::Interrupted { in_flight: true });
    };
    let summary = report.summary(session, sum).await;
    for alarm in summary.alarms {
        progress.alarm(alarm);
    }
    if let Some(result) = summary.result {
        progress.result(result);
    }
    match summary.said {
        Some(said) if summary.exit == Exit::Done => progress.say(said),
        Some(said) => progress.alarm(said),
        None => {}
    }
    let again = again.filter(|_| summary.is_left);
    let again = again.map(|again| format!("to resume: {again}"));
    for line in summary.next.into_iter().chain(again) {
        progress.say(line);
    }
    let done = last.map(|counts| counts.to_string());
    progress.end(summary.exit, done).await
}

/// How long requests in flight may take after a signal; shorter in tests.
fn grace_period() -> Duration {
    #[cfg(feature = "failpoints")]
    if let Ok(millis) = std::env::var("GROUPDESK_TEST_FINISHING_MS") {
        return Duration::from_millis(millis.parse().expect("a number"));
    }
    Duration::from_secs(35)
}

/// What a signal means for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShutdownRequest {
    /// The run stops, but requests in flight are still waited for.
    Finish,
    /// The run is abandoned at once.
    Abandon,
}

/// The shutdown of one run.
pub(crate) struct Shutdown<'s> {
    signals: &'s mut Signals,
    deadline: Option<Instant>,
}

impl<'s> Shutdown<'s> {
    pub(crate) fn of(signals: &'s mut Signals) -> Self {
        Self {
            signals,
            deadline: None,
        }
    }

    /// Whether a signal has come.
    pub(crate) fn is_begun(&self) -> bool {
        self.deadline.is_some()
    }

    /// Waits for a signal or for the time limit, then stops the run and says so.
    pub(crate) async fn next_request(
        &mut self,
        control: &Control,
        progress: &Progress,
    ) -> ShutdownRequest {
        let late = async {
            match self.deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let cause = tokio::select! {
            biased;
            cause = self.signals.next_cause() => cause,
            () = late => return ShutdownRequest::Abandon,
        };
        if self.is_begun() && cause == StopCause::Person {
            return ShutdownRequest::Abandon;
        }
        control.stop(cause);
        let grace_period = grace_period();
        self.deadline.get_or_insert(Instant::now() + grace_period);
        progress.alarm(format!(
            "finishing running requests, at most {} s; a second Ctrl-C exits at once",
            grace_period.as_secs_f64()
        ));
        ShutdownRequest::Finish
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::operations::DirectoryError;

    #[tokio::test]
    async fn what_waits_to_be_recorded_is_said_at_once_now_and_then_and_when_it_is_over() {
        let (waits, unrecorded) = watch::channel(Unrecorded::default());
        let mut waiting = Waiting {
            unrecorded,
            pause: Duration::ZERO,
            again: None,
        };
        assert_eq!(waiting.next().now_or_never(), None);
        waits.send_modify(|waits| {
            waits.outcomes = 2;
            waits.why = Some(DirectoryError::NotBound("ask an admin".into()));
        });
        for _ in 0..2 {
            let line = waiting.next().await;
            assert!(line.starts_with("2 responses of the service are not recorded yet"));
            assert!(line.contains("ask an admin"), "{line}");
        }
        waiting.pause = SAID_AGAIN;
        waiting.next().await;
        waits.send_modify(|waits| waits.outcomes = 1);
        assert_eq!(waiting.next().now_or_never(), None, "said a moment ago");
        waits.send_modify(|waits| waits.outcomes = 0);
        assert_eq!(waiting.next().await, RECORDED);
        waits.send_modify(|waits| waits.outcomes = 0);
        assert_eq!(waiting.next().now_or_never(), None);
    }
}
