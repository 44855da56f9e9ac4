//! Messages: a line that shows the newest one, and a log of this session that keeps all but those about refused keys.

pub use crate::tui::kit::Severity;

use std::{borrow::Cow, collections::VecDeque};

use jiff::{SignedDuration, Timestamp};

use super::{ProfileIndex, Ticket};
use crate::{
    domain::{UserGroupId, visible},
    platform::os_error::in_plain_words,
};

/// The subject of a message, so that the message can be resolved later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    pub profile: ProfileIndex,
    pub id: UserGroupId,
    /// What was done to the group: the first word of the job's label.
    pub verb: String,
}

/// A lasting state that has one message at most, which may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    OpenRotations,
    /// Creates and updates whose result is unknown.
    OpenChanges,
    /// A pasted text was refused; until the next one is taken.
    PasteRefused,
    /// The form is of one group, although others are marked.
    OneOfMarked,
    /// The end of a paste has not arrived.
    PasteOpen,
    /// Something could not be read or written, because the directory is unavailable.
    DirectoryOutage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    /// Counts from 1; never reused.
    number: u64,
    /// The number of its first occurrence.
    first: u64,
    pub at: Timestamp,
    pub severity: Severity,
    pub text: String,
    /// How often it was repeated in a row.
    pub times: usize,
    /// The job it is about, whose requests can be shown.
    pub about: Option<Ticket>,
    subject: Option<Subject>,
    condition: Option<Condition>,
    is_read: bool,
    /// When it stopped being true.
    pub resolved: Option<Timestamp>,
}

impl Notice {
    fn new(number: u64, at: Timestamp, severity: Severity, text: String) -> Self {
        Self {
            number,
            first: number,
            at,
            severity,
            text,
            times: 1,
            about: None,
            subject: None,
            condition: None,
            is_read: false,
            resolved: None,
        }
    }

    /// Stays the same as long as the message is in the log, however often it is repeated.
    pub fn stable_number(&self) -> u64 {
        self.first
    }

    fn is_unread(&self) -> bool {
        self.severity.must_be_read() && !self.is_read && self.resolved.is_none()
    }
}

/// Newest last; the oldest are dropped once there are too many.
#[derive(Debug, Clone, Default)]
pub struct Notices {
    log: VecDeque<Notice>,
    /// The message that is shown.
    line: Option<LineMessage>,
    count: u64,
    /// In the plain mode, the messages that have not been read aloud yet; `None` if messages are displayed.
    announcements: Option<Vec<(Severity, String)>>,
}

const KEPT: usize = 500;

impl Notices {
    /// Reads messages aloud from now on: each one once, and none in the message line.
    pub fn announce_messages(&mut self) {
        let said = self.log.iter();
        let said = said.map(|one| (one.severity, one.text.clone()));
        self.announcements = Some(said.collect());
        self.line = None;
    }

    /// Takes the messages since the last call, if they are read aloud.
    pub fn take_announcements(&mut self) -> Vec<String> {
        let taken = self.announcements.as_mut().map(std::mem::take);
        let lines = taken.unwrap_or_default().into_iter();
        let line = |(severity, text): (Severity, String)| {
            format!("{}: {}", severity.word(), visible(&text))
        };
        lines.map(line).collect()
    }

    /// Adds a message with its job and subject.
    pub fn say_about(
        &mut self,
        at: Timestamp,
        severity: Severity,
        text: String,
        about: Option<Ticket>,
        subject: Option<Subject>,
    ) {
        let plain = match in_plain_words(&text) {
            Cow::Owned(plain) => Some(plain),
            Cow::Borrowed(_) => None,
        };
        let text = plain.unwrap_or(text);
        let number = self.next_number();
        let shown = LineMessage::new(Some(number), at, severity, text.clone());
        let is_held = self.line.as_ref().is_some_and(|line| line.holds(&shown));
        let repeated = if self.announcements.is_none() && is_held {
            // The same text again and again must not fill the log while nobody is there.
            let newest = self.log.back();
            let same = newest.filter(|one| one.severity == severity && one.text == text);
            same.map(|one| one.number)
        } else {
            self.show(at, shown)
        };
        let known = repeated.and_then(|old| self.log.iter().position(|one| one.number == old));
        let before = known.and_then(|at| self.log.remove(at));
        let new = Notice::new(number, at, severity, text);
        self.push(Notice {
            first: before.as_ref().map_or(number, |before| before.first),
            times: before.map_or(1, |before| before.times + 1),
            about,
            subject,
            ..new
        });
    }

    /// Shows why the pressed key did nothing; until the next key, and not logged.
    pub fn refuse(&mut self, at: Timestamp, text: impl Into<String>) {
        let text = text.into();
        self.show(at, LineMessage::new(None, at, Severity::Refused, text));
    }

    /// Says that nothing happened; not logged.
    pub fn mention(&mut self, at: Timestamp, text: impl Into<String>) {
        let text = text.into();
        self.show(at, LineMessage::new(None, at, Severity::Info, text));
    }

    /// Asks for the same key again; not logged, because it was seen before the key could be pressed.
    pub fn ask(&mut self, at: Timestamp, text: String, is_loss: bool) {
        let mut shown = LineMessage::new(None, at, Severity::Warning, text);
        shown.asks = true;
        shown.is_loss = is_loss;
        self.show(at, shown);
    }

    /// Another key was pressed: the same one is not asked for any more.
    pub fn drop_question(&mut self) {
        self.remove(|one| one.asks);
    }

    /// A text was refused in its field: what went well before is no news any more, unless it was done to a group.
    pub fn drop_success(&mut self) {
        let of_groups = self.log.iter().filter(|one| one.subject.is_some());
        let of_groups: Vec<_> = of_groups.map(|one| Some(one.number)).collect();
        self.remove(|one| one.is_fine() && one.had_key && !of_groups.contains(&one.number));
    }

    /// What a page waited for has ended: why a key did nothing before that does not hold any more.
    pub fn drop_refusal(&mut self) {
        self.remove(|one| one.severity == Severity::Refused);
    }

    /// The question that names what would be lost names what would be lost now; without anything it leaves.
    pub fn follow_losses(&mut self, text: Option<String>) {
        match (&mut self.line, text) {
            (Some(line), Some(text)) if line.is_loss => line.text = text,
            (_, Some(_)) => {}
            (_, None) => self.remove(|one| one.is_loss),
        }
    }

    /// Shows the message, unless the line holds another one, or reads it aloud. If the same text is shown already, counts it
    /// as a repetition under the new number, and returns its old number.
    fn show(&mut self, at: Timestamp, shown: LineMessage) -> Option<u64> {
        if let Some(announcements) = &mut self.announcements {
            announcements.push((shown.severity, shown.text));
            return None;
        }
        match &mut self.line {
            Some(same) if same.is_same(&shown) => {
                same.times += 1;
                same.since = at;
                same.had_key = false;
                return std::mem::replace(&mut same.number, shown.number);
            }
            Some(line) if line.holds(&shown) => {}
            _ => self.line = Some(shown),
        }
        None
    }

    /// Logs what a pane shows itself, so that it can be found later; it is not shown in the line.
    pub fn keep(&mut self, at: Timestamp, severity: Severity, text: &str, about: Ticket) {
        let is_said =
            |message: &Notice| message.about == Some(about) && message.text.contains(text);
        if self.log.iter().rev().any(is_said) {
            return;
        }
        let number = self.next_number();
        let new = Notice::new(number, at, severity, text.to_owned());
        self.push(Notice {
            about: Some(about),
            is_read: true,
            ..new
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

    /// The message in the line.
    pub fn current(&self) -> Option<&LineMessage> {
        self.line.as_ref()
    }

    /// Number of unknown outcomes and of errors that left the line unread.
    pub fn unread(&self) -> (usize, usize) {
        let shown = self.line.as_ref().and_then(|shown| shown.number);
        let unread = self.log.iter().filter(|one| one.is_unread());
        let unread = unread.filter(|one| Some(one.number) != shown);
        let (unknown, errors): (Vec<_>, Vec<_>) =
            unread.partition(|one| one.severity == Severity::Unknown);
        (unknown.len(), errors.len())
    }

    /// Called when a key is pressed: removes a message about a refused key, and notes that somebody was there to see
    /// the line.
    pub fn key(&mut self, now: Timestamp) {
        self.remove(|one| one.severity == Severity::Refused);
        if let Some(shown) = &mut self.line {
            shown.had_key = true;
        }
        self.advance(now);
    }

    /// Called when time has passed: removes the message from the line when its time is over.
    pub fn advance(&mut self, now: Timestamp) {
        if self.due().is_some_and(|due| now >= due) {
            self.line = None;
        }
    }

    /// Called when a key leads to another page: what went well on the one before, and was there long enough to be read
    /// before that key, would only be taken for news there.
    pub fn leave_page(&mut self, now: Timestamp) {
        self.remove(|one| one.is_fine() && one.had_key && now >= one.since + READ_TIME);
    }

    /// When the line changes without any event.
    pub fn due(&self) -> Option<Timestamp> {
        self.line.as_ref()?.until()
    }

    /// Removes the message from the line if `is_meant` selects it.
    fn remove(&mut self, is_meant: impl Fn(&LineMessage) -> bool) {
        self.line.take_if(|shown| is_meant(shown));
    }

    /// Removes the current message from the line if it is a warning or worse; returns whether it was. An error stays
    /// unread.
    pub fn dismiss(&mut self) -> bool {
        let is_more = |shown: &LineMessage| shown.severity >= Severity::Warning;
        let was = self.line.as_ref().is_some_and(is_more);
        self.remove(is_more);
        was
    }

    /// Reports a condition; valid until [`Notices::resolve_condition`], or until it is reported again.
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

    /// The condition does not hold any more.
    pub fn resolve_condition(&mut self, now: Timestamp, condition: Condition) {
        self.resolve(now, |one| one.condition == Some(condition));
    }

    /// Marks a message as resolved, because it was answered.
    pub fn take_back(&mut self, now: Timestamp, text: &str) {
        self.resolve(now, |one| one.text.contains(text));
    }

    /// Marks messages about a group as resolved, if `is_meant` accepts their subject and severity.
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
        self.remove(|shown| gone.contains(&shown.number));
    }

    /// Marks all messages as read, because the log was opened.
    pub fn read_all(&mut self) {
        for message in &mut self.log {
            message.is_read = true;
        }
        self.line = None;
    }

    /// Newest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Notice> + ExactSizeIterator {
        self.log.iter().rev()
    }
}

#[cfg(test)]
mod tests;

/// How long the same key is asked for.
pub const ASKED_FOR: SignedDuration = SignedDuration::from_secs(5);
/// How long it takes to read a message.
const READ_TIME: SignedDuration = SignedDuration::from_secs(2);

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
    /// It names what quitting would lose.
    is_loss: bool,
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
            is_loss: false,
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

    /// Whether it says that something went well.
    fn is_fine(&self) -> bool {
        matches!(self.severity, Severity::Info | Severity::Done) && !self.asks
    }

    fn is_same(&self, other: &Self) -> bool {
        !self.asks && self.severity == other.severity && self.text == other.text
    }

    /// Whether it must be seen before another message may cover it.
    fn holds(&self, new: &Self) -> bool {
        let matters_more = self.severity.must_be_read() && new.severity < self.severity;
        (self.asks || matters_more) && !self.had_key && !new.asks
    }

    /// When the message leaves the line without any event.
    fn until(&self) -> Option<Timestamp> {
        if self.severity.must_be_read() && !self.had_key {
            return None;
        }
        let stays = Some(ASKED_FOR).filter(|_| self.asks);
        Some(self.since + stays.or_else(|| self.severity.stays())?)
    }
}
