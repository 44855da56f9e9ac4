//! Rotates one token (docs/design/rotation.md): preflight get, durable intent, one request on a fresh connection. What
//! the answer means is decided in `answer::rotation`. Nothing here ever sends a rotation twice.

use crate::{
    directory::{
        BeginResult, DirectoryError, ItemKey, Precondition, Record, Recorded, RotationId,
        RotationIntent, RotationStep,
    },
    domain::{
        group::UserGroupId,
        history::{Ending, Entry, Operation},
        known::Observation,
        rotation::{Event, Rotation},
        token::{Fingerprint, Token},
    },
    operations::{
        Done, Failpoint, Failure, Guarded, Operations, RequestKind, UnknownIdPolicy, Warning,
        handoff::hand_off_after, rotation::settle::BeforeGet,
    },
};

/// A rotation in progress: its journal row and its state.
pub(crate) struct UnderWay<'a> {
    pub id: &'a UserGroupId,
    pub row: RotationId,
    pub rotation: Rotation,
    pub reason: Option<String>,
    /// Warnings of the preflight.
    pub warnings: Vec<Warning>,
}

/// What is recorded together with a step.
#[derive(Default)]
pub(crate) struct StepRecord {
    pub observation: Option<Observation>,
    pub entry: Option<Entry>,
    pub note: Option<String>,
    pub precondition: Precondition,
    /// What in the answer contradicts the place.
    pub alarm: Option<String>,
}

/// The result of the preflight get.
struct Preflight {
    token: Token,
    warnings: Vec<Warning>,
}

impl Operations {
    /// Rotates the token of a group once. The returned [`Done`] carries the new token, whose fingerprint is durable;
    /// [`Operations::confirm`] reads it back.
    ///
    /// Rotates only the token that this installation had seen before; any other is [`Failure::TokenChanged`].
    pub async fn rotate(
        &self,
        id: &UserGroupId,
        reason: Option<String>,
        assurance: UnknownIdPolicy,
    ) -> Result<Done, Failure> {
        self.permitted(Guarded::Rotate)?;
        let known = self.known(id, assurance).await?;
        let seen = known.and_then(|group| group.fingerprint);
        let seen = seen.map(|known| known.value);
        self.rotate_seen(id, seen, reason, assurance).await
    }

    /// As [`Operations::rotate`], for the token that the operator was shown when asked to confirm: anything that the
    /// directory has recorded since then counts as changed.
    pub async fn rotate_seen(
        &self,
        id: &UserGroupId,
        seen: Option<Fingerprint>,
        reason: Option<String>,
        assurance: UnknownIdPolicy,
    ) -> Result<Done, Failure> {
        self.rotate_item(id, seen, reason, assurance, None).await
    }

    /// As [`Operations::rotate_seen`]; an item of a batch is taken together with the intent, and only once. It comes with
    /// the snapshot of the group, if that was just read.
    pub(crate) async fn rotate_item(
        &self,
        id: &UserGroupId,
        seen: Option<Fingerprint>,
        reason: Option<String>,
        assurance: UnknownIdPolicy,
        item: Option<(ItemKey, Option<BeforeGet>)>,
    ) -> Result<Done, Failure> {
        let (item, before) = item.map_or((None, None), |(item, before)| (Some(item), before));
        let operation = match item {
            Some(_) => Guarded::Bulk,
            None => Guarded::Rotate,
        };
        self.permitted(operation)?;
        if item.is_none() {
            self.no_secret_as_reason(reason.as_deref()).await?;
        }
        let Preflight {
            token: current,
            warnings,
        } = self.preflight(before, id, seen, assurance).await?;
        let previous = self.directory().fingerprinter().of(&current);
        self.reached(Failpoint::BeforeIntent);
        let mut under_way = UnderWay {
            id,
            row: self.begin(id, previous, reason.clone(), item).await?,
            rotation: Rotation::intended(previous),
            reason,
            warnings,
        };
        self.reached(Failpoint::IntentDurable);
        // The preflight has made key and TLS ready: from here on only the network is needed.
        let client = self.client(RequestKind::Change(operation)).await?;
        let sending = self.moment();
        self.advance(&mut under_way, Event::Sending, StepRecord::default())
            .await
            .map_err(Failure::NothingSent)?;
        self.note_sending(under_way.row);
        self.reached(Failpoint::SentDurable);
        let client = client.until(self.send_by(sending));
        let result = client.rotate(&current, Some(id)).await;
        self.reached(Failpoint::Answered);
        self.handle_answer(under_way, result).await
    }

    /// Checks that the group exists in this environment and has the token that this installation had seen.
    async fn preflight(
        &self,
        before: Option<BeforeGet>,
        id: &UserGroupId,
        seen: Option<Fingerprint>,
        assurance: UnknownIdPolicy,
    ) -> Result<Preflight, Failure> {
        let read = match before {
            Some(before) => {
                Box::pin(self.look_up_with_snapshot(before, id, assurance, None)).await?
            }
            None => Box::pin(self.look_up_in_detail(id, assurance)).await?,
        };
        let read = read.done;
        if read.ending == Ending::CreatedByGet {
            return Err(Failure::CreatedByGet { id: id.clone() });
        }
        self.check_environment(&read.group, assurance)?;
        let token = read
            .token
            .ok_or_else(|| Failure::Unreadable(format!("{}", Warning::StaleAnswer)))?;
        let current = self.directory().fingerprinter().of(&token);
        let settled: Vec<_> = read.warnings.iter().filter_map(Warning::settled).collect();
        // If an earlier rotation just turned out to have succeeded, it is what was wanted; another one has to be asked
        // for again.
        let is_done = settled
            .iter()
            .any(|ending| matches!(ending, Ending::Recovered | Ending::Superseded));
        if is_done || seen.is_some_and(|seen| seen != current) {
            return Err(Failure::TokenChanged {
                id: id.clone(),
                settled,
            });
        }
        Ok(Preflight {
            token,
            warnings: read.warnings,
        })
    }

    /// Makes the intent durable, unless another rotation holds the token.
    async fn begin(
        &self,
        id: &UserGroupId,
        previous: Fingerprint,
        reason: Option<String>,
        item: Option<ItemKey>,
    ) -> Result<RotationId, Failure> {
        let intent = RotationIntent {
            user_group_id: id.clone(),
            previous,
            by: self.operator().to_owned(),
            reason,
            at: self.now(),
            profile: self.profile().name.clone(),
            hands_off: self.profile().handoff.is_some(),
            key: self.key_id(),
            item,
        };
        let mut wait = self.patience();
        loop {
            let (place, intent) = (self.here(), intent.clone());
            let begun = self.directory().begin_rotation(place, intent).await;
            match begun.map_err(Failure::NothingSent)? {
                BeginResult::Started(row) => return Ok(row),
                // Do not wait: a second rotation of the same token is never what is wanted next. A create or an update
                // (`HeldBy`) changes no token, and is waited for.
                BeginResult::TakenBy(row) => {
                    return Err(Failure::RotationTaken {
                        id: id.clone(),
                        state: row.rotation.state,
                        by: row.by,
                    });
                }
                BeginResult::HeldBy(holder) => self.wait_for(&holder, &mut wait).await?,
            }
        }
    }

    /// Journals one step together with what is recorded; nothing is acted on before this is durable.
    pub(crate) async fn advance(
        &self,
        under_way: &mut UnderWay<'_>,
        event: Event,
        step: StepRecord,
    ) -> Result<Recorded, DirectoryError> {
        let from = under_way.rotation.state;
        let after = under_way
            .rotation
            .step(event, self.settle_window())
            .expect("sending follows the intent, and an answer the sending");
        let record = Record {
            observation: step.observation,
            entry: step.entry,
            rotation: Some(RotationStep {
                id: under_way.row,
                from,
                event,
                after,
                at: self.now(),
                note: step.note,
            }),
            handoff: hand_off_after(
                under_way.row,
                self.profile().handoff.is_some(),
                from,
                after.state,
            ),
            precondition: step.precondition,
            created: false,
            mutation: None,
            since: None,
            key: self.key_id(),
            alarm: step.alarm,
            discards_result: false,
        };
        let recorded = self.directory().record(self.here(), record).await?;
        under_way.rotation = after;
        Ok(recorded)
    }

    pub(crate) fn rotation_entry(
        &self,
        under_way: &UnderWay<'_>,
        ending: Ending,
        fingerprint: Option<Fingerprint>,
        note: Option<String>,
    ) -> Entry {
        Entry {
            previous_fingerprint: Some(under_way.rotation.previous),
            fingerprint,
            reason: under_way.reason.clone(),
            note,
            ..self.entry(Operation::Rotate, under_way.id, ending)
        }
    }
}
