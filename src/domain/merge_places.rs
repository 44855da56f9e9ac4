//! Combines what two places knew of one group when the places are merged.

use super::known::{Known, KnownGroup};

impl KnownGroup {
    /// Combines two records of one group: of each field the more recently recorded value is kept.
    #[must_use]
    pub fn combined_with(self, other: Self) -> Self {
        let is_later = other.last_rotated.as_ref().map(|last| last.at)
            > self.last_rotated.as_ref().map(|last| last.at);
        Self {
            id: self.id,
            name: later(self.name, other.name),
            team_id: later(self.team_id, other.team_id),
            mapping: later(self.mapping, other.mapping),
            properties: later(self.properties, other.properties),
            environment_tag: later(self.environment_tag, other.environment_tag),
            fingerprint: later(self.fingerprint, other.fingerprint),
            last_rotated: if is_later {
                other.last_rotated
            } else {
                self.last_rotated
            },
            created_at: self.created_at.or(other.created_at),
            last_seen: self.last_seen.max(other.last_seen),
        }
    }
}

fn later<T>(one: Option<Known<T>>, other: Option<Known<T>>) -> Option<Known<T>> {
    match (one, other) {
        (Some(one), Some(other)) if other.at > one.at => Some(other),
        (one, other) => one.or(other),
    }
}
