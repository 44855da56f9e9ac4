//! Creates, updates and first reads with an unknown outcome: settled by what a get shows or by elapsed time, or closed
//! by a person. Nothing here changes a group.

use crate::{
    directory::MutationStep,
    domain::{
        known::Observation,
        mutation::{State, settled_by},
        operation_record::SETTLED,
    },
    operations::{answer::observe::ReadEvidence, prelude::*},
};

impl Operations {
    /// Returns the creates and updates of this place whose outcome is unknown, most recently started first.
    pub async fn open_changes(&self) -> Result<Vec<Mutation>, DirectoryError> {
        let place = self.place().await?;
        self.directory().open_mutations(place).await
    }

    /// Those of these creates and updates that have ended since, as they are now.
    pub async fn ended_since(&self, open: &[Mutation]) -> Result<Vec<Mutation>, DirectoryError> {
        let place = self.place().await?;
        let mut ended = Vec::new();
        for change in open.iter().filter(|change| change.rotation.is_none()) {
            let now = self.directory().mutation(place, change.id).await?;
            ended.extend(now.filter(|now| !now.state.is_open()));
        }
        Ok(ended)
    }

    /// Whether a read may settle it now.
    pub(crate) fn is_change_due(&self, mutation: &Mutation) -> bool {
        match mutation.state {
            State::Unknown | State::Open => true,
            // One that was sent a moment ago is still the business of its process.
            State::Sent => self.window_left(mutation).is_zero(),
            State::Intended | State::Ended => false,
        }
    }

    /// Releases the claims of this place whose time is over. Returns the creates and updates that stay open.
    pub(crate) async fn release_expired_claims(&self) -> Result<Vec<Mutation>, DirectoryError> {
        for mutation in self.open_changes().await? {
            self.release_expired_claim(&mutation).await?;
        }
        self.open_changes().await
    }

    /// Returns a create or an update of this place that has not ended.
    pub async fn open_change(&self, id: MutationId) -> Result<Mutation, Failure> {
        let place = self.place().await.map_err(Failure::NothingSent)?;
        let found = self.directory().mutation(place, id).await;
        let found = found.map_err(Failure::NothingSent)?;
        let change = found
            .filter(|change| change.rotation.is_none())
            .ok_or_else(|| {
                Failure::usage(format!(
                    "create or update m{} not found in this profile; nothing was changed. For a list: groupdesk history \
                     --open",
                    id.0
                ))
            })?;
        if !change.state.is_open() {
            return Err(Failure::guarded(format!(
                "m{} has ended: there is nothing to abandon, and nothing was changed",
                id.0
            )));
        }
        Ok(change)
    }

    /// Closes a create or an update with an unknown outcome, for a reason that the operator gives. Nothing is sent.
    pub async fn abandon_change(&self, id: MutationId, reason: &str) -> Result<Mutation, Failure> {
        self.permitted(Guarded::Abandon)?;
        let reason = self.checked_reason(reason).await?;
        let place = self.may_record().await?;
        let mutation = self.open_change(id).await?;
        let left = self.window_left(&mutation);
        if mutation.state.holds() && !left.is_zero() {
            return Err(Failure::guarded(format!(
                "{} started m{} a moment ago, and it may still take effect; nothing was changed. Try again in {} s",
                mutation.by,
                id.0,
                left.as_secs() + 1
            )));
        }
        let note = format!("abandoned by {}: {reason}", self.operator());
        let ending = Some(Ending::Abandoned);
        let mut record = self.mutation_step(&mutation, State::Ended, ending, Some(note));
        // Even an intent that was never sent is closed in this way, with the reason in place of its changes.
        if let Some(entry) = &mut record.entry {
            entry.reason = Some(reason);
            entry.changes = None;
            entry.note = Some(format!(
                "{SETTLED} {}; it was {}",
                mutation.by,
                mutation.state.as_str()
            ));
        }
        let written = self.directory().record(place, record).await;
        written.map_err(Failure::NothingSent)?;
        let now = self.directory().mutation(place, id).await;
        Ok(now.map_err(Failure::NothingSent)?.unwrap_or(mutation))
    }

    /// Whether this person's get-or-create got no answer, so that it may be repeated: the service returns an existing
    /// group unchanged.
    pub(crate) fn is_own_lost(&self, mutation: &Mutation) -> bool {
        mutation.state == State::Unknown
            && can_create(mutation.operation)
            && mutation.by == self.operator()
    }

    /// What to do about a create, an update or a first read that a reading cannot settle: never a command that would
    /// be refused now.
    pub fn next_step(&self, mutation: &Mutation) -> String {
        if self.permitted(Guarded::Create).is_ok()
            && can_create(mutation.operation)
            && (mutation.state == State::Open || self.is_own_lost(mutation))
        {
            return format!(
                "run `{}`, which finds out and creates the group if it does not exist",
                mutation.user_group_id.command("get", "--exists")
            );
        }
        if mutation.state == State::Open && self.permitted(Guarded::Abandon).is_err() {
            return "abandoning it needs a role and a profile that may change groups".into();
        }
        if mutation.state == State::Open {
            return format!(
                "compare the group with what you wanted, then run `groupdesk rotations abandon m{} --reason WHY`",
                mutation.id.0
            );
        }
        let until = self.now() + self.window_left(mutation);
        format!(
            "it may still take effect until {}: wait until then",
            when::second(until)
        )
    }

    /// The rest of the settle window.
    pub(crate) fn window_left(&self, mutation: &Mutation) -> Duration {
        let since = self
            .moment()
            .since_recorded(mutation.boot_clock.as_ref(), mutation.since());
        let window = self.settle_window_of(mutation.settles_in);
        window.saturating_sub(since)
    }

    /// Releases the claim of a mutation that its process left open for longer than the settle window. Returns whether
    /// any state changed.
    pub(crate) async fn release_expired_claim(
        &self,
        mutation: &Mutation,
    ) -> Result<bool, DirectoryError> {
        if let Some(id) = mutation.rotation {
            let row = self.directory().rotation(id).await?;
            let before = row.as_ref().map(|row| row.rotation.state);
            let rows = self
                .expire_orphaned_rotations(row.into_iter().collect())
                .await?;
            return Ok(rows.first().map(|row| row.rotation.state) != before);
        }
        let steps = self.plan_mutation_settlement(mutation, None);
        if steps.is_empty() {
            return Ok(false);
        }
        self.take_steps(steps).await?;
        Ok(true)
    }

    /// Ends what this process may have recorded of an update that it certainly did not send: the claim of this number, or
    /// else an intended update of this person, perhaps of another process of theirs: that one finds that it has moved on,
    /// and sends nothing.
    pub(crate) async fn end_own_claim(
        &self,
        group: &UserGroupId,
        claim: Option<MutationId>,
        why: &str,
    ) -> Result<(), DirectoryError> {
        let is_own = |change: &Mutation| match claim {
            Some(claim) => change.id == claim,
            None => {
                change.operation == Operation::Update
                    && change.user_group_id == *group
                    && change.state == State::Intended
                    && change.by == self.operator()
            }
        };
        // The commit that was unclear may arrive between the read and the step: then once more.
        let times = if claim.is_some() { 2 } else { 1 };
        for _ in 0..times {
            let mut open = self.open_changes().await?;
            open.retain(is_own);
            if open.is_empty() {
                break;
            }
            for own in open {
                let (ending, why) = (Some(Ending::NotApplied), Some(why.to_owned()));
                let step = self.mutation_step(&own, State::Ended, ending, why);
                self.take_steps(vec![step]).await?;
            }
        }
        Ok(())
    }

    /// Records the steps. If another process was faster, it knows as much, and that is no error.
    pub(crate) async fn take_steps(&self, steps: Vec<Record>) -> Result<(), DirectoryError> {
        let place = self.place_to_write().await?;
        match self.directory().record_all(place, steps).await {
            Ok(_) | Err(DirectoryError::ClaimMoved { .. } | DirectoryError::MovedOn { .. }) => {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// The steps for a create, an update or a first read that follow from elapsed time and from a get that was sent
    /// after it was journalled. `None`: nothing was read.
    pub(crate) fn plan_mutation_settlement(
        &self,
        mutation: &Mutation,
        found: Option<&ReadEvidence>,
    ) -> Vec<Record> {
        let is_over = self.window_left(mutation).is_zero();
        let begun = format!(
            "{SETTLED} {} at {}",
            mutation.by,
            when::second(mutation.since())
        );
        let end = |ending, note: String| {
            vec![Record {
                observation: found.and_then(|found| accepted(mutation, ending, found)),
                ..self.mutation_step(mutation, State::Ended, Some(ending), Some(note))
            }]
        };
        let proof = found.and_then(|found| match mutation.operation {
            Operation::Create | Operation::Get => Some(match found.new_user_group {
                Some(true) => Ending::NotApplied,
                Some(false) => Ending::Created,
                // The group exists, so there is nothing left to create; who created it stays unknown.
                None => Ending::Existed,
            }),
            _ => settled_by(mutation.changes.as_ref()?, &found.read),
        });
        match (mutation.state, proof) {
            (State::Intended, _) if is_over => {
                end(Ending::NotApplied, format!("{begun} and never sent"))
            }
            // It is still the business of its sender, who may be at work. An update may take effect later; a
            // get-or-create has nothing left to create once another one has created the group.
            (State::Intended | State::Sent, _) if !is_over => Vec::new(),
            (_, Some(Ending::NotApplied)) if !is_over && !can_create(mutation.operation) => {
                Vec::new()
            }
            (_, Some(ending)) => end(ending, format!("{begun}, resolved by reading the group")),
            (State::Sent, None) => {
                let note = format!("{begun}; its process ended before the response");
                vec![self.mutation_step(mutation, State::Open, None, Some(note))]
            }
            (State::Unknown, None) if is_over => vec![Record {
                entry: None,
                ..self.mutation_step(mutation, State::Open, None, None)
            }],
            (State::Intended | State::Unknown | State::Open | State::Ended, None) => Vec::new(),
        }
    }

    /// Ends the updates without a result of which nothing is left: the accepted update with these fields replaced all that
    /// they sent, whether they took effect or not, and they cannot take effect later.
    pub(crate) fn end_replaced<'m>(
        &self,
        open: impl Iterator<Item = &'m Mutation>,
        sent: &DesiredFields,
    ) -> Vec<Record> {
        let is_replaced = |other: &&Mutation| {
            other.operation == Operation::Update
                && other.state == State::Open
                && (other.sent.clone())
                    .is_some_and(|before| before.without(sent) == DesiredFields::default())
        };
        let end = |other: &Mutation| {
            let note = format!(
                "{SETTLED} {} at {}; an accepted update has since sent all of these fields",
                other.by,
                when::second(other.since())
            );
            self.mutation_step(other, State::Ended, Some(Ending::Abandoned), Some(note))
        };
        open.filter(is_replaced).map(end).collect()
    }

    /// Ends the lost get-or-creates of which this one, which was lost as well, is the repetition: what finds out about it
    /// finds out about them.
    pub(crate) async fn end_repeated(&self, id: &UserGroupId, claim: MutationId) -> Vec<Record> {
        let mut open = self.open_changes().await.unwrap_or_default();
        open.retain(|other| other.user_group_id == *id);
        let Some(at) = open.iter().position(|other| other.id == claim) else {
            return Vec::new();
        };
        let own = open.swap_remove(at);
        let is_repeated = |other: &&Mutation| {
            can_create(own.operation)
                && other.state == State::Open
                && (&other.by, other.operation, &other.changes)
                    == (&own.by, own.operation, &own.changes)
        };
        let end = |other: &Mutation| {
            let note = Some(format!("repeated as m{}", claim.0));
            let step = self.mutation_step(other, State::Ended, Some(Ending::Unknown), note);
            Record {
                entry: None,
                ..step
            }
        };
        open.iter().filter(is_repeated).map(end).collect()
    }

    /// A step of a mutation of another process, with its history entry.
    pub(crate) fn mutation_step(
        &self,
        mutation: &Mutation,
        to: State,
        ending: Option<Ending>,
        note: Option<String>,
    ) -> Record {
        let (operation, id) = (mutation.operation, &mutation.user_group_id);
        Record {
            entry: Some(Entry {
                changes: mutation.changes.clone(),
                note: note.clone(),
                ..self.entry(operation, id, ending.unwrap_or(Ending::Unknown))
            }),
            mutation: Some(MutationStep {
                id: mutation.id,
                from: mutation.state,
                to,
                ending,
                at: self.now(),
                note,
                changes: None,
                sent: None,
                item: None,
            }),
            key: self.key_id(),
            ..Record::default()
        }
    }
}

/// Whether it is a get-or-create.
fn can_create(operation: Operation) -> bool {
    matches!(operation, Operation::Create | Operation::Get)
}

/// What the group takes over from a change that turns out to have taken effect: all that its request contained and no
/// later one has replaced, with the time of sending.
fn accepted(mutation: &Mutation, ending: Ending, found: &ReadEvidence) -> Option<Observation> {
    let sent = mutation.sent.clone()?;
    let is_ours = match ending {
        Ending::Updated => true,
        // The group may have been there before; then it is unchanged.
        Ending::Created => sent.is_shown_by(&found.read),
        _ => false,
    };
    is_ours.then(|| Observation {
        id: mutation.user_group_id.clone(),
        sent,
        returned: None,
        rotated_by: None,
        at: mutation.since(),
        by: mutation.by.clone(),
    })
}
