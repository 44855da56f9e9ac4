//! The claim on a group: one unsettled mutation per group and place, held by its own durable intent. Taken after the
//! operator has confirmed, released with the outcome. Claims left open by dead processes are also found here.

use std::time::Instant;

use serde_json::Value;

use crate::{
    api::send_by::SendBy,
    directory::{Claimed, ItemKey, MutationIntent, MutationStep},
    domain::{
        batch::Skip,
        mutation::{State, fields_of},
    },
    operations::{
        ClaimHolder, RequestKind, at_work::has_process, attempts::Recording, prelude::*,
        profiles::places::GateSnapshot,
    },
    platform::clock::Moment,
};

/// First pause between attempts to claim a group that is held.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// The part (one quarter) of the settle window in which a request must be sent (docs/design/rotation.md, "Send-by").
const SEND_BY: u32 = 4;

/// Called with the claim that is being waited for.
pub type WaitListener = Arc<dyn Fn(&ClaimHolder) + Send + Sync>;

/// Our own claim on a group. If dropped before anything was marked as sent, it is released.
pub(crate) struct Claim {
    operations: Operations,
    id: MutationId,
    group: UserGroupId,
    /// What becomes of the group: "created", "updated" or "read".
    changed: &'static str,
    state: State,
}

impl Claim {
    /// Makes durable that the request is about to be sent; from here on only an outcome ends the claim.
    /// The item of a batch is taken in the same transaction, so that it is sent only once.
    pub(crate) async fn sending(
        &mut self,
        changes: Option<Value>,
        sent: DesiredFields,
        item: Option<ItemKey>,
    ) -> Result<SendBy, Failure> {
        // The last moment: from here on it counts as sent.
        self.operations.not_cancelled(&self.group, self.changed)?;
        let begun = self.operations.moment();
        let step = MutationStep {
            changes,
            sent: Some(sent),
            item,
            ..self.step(State::Sent, None, None)
        };
        let place = self.operations.here();
        let marked = self.operations.directory().step_mutation(place, step).await;
        if let Err(error) = marked {
            // If another process considered the claim dead, it has ended it; otherwise it is released. A run ends it itself.
            let is_unclear = error.is_unclear();
            let failure = Failure::NothingSent(error);
            if is_unclear && item.is_none() {
                self.not_sent_after_all(&failure).await;
            }
            return Err(failure);
        }
        self.state = State::Sent;
        Ok(self.operations.send_by(begun))
    }

    /// Ends a claim of which it is unclear whether it is recorded as sent: it never is from here on. A program that stays
    /// open waits for the directory.
    async fn not_sent_after_all(&mut self, failure: &Failure) {
        let operations = &self.operations;
        let why = failure.to_string();
        let mut attempts = operations.recording(Recording::NotSent);
        loop {
            let ended = operations.end_own_claim(&self.group, Some(self.id), &why);
            let ended = ended.await;
            if ended.is_ok() {
                self.state = State::Ended;
            }
            if !attempts.go_on(&ended).await
                || operations.not_cancelled(&self.group, self.changed).is_err()
            {
                return;
            }
        }
    }

    /// The end of the claim, to be recorded together with the result.
    pub(crate) fn end(mut self, ending: Ending, note: Option<String>) -> MutationStep {
        let step = self.step(State::Ended, Some(ending), note);
        self.state = State::Ended;
        step
    }

    /// Marks the outcome as unknown: the claim keeps holding the group.
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
            sent: None,
            item: None,
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.state != State::Intended {
            return;
        }
        let note = Some("released: nothing was sent".to_owned());
        let step = self.step(State::Ended, Some(Ending::NotApplied), note);
        self.state = State::Ended;
        let place = self.operations.here();
        let giving = self.operations.directory().step_mutation(place, step);
        // One poll queues the write, and a queued write is carried out. If it could not even be queued, the claim ends
        // with the settle window. Unconstrained: a task that has used up its turn would not even be let to queue it.
        drop(tokio::task::unconstrained(giving).now_or_never());
    }
}

/// What becomes of the group, for "NOT updated".
fn participle(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "created",
        Operation::Update => "updated",
        Operation::Rotate => "rotated",
        Operation::Get | Operation::HandOff => "read",
    }
}

/// The groups that are held longer than a command waits, each with what holds it.
#[derive(Debug, Default)]
pub(in crate::operations) struct Locks(HashMap<UserGroupId, (Mutation, ClaimHolder)>);

impl Locks {
    /// Who holds the group. A lost get-or-create of the same person may be repeated.
    pub(in crate::operations) fn holder(
        &self,
        id: &UserGroupId,
        operation: Operation,
        changes: Option<&Value>,
    ) -> Option<&ClaimHolder> {
        let (change, holder) = self.0.get(id)?;
        let is_repeated =
            holder.is_own && (change.operation, change.changes.as_ref()) == (operation, changes);
        (!is_repeated).then_some(holder)
    }

    /// Why a bulk run leaves the group out; an open rotation is a reason of its own.
    pub(in crate::operations) fn skip(
        &self,
        id: &UserGroupId,
        operation: Operation,
    ) -> Option<Skip> {
        let holder = self.holder(id, operation, None)?;
        let by = holder.by.clone();
        holder.until.map(|until| Skip::Locked { by, until })
    }
}

/// How long to wait for a group that is held.
pub(crate) struct Wait {
    until: Instant,
    pause: Duration,
    is_reported: bool,
}

impl Operations {
    /// Returns the same operations; `waiting` is called when another mutation holds the group for more than a moment.
    #[must_use]
    pub fn with_wait_listener(&self, waiting: WaitListener) -> Self {
        Self {
            2: Some(waiting),
            ..self.clone()
        }
    }

    pub(crate) fn patience(&self) -> Wait {
        Wait {
            until: Instant::now() + self.profile().timeout,
            pause: FIRST_PAUSE,
            is_reported: false,
        }
    }

    /// Claims the group, waiting up to the profile's timeout. Refuses with the name of the holder after that; nothing
    /// is sent.
    pub(crate) async fn claim(
        &self,
        id: &UserGroupId,
        operation: Operation,
        changes: Option<Value>,
        gate: Option<GateSnapshot>,
    ) -> Result<Claim, Failure> {
        self.claim_with_read(id, operation, changes, gate, &mut None)
            .await
    }

    /// As [`Operations::claim`]. An update that is held by one whose answer was lost reads the group once: `read` is what
    /// that read found, also if it raised an alarm and nothing was claimed.
    pub(super) async fn claim_with_read(
        &self,
        id: &UserGroupId,
        operation: Operation,
        changes: Option<Value>,
        gate: Option<GateSnapshot>,
        read: &mut Option<Done>,
    ) -> Result<Claim, Failure> {
        let changed = participle(operation);
        let sends = match operation {
            Operation::Create => RequestKind::Change(Guarded::Create),
            Operation::Update => RequestKind::Change(Guarded::Update),
            Operation::Get | Operation::Rotate | Operation::HandOff => RequestKind::MayCreate,
        };
        // Before anything is written down for the place.
        self.client_with_gate(sends, gate).await?;
        let mut wait = self.patience();
        let mut repeats = None;
        loop {
            let intent = MutationIntent {
                user_group_id: id.clone(),
                operation,
                by: self.operator().to_owned(),
                profile: self.profile().name.clone(),
                key: self.key_id(),
                at: self.now(),
                settles_in: self.settle_window(),
                changes: changes.clone(),
                repeats: repeats.take(),
            };
            let begun = self.directory().begin_mutation(self.here(), intent).await;
            match begun.map_err(Failure::NothingSent)? {
                Claimed::Begun(number) => {
                    return Ok(Claim {
                        operations: self.clone(),
                        id: number,
                        group: id.clone(),
                        changed,
                        state: State::Intended,
                    });
                }
                // A get-or-create that is sent again finds the group of the first one, or creates it: whichever of
                // the two arrives last changes nothing.
                Claimed::HeldBy(holder)
                    if self.is_own_lost(&holder)
                        && (holder.operation, &holder.changes) == (operation, &changes) =>
                {
                    repeats = Some(holder.id);
                }
                // A read may show what became of an update whose answer was lost: then nothing holds the group.
                Claimed::HeldBy(holder)
                    if read.is_none()
                        && operation == Operation::Update
                        && (holder.operation, holder.state) == (operation, State::Unknown) =>
                {
                    let reading = Box::pin(self.look_up(id, UnknownIdPolicy::KnownOnly));
                    let reading = self.unless_cancelled(id, changed, reading).await;
                    let found = reading.map_err(|failure| failure.before(id, changed))?;
                    let alarm = found.warnings.iter().find(|warning| warning.is_alarm());
                    let alarm = alarm.map(ToString::to_string);
                    *read = Some(found);
                    if let Some(alarm) = alarm {
                        return Err(Failure::Unreadable(alarm).before(id, changed));
                    }
                    // The time of the read was not spent waiting.
                    wait = self.patience();
                }
                Claimed::HeldBy(holder) => {
                    let waited = self.wait_for(&holder, &mut wait);
                    self.unless_cancelled(id, changed, waited).await?;
                }
            }
        }
    }

    /// Returns `Ok` when another attempt is worthwhile.
    pub(crate) async fn wait_for(&self, holder: &Mutation, wait: &mut Wait) -> Result<(), Failure> {
        if self
            .release_expired_claim(holder)
            .await
            .map_err(Failure::NothingSent)?
        {
            return Ok(());
        }
        let patience = wait.until.saturating_duration_since(Instant::now());
        let held = self.held_by(holder, patience).await;
        let (held, is_in_vain) = held.map_err(Failure::NothingSent)?;
        if is_in_vain || patience.is_zero() {
            return Err(Failure::Held(Box::new(held)));
        }
        let is_long = wait.pause == LONGEST_PAUSE;
        if let Some(waiting) = self.2.as_ref().filter(|_| is_long && !wait.is_reported) {
            wait.is_reported = true;
            waiting(&held);
        }
        tokio::time::sleep(wait.pause.min(patience)).await;
        wait.pause = (wait.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }

    /// Who holds a group, and whether to wait for it is in vain, because it may take effect later than that.
    async fn held_by(
        &self,
        holder: &Mutation,
        patience: Duration,
    ) -> Result<(ClaimHolder, bool), DirectoryError> {
        // Nobody works on the rotation of a process that was killed.
        let rotation = match holder.rotation {
            Some(id) => self.directory().rotation(id).await?,
            None => None,
        };
        let state = match rotation {
            Some(row) if row.rotation.state.is_open() && !has_process(&row) => State::Unknown,
            _ => holder.state,
        };
        let left = self.window_left(holder);
        let until = holder.rotation.is_none().then(|| self.now() + left);
        let held = ClaimHolder {
            id: holder.user_group_id.clone(),
            operation: holder.operation,
            state,
            by: holder.by.clone(),
            is_own: self.is_own_lost(holder),
            since: holder.since(),
            until,
            noticed: Vec::new(),
        };
        let is_in_vain = state == State::Unknown && (until.is_none() || left > patience);
        Ok((held, is_in_vain))
    }

    /// The groups that a claim would not get however long the command waits. Claims nothing. `are_read`: without those that
    /// the read before the claim may release.
    pub(in crate::operations) async fn locks(
        &self,
        are_read: bool,
    ) -> Result<Locks, DirectoryError> {
        let mut locks = HashMap::new();
        let readable = self.facts().await?.readable();
        for holder in self.directory().holders(self.place().await?).await? {
            let (held, is_in_vain) = self.held_by(&holder, self.profile().timeout).await?;
            let changed = fields_of(holder.changes.as_ref());
            let is_found_out = are_read
                && holder.operation == Operation::Update
                && changed.iter().any(|field| readable.contains(field));
            if is_in_vain && !is_found_out {
                locks.insert(holder.user_group_id.clone(), (holder, held));
            }
        }
        Ok(Locks(locks))
    }

    /// Refuses what the claim would refuse at once, as far as that is known without one: for a dry run.
    pub(in crate::operations) async fn not_locked(
        &self,
        id: &UserGroupId,
        (operation, changes): (Operation, Option<&Value>),
        is_read: bool,
    ) -> Result<(), Failure> {
        let locks = self.locks(!is_read).await.map_err(Failure::NothingSent)?;
        match locks.holder(id, operation, changes) {
            Some(holder) => Err(Failure::Held(Box::new(holder.clone()))),
            None => Ok(()),
        }
    }

    /// The deadline for a request that is about to be sent.
    pub(crate) fn send_by(&self, begun: Moment) -> SendBy {
        let (operations, limit) = (self.clone(), self.settle_window() / SEND_BY);
        SendBy::new(move || operations.moment().since(&begun) >= limit)
    }
}
