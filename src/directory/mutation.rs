//! Creates, updates and rotations from their intent to their end. The open intent is the claim on the group: while one
//! is unsettled, no process begins another.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::{ItemKey, KeyId, MutationId, RotationId};
use crate::{
    domain::{
        fields::DesiredFields,
        group::UserGroupId,
        history::{Ending, Operation},
        mutation::State,
    },
    platform::boot_time::BootTime,
};

/// A mutation to begin.
#[derive(Debug, Clone)]
pub struct MutationIntent {
    pub user_group_id: UserGroupId,
    /// A create, an update, or a get that can create; rotations begin with their own intent.
    pub operation: Operation,
    pub by: String,
    pub profile: String,
    pub key: Option<KeyId>,
    pub at: Timestamp,
    /// The settle window of that profile.
    pub settles_in: Duration,
    /// The intended changes, in the format of the history.
    pub changes: Option<Value>,
    /// The same person's create or first read whose answer was lost and which this one repeats: in the same
    /// transaction it stops holding the group, and stays open.
    pub repeats: Option<MutationId>,
}

/// Whether a mutation may go ahead.
#[derive(Debug, Clone)]
pub enum Claimed {
    Begun(MutationId),
    /// Another one holds the group; nothing may be sent.
    HeldBy(Box<Mutation>),
}

/// A mutation as journalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutation {
    pub id: MutationId,
    pub user_group_id: UserGroupId,
    pub operation: Operation,
    pub state: State,
    /// Its row in the journal of rotations, which decides its state.
    pub rotation: Option<RotationId>,
    pub by: String,
    pub profile: String,
    pub started_at: Timestamp,
    pub sent_at: Option<Timestamp>,
    /// Belongs to `sent_at`, or to `started_at` if nothing was sent.
    pub boot_clock: Option<BootTime>,
    /// How long its request may still take effect: the settle window of its sender. Zero if it was begun with 0.2.0.
    pub settles_in: Duration,
    pub ending: Option<Ending>,
    pub note: Option<String>,
    pub changes: Option<Value>,
    /// What its request contained, as far as no later request has replaced it; only while it is open.
    pub sent: Option<DesiredFields>,
}

impl Mutation {
    /// When it was sent, or started if it was not sent, by the wall clock.
    pub fn since(&self) -> Timestamp {
        self.sent_at.unwrap_or(self.started_at)
    }

    /// Until when it keeps others from changing the group, by the wall clock of its sender.
    pub fn held_until(&self) -> Option<Timestamp> {
        let until = self.since().checked_add(self.settles_in).ok();
        until.filter(|_| self.state.holds())
    }
}

/// One step of a mutation; refused if another process has advanced it.
#[derive(Debug, Clone)]
pub struct MutationStep {
    pub id: MutationId,
    /// The state that the step starts from.
    pub from: State,
    pub to: State,
    /// Set if the step ends it.
    pub ending: Option<Ending>,
    pub at: Timestamp,
    /// What was observed, as text.
    pub note: Option<String>,
    /// The changes, if they are known better by now.
    pub changes: Option<Value>,
    /// What the request contains, for the step before it is sent.
    pub sent: Option<DesiredFields>,
    /// The batch item it is sent for; refused if that was already sent or has ended.
    pub item: Option<ItemKey>,
}
