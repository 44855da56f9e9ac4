//! The hand-off of a new token (docs/design/rotation.md, "Hand-off"): whether it has arrived where dashboards are
//! rendered. Runs nothing and holds no token.

/// The state of a hand-off. The words are those of the directory and of `rotations --json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HandOffState {
    /// Nothing is to be handed off.
    #[default]
    None,
    /// To be done, in progress, or interrupted by a crash.
    Pending,
    /// The command accepted it: exit 0 within its time limit.
    Done,
    Failed,
}

impl HandOffState {
    pub const ALL: [Self; 4] = [Self::None, Self::Pending, Self::Done, Self::Failed];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Pending => "pending",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == text)
    }
}

/// The hand-off of one rotation, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HandOff {
    pub state: HandOffState,
    /// Exit code of the command; `None` if it was killed, did not start or has not run.
    pub exit: Option<i32>,
    /// How it ended, and the last line of its stderr, scrubbed and made visible.
    pub note: Option<String>,
}

impl HandOff {
    pub fn pending() -> Self {
        Self {
            state: HandOffState::Pending,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_parses_back() {
        for state in HandOffState::ALL {
            assert_eq!(HandOffState::parse(state.as_str()), Some(state));
        }
    }
}
