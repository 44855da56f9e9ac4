//! The severity of a message: its sign, how long it stays in the line, and whether it must be read.

use jiff::SignedDuration;

/// Ordered from less to more severe; the sign carries the same meaning without colour (docs/design/console.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Why a key did nothing; only of interest until the next key.
    Refused,
    Info,
    Done,
    Warning,
    /// Somebody else changed something.
    News,
    Error,
    /// An outcome that is not known yet.
    Unknown,
}

impl Severity {
    pub fn of_warning(is_alarm: bool) -> Self {
        if is_alarm { Self::Error } else { Self::Warning }
    }

    pub fn sign(self) -> char {
        match self {
            Self::Info => 'i',
            Self::Done => '+',
            Self::Refused | Self::Warning => '!',
            Self::News => '~',
            Self::Error => 'x',
            Self::Unknown => '?',
        }
    }

    /// The severity as a word, for reading aloud.
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Done => "done",
            Self::Refused | Self::Warning => "warning",
            Self::News => "news",
            Self::Error => "error",
            Self::Unknown => "unknown",
        }
    }

    /// How long it stays in the line; `None`: until the next key.
    pub fn stays(self) -> Option<SignedDuration> {
        let seconds = match self {
            Self::Refused => return None,
            Self::Info => 6,
            Self::Done => 8,
            Self::Warning | Self::News | Self::Error => 15,
            Self::Unknown => 30,
        };
        Some(SignedDuration::from_secs(seconds))
    }

    /// Whether it counts as unread, because perhaps nobody was there while it was shown.
    pub fn must_be_read(self) -> bool {
        self >= Self::Error
    }
}
