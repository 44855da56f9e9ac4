//! The event loop: events and finished jobs in, effects out, one draw when the queue is empty. No timer drives it; an
//! idle console never wakes up and writes nothing.

mod screen;

use std::{
    collections::HashMap,
    future::poll_fn,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use crossterm::event::Event;
use futures_util::{Stream, StreamExt};
use tokio::{
    sync::{mpsc, watch},
    task::AbortHandle,
    time::{Instant, sleep, sleep_until, timeout_at},
};

use super::jobs::{Backends, JobContext};
use crate::{
    domain::StopCause,
    operations::{Cancel, Clock, Listener, RecordedExchange, batch::RunCommand},
    tui::{
        app::App,
        frame,
        state::{
            EditRequest, Effect, ExitReason, Job, JobError, Msg, Outcome, ProfileIndex, Severity,
            Ticket,
        },
        terminal::{self, InputEvent, Signal, Signals},
    },
};
pub use screen::Screen;

pub struct Runner<S: Screen> {
    pub app: App,
    pub screen: S,
    backends: Backends,
    clock: Clock,
    sender: mpsc::Sender<Msg>,
    receiver: mpsc::Receiver<Msg>,
    /// Requests and responses. Unbounded, so that jobs never wait for the event loop.
    recorder: mpsc::UnboundedSender<RecordedExchange>,
    recorded: mpsc::UnboundedReceiver<RecordedExchange>,
    /// Running reads; a write has no handle here, so it cannot be dropped.
    reads: HashMap<Ticket, AbortHandle>,
    /// Cancels the running single changes that are not sent yet.
    changes: HashMap<Ticket, Cancel>,
    /// Commands for the running bulk rotations.
    run_controls: RunControls,
    /// An external edit that the person requested, until the event loop performs it.
    external_edit: Option<(Ticket, EditRequest)>,
    /// Reports changes by others.
    feed: Option<self::screen::FeedTask>,
    reason: Option<ExitReason>,
    /// False once the terminal is gone: nothing is read from it or drawn to it any more.
    terminal_lives: bool,
    /// When the console ends even if requests are in flight; `None`: it was not asked to end.
    deadline: Option<Instant>,
    /// How long to wait for requests in flight when the console ends.
    pub patience: Duration,
    /// Query the background colour of the terminal after the first frame.
    pub queries_background: bool,
    background_asked_at: Option<Instant>,
}

/// Shared with `batch_stopper`, which stops the runs while the event loop is blocked on a terminal that does not read.
type RunControls = Arc<Mutex<HashMap<Ticket, watch::Sender<RunCommand>>>>;

/// Capacity of the queue of messages from jobs.
const QUEUE: usize = 64;
/// Minimum sleep until something changes with time alone, because a test clock may stand still.
const MIN_SLEEP: Duration = Duration::from_millis(10);
/// The default for how long to wait for requests in flight when the console ends.
const END_TIMEOUT: Duration = Duration::from_secs(35);
/// How long the first frame waits for the first groups.
const FIRST_FRAME_WAIT: Duration = Duration::from_millis(100);
/// Maximum number of messages handled before the screen is drawn again.
const MAX_MESSAGES_PER_FRAME: usize = 4_096;

impl<S: Screen> Runner<S> {
    pub fn new(app: App, screen: S, backends: Backends, clock: Clock) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let (recorder, recorded) = mpsc::unbounded_channel();
        let mut runner = Self {
            app,
            screen,
            backends,
            clock,
            sender,
            receiver,
            recorder,
            recorded,
            reads: HashMap::new(),
            changes: HashMap::new(),
            run_controls: RunControls::default(),
            external_edit: None,
            feed: None,
            reason: None,
            terminal_lives: true,
            deadline: None,
            patience: END_TIMEOUT,
            queries_background: false,
            background_asked_at: None,
        };
        let effects = runner.app.take_effects();
        runner.perform(effects);
        runner
    }

    /// Runs until the person leaves, a signal asks for the end, or the terminal is gone.
    pub async fn run(
        &mut self,
        mut events: impl Stream<Item = io::Result<InputEvent>> + Unpin,
        mut signals: Option<&mut Signals>,
    ) -> io::Result<ExitReason> {
        self.wait_for_groups().await;
        // A terminal that is already gone is handled like one that is lost later.
        self.draw_or_leave();
        let asks = self.terminal_lives && self.queries_background;
        if asks && self.screen.ask_background().is_ok() {
            self.background_asked_at = Some(Instant::now());
        }
        loop {
            if let Some(reason) = self.reason {
                return Ok(reason);
            }
            let (wake_in, end) = (self.wake_in(), self.deadline);
            let msg = tokio::select! {
                event = events.next(), if self.terminal_lives => match event {
                    Some(Ok(input)) => self.on_input(input),
                    _ => Some(self.lose_terminal()),
                },
                Some(msg) = self.receiver.recv() => Some(msg),
                Some(first) = self.recorded.recv() => Some(self.exchanged(first)),
                signal = next_signal(&mut signals) => match signal {
                    Signal::Terminate | Signal::Hangup | Signal::Interrupt => {
                        Some(Msg::Leave(cause(signal)))
                    }
                    Signal::Stop if self.app.context.writes_under_way() > 0 => {
                        let text = "Not suspended: a request is in progress";
                        self.app.context.say(Severity::Warning, text);
                        None
                    }
                    Signal::Stop => self.screen.suspend().err().map(|_| self.lose_terminal()),
                    // This signal also arrives when the terminal is lost; requests in flight still end.
                    Signal::Continued => self.screen.continued().err().map(|_| self.lose_terminal()),
                },
                () = sleep(wake_in.unwrap_or(MIN_SLEEP)), if wake_in.is_some() => Some(Msg::Tick),
                () = sleep_until(end.unwrap_or_else(Instant::now)), if end.is_some() => {
                    return Ok(ExitReason::Signal);
                }
            };
            if let Some(msg) = msg {
                self.take(msg);
            }
            if self.app.waits_for_a_batch() {
                self.set_deadline();
            }
            // Lets a burst of keys arrive that is still in the reading thread, to draw only once.
            tokio::task::yield_now().await;
            for _ in 0..MAX_MESSAGES_PER_FRAME {
                let next = match self.receiver.try_recv() {
                    Ok(msg) => Some(msg),
                    Err(_) if self.terminal_lives => match ready(&mut events).await {
                        Some(Some(Ok(input))) => self.on_input(input),
                        Some(Some(Err(_)) | None) => Some(self.lose_terminal()),
                        None => break,
                    },
                    Err(_) => break,
                };
                if let Some(msg) = next {
                    self.take(msg);
                }
                if self.reason.is_some() || self.external_edit.is_some() {
                    break;
                }
            }
            if self.external_edit.is_some() {
                // These keys were typed ahead for the editor: here they would mean something else.
                while let Some(Some(Ok(input))) = ready(&mut events).await {
                    if let InputEvent::Event(Event::Resize(columns, rows)) = input {
                        self.take(Msg::Resize(columns, rows));
                    }
                }
            }
            if let Some(end) = self.run_external_edit(&mut signals).await {
                self.terminal_lives &= end != Signal::Hangup;
                self.take(Msg::Leave(cause(end)));
            }
            if self.reason.is_none() {
                self.draw_or_leave();
            }
        }
    }

    /// From now on the console waits for requests in flight, but not without end.
    fn set_deadline(&mut self) {
        let end = Instant::now() + self.patience;
        self.deadline.get_or_insert(end);
    }

    fn lose_terminal(&mut self) -> Msg {
        self.terminal_lives = false;
        Msg::Leave(StopCause::TerminalLost)
    }

    fn draw_or_leave(&mut self) {
        if self.terminal_lives && self.draw().is_err() {
            let lost = self.lose_terminal();
            self.take(lost);
        }
    }

    /// Waits briefly for the groups, so that the first frame shows them and is not drawn twice.
    async fn wait_for_groups(&mut self) {
        let deadline = Instant::now() + FIRST_FRAME_WAIT;
        while self.app.waits_for_groups() {
            match timeout_at(deadline, self.receiver.recv()).await {
                Ok(Some(msg)) => self.take(msg),
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Handles one message and performs the resulting effects; draws nothing.
    pub fn take(&mut self, msg: Msg) {
        if let (Msg::Key(_), Some(feed)) = (&msg, &self.feed) {
            feed.check_now();
        }
        if matches!(msg, Msg::Leave(_)) {
            self.set_deadline();
        }
        // An outcome must be handled after the exchanges that led to it.
        if let Ok(first) = self.recorded.try_recv() {
            let exchanged = self.exchanged(first);
            let effects = self.app.update(self.clock.now(), exchanged);
            self.perform(effects);
        }
        let lost = matches!(msg, Msg::JobPanicked(_));
        let effects = self.app.update(self.clock.now(), msg);
        if lost {
            for panic in terminal::missed_panics() {
                self.app.context.say(Severity::Error, panic);
            }
        }
        self.perform(effects);
    }

    /// Combines all pending exchanges into one message.
    fn exchanged(&mut self, first: RecordedExchange) -> Msg {
        let mut exchanges = vec![first];
        while let Ok(next) = self.recorded.try_recv() {
            exchanges.push(next);
        }
        Msg::Exchanged(exchanges)
    }

    /// Waits until no job is running, then draws; for tests and pictures.
    ///
    /// # Errors
    /// When the screen cannot be drawn.
    pub async fn settle(&mut self) -> io::Result<()> {
        while !self.app.context.running.is_empty() || self.external_edit.is_some() {
            self.run_external_edit(&mut None).await;
            if self.app.context.running.is_empty() {
                continue;
            }
            let Some(msg) = self.receiver.recv().await else {
                break;
            };
            self.take(msg);
        }
        self.draw()
    }

    /// Waits for the next finished job or exchange, handles it and draws; for tests that look at the console while
    /// other jobs are running.
    ///
    /// # Errors
    /// When the screen cannot be drawn.
    pub async fn step(&mut self) -> io::Result<()> {
        let msg = tokio::select! {
            Some(msg) = self.receiver.recv() => msg,
            Some(first) = self.recorded.recv() => self.exchanged(first),
        };
        self.take(msg);
        self.draw()
    }

    /// Returns a function that stops every running bulk rotation, so that nothing new is sent. It works outside of the
    /// event loop, which may be blocked on a terminal.
    pub fn batch_stopper(&self) -> impl FnOnce(Signal) + Send + 'static {
        let run_controls = self.run_controls.clone();
        move |signal| {
            for command in lock(&run_controls).values() {
                command.send_replace(RunCommand::Stop(cause(signal)));
            }
        }
    }

    /// Why the console wants to end, if it does.
    pub fn reason(&self) -> Option<ExitReason> {
        self.reason
    }

    /// How long until something changes without any event; `None`: without limit.
    fn wake_in(&self) -> Option<Duration> {
        let wait = self.app.wake_at()?.duration_since(self.clock.now());
        Some(Duration::try_from(wait).unwrap_or(MIN_SLEEP).max(MIN_SLEEP))
    }

    pub fn draw(&mut self) -> io::Result<()> {
        let unheard = self.app.context.messages.take_announcements();
        let app = &self.app;
        self.screen.draw(&mut |buffer| {
            let area = buffer.area;
            frame::draw(app, buffer, area)
        })?;
        self.screen.announce(unheard)
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            if let Err(error) = self.perform_one(effect) {
                let text = format!("Not done: the terminal refused it: {error}");
                self.app.context.say(Severity::Error, text);
            }
        }
        self.reads.retain(|_, read| !read.is_finished());
        let running = &self.app.context.running;
        self.changes
            .retain(|ticket, _| running.contains_key(ticket));
        lock(&self.run_controls).retain(|_, run_controls| !run_controls.is_closed());
    }

    /// Fails if the terminal refuses it.
    fn perform_one(&mut self, effect: Effect) -> io::Result<()> {
        match effect {
            Effect::Start(ticket, _, job) if self.app.context.refuses(&job) => self.refuse(ticket),
            Effect::Start(ticket, profile, job) => {
                let is_write = job.is_write();
                let handle = self.start(ticket, profile, job);
                if !is_write {
                    self.reads.insert(ticket, handle);
                }
            }
            Effect::Cancel(ticket) => {
                if let Some(read) = self.reads.remove(&ticket) {
                    read.abort();
                }
            }
            Effect::CancelChange(ticket) => {
                if let Some(change) = self.changes.get(&ticket) {
                    change.cancel();
                }
            }
            Effect::Steer(ticket, command) => {
                if let Some(run_controls) = lock(&self.run_controls).get(&ticket) {
                    run_controls.send_replace(command);
                }
            }
            Effect::Copy(text) => return self.screen.copy(&text),
            Effect::OpenEditor(ticket, external_edit) => {
                self.external_edit = Some((ticket, external_edit));
            }
            Effect::Watch(profile, since) => {
                let feed = self.backends.of(profile);
                let feed = feed.map(|backends| backends.feed(since));
                let told = self.app.context.outage.map(|lost| lost.why);
                let is_told = feed.as_ref().is_none_or(|feed| feed.watch.has_events());
                self.feed = feed
                    .map(|feed| self::screen::FeedTask::begin(profile, feed, told, &self.sender));
                // If nothing notifies of writes, they are looked for when the person returns to the window.
                if !is_told {
                    return self.screen.report_focus();
                }
            }
            Effect::Suspend => return self.screen.suspend(),
            Effect::Redraw => self.screen.redraw(),
            Effect::Quit(reason) => self.reason = Some(reason),
        }
        Ok(())
    }

    /// Refuses a job that would have to be written down while the directory cannot be written.
    fn refuse(&self, ticket: Ticket) {
        let context = &self.app.context;
        let why = context.refused_by_the_directory().unwrap_or_default();
        let running = context.running.get(&ticket);
        let why = running.map_or(why.clone(), |running| running.job.refusal(&why));
        let refused = Outcome::Failed(JobError::of(why));
        let sender = self.sender.clone();
        tokio::spawn(async move {
            let _ = sender.send(Msg::Done(ticket, refused)).await;
        });
    }

    fn start(&mut self, ticket: Ticket, profile: ProfileIndex, job: Box<Job>) -> AbortHandle {
        let backends = self.backends.clone();
        let sender = self.sender.clone();
        let (run_controls, command) = watch::channel(RunCommand::Go);
        let spec = job.spec();
        if spec.can_be_steered {
            lock(&self.run_controls).insert(ticket, run_controls);
        }
        let cancel = Cancel::default();
        if spec.change.is_some() {
            self.changes.insert(ticket, cancel.clone());
        }
        let news = sender.clone();
        let link = JobContext {
            ticket,
            news,
            command,
            cancel,
            listener: Listener::new(ticket.0, self.recorder.clone()),
        };
        let work = tokio::spawn(async move { backends.run(profile, *job, link).await });
        let handle = work.abort_handle();
        tokio::spawn(async move {
            let msg = match work.await {
                Ok(outcome) => Msg::Done(ticket, outcome),
                Err(error) if error.is_cancelled() => return,
                Err(_) => Msg::JobPanicked(ticket),
            };
            // Fails when the event loop has ended; what was done is in the journal.
            let _ = sender.send(msg).await;
        });
        handle
    }
}

fn lock(run_controls: &RunControls) -> MutexGuard<'_, HashMap<Ticket, watch::Sender<RunCommand>>> {
    run_controls.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The cause that a run is given for a signal that asks for the end.
fn cause(signal: Signal) -> StopCause {
    match signal {
        Signal::Hangup => StopCause::TerminalLost,
        _ => StopCause::Signal,
    }
}

/// The next item of the stream if it is ready; `None` if one would have to wait.
///
/// Polls with the waker of the current task: with a no-op waker the console might never wake up.
async fn ready<S: Stream + Unpin>(events: &mut S) -> Option<Option<S::Item>> {
    poll_fn(|context| {
        Poll::Ready(match events.poll_next_unpin(context) {
            Poll::Ready(event) => Some(event),
            Poll::Pending => None,
        })
    })
    .await
}

/// Never completes if nobody listens to signals.
async fn next_signal(signals: &mut Option<&mut Signals>) -> Signal {
    match signals {
        Some(signals) => signals.next().await,
        None => std::future::pending().await,
    }
}
