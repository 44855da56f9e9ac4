//! Rotates one token (docs/design/rotation.md): preflight get, durable intent, one request on a fresh connection. What
//! the answer means is decided in `answer::rotation`. Nothing here ever sends a rotation twice.

use std::time::Instant;

use crate::{
    directory::{BeginResult, Recorded, RotationIntent, RotationStep, SnapshotExtras, TokenChange},
    domain::{
        known::Observation,
        rotation::{Event, RotateOutcome, Rotation},
    },
    operations::{
        Failpoint, RequestKind, attempts::Recording, handoff::hand_off_after, prelude::*,
        profiles::places::GateSnapshot, rotation::settle::BeforeGet,
    },
};

/// A token younger than this, by the directory's own clock, is not rotated again by a command.
pub const JUST_ROTATED: Duration = Duration::from_mins(1);

/// A gate that was read with the intent is asked for again after this time.
const GATE_IS_FRESH: Duration = Duration::from_secs(1);

/// It was recorded as sent, and certainly was not.
const UNSENT: Event = Event::Answered(RotateOutcome::NotSent);

/// Which new tokens are left alone, however they were selected.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spare {
    /// Those recorded after this number of the directory ([`Directory::last_number`]), also if they were changed elsewhere.
    pub since: Option<i64>,
    /// Those from rotations of this directory that were recorded less than this ago, by its own clock.
    pub younger_than: Duration,
}

/// The token that a rotation is meant for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Target {
    /// The token that the operator was shown; anything else counts as changed. `None`: whatever the group has.
    pub seen: Option<Fingerprint>,
    pub spare: Spare,
    /// Whether its new token goes to a file.
    pub to_file: bool,
}

/// The token that was shown, with nothing spared.
impl From<Option<Fingerprint>> for Target {
    fn from(seen: Option<Fingerprint>) -> Self {
        Self {
            seen,
            ..Self::default()
        }
    }
}

/// A rotation in progress: its journal row and its state.
pub(crate) struct UnderWay<'a> {
    pub id: &'a UserGroupId,
    pub row: RotationId,
    pub rotation: Rotation,
    pub reason: Option<String>,
    /// Warnings of the preflight.
    pub warnings: Vec<Warning>,
    /// Where to put what the get after it needs, if it follows at once.
    pub then: Option<&'a mut Option<BeforeGet>>,
}

/// What is recorded together with a step.
#[derive(Default)]
pub(crate) struct WithStep {
    pub observation: Option<Observation>,
    pub entry: Option<Entry>,
    pub note: Option<String>,
    /// What in the answer contradicts the place.
    pub alarm: Option<String>,
}

/// The item of a batch whose rotation it is.
pub(crate) struct OfItem<'a> {
    pub key: ItemKey,
    /// The snapshot of the group, if that was just read.
    pub before: Option<BeforeGet>,
    /// Set if its sending may be recorded although nothing was sent.
    pub unsent: &'a mut Option<RotationId>,
    /// Receives the snapshot that was read together with the outcome.
    pub then: &'a mut Option<BeforeGet>,
}

/// The result of the preflight get.
struct Preflight {
    token: Token,
    warnings: Vec<Warning>,
}

impl Operations {
    /// Rotates the token of a group once: the one that the operator was shown when asked to confirm. Anything that the
    /// directory has recorded since then is [`Failure::TokenChanged`]. The returned [`Done`] carries the new token, whose
    /// fingerprint is durable; [`Operations::confirm`] reads it back.
    pub async fn rotate_seen(
        &self,
        id: &UserGroupId,
        target: impl Into<Target>,
        reason: Option<String>,
        assurance: UnknownIdPolicy,
    ) -> Result<Done, Failure> {
        self.rotate_item(id, target.into(), reason, assurance, None)
            .await
    }

    /// Refuses what [`Operations::rotate_seen`] would refuse before it sends the rotation, as far as that is known without
    /// reading the group.
    pub async fn would_rotate(
        &self,
        id: &UserGroupId,
        spare: Spare,
        reason: Option<&str>,
        assurance: UnknownIdPolicy,
    ) -> Result<(), Failure> {
        self.permitted(Guarded::Rotate)?;
        self.no_secret_as_reason(reason).await?;
        self.not_in_conflict(id).await?;
        let (found, _) = self.snapshot(id).await.map_err(Failure::NothingSent)?;
        if let Some(group) = &found.group {
            self.check_environment(group, assurance)?;
        }
        let mut open = found.open.iter();
        let holds = [State::Intended, State::Sent, State::Unknown];
        // The read of the run settles one whose waiting period is over.
        let is_held = |row: &&RotationRow| {
            holds.contains(&row.rotation.state) && self.settle_window_left(row).is_some()
        };
        if let Some(row) = open.find(is_held) {
            return Err(self.taken(id, row));
        }
        self.not_locked(id, (Operation::Rotate, None), false)
            .await?;
        let young = found.token.filter(|token| {
            token.rotation.is_some() && token.ago().is_some_and(|ago| ago < spare.younger_than)
        });
        match young {
            Some(token) => Err(just_rotated(id, &token)),
            None => Ok(()),
        }
    }

    /// Refuses a rotation of a group whose last one ended in a conflict that was not investigated yet.
    async fn not_in_conflict(&self, id: &UserGroupId) -> Result<(), Failure> {
        let place = self.place().await.map_err(Failure::NothingSent)?;
        let conflicts = self.conflicts_of(place, Some(id)).await;
        match conflicts.map_err(Failure::NothingSent)?.first() {
            None => Ok(()),
            Some(row) => Err(Failure::guarded(format!(
                "\"{id}\" NOT rotated: rotation {0} of it ended in CONFLICT: the responses contradict each other. Investigate, \
                 then close it: groupdesk rotations abandon {0} --reason WHY",
                row.id.0
            ))),
        }
    }

    /// The time by the clock that all who use the directory share: the database's, or that of this machine for a file.
    /// What is sent because something is old goes by it.
    pub async fn common_now(&self) -> Result<Timestamp, DirectoryError> {
        let shared = self.directory().clock().await?;
        Ok(shared.unwrap_or_else(|| self.now()))
    }

    /// As [`Operations::rotate_seen`]; an item of a batch is taken together with the intent, and only once.
    pub(crate) async fn rotate_item(
        &self,
        id: &UserGroupId,
        target: Target,
        reason: Option<String>,
        assurance: UnknownIdPolicy,
        item: Option<OfItem<'_>>,
    ) -> Result<Done, Failure> {
        let (item, before, unsent, then) = item.map_or((None, None, None, None), |item| {
            (
                Some(item.key),
                item.before,
                Some(item.unsent),
                Some(item.then),
            )
        });
        let operation = match item {
            Some(_) => Guarded::Bulk,
            None => Guarded::Rotate,
        };
        self.permitted(operation)?;
        if item.is_none() {
            self.no_secret_as_reason(reason.as_deref()).await?;
            Box::pin(self.not_in_conflict(id)).await?;
        }
        let Preflight {
            token: current,
            warnings,
        } = match assurance {
            UnknownIdPolicy::KnownOnly => {
                let preflight = self.preflight(before, id, target.seen, assurance);
                self.unless_cancelled(id, "rotated", preflight).await?
            }
            // This read may create the group, which nobody can take back.
            UnknownIdPolicy::Exists => self.preflight(before, id, target.seen, assurance).await?,
        };
        self.not_cancelled(id, "rotated")?;
        let previous = self.directory().fingerprinter().of(&current);
        self.reached(Failpoint::BeforeIntent);
        let begun = self.begin(id, previous, reason.clone(), item, target);
        let (row, gate) = begun.await?;
        let under_way = UnderWay {
            id,
            row,
            rotation: Rotation::intended(previous),
            reason,
            warnings,
            then,
        };
        let hands_off = self.profile().handoff.is_some();
        self.directory().note_at_work(row, hands_off);
        let sent = self.send_rotation(under_way, gate, &current, operation, unsent);
        let done = Box::pin(sent).await;
        if done.is_err() {
            self.directory().note_at_work(row, false);
        }
        done
    }

    /// Sends a rotation whose intent is durable. `unsent`: of an item.
    async fn send_rotation(
        &self,
        mut under_way: UnderWay<'_>,
        gate: Option<GateSnapshot>,
        current: &Token,
        operation: Guarded,
        unsent: Option<&mut Option<RotationId>>,
    ) -> Result<Done, Failure> {
        let id = under_way.id;
        self.reached(Failpoint::IntentDurable);
        // The preflight has made key and TLS ready: from here on only the network is needed.
        let sends = RequestKind::Change(operation);
        let client = self.client_with_gate(sends, gate).await?;
        // The last moment: from here on it counts as sent.
        if let Err(cancelled) = self.not_cancelled(id, "rotated") {
            self.never_sent(&mut under_way, &cancelled).await;
            return Err(cancelled);
        }
        let sending = self.moment();
        let sent = self.advance(&mut under_way, Event::Sending, WithStep::default());
        if let Err(error) = sent.await {
            let is_unclear = error.is_unclear();
            let failure = Failure::NothingSent(error);
            if is_unclear {
                // A run waits for the directory itself, and then ends it.
                let waits = unsent.is_none() && self.keeps_outcomes();
                self.not_sent_after_all(&mut under_way, &failure, waits)
                    .await;
                if let Some(unsent) = unsent {
                    *unsent = Some(under_way.row);
                }
            }
            return Err(failure);
        }
        self.note_sending(under_way.row);
        self.reached(Failpoint::SentDurable);
        let client = client.until(self.send_by(sending));
        let result = client.rotate(current, Some(id)).await;
        self.reached(Failpoint::Answered);
        Box::pin(self.handle_answer(under_way, result)).await
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
            Some(before) => Box::pin(self.look_up_with_snapshot(before, id, assurance, None)).await,
            None => Box::pin(self.look_up_in_detail(id, assurance)).await,
        };
        let read = read.map_err(|failure| failure.before(id, "rotated"))?;
        let read = read.done;
        if read.ending == Ending::CreatedByGet {
            return Err(Failure::CreatedByGet { id: id.clone() });
        }
        self.check_environment(&read.group, assurance)?;
        let token = read
            .returned_token
            .ok_or_else(|| Failure::Stale(Warning::StaleAnswer).before(id, "rotated"))?;
        let current = self.directory().fingerprinter().of(&token);
        let settled: Vec<_> = read.warnings.iter().filter_map(Warning::settled).collect();
        // If an earlier rotation just turned out to have succeeded, it is what was wanted; another one has to be asked
        // for again.
        let is_done = settled
            .iter()
            .any(|ending| matches!(ending, Ending::Recovered | Ending::Superseded));
        if is_done || seen.is_some_and(|seen| seen != current) {
            return Err(self.token_changed(id, settled).await);
        }
        Ok(Preflight {
            token,
            warnings: read.warnings,
        })
    }

    /// Makes the intent durable, unless another rotation holds the token. Returns it with the gate at that moment.
    async fn begin(
        &self,
        id: &UserGroupId,
        previous: Fingerprint,
        reason: Option<String>,
        item: Option<ItemKey>,
        target: Target,
    ) -> Result<(RotationId, Option<GateSnapshot>), Failure> {
        let intent = RotationIntent {
            noted: target.spare.since,
            spares: target.spare.younger_than,
            user_group_id: id.clone(),
            previous,
            by: self.operator().to_owned(),
            reason,
            at: self.now(),
            profile: self.profile().name.clone(),
            hands_off: self.profile().handoff.is_some(),
            settles_in: self.settle_window(),
            to_file: target.to_file,
            key: self.key_id(),
            item,
        };
        let mut wait = self.patience();
        loop {
            let (place, intent) = (self.here(), intent.clone());
            let key = intent.key;
            let asked = Instant::now();
            let begun = self.directory().begin_rotation_with_gate(place, intent);
            let (begun, gate) = begun.await.map_err(Failure::NothingSent)?;
            // Read before the commit, which may have waited for a standby.
            let gate = gate.filter(|_| asked.elapsed() < GATE_IS_FRESH);
            match begun {
                BeginResult::Started(row) => {
                    let gate = gate.zip(key);
                    let gate = gate.map(|(gate, key)| GateSnapshot::of(place, key, gate));
                    return Ok((row, gate));
                }
                // Do not wait: a second rotation of the same token is never what is wanted next. A create or an update
                // (`HeldBy`) changes no token, and is waited for.
                BeginResult::TakenBy(row) => return Err(self.taken(id, &row)),
                BeginResult::HeldBy(holder) => {
                    let waited = self.wait_for(&holder, &mut wait);
                    self.unless_cancelled(id, "rotated", waited).await?;
                }
                BeginResult::RotatedBy(token) => return Err(just_rotated(id, &token)),
            }
        }
    }

    fn taken(&self, id: &UserGroupId, row: &RotationRow) -> Failure {
        Failure::RotationTaken {
            id: id.clone(),
            ago: Some(self.since_sent(row, &self.moment())),
            state: row.rotation.state,
            by: row.by.clone(),
        }
    }

    /// What is recorded of a rotation that was not sent.
    fn unsent_step(&self, under_way: &UnderWay<'_>, why: String) -> WithStep {
        let why = Some(why);
        WithStep {
            entry: Some(self.rotation_entry(under_way, Ending::NotApplied, None, why.clone())),
            note: why,
            ..WithStep::default()
        }
    }

    /// Ends a rotation whose intent is durable and which was cancelled before it was sent.
    async fn never_sent(&self, under_way: &mut UnderWay<'_>, cancelled: &Failure) {
        let step = self.unsent_step(under_way, cancelled.to_string());
        // Nothing was sent, whether or not that can be recorded: an intent that was left is found later.
        drop(self.advance(under_way, Event::Orphaned, step).await);
    }

    /// The same if it is unclear whether the sending was recorded as well: it is never sent from here on. `waits`: until
    /// the directory is back.
    async fn not_sent_after_all(
        &self,
        under_way: &mut UnderWay<'_>,
        failure: &Failure,
        waits: bool,
    ) {
        let why = failure.to_string();
        let mut event = Event::Orphaned;
        let mut attempts = self.recording(Recording::NotSent);
        loop {
            let step = self.unsent_step(under_way, why.clone());
            let ended = self.advance(under_way, event, step).await;
            match ended {
                Err(DirectoryError::MovedOn {
                    now: State::Sent, ..
                }) if event == Event::Orphaned => {
                    under_way.rotation.state = State::Sent;
                    event = UNSENT;
                }
                ended => {
                    if !waits
                        || !attempts.go_on(&ended).await
                        || self.not_cancelled(under_way.id, "rotated").is_err()
                    {
                        return;
                    }
                }
            }
        }
    }

    /// Ends a rotation that this process recorded but will not send, because it could not tell whether the record was
    /// kept; one that is recorded as sent only if it is `unsent`. `false` if it is not such a rotation.
    pub(crate) async fn end_own_intent(
        &self,
        row: RotationRow,
        why: &str,
        unsent: Option<RotationId>,
    ) -> Result<bool, DirectoryError> {
        let is_own = row.process.is_some() && row.process.as_deref() == process::this();
        let event = match row.rotation.state {
            State::Intended if is_own => Event::Orphaned,
            State::Sent if unsent == Some(row.id) => UNSENT,
            state => {
                let is_meant = is_own || unsent == Some(row.id);
                return Ok(is_meant && state == State::NotApplied);
            }
        };
        let id = row.user_group_id.clone();
        let mut under_way = UnderWay {
            id: &id,
            row: row.id,
            rotation: row.rotation,
            reason: row.reason,
            warnings: Vec::new(),
            then: None,
        };
        let step = self.unsent_step(&under_way, why.to_owned());
        self.advance(&mut under_way, event, step).await?;
        Ok(true)
    }

    /// The refusal for a token that is not the one that was meant, with who replaced it, if that was done from here.
    async fn token_changed(&self, id: &UserGroupId, settled: Vec<Ending>) -> Failure {
        let extras = SnapshotExtras::default();
        let now = self.directory().snapshot(self.here(), id, extras).await;
        let token = now.ok().and_then(|now| now.token);
        let ago = token.as_ref().and_then(TokenChange::ago);
        Failure::TokenChanged {
            id: id.clone(),
            settled,
            by: token.and_then(|token| token.by).map(|by| (by, ago)),
        }
    }

    /// Journals one step together with what is recorded; nothing is acted on before this is durable.
    pub(crate) async fn advance(
        &self,
        under_way: &mut UnderWay<'_>,
        event: Event,
        step: WithStep,
    ) -> Result<Recorded, DirectoryError> {
        let (record, after) = self.step_record(under_way, event, step);
        let recorded = match event {
            UNSENT => self.record_outcome(record, Recording::NotSent).await?,
            Event::Answered(_) => self.record_outcome(record, Recording::Outcome).await?,
            _ => self.directory().record(self.here(), record).await?,
        };
        under_way.rotation = after;
        Ok(recorded)
    }

    /// What is recorded of one step, and the rotation after it.
    pub(crate) fn step_record(
        &self,
        under_way: &UnderWay<'_>,
        event: Event,
        step: WithStep,
    ) -> (Record, Rotation) {
        let from = under_way.rotation.state;
        let after = under_way
            .rotation
            .step(event, self.settle_window())
            .expect("sending follows the intent, and a response follows sending");
        let handoff = hand_off_after(
            under_way.row,
            self.profile().handoff.is_some(),
            from,
            after.state,
        );
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
                written: false,
            }),
            handoff,
            key: self.key_id(),
            alarm: step.alarm,
            ..Record::default()
        };
        (record, after)
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

fn just_rotated(id: &UserGroupId, token: &TokenChange) -> Failure {
    Failure::JustRotated {
        id: id.clone(),
        by: token.by.clone(),
        ago: token.ago(),
    }
}
