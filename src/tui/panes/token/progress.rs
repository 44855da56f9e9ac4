//! The steps of a rotation on its page: what each does, and its progress.
//!
//! The actions of the token pane, and handling its outcomes.

use std::{cmp::Ordering, time::Duration};

use super::{PLACES, REVEAL_TIME, Stage, TokenPane};
use crate::tui::panes::prelude::*;
use crate::{
    config::guard,
    operations::{Call, ExchangeKind},
    tui::{
        kit::paint::columns,
        state::{
            ConfirmationLevel, Exchange, JobError, KeptReason, Level, Weight,
            activity::spinner_frame,
        },
    },
};

/// Width of a step's description, before its progress, in cells.
const DESCRIPTION_WIDTH: usize = 34;

/// If writing to the directory takes at least this many seconds, it is mentioned.
const SLOW_WRITE_SECONDS: i64 = 2;

/// What each request of the three steps is doing while in flight.
const STEP_VERBS: [&str; 3] = ["reading", "sending", "reading"];

/// The steps of a rotation that a page started. The progress is stored here, because old exchanges are dropped.
#[derive(Debug)]
pub(super) struct Steps {
    job: Ticket,
    /// The number of the rotate request, once it was sent.
    sent: Option<u64>,
    progress: [Progress; 3],
}

/// The progress of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Waiting,
    /// The verb, the start time, and the timeout.
    Running(&'static str, Timestamp, Duration),
    /// How long it took, and when it ended.
    Done(Duration, Timestamp),
    /// The outcome is not known yet.
    Unknown,
    Failed(&'static str),
}

impl Progress {
    fn of(exchange: &Exchange, word: &'static str, context: &Context) -> Self {
        let is_rotation = exchange.recorded.call == Call::Rotate;
        match exchange.recorded.kind {
            ExchangeKind::InFlight => {
                let limit = context.profile().map(|profile| profile.timeout);
                Self::Running(word, exchange.at, limit.unwrap_or_default())
            }
            ExchangeKind::Done => Self::Done(exchange.recorded.duration, exchange.at),
            ExchangeKind::Unclear | ExchangeKind::Lost | ExchangeKind::GivenUp if is_rotation => {
                Self::Unknown
            }
            ExchangeKind::SameToken
            | ExchangeKind::Refused
            | ExchangeKind::Unclear
            | ExchangeKind::NotSent
            | ExchangeKind::Lost
            | ExchangeKind::GivenUp => Self::Failed(exchange.verdict()),
        }
    }

    fn sign(&self, context: &Context) -> (String, Style) {
        let theme = context.theme;
        let (sign, style) = match self {
            Self::Waiting if theme.ascii => ('.', theme.dim()),
            Self::Waiting => ('·', theme.dim()),
            Self::Running(_, since, _) => (spinner_frame(seconds(*since, context)), theme.focus()),
            Self::Done(..) => ('+', theme.ok()),
            Self::Unknown => ('?', theme.unknown()),
            Self::Failed(_) => ('x', theme.error()),
        };
        (sign.to_string(), style)
    }

    fn words(&self, context: &Context) -> String {
        match self {
            Self::Waiting => String::new(),
            Self::Running(word, since, limit) => match seconds(*since, context) {
                0 => (*word).to_owned(),
                seconds => format!("{word} {seconds}s of {}s", limit.as_secs()),
            },
            Self::Done(took, _) => format!("done {:.1}s", took.as_secs_f64()),
            Self::Unknown => "UNKNOWN".into(),
            Self::Failed(verdict) => (*verdict).to_owned(),
        }
    }
}

/// Draws the steps before any is done, with their explanations.
pub(super) fn draw_plan(page: &mut TextPage, context: &Context) {
    let mut steps = vec![
        "Read the group; stop if anything is unexpected".to_owned(),
        "Send one rotate request; the old token stops working at once".to_owned(),
        "Read the group back to confirm; show the new token, masked".to_owned(),
    ];
    let hand_off = context.hand_off_in_words();
    let is_nowhere = hand_off.is_none();
    steps.extend(hand_off);
    for (at, what) in steps.iter().enumerate() {
        let (sign, style) = Progress::Waiting.sign(context);
        page.pieces(vec![
            (sign, style),
            (format!("  {}  {what}", at + 1), Style::new()),
        ]);
    }
    if is_nowhere {
        let text = "The new token is not sent anywhere: copy or save it then";
        page.indented(6, text, context.theme.dim());
    }
}

impl Steps {
    pub(super) fn of(job: Ticket) -> Self {
        Self {
            job,
            sent: None,
            progress: [Progress::Waiting; 3],
        }
    }

    /// Whether the rotate request itself is in flight or has been answered.
    pub(super) fn are_sent(&self) -> bool {
        self.sent.is_some()
    }

    /// Updates the progress from the exchanges of the job.
    pub(super) fn follow(&mut self, context: &Context) {
        let exchanges = &context.exchanges;
        let in_flight = exchanges.in_flight().filter(|one| one.ticket() == self.job);
        let mut all: Vec<&Exchange> = in_flight.chain(exchanges.of(self.job)).collect();
        all.sort_by_key(|exchange| exchange.number);
        for exchange in all {
            if exchange.recorded.call == Call::Rotate {
                self.sent = Some(exchange.number);
            }
            let step = match self.sent {
                None => 0,
                Some(sent) => match exchange.number.cmp(&sent) {
                    Ordering::Less => 0,
                    Ordering::Equal => 1,
                    Ordering::Greater => 2,
                },
            };
            self.progress[step] = Progress::of(exchange, STEP_VERBS[step], context);
        }
    }

    pub(super) fn draw(&self, page: &mut TextPage, context: &Context) {
        let [read, send, back] = self.progress;
        let mut steps = vec![
            ("Read the group".to_owned(), read),
            ("Send one rotate request".to_owned(), send),
            ("Read the group back".to_owned(), back),
        ];
        let hand_off = context.hand_off_in_words();
        steps.extend(hand_off.map(|what| (what, Progress::Waiting)));
        let is_running = context.running.contains_key(&self.job);
        let next: Vec<_> = steps.iter().skip(1).map(|(_, next)| *next).collect();
        for (at, (what, progress)) in steps.into_iter().enumerate() {
            let (sign, style) = progress.sign(context);
            let mut words = progress.words(context);
            // The directory is slow or unavailable.
            if let Progress::Done(_, ended) = progress
                && is_running
                && next.get(at) == Some(&Progress::Waiting)
                && seconds(ended, context) >= SLOW_WRITE_SECONDS
            {
                let since = seconds(ended, context);
                words = format!("{words}; being recorded, {since}s");
            }
            let gap = DESCRIPTION_WIDTH.saturating_sub(columns(&what)).max(2);
            page.pieces(vec![
                (sign, style),
                (format!("  {}  {what}{:gap$}", at + 1, ""), Style::new()),
                (words, style),
            ]);
        }
    }
}

fn seconds(since: Timestamp, context: &Context) -> i64 {
    context.now.duration_since(since).as_secs().max(0)
}

impl TokenPane {
    /// What rotating asks for: the key, the id, or the words that a guard requires.
    pub(super) fn confirmation(&self, context: &Context) -> Confirm {
        let ConfirmationLevel { level, guard } =
            ConfirmationLevel::of(context.profile(), Guarded::Rotate, Weight::default());
        let profile = context.profile_name();
        let words = match level {
            Level::Words => guard::words(Guarded::Rotate, &self.id, profile),
            Level::Button | Level::Key | Level::Typed => self.id.to_string(),
        };
        let what = format!("rotates the token of {} in {profile}", self.id);
        Confirm::new(PLACES, level, guard)
            .of(what, words)
            .with_reason(&self.reason)
    }

    pub(super) fn rotate(&mut self, context: &mut Context) {
        let Stage::Check { confirm, seen } = &self.stage else {
            return;
        };
        let ticket = context.start(Job::Rotate {
            id: self.id.clone(),
            seen: *seen,
            reason: confirm.reason(),
        });
        self.steps = Some(Steps::of(ticket));
        self.stage = Stage::Rotating(ticket);
    }

    pub(super) fn read(&mut self, context: &mut Context) {
        if let Stage::Reading(ticket) = self.stage {
            context.cancel(ticket);
        }
        (self.revealed_until, self.saved) = (None, None);
        self.replaced = None;
        self.resolved_at = None;
        self.steps = None;
        self.stage = Stage::Reading(context.start(Job::LookUp(self.id.clone())));
    }

    pub(super) fn ask_path(&mut self) {
        let Some(done) = self.done() else { return };
        let is_unsafe = |c: char| !c.is_ascii_alphanumeric() && c != '-';
        let safe: String = self.id.as_str().chars().take(60).collect();
        let safe = safe.replace(is_unsafe, "_");
        let known = done.group.fingerprint.as_ref();
        let fingerprint = known.map_or_else(String::new, |known| format!("-{}", known.value));
        self.file.ask_file(format!("~/{safe}{fingerprint}.token"));
    }

    pub(super) fn write(&mut self, context: &mut Context) {
        let (Some(path), Some(token)) = (self.file.path(), self.token().cloned()) else {
            return;
        };
        self.file.begun(context.start(Job::WriteToken(token, path)));
    }

    pub(super) fn failed(&mut self, error: &JobError, context: &mut Context) {
        context.say_error(error);
        self.stage = Stage::Failed(error.clone());
    }

    pub(super) fn take(&mut self, done: &Done, context: &mut Context) {
        self.replaced = None;
        let fingerprint = |done: &Done| done.group.fingerprint.as_ref().map(|known| known.value);
        if self.done().and_then(fingerprint) != fingerprint(done) {
            self.saved = None;
        }
        context.say_warnings(&done.warnings);
        if matches!(self.stage, Stage::Rotating(_) | Stage::Rotated { .. }) {
            self.hand_off(done, context);
        }
        self.stage = match &self.stage {
            Stage::Rotating(_) => {
                self.reason = KeptReason::default();
                context.say(Severity::Done, describe(done));
                let confirming = (done.ending == Ending::Rotated)
                    .then(|| context.start(Job::Confirm(Box::new(done.clone()))));
                Stage::Rotated {
                    done: done.clone(),
                    confirming,
                }
            }
            Stage::Rotated { .. } => Stage::Rotated {
                done: done.clone(),
                confirming: None,
            },
            Stage::Reading(_) | Stage::Current(_) | Stage::Check { .. } | Stage::Failed(_) => {
                Stage::Current(done.clone())
            }
        };
    }

    /// Shows the token for a while, or hides it again.
    pub(super) fn reveal(&mut self, context: &Context) {
        self.revealed_until = match self.revealed_until {
            None if self.token().is_some() => Some(context.now + REVEAL_TIME),
            _ => None,
        };
    }
}

/// One line about a rotation that ended well.
pub(crate) fn describe(done: &Done) -> String {
    let arrow = match (&done.previous_fingerprint, &done.group.fingerprint) {
        (Some(before), Some(after)) if *before != after.value => {
            format!(", fingerprint {before} is now {}", after.value)
        }
        _ => String::new(),
    };
    format!("{} {}{arrow}", done.group.id, done.ending.as_str())
}
