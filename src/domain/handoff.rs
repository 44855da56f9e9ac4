//! The hand-off of a new token (docs/design/rotation.md, "Hand-off"): whether it has arrived where dashboards are
//! rendered. Runs nothing and holds no token.

use super::word_enum::word_enum;

word_enum! {
    /// Where a hand-off stands. The words are those of the directory and of `rotations --json`.
    #[derive(Hash, Default)]
    pub enum HandOffState {
        /// Nothing is to be handed off.
        #[default]
        None = "none",
        /// To be done, in progress, or broken off by a crash.
        Pending = "pending",
        /// The command took it: exit 0 within its time limit.
        Done = "done",
        Failed = "failed",
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

    /// Whether the command took the token, but only after a later rotation: it did not fail, and it is not done.
    pub fn is_late(&self) -> bool {
        self.state == HandOffState::Failed && self.exit == Some(0)
    }

    /// Where it stands, and why: "the hand-off failed: exit 1".
    pub fn standing(&self) -> String {
        let note = self.in_words().1;
        match self.state {
            HandOffState::Failed if self.is_late() => format!("the hand-off came too late{note}"),
            HandOffState::Failed => format!("the hand-off failed{note}"),
            state => format!("the hand-off is {}{note}", state.as_str()),
        }
    }

    /// Its exit code and its note, to be appended to a sentence about it; each is empty if there is none.
    pub fn in_words(&self) -> (String, String) {
        let exit = self.exit.map(|exit| format!(" (exit {exit})"));
        let note = self.note.as_ref().map(|note| format!(": {note}"));
        (exit.unwrap_or_default(), note.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_note_no_colon_stands_at_the_end() {
        let mut pending = HandOff::pending();
        assert_eq!(pending.standing(), "the hand-off is pending");
        pending.note = Some("killed".into());
        assert_eq!(pending.standing(), "the hand-off is pending: killed");
        let mut late = HandOff {
            state: HandOffState::Failed,
            exit: Some(0),
            note: Some("delivered, but late".into()),
        };
        let said = "the hand-off came too late: delivered, but late";
        assert_eq!(late.standing(), said);
        late.exit = Some(1);
        assert!(!late.is_late());
    }

    #[test]
    fn every_word_parses_back() {
        for state in HandOffState::ALL {
            assert_eq!(HandOffState::parse(state.as_str()), Some(state));
        }
    }
}
