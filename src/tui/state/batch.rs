//! A bulk rotation as the screen knows it: what its news add up to. It outlives its pane, and steers nothing itself.

pub mod report;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::message::{ProfileIndex, Ticket};
use crate::{
    domain::{
        batch::{Counts, ItemStatus},
        group::UserGroupId,
        token::Fingerprint,
    },
    operations::{
        BatchId,
        batch::{BatchEvent, Ended, Report, RunCommand},
    },
};

/// One group of the run; it holds no token.
#[derive(Debug, Clone)]
pub struct BatchRow {
    pub id: UserGroupId,
    pub status: ItemStatus,
    /// The word of the report: `confirmed`, `not_applied`, …
    pub outcome: &'static str,
    /// When the work on it began, while it is under way.
    pub since: Option<Timestamp>,
    pub took: Option<Duration>,
    pub previous: Option<Fingerprint>,
    pub fingerprint: Option<Fingerprint>,
    pub note: Option<String>,
}

impl BatchRow {
    /// A person should look at it.
    pub fn is_failed(&self) -> bool {
        match self.status {
            ItemStatus::NotApplied
            | ItemStatus::Unknown
            | ItemStatus::Conflict
            | ItemStatus::Abandoned => true,
            ItemStatus::NotStarted
            | ItemStatus::UnderWay
            | ItemStatus::Confirmed
            | ItemStatus::Rotated => false,
        }
    }
}

/// A run under way, or the last one that ended.
#[derive(Debug, Clone)]
pub struct BatchRun {
    pub ticket: Ticket,
    pub profile: ProfileIndex,
    pub reason: Option<String>,
    /// Known once the first news have come.
    pub batch: Option<BatchId>,
    pub rows: Vec<BatchRow>,
    pub command: RunCommand,
    /// Changes with every news, so that what is derived is made anew.
    pub version: u64,
    /// The service asked to be left alone until then.
    pub held_until: Option<Timestamp>,
    /// Why nothing new is begun, and how it ended.
    pub halt: Option<String>,
    pub report: Option<Report>,
    /// It could not begin, or broke off inside this program.
    pub trouble: Option<String>,
    counts: Counts,
    under_way: usize,
    /// Time spent not paused, and since when it is spent.
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
        let row = |id: &UserGroupId| BatchRow {
            id: id.clone(),
            status: ItemStatus::NotStarted,
            outcome: "not_started",
            since: None,
            took: None,
            previous: None,
            fingerprint: None,
            note: None,
        };
        Self {
            ticket,
            profile,
            reason,
            batch: None,
            rows: groups.iter().map(row).collect(),
            command: RunCommand::Go,
            version: 0,
            held_until: None,
            halt: None,
            report: None,
            trouble: None,
            counts: Counts {
                not_started: groups.len(),
                ..Counts::default()
            },
            under_way: 0,
            spent: SignedDuration::ZERO,
            going_since: Some(now),
        }
    }

    pub fn is_under_way(&self) -> bool {
        self.report.is_none() && self.trouble.is_none()
    }

    /// How the items stand, as the last one that ended told it; the journal's at the end.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Those begun and not ended; among the not started ones of [`Self::counts`].
    pub fn under_way(&self) -> usize {
        self.under_way
    }

    pub fn failed(&self) -> usize {
        self.rows.iter().filter(|row| row.is_failed()).count()
    }

    /// The groups whose token is certainly still the old one.
    pub fn to_retry(&self) -> Vec<UserGroupId> {
        let rows = self.rows.iter();
        rows.filter(|row| row.status == ItemStatus::NotApplied)
            .map(|row| row.id.clone())
            .collect()
    }

    /// Every group in one of these; they add up to all of them.
    pub fn counts_in_words(&self) -> String {
        let counts = &self.counts;
        let parts = [
            (counts.confirmed, "confirmed"),
            (counts.rotated, "rotated, not confirmed"),
            (counts.not_applied, "not applied"),
            (counts.unknown, "UNKNOWN"),
            (counts.conflict, "CONFLICT"),
            (counts.abandoned, "abandoned"),
            (self.under_way, "in progress"),
            (
                counts.not_started.saturating_sub(self.under_way),
                "not started",
            ),
        ];
        let parts: Vec<_> = parts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        format!("{} of {}", parts.join(", "), counts.planned())
    }

    /// How long the rest takes if it goes on like this; `None` where nobody can say.
    pub fn left(&self, now: Timestamp) -> Option<SignedDuration> {
        if !self.is_under_way() || self.command != RunCommand::Go || self.halt.is_some() {
            return None;
        }
        let done = i64::try_from(self.counts.done()).ok().filter(|n| *n > 0)?;
        let rest = i64::try_from(self.counts.not_started).ok()?;
        let going = self.going_since.map(|since| now.duration_since(since));
        let spent = self.spent + going.unwrap_or_default();
        let seconds = spent.as_secs().max(0).saturating_mul(rest) / done;
        Some(SignedDuration::from_secs(seconds))
    }

    pub fn wish_for(&mut self, command: RunCommand, now: Timestamp) {
        self.command = command;
        self.version += 1;
        if let Some(since) = self.going_since.take() {
            self.spent += now.duration_since(since);
        }
        if command == RunCommand::Go {
            self.going_since = Some(now);
        }
    }

    /// Takes in what happened, in order.
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
                        self.under_way += 1;
                    }
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
        row.previous = ended.previous;
        row.fingerprint = ended.fingerprint;
        if ended.status != ItemStatus::NotStarted {
            row.took = Some(ended.took);
        }
        let warnings = ended.warnings.iter().map(|warning| format!("! {warning}"));
        let notes: Vec<_> = ended.note.into_iter().chain(warnings).collect();
        row.note = (!notes.is_empty()).then(|| notes.join("; "));
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

    pub fn broke_off(&mut self, why: String) {
        self.version += 1;
        self.held_until = None;
        self.trouble = Some(why);
    }

    /// How it stands, in a line.
    pub fn line(&self) -> String {
        if let Some(trouble) = &self.trouble {
            return format!("Bulk rotation: {trouble}");
        }
        let word = match (&self.report, self.command) {
            (Some(_), _) => "finished",
            (None, RunCommand::Stop) => "stopping",
            (None, RunCommand::Pause) => "paused",
            (None, RunCommand::Go) if self.halt.is_some() => "stopping",
            (None, RunCommand::Go) => "running",
        };
        let halt = self.report.as_ref().and(self.halt.as_ref());
        let halt = halt.map_or_else(String::new, |halt| format!("; {halt}"));
        format!("Bulk rotation {word}: {}{halt}", self.counts_in_words())
    }
}
