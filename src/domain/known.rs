//! What this installation knows of a group, where each value came from and when (hazard 3 of docs/design/service.md): a
//! null or absent field in an answer never erases what is known.

use std::cmp::Ordering;

use jiff::Timestamp;
use serde_json::Value;

use super::{
    facts::Field,
    fields::DesiredFields,
    group::{EnvironmentTag, Mapping, Properties, UserGroupId},
    token::Fingerprint,
    word_enum::word_enum,
};

word_enum! {
    /// Where a remembered value came from.
    #[derive(serde::Serialize, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Source {
        /// A request of ours carried it and the service accepted the request.
        Sent = "sent",
        /// An answer of the service carried it.
        Returned = "returned",
        /// A file said so; the service was not asked.
        Imported = "imported",
    }
}

/// A value with its source, time, and the operator whose request it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known<T> {
    pub value: T,
    pub source: Source,
    pub at: Timestamp,
    /// The operator, for example `ana@bastion2`.
    pub by: String,
}

/// When the token was last seen to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastRotated {
    pub at: Timestamp,
    /// The operator who rotated from here; `None` if a get showed that somebody else had.
    pub by: Option<String>,
}

/// What is known here of one group of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownGroup {
    pub id: UserGroupId,
    pub name: Option<Known<String>>,
    pub team_id: Option<Known<i64>>,
    pub mapping: Option<Known<Mapping>>,
    pub properties: Option<Known<Properties>>,
    pub environment_tag: Option<Known<EnvironmentTag>>,
    pub fingerprint: Option<Known<Fingerprint>>,
    pub last_rotated: Option<LastRotated>,
    /// When its creation was seen; its first token dates from then.
    pub created_at: Option<Timestamp>,
    /// When an answer of the service last contained this group.
    pub last_seen: Option<Timestamp>,
}

/// What an answer contained about a group. `None` if the field was absent or null.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Returned {
    pub name: Option<String>,
    pub team_id: Option<i64>,
    pub properties: Option<Properties>,
    pub environment_tag: Option<EnvironmentTag>,
    pub fingerprint: Fingerprint,
}

/// One accepted exchange with the service, as input for the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    pub id: UserGroupId,
    /// The fields of the accepted request, which the service may therefore have stored.
    pub sent: DesiredFields,
    pub returned: Option<Returned>,
    /// Set if the token is new because of a rotation known here: the operator.
    pub rotated_by: Option<String>,
    pub at: Timestamp,
    pub by: String,
}

impl Observation {
    /// About how many bytes of memory its texts take.
    pub fn weight(&self) -> usize {
        let returned = self.returned.as_ref();
        let told = returned.and_then(|returned| returned.properties.as_ref());
        let rows = self.sent.mapping.iter().flatten();
        let rows = rows.map(|(key, value)| key.len() + value.len() + TEXT);
        let names = [
            self.sent.name.as_ref(),
            returned.and_then(|returned| returned.name.as_ref()),
        ];
        let names = names.into_iter().flatten().map(String::len);
        let properties = self.sent.properties.iter().chain(told).map(of_object);
        TEXT + rows.chain(names).chain(properties).sum::<usize>()
    }
}

/// Bytes of a text beside its letters.
const TEXT: usize = 24;

fn of_object(object: &Properties) -> usize {
    let rows = object.iter();
    rows.map(|(key, value)| key.len() + TEXT + of_value(value))
        .sum()
}

/// As deep as JSON is read.
fn of_value(value: &Value) -> usize {
    TEXT + match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(of_value).sum(),
        Value::Object(object) => of_object(object),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// What an observation contradicted, because somebody else changed the group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drift {
    /// The token differs from the last known one, and we did not rotate it.
    pub token_changed_elsewhere: bool,
    /// The name that the service was known to have, if the answer has another one that we did not send.
    pub name_was: Option<String>,
    /// The properties differ from the known ones, and we did not send them.
    pub properties_changed: bool,
}

impl Drift {
    /// Whether somebody else writes to the environment.
    pub fn is_foreign(&self) -> bool {
        self.token_changed_elsewhere || self.name_was.is_some() || self.properties_changed
    }
}

impl KnownGroup {
    /// A group of which only the id is known.
    pub fn new(id: UserGroupId) -> Self {
        Self {
            id,
            name: None,
            team_id: None,
            mapping: None,
            properties: None,
            environment_tag: None,
            fingerprint: None,
            last_rotated: None,
            created_at: None,
            last_seen: None,
        }
    }

    /// What an exchange contradicts.
    pub fn drift(&self, observation: &Observation) -> Drift {
        let Some(returned) = &observation.returned else {
            return Drift::default();
        };
        let name = self.name.as_ref().filter(|old| {
            let is_another = |new: &String| old.value != *new;
            observation.sent.name.is_none()
                && old.source != Source::Imported
                && returned.name.as_ref().is_some_and(is_another)
        });
        let properties = self.properties.as_ref().is_some_and(|old| {
            let is_another = |new: &Properties| old.value != *new;
            observation.sent.properties.is_none()
                && old.source != Source::Imported
                && returned.properties.as_ref().is_some_and(is_another)
        });
        let token = self.fingerprint.as_ref();
        let is_changed = token.is_some_and(|old| old.value != returned.fingerprint);
        Drift {
            token_changed_elsewhere: is_changed && observation.rotated_by.is_none(),
            name_was: name.map(|old| old.value.clone()),
            properties_changed: properties,
        }
    }

    /// Applies one exchange. Returned values take precedence over sent ones; fields missing in the exchange stay.
    pub fn observe(&mut self, observation: Observation) -> Drift {
        let noticed = self.drift(&observation);
        let Observation {
            sent,
            returned,
            rotated_by,
            at,
            by,
            ..
        } = observation;
        let known = |source| (source, at, by.as_str());
        let source = known(Source::Sent);
        put(&mut self.name, sent.name, source);
        put(&mut self.mapping, sent.mapping, source);
        put(&mut self.properties, sent.properties, source);
        if let Some(returned) = returned {
            let source = known(Source::Returned);
            put(&mut self.name, returned.name, source);
            put(&mut self.team_id, returned.team_id, source);
            put(&mut self.properties, returned.properties, source);
            put(&mut self.environment_tag, returned.environment_tag, source);
            put(&mut self.fingerprint, Some(returned.fingerprint), source);
            if rotated_by.is_some() || noticed.token_changed_elsewhere {
                let by = rotated_by;
                self.last_rotated = Some(LastRotated { at, by });
            }
            self.last_seen = Some(at);
        }
        noticed
    }

    /// The fingerprint of its token.
    pub fn token(&self) -> Option<Fingerprint> {
        self.fingerprint.as_ref().map(|known| known.value)
    }

    /// Whether an answer of the service contained it: it is there, and reading it creates nothing.
    pub fn is_seen(&self) -> bool {
        self.last_seen.is_some()
    }

    /// Source, time and operator of what is known of a field.
    pub fn origin(&self, field: Field) -> Option<(Source, Timestamp, &str)> {
        fn of<T>(known: Option<&Known<T>>) -> Option<(Source, Timestamp, &str)> {
            known.map(|known| (known.source, known.at, known.by.as_str()))
        }
        match field {
            Field::Name => of(self.name.as_ref()),
            Field::Mapping => of(self.mapping.as_ref()),
            Field::Properties => of(self.properties.as_ref()),
        }
    }

    /// The name if known, otherwise the id.
    pub fn title(&self) -> &str {
        let name = self.name.as_ref();
        name.map_or(self.id.as_str(), |known| &known.value)
    }
}

word_enum! {
    /// What became of a row of a file in the directory; of several fields the last of these counts.
    #[derive(PartialOrd, Ord)]
    pub enum ImportResult {
        /// All of it was known already.
        Unchanged = "unchanged",
        /// Something was recorded from it.
        Filled = "filled",
        /// Something in it differs from what the service accepted or returned, which stays.
        Kept = "kept",
        /// The id was not known before.
        Added = "added",
    }
}

/// Takes over what a file says about one field; returns whether that was recorded.
pub(super) fn take<T: Clone + PartialEq>(
    slot: &mut Option<Known<T>>,
    imported: Option<&T>,
    (at, by): (Timestamp, &str),
) -> ImportResult {
    let Some(imported) = imported else {
        return ImportResult::Unchanged;
    };
    match slot {
        Some(known) if known.value == *imported => ImportResult::Unchanged,
        Some(known) if known.source != Source::Imported => ImportResult::Kept,
        _ => {
            put(slot, Some(imported.clone()), (Source::Imported, at, by));
            ImportResult::Filled
        }
    }
}

fn put<T>(
    slot: &mut Option<Known<T>>,
    value: Option<T>,
    (source, at, by): (Source, Timestamp, &str),
) {
    if let Some(value) = value {
        *slot = Some(Known {
            value,
            source,
            at,
            by: by.to_owned(),
        });
    }
}

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
    let fields = at(group.name.as_ref()).max(at(group.mapping.as_ref()));
    fields.max(at(group.properties.as_ref()))
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

#[cfg(test)]
mod tests;
