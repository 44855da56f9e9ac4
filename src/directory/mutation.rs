//! Creates, updates and rotations from their intent to their end. The open intent is the claim on the group: while one is
//! unsettled, no other is begun, in no process.

mod requests;

use jiff::Timestamp;
use serde_json::Value;

use super::{ItemKey, KeyId, MutationId, RotationId};
use crate::{
    domain::{
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
    /// What is to be changed, as the history writes it.
    pub changes: Option<Value>,
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
    /// Its row in the journal of rotations, which decides about it.
    pub rotation: Option<RotationId>,
    pub by: String,
    pub profile: String,
    pub started_at: Timestamp,
    pub sent_at: Option<Timestamp>,
    /// As `sent_at`, or as `started_at` where nothing was sent.
    pub boot_clock: Option<BootTime>,
    pub ending: Option<Ending>,
    pub note: Option<String>,
    pub changes: Option<Value>,
}

impl Mutation {
    /// The wall clock's word for when it was sent, or begun where it was not.
    pub fn since(&self) -> Timestamp {
        self.sent_at.unwrap_or(self.started_at)
    }
}

/// One step of a mutation; refused when another process has moved it on.
#[derive(Debug, Clone)]
pub struct MutationStep {
    pub id: MutationId,
    /// The state the step starts from.
    pub from: State,
    pub to: State,
    /// Of an end.
    pub ending: Option<Ending>,
    pub at: Timestamp,
    /// What was seen, in words.
    pub note: Option<String>,
    /// What is changed, where that is known better by now.
    pub changes: Option<Value>,
    /// It is the outcome of whoever sent it, as opposed to what somebody found out later.
    pub is_outcome: bool,
    /// The item of a batch it is sent for; refused where that was sent, or has ended, already.
    pub item: Option<ItemKey>,
}
