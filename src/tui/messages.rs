//! What happened, in words, and it stays: errors until they are dismissed, everything until the console ends.

use jiff::Timestamp;

/// How bad it is; the sign says so without colour (console.md).
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
pub struct Message {
    pub at: Timestamp,
    pub severity: Severity,
    pub text: String,
    dismissed: bool,
}

/// Newest last; the oldest go once there are [`KEPT`].
#[derive(Debug, Clone, Default)]
pub struct Messages(Vec<Message>);

const KEPT: usize = 500;

impl Messages {
    pub fn say(&mut self, at: Timestamp, severity: Severity, text: String) {
        if self.0.len() >= KEPT {
            self.0.remove(0);
        }
        self.0.push(Message {
            at,
            severity,
            text,
            dismissed: false,
        });
    }

    /// The one for the footer: the newest error that nobody dismissed, else the newest message.
    pub fn current(&self) -> Option<&Message> {
        let standing = |message: &&Message| message.severity.stays() && !message.dismissed;
        self.0
            .iter()
            .rev()
            .find(standing)
            .or_else(|| self.0.last().filter(|message| !message.dismissed))
    }

    /// Takes the current one off the footer; whether there was one.
    pub fn dismiss(&mut self) -> bool {
        let Some(at) = self
            .0
            .iter()
            .rposition(|message| message.severity.stays() && !message.dismissed)
        else {
            return false;
        };
        self.0[at].dismissed = true;
        true
    }

    /// All have been read.
    pub fn dismiss_all(&mut self) {
        for message in &mut self.0 {
            message.dismissed = true;
        }
    }

    /// Newest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Message> + ExactSizeIterator {
        self.0.iter().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_stays_on_the_footer_until_it_is_dismissed() {
        let mut messages = Messages::default();
        let say = |messages: &mut Messages, severity, text: &str| {
            messages.say(Timestamp::UNIX_EPOCH, severity, text.into());
        };
        say(&mut messages, Severity::Error, "broken");
        say(&mut messages, Severity::Info, "news");
        assert_eq!(messages.current().map(|m| m.text.as_str()), Some("broken"));
        assert!(messages.dismiss());
        assert_eq!(messages.current().map(|m| m.text.as_str()), Some("news"));
        assert!(!messages.dismiss());
        assert_eq!(messages.all().len(), 2);
    }
}
