//! How strongly a change asks for confirmation before it is sent (docs/design/console.md, "Confirmation"), and the
//! guard that raised the level.

use crate::{
    config::{guard, profile::Profile},
    operations::Guarded,
};

pub use crate::config::guard::{Level, Weight};

/// The level of confirmation that something needs here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfirmationLevel {
    pub level: Level,
    /// The reason of the guard that raised the level.
    pub guard: Option<String>,
}

impl ConfirmationLevel {
    /// Without a profile as in production.
    pub fn of(profile: Option<&Profile>, operation: Guarded, weight: Weight) -> Self {
        let is_production = profile.is_none_or(|profile| profile.production);
        let guards = profile.map_or(&[][..], |profile| &profile.guards);
        let (level, reason) = guard::level_of_change(guards, (operation, is_production), weight);
        Self {
            level,
            guard: reason.map(str::to_owned),
        }
    }
}
