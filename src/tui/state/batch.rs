//! The console's model of a bulk rotation, accumulated from its events. It outlives its pane, and controls
//! nothing itself.

pub mod report;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{ProfileIndex, Severity, Ticket};
use crate::{
    domain::{
        BatchKind, Fingerprint, HandOffState, ItemStatus, RunnerState, UserGroupId,
        batch::{Counts, LastRun, Runner},
        operation_record::followed_by,
    },
    operations::{
        Batch, BatchId, BatchItem,
        batch::{BatchEvent, Ended, Report, RunCommand},
    },
};

/// How long one attempt waits for the directory.
const DIRECTORY_ATTEMPT: SignedDuration = SignedDuration::from_secs(12);

/// The last rank of rows that a person should look at.
const NEEDS_A_PERSON: u8 = 1;

const NOT_ALL_DONE: &str = "done, not all applied";

/// One group of the run; it holds no token.
#[derive(Debug, Clone)]
pub struct BatchRow {
    pub id: UserGroupId,
    pub status: ItemStatus,
    /// The word used in the report: `confirmed`, `not_applied`, …
    pub outcome: &'static str,
    /// When work on it began; `None` when it is not in progress.
    pub since: Option<Timestamp>,
    /// Who rotated or updated it, if that was not the person here and now, and when that began.
    pub by: Option<String>,
    pub at: Option<Timestamp>,
    pub took: Option<Duration>,
    pub previous: Option<Fingerprint>,
    pub fingerprint: Option<Fingerprint>,
    pub note: Option<String>,
    /// Where the hand-off of the new token stands.
    pub handoff: HandOffState,
}

impl BatchRow {
    fn new(id: &UserGroupId) -> Self {
        Self {
            id: id.clone(),
            status: ItemStatus::NotStarted,
            outcome: "not_started",
            since: None,
            by: None,
            at: None,
            took: None,
            previous: None,
            fingerprint: None,
            note: None,
            handoff: HandOffState::None,
        }
    }

    /// Takes over the state in the journal; returns whether it differs from the previous one.
    fn follow(&mut self, item: &BatchItem) -> bool {
        let is_same = self.status == item.status() && self.outcome == item.outcome();
        if is_same && self.handoff == item.handoff.state {
            return false;
        }
        let was_off = self.is_not_handed_off();
        self.handoff = item.handoff.state;
        if is_same {
            // Its own note tells more than that of the journal, unless it is about the hand-off.
            if was_off && !self.is_not_handed_off() {
                self.note = item.story();
            }
            return true;
        }
        self.status = item.status();
        self.outcome = item.outcome();
        self.since = None;
        self.by.clone_from(&item.by);
        self.at = item.at;
        self.previous = item.previous;
        self.fingerprint = item.fingerprint;
        // The first cause stays, whatever a later read has found.
        self.note = match (self.note.take(), &item.note) {
            (Some(first), Some(note)) if !first.contains(note.as_str()) => {
                Some(followed_by(&first, note))
            }
            (Some(first), _) => Some(first),
            (None, _) => item.story(),
        };
        if self.is_not_handed_off() {
            self.note = item.story();
        }
        true
    }

    /// Whether the new token is in place but has not arrived where it was to be handed off.
    pub fn is_not_handed_off(&self) -> bool {
        self.status.is_not_handed_off(self.handoff)
    }

    /// Sort rank in the table: what needs a person comes first, then what is in flight, done, and waiting.
    pub fn rank(&self) -> u8 {
        match self.status {
            ItemStatus::Unknown | ItemStatus::Conflict => 0,
            ItemStatus::NotApplied | ItemStatus::Abandoned => NEEDS_A_PERSON,
            ItemStatus::UnderWay => 2,
            _ if self.is_not_handed_off() => NEEDS_A_PERSON,
            ItemStatus::Confirmed | ItemStatus::Rotated => 3,
            ItemStatus::NotStarted => 4,
        }
    }

    /// Whether a person should look at it.
    pub fn is_failed(&self) -> bool {
        self.rank() <= NEEDS_A_PERSON
    }
}

/// The current run, or the last one that ended.
#[derive(Debug, Clone, Default)]
pub struct BatchRun {
    pub ticket: Ticket,
    pub profile: ProfileIndex,
    /// Why a retry would take none of its groups, as the journal last said.
    pub no_retry: Option<String>,
    pub reason: Option<String>,
    /// Who began it, if that was not the person here and now.
    pub by: Option<String>,
    pub started_at: Timestamp,
    pub kind: BatchKind,
    /// Known once the first event has arrived.
    pub batch: Option<BatchId>,
    pub rows: Vec<BatchRow>,
    pub command: RunCommand,
    /// Incremented by every change, so that derived values are recomputed.
    pub version: u64,
    /// The service asked us to send nothing until then.
    pub held_until: Option<Timestamp>,
    /// The directory is expected to be unreachable until then.
    pub no_directory_until: Option<Timestamp>,
    /// Why no further item is started, and how the run ended.
    pub halt: Option<String>,
    pub report: Option<Report>,
    /// The run could not start, or ended with an internal error.
    pub error: Option<String>,
    /// The other process that works on the batch, or did until it died.
    pub runner: Option<Runner>,
    /// Its page was left after it had ended.
    pub was_seen: bool,
    counts: Counts,
    under_way: usize,
    /// Number of items that an earlier run had done.
    begun_with: usize,
    /// Time spent so far without pauses; `going_since` is the start of the current stretch.
    spent: SignedDuration,
    going_since: Option<Timestamp>,
}

impl BatchRun {
    pub fn new(
        ticket: Ticket,
        profile: ProfileIndex,
        groups: &[UserGroupId],
        reason: Option<String>,
        now: Timestamp,
    ) -> Self {
        Self {
            ticket,
            profile,
            reason,
            started_at: now,
            rows: groups.iter().map(BatchRow::new).collect(),
            counts: Counts {
                not_started: groups.len(),
                ..Counts::default()
            },
            going_since: Some(now),
            ..Self::default()
        }
    }

    /// Shows a batch of the journal that this console is not running.
    pub fn stored(
        ticket: Ticket,
        profile: ProfileIndex,
        batch: &Batch,
        items: &[BatchItem],
    ) -> Self {
        let ids: Vec<_> = items
            .iter()
            .map(|item| item.user_group_id.clone())
            .collect();
        let mut run = Self::new(
            ticket,
            profile,
            &ids,
            batch.reason.clone(),
            batch.started_at,
        );
        run.going_since = None;
        run.kind = batch.kind.clone();
        run.by = Some(batch.by.clone());
        run.report = Some(Report {
            batch: batch.id,
            counts: batch.counts,
            halt: None,
        });
        run.batch = Some(batch.id);
        run.follow_batch(batch);
        run.follow(items);
        run
    }

    /// Takes over the journal's state of a batch that this console is not running.
    pub fn follow_batch(&mut self, batch: &Batch) {
        if self.is_under_way() {
            return;
        }
        self.runner.clone_from(&batch.runner);
        self.no_retry.clone_from(&batch.no_retry);
        match &batch.last_run {
            Some(LastRun::Stopped(halt)) => self.halt = Some(halt.to_string()),
            // The journal does not say how that run ended, so keep what this console knows of its last run.
            Some(begun @ LastRun::Begun) => {
                let told = self.error.is_some() || self.halt.is_some() || batch.is_run();
                self.halt = (!told).then(|| begun.to_string()).or(self.halt.take());
            }
            None => self.halt = None,
        }
        self.version += 1;
    }

    /// The remaining items are processed from now on.
    pub fn resumed(&mut self, now: Timestamp) {
        self.report = None;
        self.halt = None;
        self.runner = None;
        self.begun_with = self.counts.done();
        self.going_since = Some(now);
        self.version += 1;
    }

    /// Takes over the journal's state of the items, whichever process wrote it. Items that the current run is still
    /// working on are skipped: their events report them.
    pub fn follow(&mut self, items: &[BatchItem]) {
        if items.len() != self.rows.len() {
            return;
        }
        let is_running = self.is_under_way();
        let mut is_news = false;
        for (row, item) in self.rows.iter_mut().zip(items) {
            let is_ours =
                is_running && matches!(row.status, ItemStatus::NotStarted | ItemStatus::UnderWay);
            let before = row.status;
            if !is_ours && row.follow(item) {
                self.counts.moved(before, row.status);
                is_news = true;
            }
        }
        if !is_running {
            self.under_way = 0;
            self.counts = Counts::of(items.iter().map(BatchItem::status));
        }
        if let Some(report) = &mut self.report {
            report.counts = self.counts;
        }
        self.version += u64::from(is_news);
    }

    /// Time spent so far, without pauses.
    pub fn spent(&self, now: Timestamp) -> SignedDuration {
        let going = self.going_since.map(|since| now.duration_since(since));
        self.spent + going.unwrap_or_default()
    }

    pub fn is_under_way(&self) -> bool {
        self.report.is_none() && self.error.is_none()
    }

    /// Counts by status, as of the last item that ended; at the end, those of the journal.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Number of items in progress; [`Self::counts`] includes them among those not started.
    pub fn under_way(&self) -> usize {
        self.under_way
    }

    pub fn failed(&self) -> usize {
        self.rows.iter().filter(|row| row.is_failed()).count()
    }

    /// Number of groups whose new token has not arrived where it was to be handed off.
    pub fn not_handed_off(&self) -> usize {
        let rows = self.rows.iter();
        rows.filter(|row| row.is_not_handed_off()).count()
    }

    /// The groups that were certainly not changed.
    pub fn to_retry(&self) -> Vec<UserGroupId> {
        let rows = self.rows.iter();
        rows.filter(|row| row.status == ItemStatus::NotApplied)
            .map(|row| row.id.clone())
            .collect()
    }

    /// The counts as a sentence; they add up to all groups.
    pub fn counts_in_words(&self) -> String {
        let counts = &self.counts;
        let parts = self.parts().map(|(_, text)| text);
        let handed = match self.not_handed_off() {
            0 => String::new(),
            count => format!("; {count} not handed off"),
        };
        format!(
            "{} of {}{handed}",
            parts.collect::<Vec<_>>().join(", "),
            counts.planned()
        )
    }

    /// Each count above zero as text, with its status; those not started as running or waiting.
    pub fn parts(&self) -> impl Iterator<Item = (ItemStatus, String)> {
        let is_under_way = self.is_under_way();
        let done = match self.kind {
            BatchKind::Rotate => "confirmed",
            BatchKind::Edit(_) => "updated",
        };
        let parts = self.counts.each().into_iter().flat_map(move |part| {
            let (status, count, word) = part;
            if status == ItemStatus::Confirmed {
                return [Some((status, count, done)), None];
            }
            if status != ItemStatus::NotStarted {
                return [Some(part), None];
            }
            let word = if is_under_way { "waiting" } else { word };
            let running = (ItemStatus::UnderWay, self.under_way, "running");
            let waiting = (status, count.saturating_sub(self.under_way), word);
            [Some(running), Some(waiting)]
        });
        let some = parts.flatten().filter(|(_, count, _)| *count > 0);
        some.map(|(status, count, word)| (status, format!("{count} {word}")))
    }

    /// Estimated remaining time at the current pace; `None` if it cannot be estimated.
    pub fn left(&self, now: Timestamp) -> Option<SignedDuration> {
        if !self.is_under_way() || self.command != RunCommand::Go || self.halt.is_some() {
            return None;
        }
        let done = self.counts.done().saturating_sub(self.begun_with);
        let done = i64::try_from(done).ok().filter(|n| *n > 0)?;
        let rest = i64::try_from(self.counts.not_started).ok()?;
        let seconds = self.spent(now).as_secs().max(0).saturating_mul(rest) / done;
        Some(SignedDuration::from_secs(seconds))
    }

    pub fn set_command(&mut self, command: RunCommand, now: Timestamp) {
        self.command = command;
        self.version += 1;
        if let Some(since) = self.going_since.take() {
            self.spent += now.duration_since(since);
        }
        if command == RunCommand::Go {
            self.going_since = Some(now);
        }
    }

    /// Applies events in order.
    pub fn take(&mut self, news: Vec<BatchEvent>, now: Timestamp) {
        self.version += 1;
        for progress in news {
            match progress {
                BatchEvent::Started(place) => {
                    self.batch = Some(place.batch);
                    self.held_until = self.held_until.filter(|until| *until > now);
                    if let Some(row) = self.rows.get_mut(place.position)
                        && row.status == ItemStatus::NotStarted
                    {
                        row.status = ItemStatus::UnderWay;
                        row.since = Some(now);
                        row.at = row.since;
                        self.under_way += 1;
                    }
                }
                BatchEvent::NoDirectory(wait) => {
                    let wait = SignedDuration::try_from(wait).unwrap_or_default();
                    // The next attempt waits for the directory as well.
                    self.no_directory_until = now.checked_add(wait + DIRECTORY_ATTEMPT).ok();
                }
                BatchEvent::Throttled(wait) => {
                    let wait = SignedDuration::try_from(wait).unwrap_or_default();
                    self.held_until = self.held_until.max(now.checked_add(wait).ok());
                }
                BatchEvent::Ended(ended) => self.ended(*ended),
                BatchEvent::Halted(halt) => self.halt = Some(halt.to_string()),
                BatchEvent::Finished(report) => self.finished(report),
            }
        }
    }

    fn ended(&mut self, ended: Ended) {
        self.no_directory_until = None;
        self.counts = ended.counts;
        let Some(row) = self.rows.get_mut(ended.key.position) else {
            return;
        };
        if row.status == ItemStatus::UnderWay {
            self.under_way = self.under_way.saturating_sub(1);
        }
        row.status = ended.status;
        row.outcome = ended.outcome;
        row.since = None;
        if row.status == ItemStatus::NotStarted {
            (row.at, row.by) = (None, None);
        }
        row.previous = ended.previous;
        row.fingerprint = ended.fingerprint;
        row.handoff = ended.handoff;
        if ended.status != ItemStatus::NotStarted {
            row.took = Some(ended.took);
        }
        let warnings = ended.warnings.iter().map(|warning| format!("! {warning}"));
        let notes: Vec<_> = ended.note.into_iter().chain(warnings).collect();
        let new = (!notes.is_empty()).then(|| notes.join("; "));
        row.note = match (row.note.take().filter(|_| ended.settled), new) {
            // The first cause stays, whatever a check has found.
            (Some(first), Some(new)) if !first.contains(&new) => Some(followed_by(&first, &new)),
            (first, new) => first.or(new),
        };
    }

    pub fn finished(&mut self, report: Report) {
        self.version += 1;
        self.batch = Some(report.batch);
        self.counts = report.counts;
        self.under_way = 0;
        self.held_until = None;
        self.halt = report.halt.as_ref().map(ToString::to_string);
        self.report = Some(report);
    }

    pub fn end_with_error(&mut self, why: String) {
        self.version += 1;
        self.held_until = None;
        self.error = Some(why);
    }

    /// The severity of how it ended.
    pub fn severity(&self) -> Severity {
        let counts = self.counts;
        if counts.unknown > 0 {
            Severity::Unknown
        } else if self.error.is_some() || counts.conflict > 0 || self.not_handed_off() > 0 {
            Severity::Error
        } else if self.failed() > 0 || counts.not_started > 0 {
            Severity::Warning
        } else {
            Severity::Done
        }
    }

    /// One line that describes its state.
    pub fn line(&self) -> String {
        if let Some(error) = &self.error {
            let rest = match self.counts.not_started {
                0 => "",
                _ => "; Batches has the rest",
            };
            return format!("{}: {error}{rest}", self.title());
        }
        let halt = self.report.as_ref().and(self.halt.as_ref());
        let halt = halt.map_or_else(String::new, |halt| format!("; {halt}"));
        let title = self.title();
        let word = match self.word() {
            NOT_ALL_DONE => "ended",
            word => word,
        };
        match halt.strip_prefix(&format!("; {word}")) {
            Some(how) => format!("{title} {word}{how}: {}", self.counts_in_words()),
            None => format!("{title} {word}: {}{halt}", self.counts_in_words()),
        }
    }

    /// One word that describes its state.
    pub fn word(&self) -> &'static str {
        let runner = self.runner.as_ref().map(|runner| runner.state);
        match (&self.report, self.command) {
            (Some(_), _) if let Some(runner) = runner => match runner {
                RunnerState::Running => "running elsewhere",
                RunnerState::Paused => "paused elsewhere",
                _ => "unfinished",
            },
            (Some(_), _) if self.counts.not_started > 0 => "stopped",
            (Some(_), _) if self.counts.succeeded() < self.counts.planned() => NOT_ALL_DONE,
            (Some(_), _) => "finished",
            (None, _) if self.error.is_some() => "stopped",
            (None, RunCommand::Stop(_)) => "stopping",
            (None, RunCommand::Pause) => "paused",
            (None, RunCommand::Go) if self.halt.is_some() => "stopping",
            (None, RunCommand::Go) => "running",
        }
    }

    /// `Batch 13`, or the kind of batch if its number is not known yet.
    pub fn title(&self) -> String {
        match self.batch {
            Some(batch) => format!("Batch {}", batch.0),
            None => match self.kind {
                BatchKind::Rotate => "Bulk rotation".into(),
                BatchKind::Edit(_) => "Bulk edit".into(),
            },
        }
    }
}
