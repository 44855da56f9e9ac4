//! What happened, in words, and it stays: errors until they are dismissed, everything until the console ends.

use jiff::Timestamp;

use crate::domain::history::Ending;

use super::message::{JobError, Ticket};

/// How bad it is; the sign says so without colour (docs/design/console.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Info,
    Done,
    Warning,
    Error,
    /// An outcome that nobody knows yet.
    Unknown,
}

impl Severity {
    pub fn of(trouble: &JobError) -> Self {
        match trouble.ending {
            Some(Ending::Unknown) => Self::Unknown,
            _ => Self::Error,
        }
    }

    pub fn of_warning(is_alarm: bool) -> Self {
        if is_alarm { Self::Error } else { Self::Warning }
    }

    pub fn sign(self) -> char {
        match self {
            Self::Info => 'i',
            Self::Done => '+',
            Self::Warning => '!',
            Self::Error => 'x',
            Self::Unknown => '?',
        }
    }

    fn stays(self) -> bool {
        match self {
            Self::Error | Self::Unknown => true,
            Self::Info | Self::Done | Self::Warning => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub at: Timestamp,
    pub severity: Severity,
    pub text: String,
    /// The job that it is about; its requests can be shown.
    pub about: Option<Ticket>,
    dismissed: bool,
    /// About the key that was pressed last, and about nothing else.
    passes: bool,
    /// It says that rotations are still open.
    says_open: bool,
}

impl Notice {
    fn stands(&self) -> bool {
        self.severity.stays() && !self.dismissed
    }
}

/// Newest last; the oldest go once there are too many.
#[derive(Debug, Clone, Default)]
pub struct Notices(Vec<Notice>);

const KEPT: usize = 500;

impl Notices {
    pub fn say(&mut self, at: Timestamp, severity: Severity, text: String) {
        self.say_about(at, severity, text, None);
    }

    pub fn say_about(
        &mut self,
        at: Timestamp,
        severity: Severity,
        text: String,
        about: Option<Ticket>,
    ) {
        self.push(Notice {
            at,
            severity,
            text,
            about,
            dismissed: false,
            passes: false,
            says_open: false,
        });
    }

    /// Why the key that was pressed did nothing; with the next key it goes from the footer, not from the messages.
    pub fn refuse(&mut self, at: Timestamp, text: impl Into<String>) {
        self.push(Notice {
            at,
            severity: Severity::Warning,
            text: text.into(),
            about: None,
            dismissed: false,
            passes: true,
            says_open: false,
        });
    }

    /// Another key is pressed: what was refused before is no news any more.
    pub fn pass(&mut self) {
        if let Some(last) = self.0.last_mut()
            && last.passes
        {
            last.dismissed = true;
        }
    }

    /// Keeps what a pane shows itself, so that it is found among the messages later; it is no news in the footer.
    pub fn keep(&mut self, at: Timestamp, severity: Severity, text: &str, about: Ticket) {
        let is_said =
            |message: &Notice| message.about == Some(about) && message.text.contains(text);
        if self.0.iter().rev().any(is_said) {
            return;
        }
        self.push(Notice {
            at,
            severity,
            text: text.to_owned(),
            about: Some(about),
            dismissed: true,
            passes: false,
            says_open: false,
        });
    }

    fn push(&mut self, message: Notice) {
        if self.0.len() >= KEPT {
            self.0.remove(0);
        }
        self.0.push(message);
    }

    /// The one for the footer: the newest error that nobody dismissed, else the newest message. A warning is shown over
    /// an error as long as nothing was said after it: it asks something of the person, for example "q again quits".
    pub fn current(&self) -> Option<&Notice> {
        self.0.get(self.current_at()?)
    }

    /// Errors that nobody dismissed, besides the message for the footer.
    pub fn waiting(&self) -> usize {
        let current = self.current_at();
        let standing = self
            .0
            .iter()
            .enumerate()
            .filter(|(at, message)| message.stands() && Some(*at) != current);
        standing.count()
    }

    fn current_at(&self) -> Option<usize> {
        let last = self.0.len().checked_sub(1)?;
        let newest = &self.0[last];
        if newest.severity == Severity::Warning && !newest.dismissed {
            return Some(last);
        }
        let standing = self.0.iter().rposition(Notice::stands);
        standing.or_else(|| (!newest.dismissed).then_some(last))
    }

    /// Takes the current one off the footer, when it is more than news; whether there was one.
    pub fn dismiss(&mut self) -> bool {
        let Some(at) = self.current_at() else {
            return false;
        };
        match self.0[at].severity {
            Severity::Info | Severity::Done => return false,
            Severity::Warning | Severity::Error | Severity::Unknown => {}
        }
        self.0[at].dismissed = true;
        true
    }

    /// Says that rotations are still open; it holds until [`Notices::take_back_open`].
    pub fn say_open(&mut self, at: Timestamp, text: String, about: Option<Ticket>) {
        self.say_about(at, Severity::Unknown, text, about);
        if let Some(message) = self.0.last_mut() {
            message.says_open = true;
        }
    }

    /// What was said of open rotations holds no longer.
    pub fn take_back_open(&mut self) {
        for message in self.0.iter_mut().filter(|message| message.says_open) {
            message.dismissed = true;
        }
    }

    /// What was said holds no longer: it was answered.
    pub fn take_back(&mut self, text: &str) {
        let says = |message: &&mut Notice| message.text.contains(text);
        for message in self.0.iter_mut().filter(says) {
            message.dismissed = true;
        }
    }

    /// All have been read.
    pub fn dismiss_all(&mut self) {
        for message in &mut self.0 {
            message.dismissed = true;
        }
    }

    /// Newest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Notice> + ExactSizeIterator {
        self.0.iter().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_stays_on_the_footer_until_it_is_dismissed() {
        let mut messages = Notices::default();
        let say = |messages: &mut Notices, severity, text: &str| {
            messages.say(Timestamp::UNIX_EPOCH, severity, text.into());
        };
        say(&mut messages, Severity::Error, "broken");
        say(&mut messages, Severity::Info, "news");
        assert_eq!(messages.current().map(|m| m.text.as_str()), Some("broken"));
        say(&mut messages, Severity::Warning, "q again quits");
        assert_eq!(
            messages.current().map(|m| m.text.as_str()),
            Some("q again quits")
        );
        assert_eq!(messages.waiting(), 1);
        say(&mut messages, Severity::Info, "news");
        assert_eq!(messages.current().map(|m| m.text.as_str()), Some("broken"));
        assert_eq!(messages.waiting(), 0);
        assert!(messages.dismiss());
        assert_eq!(messages.current().map(|m| m.text.as_str()), Some("news"));
        assert!(!messages.dismiss());
        assert_eq!(messages.all().len(), 4);
    }

    #[test]
    fn a_refusal_goes_with_the_next_key_and_is_still_found() {
        let mut messages = Notices::default();
        messages.say(Timestamp::UNIX_EPOCH, Severity::Error, "broken".into());
        messages.refuse(Timestamp::UNIX_EPOCH, "Not available");
        let shown = |messages: &Notices| messages.current().map(|m| m.text.clone());
        assert_eq!(shown(&messages).as_deref(), Some("Not available"));
        messages.pass();
        assert_eq!(shown(&messages).as_deref(), Some("broken"));
        messages.pass();
        assert_eq!(shown(&messages).as_deref(), Some("broken"));
        assert_eq!(messages.all().len(), 2);
    }
}
