//! Encodes values into columns and decodes them: times, origins, events. The same for every database.

use std::{borrow::Cow, collections::BTreeSet, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    BatchId, EventKind, ImportId, KeyId, KeyState, MutationId, PlaceId, Role, RotationId, RunId,
    sql::batch_text,
};
use crate::{
    db::{Fault, FromValue, Value, ValueRef},
    domain::{
        annotation::Label,
        batch::{ItemEdit, LastRun},
        draft::DraftRow,
        facts::Basis,
        fields::DesiredFields,
        group::{EnvironmentTag, Mapping, Properties, UserGroupId},
        handoff::HandOffState,
        history::{Ending, Operation},
        known::{Known, KnownGroup, Source},
        mutation,
        rotation::{Event, RotateOutcome, State},
        token::Fingerprint,
    },
    platform::boot_time::BootTime,
    search::{ListColumn, SortBy},
};

/// How our types are kept in a column: as which value, and how they are read from it.
macro_rules! column {
    ($($of:ty: |$it:ident| $to:expr, |$from:ident: $kind:ty| $read:expr;)*) => {$(
        impl From<&$of> for Value {
            fn from($it: &$of) -> Self {
                Self::from($to)
            }
        }

        impl From<$of> for Value {
            fn from(it: $of) -> Self {
                Self::from(&it)
            }
        }

        impl FromValue for $of {
            fn from_value(value: ValueRef<'_>) -> Result<Self, Fault> {
                let $from = <$kind>::from_value(value)?;
                let read: Option<Self> = $read;
                read.ok_or(Fault::Column)
            }
        }
    )*};
}

/// Types whose variants are words.
macro_rules! words {
    ($($of:ty),*) => {$(
        impl From<$of> for Value {
            fn from(it: $of) -> Self {
                Self::from(it.as_str())
            }
        }

        impl FromValue for $of {
            fn from_value(value: ValueRef<'_>) -> Result<Self, Fault> {
                value.text().and_then(<$of>::parse).ok_or(Fault::Column)
            }
        }
    )*};
}

column! {
    PlaceId: |it| it.0, |it: i64| Some(Self(it));
    KeyId: |it| it.0, |it: i64| Some(Self(it));
    RotationId: |it| it.0, |it: i64| Some(Self(it));
    MutationId: |it| it.0, |it: i64| Some(Self(it));
    BatchId: |it| it.0, |it: i64| Some(Self(it));
    RunId: |it| it.0, |it: i64| Some(Self(it));
    ImportId: |it| it.0, |it: i64| Some(Self(it));
    Timestamp: |it| micros(*it), |it: i64| timestamp(it);
    UserGroupId: |it| it.as_str(), |it: String| Self::parse(it).ok();
    EnvironmentTag: |it| it.as_str(), |it: String| Some(Self::parse(&it));
    Fingerprint: |it| it.as_bytes(), |it: [u8; 32]| Some(Self::from_bytes(it));
    BootTime: |it| it.to_string(), |it: String| Self::parse(&it);
    DesiredFields: |it| serde_json::to_string(it).unwrap_or_default(), |it: String| serde_json::from_str(&it).ok();
    Mapping: |it| serde_json::to_string(it).unwrap_or_default(), |it: String| serde_json::from_str(&it).ok();
    Properties: |it| serde_json::to_string(it).unwrap_or_default(), |it: String| serde_json::from_str(&it).ok();
    serde_json::Value: |it| it.to_string(), |it: String| serde_json::from_str(&it).ok();
    LastRun: |it| batch_text::of_run(it), |it: String| batch_text::run(&it);
    ItemEdit: |it| batch_text::of_item(it), |it: String| batch_text::item(&it);
    // A label that is not valid any more is left out.
    BTreeSet<Label>: |it| labels_text(it), |it: String| Some(labels(&it));
    SortBy: |it| it.to_string(), |it: String| Some(Self::parse(&it).unwrap_or_default());
    Vec<ListColumn>: |it| ListColumn::text_of(it), |it: String| Some(ListColumn::parse_all(&it).unwrap_or_default());
    Vec<DraftRow>: |it| draft_text(it), |it: String| draft_rows(&it);
    DraftBase: |it| serde_json::to_string(it).unwrap_or_default(), |it: String| serde_json::from_str(&it).ok();
}
words!(
    Basis,
    Ending,
    HandOffState,
    KeyState,
    Operation,
    Role,
    State,
    mutation::State
);

fn labels_text(labels: &BTreeSet<Label>) -> String {
    let labels: serde_json::Value = labels.iter().map(Label::as_str).collect();
    labels.to_string()
}

fn labels(text: &str) -> BTreeSet<Label> {
    let labels: Vec<String> = serde_json::from_str(text).unwrap_or_default();
    labels
        .iter()
        .flat_map(|label| Label::parse(label))
        .collect()
}

/// What a draft began from, as it is stored.
#[derive(Serialize, Deserialize)]
pub(super) struct DraftBase {
    /// Whose draft was loaded into the form; stored here because the base is a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) loaded_from: Option<String>,
    /// See [`crate::domain::Draft::taken_over`].
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) taken_over: BTreeSet<String>,
    /// In microseconds; see [`crate::domain::Draft::continues`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) continues: Vec<i64>,
    pub(super) name: Option<String>,
    pub(super) mapping: Option<Mapping>,
    pub(super) properties: Option<Properties>,
}

/// Key, value, both values when the edit began, and whether the row was dropped.
#[derive(Serialize, Deserialize)]
struct KeptRow(String, String, Option<(String, String)>, bool);

fn draft_text(rows: &[DraftRow]) -> String {
    let rows = rows.iter().cloned();
    let rows = rows.map(|row| KeptRow(row.key, row.value, row.before, row.is_dropped));
    serde_json::to_string(&rows.collect::<Vec<_>>()).unwrap_or_default()
}

fn draft_rows(text: &str) -> Option<Vec<DraftRow>> {
    let rows: Vec<KeptRow> = serde_json::from_str(text).ok()?;
    let rows = rows.into_iter();
    let rows = rows.map(|KeptRow(key, value, before, is_dropped)| DraftRow {
        key,
        value,
        before,
        is_dropped,
    });
    Some(rows.collect())
}

/// A time in whole microseconds since 1970, truncated.
pub(super) fn micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}

pub(super) fn timestamp(micros: i64) -> Option<Timestamp> {
    Timestamp::from_microsecond(micros).ok()
}

/// A time as it will be read back.
pub(super) fn at_stored_precision(at: Timestamp) -> Timestamp {
    timestamp(micros(at)).unwrap_or(at)
}

/// Time since boot; an intent, and later its sending, starts the horizon from it.
pub(super) fn boot_clock() -> Option<String> {
    BootTime::now().map(|now| now.to_string())
}

/// The column `origin`: the origin of each known value.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Origins<'a> {
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<Origin<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) team_id: Option<Origin<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) mapping: Option<Origin<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) properties: Option<Origin<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) environment_tag: Option<Origin<'a>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(super) fingerprint: Option<Origin<'a>>,
}

/// Source, time in microseconds, operator.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Origin<'a>(Source, i64, #[serde(borrow)] Cow<'a, str>);

impl<'a> Origin<'a> {
    fn of<T>(known: Option<&'a Known<T>>) -> Option<Self> {
        known.map(|known| Self(known.source, micros(known.at), Cow::Borrowed(&known.by)))
    }

    /// The value with its origin; `None` if the time is out of range.
    pub(super) fn known<T>(self, value: T) -> Option<Known<T>> {
        Some(Known {
            value,
            source: self.0,
            at: timestamp(self.1)?,
            by: self.2.into_owned(),
        })
    }
}

impl<'a> Origins<'a> {
    pub(super) fn of(group: &'a KnownGroup) -> Self {
        Self {
            name: Origin::of(group.name.as_ref()),
            team_id: Origin::of(group.team_id.as_ref()),
            mapping: Origin::of(group.mapping.as_ref()),
            properties: Origin::of(group.properties.as_ref()),
            environment_tag: Origin::of(group.environment_tag.as_ref()),
            fingerprint: Origin::of(group.fingerprint.as_ref()),
        }
    }
}

/// The columns of a row of `rotation_events` that encode the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventColumns<'a> {
    pub(super) event: &'a str,
    pub(super) fingerprint: Option<Fingerprint>,
    /// In milliseconds.
    pub(super) since_sent: Option<i64>,
    pub(super) horizon_passed: bool,
}

impl From<EventKind> for EventColumns<'static> {
    fn from(what: EventKind) -> Self {
        let (event, horizon_passed) = match what {
            EventKind::Intended { previous } => {
                return Self {
                    event: "intended",
                    fingerprint: Some(previous),
                    since_sent: None,
                    horizon_passed: false,
                };
            }
            EventKind::Stepped {
                event,
                horizon_passed,
            } => (event, horizon_passed),
        };
        let (word, fingerprint, since_sent) = match event {
            Event::Sending => ("sending", None, None),
            Event::Answered(answer) => match answer {
                RotateOutcome::NewToken(fingerprint) => {
                    ("answered_new_token", Some(fingerprint), None)
                }
                RotateOutcome::SameToken => ("answered_same_token", None, None),
                RotateOutcome::WrongGroup => ("answered_wrong_group", None, None),
                RotateOutcome::Refused => ("answered_refused", None, None),
                RotateOutcome::NotSent => ("answered_not_sent", None, None),
                RotateOutcome::Unclear => ("answered_unclear", None, None),
            },
            Event::Read {
                fingerprint,
                since_sent,
            } => ("read", Some(fingerprint), Some(since_sent)),
            Event::ReadContradicts => ("read_contradicts", None, None),
            Event::Orphaned => ("found_at_start", None, None),
            Event::Abandon => ("abandon", None, None),
        };
        Self {
            event: word,
            fingerprint,
            since_sent: since_sent.map(|d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX)),
            horizon_passed,
        }
    }
}

impl EventColumns<'_> {
    /// Decodes the event; `None` if the columns are inconsistent.
    pub(super) fn what(self) -> Option<EventKind> {
        let event = match self.event {
            "intended" => {
                let previous = self.fingerprint?;
                return Some(EventKind::Intended { previous });
            }
            "sending" => Event::Sending,
            "answered_new_token" => Event::Answered(RotateOutcome::NewToken(self.fingerprint?)),
            "answered_same_token" => Event::Answered(RotateOutcome::SameToken),
            "answered_wrong_group" => Event::Answered(RotateOutcome::WrongGroup),
            "answered_refused" => Event::Answered(RotateOutcome::Refused),
            "answered_not_sent" => Event::Answered(RotateOutcome::NotSent),
            "answered_unclear" => Event::Answered(RotateOutcome::Unclear),
            "read" => Event::Read {
                fingerprint: self.fingerprint?,
                since_sent: Duration::from_millis(u64::try_from(self.since_sent?).ok()?),
            },
            "read_contradicts" => Event::ReadContradicts,
            "found_at_start" => Event::Orphaned,
            "abandon" => Event::Abandon,
            _ => return None,
        };
        Some(EventKind::Stepped {
            event,
            horizon_passed: self.horizon_passed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::tables::MIGRATIONS;

    /// The words that a server takes for a column.
    fn taken(column: &str) -> Vec<&'static str> {
        let begin = format!("'{column} ");
        let (_, words) = MIGRATIONS[0].text.split_once(&begin).expect(column);
        // A long list goes on in the next line.
        let words = words.split("',").next().unwrap_or_default();
        let words = words.split(']').next().unwrap_or_default();
        words
            .split([' ', '\n', '\''])
            .filter(|word| !word.is_empty())
            .collect()
    }

    #[test]
    fn a_server_takes_the_words_that_can_be_read_and_no_others() {
        let operations = Operation::ALL.map(Operation::as_str);
        let endings = Ending::ALL.map(Ending::as_str);
        let states = State::ALL.map(State::as_str);
        let changes = mutation::State::ALL.map(mutation::State::as_str);
        let hand_offs = HandOffState::ALL.map(HandOffState::as_str);
        let keys = KeyState::ALL.map(KeyState::as_str);
        let bases = Basis::ALL.map(Basis::as_str);
        let all: [(&str, &[&str]); 11] = [
            ("history operation", &operations),
            ("history ending", &endings),
            ("rotations state", &states),
            ("rotation_events state", &states),
            ("rotations handoff", &hand_offs),
            ("mutations operation", &operations),
            ("mutations state", &changes),
            ("mutations ending", &endings),
            ("batch_items outcome", &endings),
            ("place_keys state", &keys),
            ("facts source", &bases),
        ];
        for (column, words) in all {
            assert_eq!(taken(column), words, "{column}");
        }
        let mut events: Vec<_> = (every_event().into_iter())
            .map(|what| EventColumns::from(what).event)
            .collect();
        events.dedup();
        let (mut known, mut taken) = (events, taken("rotation_events event"));
        known.sort_unstable();
        taken.sort_unstable();
        assert_eq!(taken, known);
    }

    fn every_event() -> Vec<EventKind> {
        let fingerprint = Fingerprint::from_bytes([7; 32]);
        let since_sent = Duration::from_millis(61_500);
        let events = [
            Event::Sending,
            Event::Answered(RotateOutcome::NewToken(fingerprint)),
            Event::Answered(RotateOutcome::SameToken),
            Event::Answered(RotateOutcome::WrongGroup),
            Event::Answered(RotateOutcome::Refused),
            Event::Answered(RotateOutcome::NotSent),
            Event::Answered(RotateOutcome::Unclear),
            Event::Read {
                fingerprint,
                since_sent,
            },
            Event::ReadContradicts,
            Event::Orphaned,
            Event::Abandon,
        ];
        let stepped = events.into_iter().flat_map(|event| {
            [true, false].map(|horizon_passed| EventKind::Stepped {
                event,
                horizon_passed,
            })
        });
        let intended = EventKind::Intended {
            previous: fingerprint,
        };
        stepped.chain([intended]).collect()
    }

    #[test]
    fn every_event_reads_back() {
        for what in every_event() {
            assert_eq!(EventColumns::from(what).what(), Some(what));
        }
    }

    #[test]
    fn times_are_kept_in_whole_microseconds() {
        let fine: Timestamp = "2026-11-03T09:00:00.123456789Z".parse().expect("a time");
        assert_eq!(
            at_stored_precision(fine).to_string(),
            "2026-11-03T09:00:00.123456Z",
            "finer than a microsecond is cut"
        );
        assert_eq!(
            at_stored_precision(at_stored_precision(fine)),
            at_stored_precision(fine)
        );
    }
}
