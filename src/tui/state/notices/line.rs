//! The message line: the newest message appears at once, an error and a question stay until a key was pressed, and each
//! message leaves after its time.

use jiff::{SignedDuration, Timestamp};

use super::Severity;

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
        Some(self.since + self.severity.stays()?)
    }
}

/// The message that is shown.
#[derive(Debug, Clone, Default)]
pub(super) struct MessageLine(Option<LineMessage>);

impl MessageLine {
    pub(super) fn shown(&self) -> Option<&LineMessage> {
        self.0.as_ref()
    }

    /// Whether this message is only found in the log.
    pub(super) fn holds(&self, new: &LineMessage) -> bool {
        self.0.as_ref().is_some_and(|shown| shown.holds(new))
    }

    /// Shows a message, unless the line holds another one. If the same text is shown already, counts it as a repetition
    /// under the new number, and returns its old number.
    pub(super) fn push(&mut self, now: Timestamp, new: LineMessage) -> Option<u64> {
        match &mut self.0 {
            Some(same) if same.is_same(&new) => {
                same.times += 1;
                same.since = now;
                same.had_key = false;
                return std::mem::replace(&mut same.number, new.number);
            }
            Some(shown) if shown.holds(&new) => {}
            _ => self.0 = Some(new),
        }
        None
    }

    /// Called when a key is pressed: removes a message about a refused key, and notes that somebody was there to see
    /// the line.
    pub(super) fn key(&mut self, now: Timestamp) {
        self.remove(|one| one.severity == Severity::Refused);
        if let Some(shown) = &mut self.0 {
            shown.had_key = true;
        }
        self.advance(now);
    }

    /// Removes a message about success that was there long enough to be read before the key that left the page.
    pub(super) fn leave_page(&mut self, now: Timestamp) {
        self.remove(|one| {
            let is_fine = matches!(one.severity, Severity::Info | Severity::Done);
            is_fine && one.had_key && !one.asks && now >= one.since + READ_TIME
        });
    }

    /// Removes the message when its time is over.
    pub(super) fn advance(&mut self, now: Timestamp) {
        if self.due().is_some_and(|due| now >= due) {
            self.0 = None;
        }
    }

    /// When the line changes without any event.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.0.as_ref()?.until()
    }

    /// Removes the message if `is_meant` selects it.
    pub(super) fn remove(&mut self, is_meant: impl Fn(&LineMessage) -> bool) {
        self.0.take_if(|shown| is_meant(shown));
    }
}
