//! The values that the directory accepts and returns. They are independent of the database.

use std::time::Duration;

use jiff::Timestamp;

use super::{
    ChangeId, Gate, ItemKey, KeyId, Mutation, MutationId, MutationStep, PlaceId, RotationId, RunId,
};

use crate::{
    domain::{
        facts::{Basis, Fact, Facts},
        fields::DesiredFields,
        group::UserGroupId,
        handoff::{HandOff, HandOffState},
        history::{Entry, Operation},
        known::{KnownGroup, Observation},
        rotation::{Event, Rotation, State},
        token::Fingerprint,
    },
    platform::boot_time::BootTime,
};

impl HistoryFilter {
    /// Whether the filter accepts an entry, apart from its place and number.
    pub fn matches(&self, entry: &Entry) -> bool {
        let by = |by: &String| {
            let rest = entry.by.strip_prefix(by.as_str());
            rest.is_some_and(|rest| rest.is_empty() && by.contains('@') || rest.starts_with('@'))
        };
        self.user_group_id
            .as_ref()
            .is_none_or(|id| *id == entry.user_group_id)
            && self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at < until)
            && self.by.as_ref().is_none_or(by)
            && (self.operations.is_empty() || self.operations.contains(&entry.operation))
    }
}

/// The result of one exchange, written in one transaction, all or nothing.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// What was observed of a group; adds the group if it is new to the place.
    pub observation: Option<Observation>,
    pub entry: Option<Entry>,
    pub rotation: Option<RotationStep>,
    pub handoff: Option<HandOffStep>,
    pub mutation: Option<MutationStep>,
    /// Whether the exchange created the group.
    pub created: bool,
    /// The rotation, perhaps of another process, that the token of the observation comes from.
    pub token_from: Option<RotationId>,
    /// The token of the observation, if rotations of this directory replaced it long ago: they no longer hold it.
    pub revived: Option<Fingerprint>,
    /// Facts of the place that follow from the answer.
    pub facts: Vec<Statement>,
    /// Earlier open changes of the group, with what remains of their requests after this one.
    pub replaces: Vec<(MutationId, DesiredFields)>,
    /// The API key used for the exchange.
    pub key: Option<KeyId>,
    /// What in the answer contradicts the place, as text; needs an entry.
    pub alarm: Option<String>,
    /// The caller does not use the state after recording: a reading that confirmed what was known, with nothing open.
    pub discards_result: bool,
    /// The caller sends a get next: what it asks before that is read in the same transaction.
    pub then: Option<SnapshotExtras>,
}

impl Record {
    /// The change that its entry is about.
    pub(super) fn change(&self) -> Option<ChangeId> {
        let rotation = self.rotation.as_ref().map(|step| step.id);
        let rotation = rotation.or_else(|| self.handoff.as_ref().map(|step| step.id));
        let mutation = self.mutation.as_ref().map(|step| step.id);
        let rotation = rotation.map(ChangeId::Rotation);
        rotation.or_else(|| mutation.map(ChangeId::Mutation))
    }

    /// Whether it records that a rotation gave the group its token.
    pub(super) fn gives_token(&self) -> bool {
        self.rotation.as_ref().is_some_and(|step| {
            matches!(step.after.state, State::Rotated | State::Recovered)
                && step.from != step.after.state
        })
    }
}

/// The numbers of the last recorded changes of a group, in the order of the directory. A request notes them before it is
/// sent; if a later one is recorded when its answer arrives, the answer is overtaken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Noted {
    /// Of name, mapping and properties.
    pub fields: i64,
    pub token: i64,
}

/// The last recorded change of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenChange {
    /// The rotation that it came from; `None` if it was changed elsewhere.
    pub rotation: Option<RotationId>,
    /// Who began that rotation.
    pub by: Option<String>,
    /// When it was recorded, by the directory's own clock; `None` if that cannot be told any more.
    pub recorded: Option<BootTime>,
}

impl TokenChange {
    /// How long ago it was recorded, by the directory's own clock: that of the database, or of the only machine that has
    /// the file.
    pub fn ago(&self) -> Option<Duration> {
        BootTime::now()?.since(self.recorded.as_ref()?)
    }
}

/// One step of a rotation; refused if another process has advanced the rotation.
#[derive(Debug, Clone)]
pub struct RotationStep {
    pub id: RotationId,
    /// The state that the step starts from.
    pub from: State,
    pub event: Event,
    /// The rotation after the step.
    pub after: Rotation,
    pub at: Timestamp,
    /// What was observed, as text.
    pub note: Option<String>,
    /// Whether its new token is in the file that it goes to.
    pub written: bool,
}

/// The new state of the hand-off of a rotation.
#[derive(Debug, Clone)]
pub struct HandOffStep {
    pub id: RotationId,
    /// A pending hand-off overtakes unfinished ones of earlier rotations of the same group: their tokens are dead.
    pub after: HandOff,
}

/// The state of the directory after a record.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    pub group: Option<KnownGroup>,
    /// Rotations of that group with an unknown outcome, most recently started first, as far as their rows can be read.
    pub open: Vec<RotationRow>,
    /// Creates and updates of that group with an unknown outcome.
    pub mutations: Vec<Mutation>,
    /// The facts of the place at that time.
    pub facts: Facts,
    /// What was asked for the get that follows, instead of the above, if all of it can be read.
    pub then: Option<GroupSnapshot>,
}

/// What the directory knows of one group at one moment.
#[derive(Debug, Clone, Default)]
pub struct GroupSnapshot {
    pub group: Option<KnownGroup>,
    /// Rotations with an unknown outcome, most recently started first.
    pub open: Vec<RotationRow>,
    /// Creates and updates with an unknown outcome, most recently started first.
    pub mutations: Vec<Mutation>,
    /// The last recorded changes of the group.
    pub noted: Noted,
    /// The last change of its token.
    pub token: Option<TokenChange>,
    /// Whether the group has, or had, the requested token.
    pub had_token: bool,
    /// The latest rotation that replaced the requested token, if it is not the known one.
    pub replaced_by: Option<Box<RotationRow>>,
    /// The facts of the place.
    pub facts: Facts,
    /// The place that the profile is bound to, if requested.
    pub bound: Option<PlaceId>,
    /// The gate of the place, if requested.
    pub gate: Option<Gate>,
}

/// What else to read together with a group.
#[derive(Debug, Clone, Default)]
pub struct SnapshotExtras {
    /// Name and address of the profile, to find the place that they are bound to now.
    pub profile: Option<(String, String)>,
    /// The key whose gate is read.
    pub key: Option<KeyId>,
    /// The token that an answer contained.
    pub fingerprint: Option<Fingerprint>,
}

/// A rotation to begin.
#[derive(Debug, Clone)]
pub struct RotationIntent {
    pub user_group_id: UserGroupId,
    /// Fingerprint of the token that the preflight read (T0).
    pub previous: Fingerprint,
    pub by: String,
    pub reason: Option<String>,
    pub at: Timestamp,
    /// The profile that begins it and is responsible for the hand-off.
    pub profile: String,
    /// Whether that profile hands new tokens off.
    pub hands_off: bool,
    /// The settle window of that profile.
    pub settles_in: Duration,
    /// Whether its new token goes to a file.
    pub to_file: bool,
    /// The API key it will be sent with.
    pub key: Option<KeyId>,
    /// The batch item it is started for; an item is started only once.
    pub item: Option<ItemKey>,
    /// Leaves alone a token that came from a rotation recorded later than this number of the directory.
    pub noted: Option<i64>,
    /// Leaves alone a token that came from a rotation recorded less than this ago, by the directory's own clock.
    pub spares: Duration,
}

/// Whether a rotation may go ahead (docs/design/rotation.md, "One rotation per seen token").
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "one value per rotation, matched at once"
)]
pub enum BeginResult {
    /// The intent is durable; this caller may send.
    Started(RotationId),
    /// Another rotation holds this token or has taken the batch item, or an earlier rotation of the group is unsettled,
    /// whatever its token; nothing may be sent.
    TakenBy(RotationRow),
    /// A create or an update holds the group; nothing may be sent yet.
    HeldBy(Box<Mutation>),
    /// The token is one that the intent leaves alone.
    RotatedBy(TokenChange),
}

/// A rotation as journalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotationRow {
    pub id: RotationId,
    pub place: PlaceId,
    /// The profile that began it, under its name at that time; it is responsible for the hand-off.
    pub profile: String,
    /// Whether that profile handed tokens off at that time.
    pub hands_off: bool,
    pub user_group_id: UserGroupId,
    pub rotation: Rotation,
    pub by: String,
    pub reason: Option<String>,
    pub started_at: Timestamp,
    pub sent_at: Option<Timestamp>,
    /// The last observation, as text.
    pub note: Option<String>,
    pub handoff: HandOff,
    /// Belongs to `sent_at`, or to `started_at` if nothing was sent.
    pub boot_clock: Option<BootTime>,
    /// The process that began it, if its system can name it.
    pub process: Option<String>,
    /// How long its request may still take effect: the settle window of its sender. Zero if it was begun with 0.2.0.
    pub settles_in: Duration,
    /// Who is handing its new token off, or was the last to.
    pub taker: Option<HandOffTaker>,
}

/// A run of a hand-off: the command is about to run, runs, or has run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOffTaker {
    pub run: RunId,
    pub by: String,
    pub process: Option<String>,
    /// How long it may take at most.
    pub limit: Duration,
    pub at: Timestamp,
    /// Belongs to `at`.
    pub boot_clock: Option<BootTime>,
}

impl HandOffTaker {
    /// How long ago it began, by the directory's own clock; `None` if that cannot be told any more.
    pub fn ago(&self) -> Option<Duration> {
        BootTime::now()?.since(self.boot_clock.as_ref()?)
    }
}

/// One row of the append-only journal of a rotation; the first is the intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEvent {
    pub at: Timestamp,
    pub what: EventKind,
    /// The state after the event.
    pub state: State,
    pub note: Option<String>,
}

/// What happened to a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The intent became durable.
    Intended { previous: Fingerprint },
    Stepped {
        event: Event,
        /// Whether the step required the settle window to be over; also false if that made no difference.
        horizon_passed: bool,
    },
}

/// A history entry with its number; numbers only grow.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered<T> {
    pub number: i64,
    pub value: T,
}

/// Selects history entries; `None` matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    pub place: Option<PlaceId>,
    pub user_group_id: Option<UserGroupId>,
    /// At most this many, the newest.
    pub limit: Option<usize>,
    /// Only entries with a smaller number: the next page.
    pub before: Option<i64>,
    /// Written at this time or later.
    pub since: Option<Timestamp>,
    /// Written before this time.
    pub until: Option<Timestamp>,
    /// Written by this operator: `ana@bastion2`, or `ana` on any machine.
    pub by: Option<String>,
    /// Only these operations; all if empty.
    pub operations: Vec<Operation>,
}

/// Selects rotations; `None` matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RotationFilter {
    pub place: Option<PlaceId>,
    pub user_group_id: Option<UserGroupId>,
    /// Only those with an unknown outcome.
    pub open_only: bool,
    /// Only conflicts that are neither abandoned nor followed by a rotation that counts.
    pub conflicts_only: bool,
    /// Only those whose hand-off is in this state.
    pub handoff: Option<HandOffState>,
    /// At most this many, the newest.
    pub limit: Option<usize>,
}

/// A group that has or had a token: the answer to "whose token is this?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Name of its place, which is not always the name of a profile.
    pub environment: String,
    pub place: PlaceId,
    /// Names and addresses of the profiles that were last bound to the place.
    pub bound: Vec<(String, String)>,
    pub user_group_id: UserGroupId,
    /// Whether it is the last token that this installation saw of the group, rather than a former one.
    pub current: bool,
    /// When the group was last seen to have this token.
    pub last_seen: Timestamp,
}

/// A fact, with the operator or process that stated it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub fact: Fact,
    pub basis: Basis,
    pub at: Timestamp,
    pub by: String,
}
