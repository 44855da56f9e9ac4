//! One item of a batch: the single rotation and its confirming get, or the get that settles one sent by an earlier run.
//! If the service asks for a pause, the item waits before anything is sent, never after.

use super::{Bulk, Ended};
use crate::{
    domain::{
        batch::{Counts, NOT_IN_FILE},
        operation_record::followed_by,
    },
    operations::{
        failure::of_read,
        prelude::*,
        rotation::{
            recover::READS,
            rotate::{OfItem, Spare, Target},
            settle::BeforeGet,
        },
        run::{Consequence, Context, Hold, RetryBudget, TokenSink, keep},
    },
};

const OTHER_RUN: &str = "sent by another run of this batch";

/// Why a check of what an earlier run sent found nothing out: it is added to what is known of the item.
pub(super) fn not_checked(failure: &Failure) -> String {
    format!("checked again without a result: {}", of_read(failure))
}

/// What every item of a run needs.
#[derive(Clone)]
pub(super) struct ItemContext {
    pub operations: Operations,
    pub run: Context<Bulk>,
    pub keep: Option<Arc<dyn TokenSink>>,
    pub reason: Option<String>,
    /// The last number of the directory when the groups were selected; those rotated since then are left alone.
    pub noted: i64,
}

/// Of an item for which nothing was sent: it is not known whether its intent was recorded.
struct Unclear {
    why: String,
    /// The claim of its update, if that certainly was recorded.
    claim: Option<MutationId>,
    /// Its rotation, if that may be recorded as sent.
    rotation: Option<RotationId>,
}

/// How the work on an item ended.
pub(super) struct Outcome {
    pub ended: Ended,
    pub consequence: Consequence,
}

impl Outcome {
    pub(super) fn of(
        item: &BatchItem,
        status: ItemStatus,
        outcome: &'static str,
        begun: Instant,
    ) -> Self {
        Self {
            ended: Ended {
                key: item.key,
                user_group_id: item.user_group_id.clone(),
                status,
                outcome,
                rotation: item.rotation,
                previous: item.previous,
                fingerprint: item.fingerprint,
                note: None,
                handoff: HandOffState::None,
                warnings: Vec::new(),
                wrong_environment: false,
                settled: false,
                took: begun.elapsed(),
                counts: Counts::default(),
            },
            consequence: match status {
                ItemStatus::Confirmed | ItemStatus::Rotated => Consequence::Good,
                ItemStatus::NotApplied | ItemStatus::Unknown | ItemStatus::UnderWay => {
                    Consequence::Bad
                }
                ItemStatus::Conflict => {
                    Consequence::Stop(Halt::Conflict(item.user_group_id.clone()))
                }
                ItemStatus::NotStarted | ItemStatus::Abandoned => Consequence::Neutral,
            },
        }
    }

    /// The run was stopped before anything was sent for this item.
    pub(super) fn stopped(mut self) -> Self {
        self.consequence = Consequence::NotStarted;
        self
    }

    /// The next item would fail in the same way.
    pub(super) fn fatal(mut self, why: Option<String>) -> Self {
        let stops = matches!(self.consequence, Consequence::Stop(_));
        if let Some(why) = why.filter(|_| !stops) {
            self.consequence = Consequence::Stop(Halt::Cannot(why));
        }
        self
    }

    /// Its new token is in no file, for this reason: a message names `get --token-out`, and the run stops.
    fn not_kept(mut self, why: Option<String>) -> Self {
        if why.is_some() {
            let get = self.ended.user_group_id.command("get", "--token-out FILE");
            let missing = format!("its new token is {NOT_IN_FILE}. To write it: {get}");
            let note = self.ended.note.take();
            self.ended.note =
                Some(note.map_or(missing.clone(), |note| followed_by(&note, &missing)));
        }
        self.fatal(why)
    }

    /// It says nothing about the service and the next item, unless nothing can be recorded.
    pub(super) fn harmless(mut self) -> Self {
        if !matches!(self.consequence, Consequence::Stop(Halt::Cannot(_))) {
            self.consequence = Consequence::Neutral;
        }
        self
    }

    pub(super) fn with_warnings(mut self, warnings: Vec<Warning>) -> Self {
        self.ended.wrong_environment = warnings.iter().any(Warning::is_wrong_environment);
        self.ended.warnings = warnings;
        self
    }

    fn with_note(mut self, note: impl Into<String>) -> Self {
        self.ended.note = Some(note.into());
        self
    }
}

impl ItemContext {
    /// Rotates the item, unless the run is stopped first.
    pub(super) async fn rotate(self, item: BatchItem) -> Outcome {
        let begun = Instant::now();
        let mut then = None;
        match self.send(&item, None, &mut then, begun).await {
            Err(outcome) => *outcome,
            Ok(None) => Outcome::of(&item, ItemStatus::NotStarted, "not_started", begun).stopped(),
            Ok(Some(Ok(done))) => self.rotated(&item, done, then, begun).await,
            Ok(Some(Err(failure))) => self.failed(&item, failure, begun).await,
        }
    }

    /// Rotates the item, or sends its update, once there is nothing to wait for; `None` if the run is stopped before
    /// that. If it is unclear whether its intent was recorded, nothing was sent: the intent is ended, and with it the
    /// item of a rotation (`Err`). `then`: what was read together with the outcome of a rotation.
    pub(super) async fn send(
        &self,
        item: &BatchItem,
        edit: Option<&Edit>,
        then: &mut Option<BeforeGet>,
        begun: Instant,
    ) -> Result<Option<Result<Done, Failure>>, Box<Outcome>> {
        let mut patience = RetryBudget::new();
        // With the token that it had when its turn came.
        let mut target = None;
        let mut unclear: Option<Unclear> = None;
        let sent = loop {
            if !self.run.control.may_send().await {
                break None;
            }
            if let Some(unclear) = &unclear {
                match self.end_unsent(item, unclear, begun).await {
                    Ok(Some(outcome)) => return Err(Box::new(outcome)),
                    Err(error) if error.may_be_repeated() => {
                        self.run.is_held(Some(Hold::Directory));
                        continue;
                    }
                    Ok(None) | Err(_) => {}
                }
            }
            let (mut claim, mut rotation) = (None, None);
            let (answer, hold) = match edit {
                None => {
                    let of_it = (&mut rotation, &mut *then);
                    let answer = self.rotate_once(item, &mut target, of_it).await;
                    let hold = patience.put_off(&answer);
                    (answer, hold)
                }
                Some(edit) => {
                    let (id, known) = (&item.user_group_id, UnknownIdPolicy::KnownOnly);
                    let key = Some((item.key, &mut claim));
                    let update = self.operations.update_as(id, edit, known, key, None);
                    let answer = Box::pin(update).await;
                    let hold = patience.put_off_row(&answer);
                    (answer, hold)
                }
            };
            // Perhaps by the claim of this update, whose commit was unclear and arrived only now.
            let is_locked = edit.is_some() && matches!(answer, Err(Failure::Held(_)));
            if let Some(late) = unclear.take_if(|_| is_locked) {
                if let Ok(Some(outcome)) = self.end_unsent(item, &late, begun).await {
                    return Err(Box::new(outcome));
                }
                continue;
            }
            if let Err(failure) = &answer
                && failure.has_unclear_intent()
            {
                unclear = Some(Unclear {
                    why: failure.about(&item.user_group_id, item.changed()),
                    claim,
                    rotation,
                });
                self.run.is_held(Some(Hold::Directory));
            } else if !self.run.is_held(hold) {
                // Of this item it is final; the next ones wait.
                self.run.is_held(Hold::asked(&answer));
                break Some(answer);
            }
        };
        // The run was stopped meanwhile, or the commit that was unclear arrived only now.
        let is_held = matches!(
            sent,
            None | Some(Err(Failure::RotationTaken { .. } | Failure::Held(_)))
        );
        if let Some(unclear) = unclear.filter(|_| is_held) {
            match self.end_unsent(item, &unclear, begun).await {
                Ok(Some(outcome)) => return Err(Box::new(outcome)),
                // The journal may have it as sent.
                Err(_) if sent.is_none() && unclear.rotation.is_some() => {
                    let seems = ItemStatus::UnderWay;
                    let mut outcome = Outcome::of(item, seems, seems.as_str(), begun);
                    outcome.ended.rotation = unclear.rotation;
                    let outcome = outcome.stopped().with_note(unclear.why);
                    return Err(Box::new(outcome));
                }
                Ok(None) | Err(_) => {}
            }
        }
        Ok(sent)
    }

    async fn rotate_once(
        &self,
        item: &BatchItem,
        target: &mut Option<Target>,
        (unsent, then): (&mut Option<RotationId>, &mut Option<BeforeGet>),
    ) -> Result<Done, Failure> {
        let id = &item.user_group_id;
        let before = match self.operations.snapshot_before_get(id).await {
            Err(error) if error.is_unreachable() || error.is_unclear() => {
                return Err(Failure::NothingSent(error));
            }
            // The rotation reads the snapshot again, and reports the error.
            before => before.ok(),
        };
        let known = before.as_ref().and_then(|before| before.known.as_ref());
        let target = *target.get_or_insert_with(|| Target {
            seen: known.and_then(KnownGroup::token),
            spare: Spare {
                since: Some(self.noted),
                ..Spare::default()
            },
            to_file: self.keep.is_some(),
        });
        let (reason, known) = (self.reason.clone(), UnknownIdPolicy::KnownOnly);
        let of = Some(OfItem {
            key: item.key,
            before,
            unsent,
            then,
        });
        let rotation = self.operations.rotate_item(id, target, reason, known, of);
        Box::pin(rotation).await
    }

    /// Determines by a get what became of a rotation that an earlier run sent.
    pub(super) async fn settle(self, item: BatchItem, row: RotationId) -> Outcome {
        let begun = Instant::now();
        let id = &item.user_group_id;
        let mut patience = RetryBudget::new();
        let mut read = None;
        let mut now = None;
        let mut reads = 0;
        while reads < READS
            && let Some(answer) = self.read(id, &mut patience).await
        {
            reads += 1;
            now = self.operations.directory().rotation(row).await.ok();
            let again = answer.is_ok() && now.as_ref().is_some_and(|now| self.is_due(now.as_ref()));
            read = Some(answer);
            if !again {
                break;
            }
        }
        let (state, fingerprint) = match now.flatten() {
            Some(row) => (row.rotation.state, row.rotation.fingerprint),
            None => (item.state.unwrap_or(State::Unknown), item.fingerprint),
        };
        let status = ItemStatus::of(Some(state), None);
        let mut outcome = Outcome::of(&item, status, state.as_str(), begun);
        outcome.ended.settled = true;
        outcome.ended.fingerprint = fingerprint;
        match read {
            None => outcome.stopped(),
            Some(Err(failure)) => outcome.harmless().with_note(not_checked(&failure)),
            Some(Ok(done)) => {
                // Whatever the result: the service answers, and the rest of the batch is still to be done.
                if status != ItemStatus::Conflict {
                    outcome = outcome.harmless();
                }
                if status == ItemStatus::Confirmed {
                    let fatal = self.keep(&done).await;
                    if fatal.is_none() {
                        self.note_written(&done).await;
                    }
                    outcome = outcome.not_kept(fatal);
                }
                outcome.with_warnings(done.warnings)
            }
        }
    }

    /// Reads a group once there is nothing to wait for; `None` if the run is stopped before that.
    pub(super) async fn read(
        &self,
        id: &UserGroupId,
        patience: &mut RetryBudget,
    ) -> Option<Result<Done, Failure>> {
        while self.run.control.may_send().await {
            let reading = self.operations.look_up(id, UnknownIdPolicy::KnownOnly);
            let answer = reading.await;
            if !self.run.is_held(patience.put_off(&answer)) {
                return Some(answer);
            }
        }
        None
    }

    /// Whether the old token has been read once, so that reading it again decides.
    fn is_due(&self, row: Option<&RotationRow>) -> bool {
        row.is_some_and(|row| {
            row.rotation.state == State::Unknown
                && self.operations.settle_window_left(row).is_none()
        })
    }

    async fn rotated(
        &self,
        item: &BatchItem,
        done: Done,
        then: Option<BeforeGet>,
        begun: Instant,
    ) -> Outcome {
        let mut fatal = self.keep(&done).await;
        let token = done.returned_token.clone();
        let done = if done.ending == Ending::Rotated {
            match (&self.keep, &fatal) {
                // Keeping the token may have taken a while: what was read before that is not used.
                (Some(_), None) => Box::pin(self.operations.confirm_written(done)).await,
                (Some(_), Some(_)) => Box::pin(self.operations.confirm(done)).await,
                (None, _) => Box::pin(self.operations.confirm_with_snapshot(done, then)).await,
            }
        } else {
            done
        };
        // Somebody rotated after us; their token is the current one.
        if fatal.is_none() && done.returned_token != token {
            fatal = self.keep(&done).await;
        }
        // The read that confirmed it has mostly recorded this already.
        if fatal.is_none() {
            self.note_written(&done).await;
        }
        // A failed hand-off stays recorded with its rotation, and is offered again.
        let handed = self.operations.hand_off(&done).await;
        let status = match done.ending {
            Ending::Rotated => ItemStatus::Rotated,
            Ending::Conflict => ItemStatus::Conflict,
            _ => ItemStatus::Confirmed,
        };
        let outcome = Outcome::of(item, status, done.ending.as_str(), begun);
        let mut outcome = outcome.with_warnings(done.warnings);
        let fingerprinter = self.operations.directory().fingerprinter();
        let token = done.returned_token.as_ref();
        outcome.ended.rotation = done.rotation;
        outcome.ended.previous = done.previous_fingerprint;
        outcome.ended.fingerprint = token.map(|token| fingerprinter.of(token));
        if let Some(handed) = handed {
            outcome.ended.handoff = handed.handoff.state;
            outcome.ended.note = (!handed.is_done()).then(|| handed.handoff.standing());
            let is_failed = handed.handoff.state == HandOffState::Failed;
            if is_failed && outcome.consequence == Consequence::Good {
                // The next ones would be rotated and not delivered either.
                outcome.consequence = Consequence::Bad;
            }
        }
        outcome.not_kept(fatal)
    }

    pub(super) async fn failed(
        &self,
        item: &BatchItem,
        failure: Failure,
        begun: Instant,
    ) -> Outcome {
        let wrong_environment = failure.is_wrong_environment();
        let mut outcome = self.outcome_of_failure(item, failure, begun).await;
        outcome.ended.wrong_environment = wrong_environment;
        outcome
    }

    async fn outcome_of_failure(
        &self,
        item: &BatchItem,
        failure: Failure,
        begun: Instant,
    ) -> Outcome {
        let why = failure.about(&item.user_group_id, item.changed());
        let reason = failure.to_string();
        match failure {
            Failure::Unknown { .. } | Failure::NotWritten(_) | Failure::Settled(..) => {
                self.outcome_from_journal(item, ItemStatus::Unknown, why, begun)
                    .await
            }
            Failure::Conflict { .. } => {
                self.outcome_from_journal(item, ItemStatus::Conflict, why, begun)
                    .await
            }
            failure if failure.concerns_one_group() => {
                let failed = self.not_sent(item, Ending::NotApplied, &why, begun).await;
                failed.harmless()
            }
            Failure::CreatedByGet { .. } => {
                self.not_sent(item, Ending::CreatedByGet, &why, begun).await
            }
            Failure::WrongEnvironment { .. } => {
                self.not_sent(item, Ending::Conflict, &why, begun).await
            }
            // Another run of the same batch took the item first, or this run was told that nothing was written.
            Failure::NothingSent(DirectoryError::ItemEnded { .. }) => {
                let why = OTHER_RUN.to_owned();
                let outcome = self.outcome_from_journal(item, ItemStatus::UnderWay, why, begun);
                outcome.await.harmless()
            }
            failure if failure.concerns_all() => {
                let outcome = self.outcome_from_journal(item, ItemStatus::NotStarted, why, begun);
                outcome.await.fatal(Some(reason))
            }
            other => {
                let ending = other.ending().unwrap_or(Ending::NotApplied);
                self.not_sent(item, ending, &why, begun).await
            }
        }
    }

    /// The outcome according to the journal, or as it appears if the journal cannot be read.
    pub(super) async fn outcome_from_journal(
        &self,
        item: &BatchItem,
        seems: ItemStatus,
        why: String,
        begun: Instant,
    ) -> Outcome {
        let items = self.operations.batch_items(item.key.batch).await;
        let now = items.ok().and_then(|items| {
            let mut items = items.into_iter();
            items.find(|now| now.key == item.key)
        });
        let Some(now) = now else {
            return Outcome::of(item, seems, seems.as_str(), begun).with_note(why);
        };
        Outcome::of(&now, now.status(), now.outcome(), begun).with_note(why)
    }

    /// Ends an item for which nothing was sent. If this or another run did send it, the outcome stays as the journal
    /// tells it.
    pub(super) async fn not_sent(
        &self,
        item: &BatchItem,
        ending: Ending,
        why: &str,
        begun: Instant,
    ) -> Outcome {
        let status = ItemStatus::of(None, Some(ending));
        let outcome = Outcome::of(item, status, ending.as_str(), begun).with_note(why);
        let directory = self.operations.directory();
        let written = directory.end_item(item.key, ending, why.to_owned()).await;
        match written {
            Ok(true) => outcome,
            Ok(false) => {
                let recorded = self
                    .outcome_from_journal(item, status, why.to_owned(), begun)
                    .await;
                match recorded.ended.status {
                    // This run sent it: report the outcome of its answer. A conflict that stops the run is not hidden
                    // by what another run did.
                    journalled if journalled == status || status == ItemStatus::Conflict => outcome,
                    ItemStatus::Confirmed | ItemStatus::Rotated | ItemStatus::UnderWay => {
                        recorded.with_note(OTHER_RUN)
                    }
                    _ => recorded,
                }
            }
            Err(error) => outcome.fatal(Some(error.to_string())),
        }
    }

    /// Ends the intent that this process may have recorded of an item for which it then sent nothing; whoever else may be
    /// about to send it finds that it has moved on. `None` if the item did not end with it: an edit may be sent again.
    async fn end_unsent(
        &self,
        item: &BatchItem,
        unclear: &Unclear,
        begun: Instant,
    ) -> Result<Option<Outcome>, DirectoryError> {
        let operations = &self.operations;
        let Unclear {
            why,
            claim,
            rotation,
        } = unclear;
        if item.edit.is_some() {
            let id = &item.user_group_id;
            operations.end_own_claim(id, *claim, why).await?;
            return Ok(None);
        }
        let items = operations.batch_items(item.key.batch).await?;
        let now = items.into_iter().find(|now| now.key == item.key);
        let Some(row) = now.and_then(|now| now.rotation) else {
            return Ok(None);
        };
        let row = operations.directory().rotation(row).await?;
        let Some(row) = row else { return Ok(None) };
        if !operations.end_own_intent(row, why, *rotation).await? {
            return Ok(None);
        }
        let seems = ItemStatus::NotApplied;
        let outcome = self.outcome_from_journal(item, seems, why.clone(), begun);
        Ok(Some(outcome.await.harmless()))
    }

    /// Records that the token is in the file, if there is one. If that fails, the token counts as missing there.
    async fn note_written(&self, done: &Done) {
        if self.keep.is_some() {
            self.operations.note_written(done).await;
        }
    }

    /// Passes the token to the sink; returns an error as text.
    async fn keep(&self, done: &Done) -> Option<String> {
        let kept = keep(self.keep.clone()?, done).await;
        kept.err()
            .map(|error| format!("a new token cannot be kept ({error})"))
    }
}
