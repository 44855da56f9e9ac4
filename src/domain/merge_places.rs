//! Combines what two places knew of one group when the places are merged.

use std::cmp::Ordering;

use jiff::Timestamp;

use super::known::{Known, KnownGroup};

/// How the numbers under which the directory recorded the last changes of this group compare with those of the other
/// one; equal if one of them has none, so that only the times are left.
#[derive(Debug, Clone, Copy)]
pub struct RecordedOrder {
    /// Of name, mapping and properties, whichever of them changed.
    pub fields: Ordering,
    pub token: Ordering,
}

impl KnownGroup {
    /// Combines two records of one group: of each field the more recently recorded value is kept.
    #[must_use]
    pub fn combined_with(
        self,
        other: Self,
        RecordedOrder { fields, token }: RecordedOrder,
    ) -> Self {
        let is_later = match token {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => {
                other.last_rotated.as_ref().map(|last| last.at)
                    > self.last_rotated.as_ref().map(|last| last.at)
            }
        };
        let (ours, theirs) = (newest(&self), newest(&other));
        Self {
            id: self.id,
            name: changed(fields, (self.name, ours), (other.name, theirs)),
            team_id: later(self.team_id, other.team_id),
            mapping: changed(fields, (self.mapping, ours), (other.mapping, theirs)),
            properties: changed(fields, (self.properties, ours), (other.properties, theirs)),
            environment_tag: later(self.environment_tag, other.environment_tag),
            fingerprint: newer(token, self.fingerprint, other.fingerprint),
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

/// When the last of the fields was recorded that share a number.
fn newest(group: &KnownGroup) -> Option<Timestamp> {
    let KnownGroup {
        name,
        mapping,
        properties,
        ..
    } = group;
    let all = [
        at(name.as_ref()),
        at(mapping.as_ref()),
        at(properties.as_ref()),
    ];
    all.into_iter().max().flatten()
}

fn at<T>(known: Option<&Known<T>>) -> Option<Timestamp> {
    known.map(|known| known.at)
}

/// One number stands for all fields, and decides for the one that changed last on the side with the later number.
fn changed<T>(
    recorded: Ordering,
    (one, ours): (Option<Known<T>>, Option<Timestamp>),
    (other, theirs): (Option<Known<T>>, Option<Timestamp>),
) -> Option<Known<T>> {
    match recorded {
        Ordering::Less if at(other.as_ref()) == theirs => other.or(one),
        Ordering::Greater if at(one.as_ref()) == ours => one.or(other),
        _ => later(one, other),
    }
}

fn newer<T>(
    recorded: Ordering,
    one: Option<Known<T>>,
    other: Option<Known<T>>,
) -> Option<Known<T>> {
    match recorded {
        Ordering::Less => other.or(one),
        Ordering::Greater => one.or(other),
        Ordering::Equal => later(one, other),
    }
}

fn later<T>(one: Option<Known<T>>, other: Option<Known<T>>) -> Option<Known<T>> {
    match (one, other) {
        (Some(one), Some(other)) if other.at > one.at => Some(other),
        (one, other) => one.or(other),
    }
}
