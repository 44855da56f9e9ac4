//! Why there is no API key, in words that contain nothing of what was found.

use std::{io, time::Duration};

use super::{key_source::KEY_SOURCES, keyring::KeyringError};
use crate::domain::{proposal::quoted, text::visible};

/// In bytes. Far more than any key; a file this long must be the wrong one.
pub(super) const LARGEST: usize = 64 * 1024;

const NO_TERMINAL: &str = "; it cannot ask here (in the background or with --no-input): unlock what it needs before, or use a command that opens a window";

/// Why there is no API key. Names the source, never what was found there.
#[derive(Debug, thiserror::Error)]
#[error("no API key from {from}: {why}")]
pub struct KeyError {
    /// The source, in words.
    pub(super) from: String,
    pub(super) why: Missing,
}

impl KeyError {
    /// With the profile whose key it is, for advice.
    #[must_use]
    pub fn of_profile(mut self, profile: &str) -> Self {
        if matches!(self.why, Missing::Keyring(KeyringError::Missing)) {
            self.why = Missing::NotStored(profile.to_owned());
        }
        self
    }

    /// The message for strangers: without the output of a command.
    pub fn without_words(&self) -> String {
        match &self.why {
            Missing::Failed { ending, .. } => {
                format!("no API key from {}: it ended with {ending}", self.from)
            }
            _ => self.to_string(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(super) enum Missing {
    #[error("add api_key = with one of {KEY_SOURCES}")]
    NoSource,
    #[error("it is not set; export it, or use another source as api_key in the profile")]
    NotSet,
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("it is not a regular file; use another one")]
    NotAFile,
    #[error("other users can read or change it (mode {0:04o}); run chmod 600 on it")]
    TooOpen(u32),
    #[error(
        "it belongs to another user (number {0}), who can read and change it; use a file of your own, mode 600"
    )]
    NotOurs(u32),
    #[error("it is larger than 64 KiB, so it is not an API key; choose another source")]
    TooMuch,
    #[error("it cannot be started: {0}")]
    NotStarted(io::Error),
    #[error("it did not end within {} ms and was stopped; run it yourself to see what it waits for", .0.as_millis())]
    TimedOut(Duration),
    #[error("it ended with {ending}{last_words}{}", if *is_kept_from_terminal { NO_TERMINAL } else { "" })]
    Failed {
        ending: String,
        last_words: String,
        /// There is a terminal, and the command could not ask there.
        is_kept_from_terminal: bool,
    },
    #[error("it is empty; put the key on its first line")]
    Empty,
    #[error(
        "it contains a space or a character that is not valid in a key{0}; pass only the key, without the word Token"
    )]
    NotAKey(String),
    #[error("its first line is larger than 4 KiB, so it is not an API key")]
    TooLong,
    #[error("{0}")]
    Keyring(KeyringError),
    #[error("it has no key (a reboot clears it). To store it again: groupdesk profile key {}", quoted(&visible(.0)))]
    NotStored(String),
    #[error("the task that read it was lost; try again")]
    Lost,
}
