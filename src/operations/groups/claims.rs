//! The claim on a group: one unsettled mutation per group and place, held by its own durable intent. Taken after the person
//! confirmed, given back with the outcome; what a process that died left open is found here, too.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use serde_json::Value;

use crate::{
    api::send_by::SendBy,
    directory::{Claimed, ItemKey, Mutation, MutationId, MutationIntent, MutationStep},
    domain::{
        group::UserGroupId,
        history::{Ending, Operation},
        mutation::State,
    },
    operations::{ClaimHolder, Failure, Guarded, Operations, RequestKind},
    platform::clock::Moment,
};

/// Pauses between two tries for a group that is held.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// Part of the settle window in which a request must leave (docs/design/rotation.md, "Send-by").
const SEND_BY: u32 = 4;

/// Gets to know of whom is waited for.
pub type Waiting = Arc<dyn Fn(&ClaimHolder) + Send + Sync>;

/// The own claim on a group. Dropped before anything was marked as sent, it is given back.
pub(crate) struct Claim {
    operations: Operations,
    id: MutationId,
    state: State,
}

impl Claim {
    /// Makes durable that the request is about to leave; from here on only an outcome ends the claim.
    pub(crate) async fn sending(&mut self, changes: Option<Value>) -> Result<SendBy, Failure> {
        self.sending_item(changes, None).await
    }

    /// As [`Claim::sending`], and takes the item of a batch in the same transaction: it is sent once.
    pub(crate) async fn sending_item(
        &mut self,
        changes: Option<Value>,
        item: Option<ItemKey>,
    ) -> Result<SendBy, Failure> {
        let begun = self.operations.moment();
        let step = MutationStep {
            changes,
            item,
            ..self.step(State::Sent, None, None)
        };
        let place = self.operations.here();
        let marked = self.operations.directory().step_mutation(place, step).await;
        if let Err(error) = marked {
            // Whoever took it for dead has ended it; else the claim is given back.
            return Err(Failure::NothingSent(error));
        }
        self.state = State::Sent;
        Ok(self.operations.send_by(begun))
    }

    /// The end of the claim, to be written together with what it brought.
    pub(crate) fn end(mut self, ending: Ending, note: Option<String>) -> MutationStep {
        let step = self.step(State::Ended, Some(ending), note);
        self.state = State::Ended;
        step
    }

    /// It may or may not have taken effect: it holds the group on.
    pub(crate) fn unknown(mut self, note: Option<String>) -> MutationStep {
        let step = self.step(State::Unknown, None, note);
        self.state = State::Ended;
        step
    }

    pub(crate) fn id(&self) -> MutationId {
        self.id
    }

    fn step(&self, to: State, ending: Option<Ending>, note: Option<String>) -> MutationStep {
        MutationStep {
            id: self.id,
            from: self.state,
            to,
            ending,
            at: self.operations.now(),
            note,
            changes: None,
            is_outcome: self.state == State::Sent,
            item: None,
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.state != State::Intended {
            return;
        }
        let note = Some("given back: nothing was sent".to_owned());
        let step = self.step(State::Ended, Some(Ending::NotApplied), note);
        self.state = State::Ended;
        let place = self.operations.here();
        let giving = self.operations.directory().step_mutation(place, step);
        // Polled once it is queued, and a queued write is done; the window ends what could not even be queued.
        drop(giving.now_or_never());
    }
}

/// How long one waits for a group that is held.
pub(crate) struct Wait {
    until: Instant,
    pause: Duration,
    told: bool,
}

impl Operations {
    /// The same operations; `waiting` gets to know when another mutation holds the group for longer than a moment.
    #[must_use]
    pub fn with_wait_listener(&self, waiting: Waiting) -> Self {
        Self(Arc::clone(&self.0), self.1.clone(), Some(waiting))
    }

    pub(crate) fn patience(&self) -> Wait {
        Wait {
            until: Instant::now() + self.profile().timeout,
            pause: FIRST_PAUSE,
            told: false,
        }
    }

    /// Waits for the group up to the profile's time-out, then refuses, naming who holds it. Nothing is sent.
    pub(crate) async fn claim(
        &self,
        id: &UserGroupId,
        operation: Operation,
        changes: Option<Value>,
    ) -> Result<Claim, Failure> {
        // Before anything is written down for the place.
        self.client(match operation {
            Operation::Create => RequestKind::Change(Guarded::Create),
            Operation::Update => RequestKind::Change(Guarded::Update),
            Operation::Get | Operation::Rotate | Operation::HandOff => RequestKind::MayCreate,
        })
        .await?;
        let mut wait = self.patience();
        loop {
            let intent = MutationIntent {
                user_group_id: id.clone(),
                operation,
                by: self.operator().to_owned(),
                profile: self.profile().name.clone(),
                key: self.key_id(),
                at: self.now(),
                changes: changes.clone(),
            };
            let begun = self.directory().begin_mutation(self.here(), intent).await;
            match begun.map_err(Failure::NothingSent)? {
                Claimed::Begun(id) => {
                    return Ok(Claim {
                        operations: self.clone(),
                        id,
                        state: State::Intended,
                    });
                }
                Claimed::HeldBy(holder) => self.wait_for(&holder, &mut wait).await?,
            }
        }
    }

    /// Returns where it is worth another try.
    pub(crate) async fn wait_for(&self, holder: &Mutation, wait: &mut Wait) -> Result<(), Failure> {
        if self
            .release_expired_claim(holder)
            .await
            .map_err(Failure::NothingSent)?
        {
            return Ok(());
        }
        let left = self.window_left(holder);
        let until = holder.rotation.is_none().then(|| self.now() + left);
        let held = ClaimHolder {
            id: holder.user_group_id.clone(),
            operation: holder.operation,
            state: holder.state,
            by: holder.by.clone(),
            since: holder.since(),
            until,
        };
        let patience = wait.until.saturating_duration_since(Instant::now());
        // What may take effect until later than anybody waits is not waited for.
        let in_vain = holder.state == State::Unknown && (until.is_none() || left > patience);
        if in_vain || patience.is_zero() {
            return Err(Failure::Held(Box::new(held)));
        }
        let is_long = wait.pause == LONGEST_PAUSE;
        if let Some(waiting) = self.2.as_ref().filter(|_| is_long && !wait.told) {
            wait.told = true;
            waiting(&held);
        }
        tokio::time::sleep(wait.pause.min(patience)).await;
        wait.pause = (wait.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }

    /// Until when a request that is about to leave may do so.
    pub(crate) fn send_by(&self, begun: Moment) -> SendBy {
        let (operations, limit) = (self.clone(), self.settle_window() / SEND_BY);
        SendBy::new(move || operations.moment().since(&begun) >= limit)
    }
}
