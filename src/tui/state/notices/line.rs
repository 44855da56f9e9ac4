//! The message line: the newest message appears at once, errors and questions hold the line for a moment, and each
//! message leaves after its time.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use super::Severity;

/// How long an error holds the line against less severe messages, and a question against all others.
const HOLD_TIME: SignedDuration = SignedDuration::from_secs(4);
/// How long each message is shown while others wait.
const TURN_TIME: SignedDuration = SignedDuration::from_secs(2);
/// Maximum number of waiting messages; further ones are only found in the log.
const MAX_WAITING: usize = 3;

/// A message in the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineMessage {
    /// Its number in the log, if it is logged.
    pub number: Option<u64>,
    pub severity: Severity,
    pub text: String,
    /// How often it was repeated.
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

    /// The text with the number of repetitions.
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

    /// When the message leaves the line without any event.
    fn until(&self, others_wait: bool) -> Option<Timestamp> {
        let stays = if others_wait && (self.asks || self.severity.must_be_read()) {
            HOLD_TIME
        } else if others_wait {
            TURN_TIME
        } else if self.severity.must_be_read() && !self.had_key {
            return None;
        } else {
            self.severity.stays()?
        };
        Some(self.since + stays)
    }
}

/// The message that is shown, and those that wait.
#[derive(Debug, Clone, Default)]
pub(super) struct MessageLine {
    shown: Option<LineMessage>,
    waiting: VecDeque<LineMessage>,
}

impl MessageLine {
    pub(super) fn shown(&self) -> Option<&LineMessage> {
        self.shown.as_ref()
    }

    /// Shows a message at once, unless an error or a question holds the line. If the same text is already shown or
    /// waiting, counts it as a repetition under the new number, and returns its old number.
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
            // Nobody must press the same key again without having seen the question.
            let is_asked = shown.asks && !shown.had_key;
            let matters_more = shown.severity.must_be_read() && new.severity < shown.severity;
            (is_asked || matters_more) && !new.asks && now < shown.since + HOLD_TIME
        };
        if !self.shown.as_ref().is_some_and(holds) {
            // An old message must never cover a newer one.
            self.waiting.clear();
            self.shown = Some(new);
        } else if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(new);
        }
        None
    }

    /// Called when a key is pressed: removes messages about refused keys, and notes that somebody was there
    /// to see the line.
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

    /// Removes a message about success that was there long enough to be read before the key that left the page.
    pub(super) fn leave_page(&mut self, now: Timestamp) {
        self.remove(now, |one| {
            let is_fine = matches!(one.severity, Severity::Info | Severity::Done);
            is_fine && one.had_key && !one.asks && now >= one.since + TURN_TIME
        });
    }

    /// Removes the message when its time is over.
    pub(super) fn advance(&mut self, now: Timestamp) {
        if self.due().is_some_and(|due| now >= due) {
            self.next(now);
        }
    }

    /// When the line changes without any event.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.shown.as_ref()?.until(!self.waiting.is_empty())
    }

    /// Removes the messages that `is_meant` selects.
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
