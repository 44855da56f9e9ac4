//! The values that go into the directory and come out of it. No database shows through them.

use jiff::Timestamp;

use super::{ItemKey, KeyId, Mutation, MutationStep, PlaceId, RotationId};

use crate::{
    domain::{
        facts::Facts,
        group::UserGroupId,
        handoff::{HandOff, HandOffState},
        history::{Entry, Operation},
        known::{Drift, KnownGroup, Observation},
        rotation::{Event, Rotation, State},
        token::Fingerprint,
    },
    platform::boot_time::BootTime,
};

impl HistoryFilter {
    /// Whether a line is among those that are asked for, whatever its place and number.
    pub fn admits(&self, entry: &Entry) -> bool {
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

/// What one exchange leaves behind; written in one transaction, all or nothing.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// What was recorded of a group; adds the group when it is new to the place.
    pub observation: Option<Observation>,
    pub entry: Option<Entry>,
    pub rotation: Option<RotationStep>,
    pub handoff: Option<HandOffStep>,
    pub mutation: Option<MutationStep>,
    pub upon: Precondition,
    /// The exchange created the group.
    pub created: bool,
    /// Of a reading: how many outcomes of the group were written down before it left; more by now refuse the record.
    pub since: Option<i64>,
    /// The API key that the exchange was made with.
    pub key: Option<KeyId>,
    /// Something in the answer that contradicts the place, in words; stands beside an entry.
    pub alarm: Option<String>,
}

/// What an observation was drawn upon; another token by now refuses the record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Precondition {
    /// It holds whatever is known by now.
    #[default]
    Anything,
    /// The caller compared the answer with this token, `None` where none was known.
    Token(Option<Fingerprint>),
}

/// One step of a rotation; refused when another process has moved the rotation on.
#[derive(Debug, Clone)]
pub struct RotationStep {
    pub id: RotationId,
    /// The state the step starts from.
    pub from: State,
    pub event: Event,
    /// The rotation after the step.
    pub after: Rotation,
    pub at: Timestamp,
    /// What was seen, in words.
    pub note: Option<String>,
}

/// Where the hand-off of a rotation stands from now on.
#[derive(Debug, Clone)]
pub struct HandOffStep {
    pub id: RotationId,
    /// The profile whose hand-off it is from here on; `None`: as before.
    pub moved_to: Option<String>,
    /// A pending one overtakes what is open of earlier rotations of the same group: their tokens are dead.
    pub after: HandOff,
}

/// What the directory holds after a record.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    pub group: Option<KnownGroup>,
    pub noticed: Drift,
    /// What is still to be found out of rotations of that group, the last begun first, as far as their rows can be read.
    pub open: Vec<RotationRow>,
    /// The same of creates and updates.
    pub mutations: Vec<Mutation>,
    /// What is known of the place then.
    pub facts: Facts,
}

/// What the directory knows of one group at one moment.
#[derive(Debug, Clone, Default)]
pub struct GroupSnapshot {
    pub group: Option<KnownGroup>,
    /// Rotations of which something is still to be found out, the last begun first.
    pub open: Vec<RotationRow>,
    /// Creates and updates of which something is still to be found out, the last begun first.
    pub mutations: Vec<Mutation>,
    /// How many outcomes of such were written down so far.
    pub recorded: i64,
    /// What is known of the place.
    pub facts: Facts,
    /// The place that the profile is bound to, where that was asked for.
    pub bound: Option<PlaceId>,
}

/// A rotation to begin.
#[derive(Debug, Clone)]
pub struct RotationIntent {
    pub user_group_id: UserGroupId,
    /// Fingerprint of the token the preflight read (T0).
    pub previous: Fingerprint,
    pub by: String,
    pub reason: Option<String>,
    pub at: Timestamp,
    /// The profile that begins it: its hand-off is due there.
    pub profile: String,
    /// That profile hands new tokens off.
    pub hands_off: bool,
    /// The API key it will be sent with.
    pub key: Option<KeyId>,
    /// The item of a batch it is begun for; an item is begun once.
    pub item: Option<ItemKey>,
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
    /// Another rotation holds this token, or has taken the item of the batch, or an earlier one of the group, of whatever
    /// token, is unsettled; nothing may be sent.
    TakenBy(RotationRow),
    /// A create or an update holds the group; nothing may be sent yet.
    HeldBy(Box<Mutation>),
}

/// A rotation as journalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotationRow {
    pub id: RotationId,
    pub place: PlaceId,
    /// The profile that began it, as it was called then; its hand-off is that profile's.
    pub profile: String,
    /// That profile handed new tokens off when it began it.
    pub hands_off: bool,
    pub user_group_id: UserGroupId,
    pub rotation: Rotation,
    pub by: String,
    pub reason: Option<String>,
    pub started_at: Timestamp,
    pub sent_at: Option<Timestamp>,
    /// The last thing that was seen, in words.
    pub note: Option<String>,
    pub handoff: HandOff,
    /// As `sent_at`, or as `started_at` where nothing was sent.
    pub boot_clock: Option<BootTime>,
}

/// One row of the append-only journal of a rotation, the intent first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEvent {
    pub at: Timestamp,
    pub what: EventKind,
    /// The state after it.
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
        /// The step needed the settle window to be over; false also where that made no difference.
        horizon_passed: bool,
    },
}

/// A line of the history and its place in it; numbers only grow.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered<T> {
    pub number: i64,
    pub value: T,
}

/// Which lines of the history; `None` asks for all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    pub place: Option<PlaceId>,
    pub user_group_id: Option<UserGroupId>,
    /// At most this many, the newest ones.
    pub limit: Option<usize>,
    /// Only lines with a smaller number: the next page.
    pub before: Option<i64>,
    /// Written at this time or later.
    pub since: Option<Timestamp>,
    /// Written before this time.
    pub until: Option<Timestamp>,
    /// Written by this operator: `ana@bastion2`, or `ana` on whatever machine.
    pub by: Option<String>,
    /// Only these; all where none is named.
    pub operations: Vec<Operation>,
}

/// Which rotations; `None` asks for all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RotationFilter {
    pub place: Option<PlaceId>,
    pub user_group_id: Option<UserGroupId>,
    /// Only those of which something is still to be found out.
    pub open_only: bool,
    /// Only those whose hand-off stands there.
    pub handoff: Option<HandOffState>,
    /// At most this many, the newest ones.
    pub limit: Option<usize>,
}

/// A group that has or had a token: the answer to "whose token is this?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The name of its place.
    pub profile: String,
    pub place: PlaceId,
    pub user_group_id: UserGroupId,
    /// It is the last token this installation saw of the group; otherwise a former one.
    pub current: bool,
    /// When this token was last seen to be the group's.
    pub last_seen: Timestamp,
}

/// A group row with fields that cannot be read. They count as unknown; what is stored stays until an observation replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// As stored; it may itself be what is damaged.
    pub user_group_id: String,
    /// Column names.
    pub fields: Vec<&'static str>,
}
