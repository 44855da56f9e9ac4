//! How strongly a change asks for confirmation before it is sent (docs/design/console.md, "Confirmation"), and the
//! guard that raised the level.

use crate::{
    config::{guard, profile::Profile},
    operations::Guarded,
};

pub use crate::config::guard::Level;

/// The level of confirmation that something needs here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmationLevel {
    pub level: Level,
    /// The reason of the guard that raised the level.
    pub guard: Option<String>,
}

impl ConfirmationLevel {
    pub fn of(profile: Option<&Profile>, operation: Guarded) -> Self {
        let is_production = profile.is_none_or(|profile| profile.production);
        let usual = match (operation, is_production) {
            (Guarded::Create | Guarded::Update, false) => Level::Button,
            (Guarded::Create | Guarded::Update, true)
            | (Guarded::Rotate, false)
            | (Guarded::HandOff | Guarded::Abandon, _) => Level::Key,
            (Guarded::Rotate, true) => Level::Typed,
            (Guarded::Bulk, _) => Level::Words,
        };
        let guards = profile.map_or(&[][..], |profile| &profile.guards);
        let raised = guard::raised(guards, operation, usual);
        Self {
            level: raised.map_or(usual, |(level, _)| level),
            guard: raised.map(|(_, reason)| reason.to_owned()),
        }
    }

    /// One level more: it cannot be known well enough what is sent.
    #[must_use]
    pub fn raised(mut self) -> Self {
        self.level = match self.level {
            Level::Button => Level::Key,
            Level::Key => Level::Typed,
            Level::Typed | Level::Words => Level::Words,
        };
        self
    }
}
