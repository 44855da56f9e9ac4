//! Combines what two places knew of one group when the places are merged.

use std::cmp::Ordering;

use super::known::{Known, KnownGroup};

impl KnownGroup {
    /// Combines two records of one group: of each field the more recently recorded value is kept. `token`: how the number
    /// under which the directory recorded this token compares with that of the other one; equal if there is none.
    #[must_use]
    pub fn combined_with(self, other: Self, token: Ordering) -> Self {
        let is_later = match token {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => {
                other.last_rotated.as_ref().map(|last| last.at)
                    > self.last_rotated.as_ref().map(|last| last.at)
            }
        };
        Self {
            id: self.id,
            name: later(self.name, other.name),
            team_id: later(self.team_id, other.team_id),
            mapping: later(self.mapping, other.mapping),
            properties: later(self.properties, other.properties),
            environment_tag: later(self.environment_tag, other.environment_tag),
            fingerprint: match token {
                Ordering::Less => other.fingerprint.or(self.fingerprint),
                Ordering::Greater => self.fingerprint.or(other.fingerprint),
                Ordering::Equal => later(self.fingerprint, other.fingerprint),
            },
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
