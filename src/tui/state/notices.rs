//! What happened, in words: a line that shows the newest, and a log of this session that keeps all but refused keys.

mod line;
mod severity;

use std::collections::VecDeque;

use jiff::Timestamp;

pub use line::LineMessage;
use line::MessageLine;
pub use severity::Severity;

use super::message::{ProfileIndex, Ticket};
use crate::domain::group::UserGroupId;

/// What a message is about, so that it can be resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    pub profile: ProfileIndex,
    pub id: UserGroupId,
    /// What was done to the group: the first word of the job's label.
    pub verb: String,
}

/// A state that has a place of its own, and may be said once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    OpenRotations,
    /// Creates and updates whose result is unknown.
    OpenChanges,
    HandOffs,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Counts from 1 and is never given twice.
    number: u64,
    /// The number it had when it was said first.
    first: u64,
    pub at: Timestamp,
    pub severity: Severity,
    pub text: String,
    /// How often it was said in a row.
    pub times: usize,
    /// The job that it is about; its requests can be shown.
    pub about: Option<Ticket>,
    subject: Option<Subject>,
    condition: Option<Condition>,
    is_read: bool,
    /// When what it says stopped being so.
    pub resolved: Option<Timestamp>,
}

impl Notice {
    /// The same for as long as it stands in the log, however often it is said again.
    pub fn stable_number(&self) -> u64 {
        self.first
    }

    fn is_unread(&self) -> bool {
        self.severity.must_be_read() && !self.is_read && self.resolved.is_none()
    }
}

/// Newest last; the oldest go once there are too many.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    log: VecDeque<Notice>,
    line: MessageLine,
    count: u64,
    /// For who hears them: every one, once. `None` where they are seen.
    unheard: Option<Vec<(Severity, String)>>,
}

const KEPT: usize = 500;

impl Notices {
    /// They are read aloud from now on: each is told once, and none stands in a line.
    pub fn read_aloud(&mut self) {
        let said = self.log.iter();
        let said = said.map(|one| (one.severity, one.text.clone()));
        self.unheard = Some(said.collect());
        self.line = MessageLine::default();
    }

    /// What was said since the last time, where it is read aloud.
    pub fn take_unheard(&mut self) -> Vec<(Severity, String)> {
        self.unheard
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    pub fn say(&mut self, at: Timestamp, severity: Severity, text: String) {
        self.say_about(at, severity, text, None, None);
    }

    /// Says it, and keeps what it is about.
    pub fn say_about(
        &mut self,
        at: Timestamp,
        severity: Severity,
        text: String,
        about: Option<Ticket>,
        subject: Option<Subject>,
    ) {
        let number = self.next_number();
        let shown = LineMessage::new(Some(number), at, severity, text.clone());
        let repeated = self.show(at, shown);
        let known = repeated.and_then(|old| self.log.iter().position(|one| one.number == old));
        let before = known.and_then(|at| self.log.remove(at));
        self.push(Notice {
            number,
            first: before.as_ref().map_or(number, |before| before.first),
            at,
            severity,
            text,
            times: before.map_or(1, |before| before.times + 1),
            about,
            subject,
            condition: None,
            is_read: false,
            resolved: None,
        });
    }

    /// Why the key that was pressed did nothing; of interest until the next key, and not logged.
    pub fn refuse(&mut self, at: Timestamp, text: impl Into<String>) {
        let text = text.into();
        self.show(at, LineMessage::new(None, at, Severity::Refused, text));
    }

    /// Says that nothing happened; not logged.
    pub fn mention(&mut self, at: Timestamp, text: impl Into<String>) {
        let text = text.into();
        self.show(at, LineMessage::new(None, at, Severity::Info, text));
    }

    /// Asks for the same key again; not logged, and seen before the key could be pressed.
    pub fn ask(&mut self, at: Timestamp, text: String) {
        let mut shown = LineMessage::new(None, at, Severity::Warning, text);
        shown.asks = true;
        self.show(at, shown);
    }

    /// Shows or tells it; the number of the one in the line that it repeats.
    fn show(&mut self, at: Timestamp, shown: LineMessage) -> Option<u64> {
        if let Some(unheard) = &mut self.unheard {
            unheard.push((shown.severity, shown.text));
            return None;
        }
        self.line.push(at, shown)
    }

    /// Keeps what a pane shows itself, so that it is found in the log later; it is no news in the line.
    pub fn keep(&mut self, at: Timestamp, severity: Severity, text: &str, about: Ticket) {
        let is_said =
            |message: &Notice| message.about == Some(about) && message.text.contains(text);
        if self.log.iter().rev().any(is_said) {
            return;
        }
        let number = self.next_number();
        self.push(Notice {
            number,
            first: number,
            at,
            severity,
            text: text.to_owned(),
            times: 1,
            about: Some(about),
            subject: None,
            condition: None,
            is_read: true,
            resolved: None,
        });
    }

    fn next_number(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    fn push(&mut self, message: Notice) {
        if self.log.len() >= KEPT {
            self.log.pop_front();
        }
        self.log.push_back(message);
    }

    /// The one for the line.
    pub fn current(&self) -> Option<&LineMessage> {
        self.line.shown()
    }

    /// How many unknown outcomes and errors left the line unread.
    pub fn unread(&self) -> (usize, usize) {
        let shown = self.line.shown().and_then(|shown| shown.number);
        let unread = self.log.iter().filter(|one| one.is_unread());
        let unread = unread.filter(|one| Some(one.number) != shown);
        let (unknown, errors): (Vec<_>, Vec<_>) =
            unread.partition(|one| one.severity == Severity::Unknown);
        (unknown.len(), errors.len())
    }

    /// A key is pressed.
    pub fn key(&mut self, now: Timestamp) {
        self.line.key(now);
    }

    /// Time went by.
    pub fn advance(&mut self, now: Timestamp) {
        self.line.advance(now);
    }

    /// When the line changes by itself.
    pub fn due(&self) -> Option<Timestamp> {
        self.line.due()
    }

    /// Takes the current one off the line, when it is more than news; whether there was one. An error stays unread.
    pub fn dismiss(&mut self, now: Timestamp) -> bool {
        let is_more = |shown: &LineMessage| shown.severity >= Severity::Warning;
        let was = self.line.shown().is_some_and(is_more);
        self.line.remove(now, is_more);
        was
    }

    /// Says how something stands; it holds until [`Notices::resolve_condition`], or until it is said again.
    pub fn say_condition(
        &mut self,
        at: Timestamp,
        (condition, severity): (Condition, Severity),
        text: String,
        about: Option<Ticket>,
    ) {
        self.resolve_condition(at, condition);
        self.say_about(at, severity, text, about, None);
        if let Some(message) = self.log.back_mut() {
            message.condition = Some(condition);
        }
    }

    /// What was said of it holds no longer.
    pub fn resolve_condition(&mut self, now: Timestamp, condition: Condition) {
        self.resolve(now, |one| one.condition == Some(condition));
    }

    /// What was said holds no longer: it was answered.
    pub fn take_back(&mut self, now: Timestamp, text: &str) {
        self.resolve(now, |one| one.text.contains(text));
    }

    /// What was said of a group holds no longer, where the subject and the severity are meant.
    pub fn resolve_subject(
        &mut self,
        now: Timestamp,
        is_meant: impl Fn(&Subject, Severity) -> bool,
    ) {
        self.resolve(now, |one| {
            let subject = one.subject.as_ref();
            subject.is_some_and(|subject| is_meant(subject, one.severity))
        });
    }

    fn resolve(&mut self, now: Timestamp, is_meant: impl Fn(&Notice) -> bool) {
        let open = |one: &&mut Notice| one.resolved.is_none() && one.severity >= Severity::Warning;
        let mut gone = Vec::new();
        for message in self.log.iter_mut().filter(open) {
            if is_meant(message) {
                message.resolved = Some(now);
                gone.push(Some(message.number));
            }
        }
        self.line.remove(now, |shown| gone.contains(&shown.number));
    }

    /// All are seen in the log.
    pub fn read_all(&mut self) {
        for message in &mut self.log {
            message.is_read = true;
        }
        self.line = MessageLine::default();
    }

    /// Newest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Notice> + ExactSizeIterator {
        self.log.iter().rev()
    }
}

#[cfg(test)]
mod tests;
