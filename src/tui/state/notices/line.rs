//! The message line: the newest shows at once, errors and questions hold it for a moment, and everything goes in its time.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use super::severity::Severity;

/// How long an error holds the line against what matters less, and a question against everything else.
const HELD: SignedDuration = SignedDuration::from_secs(4);
/// How long each message stands while others wait.
const TURN: SignedDuration = SignedDuration::from_secs(2);
/// Messages that wait for the line; more are found in the log only.
const WAITING: usize = 3;

/// A message for the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineMessage {
    /// Its number in the log, where it is logged.
    pub number: Option<u64>,
    pub severity: Severity,
    pub text: String,
    /// How often it was said.
    pub times: usize,
    /// It asks for the same key again, and must be seen before that.
    pub asks: bool,
    since: Timestamp,
    had_key: bool,
}

impl LineMessage {
    pub fn new(number: Option<u64>, now: Timestamp, severity: Severity, text: String) -> Self {
        Self {
            number,
            severity,
            text,
            times: 1,
            asks: false,
            since: now,
            had_key: false,
        }
    }

    /// With how often it was said.
    pub fn shown(&self, is_ascii: bool) -> String {
        match self.times {
            1 => self.text.clone(),
            times if is_ascii => format!("{} x{times}", self.text),
            times => format!("{} ×{times}", self.text),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        !self.asks && self.severity == other.severity && self.text == other.text
    }

    /// When it leaves the line by itself.
    fn until(&self, others_wait: bool) -> Option<Timestamp> {
        let stays = if others_wait && (self.asks || self.severity.must_be_read()) {
            HELD
        } else if others_wait {
            TURN
        } else if self.severity.must_be_read() && !self.had_key {
            return None;
        } else {
            self.severity.stays()?
        };
        Some(self.since + stays)
    }
}

/// What stands in the line, and what waits for it.
#[derive(Debug, Clone, Default)]
pub(super) struct MessageLine {
    shown: Option<LineMessage>,
    waiting: VecDeque<LineMessage>,
}

impl MessageLine {
    pub(super) fn shown(&self) -> Option<&LineMessage> {
        self.shown.as_ref()
    }

    /// Shows it at once, unless an error holds the line. One with the same text that stands there or waits is said once
    /// more, under the new number: its old number.
    pub(super) fn push(&mut self, now: Timestamp, new: LineMessage) -> Option<u64> {
        let others_wait = !self.waiting.is_empty();
        let mut known = self.shown.iter_mut().chain(&mut self.waiting);
        if let Some(same) = known.find(|known| known.is_same(&new)) {
            same.times += 1;
            if !others_wait {
                same.since = now;
                same.had_key = false;
            }
            return std::mem::replace(&mut same.number, new.number);
        }
        let holds = |shown: &LineMessage| {
            // Whoever presses the same key again must have seen what it asks.
            let is_asked = shown.asks && !shown.had_key;
            let matters_more = shown.severity.must_be_read() && new.severity < shown.severity;
            (is_asked || matters_more) && !new.asks && now < shown.since + HELD
        };
        if !self.shown.as_ref().is_some_and(holds) {
            // Nothing old ever covers something new.
            self.waiting.clear();
            self.shown = Some(new);
        } else if self.waiting.len() < WAITING {
            self.waiting.push_back(new);
        }
        None
    }

    /// A key is pressed: a refused one before it is no news any more, and whoever pressed it was there.
    pub(super) fn key(&mut self, now: Timestamp) {
        let is_refused = |one: &LineMessage| one.severity == Severity::Refused;
        self.waiting.retain(|one| !is_refused(one));
        match &mut self.shown {
            Some(shown) if is_refused(shown) => self.next(now),
            Some(shown) => shown.had_key = true,
            None => {}
        }
        self.advance(now);
    }

    /// What has stood long enough goes.
    pub(super) fn advance(&mut self, now: Timestamp) {
        if self.due().is_some_and(|due| now >= due) {
            self.next(now);
        }
    }

    /// When the line changes by itself.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.shown.as_ref()?.until(!self.waiting.is_empty())
    }

    /// Takes away the one that stands there, where it is meant.
    pub(super) fn remove(&mut self, now: Timestamp, is_meant: impl Fn(&LineMessage) -> bool) {
        self.waiting.retain(|one| !is_meant(one));
        if self.shown.as_ref().is_some_and(is_meant) {
            self.next(now);
        }
    }

    fn next(&mut self, now: Timestamp) {
        self.shown = self.waiting.pop_front();
        if let Some(shown) = &mut self.shown {
            shown.since = now;
        }
    }
}
