//! From an answer to what the directory learns: the answer is judged, taken apart, compared with what was known, and
//! written in one transaction with the history and the rotations it settles.

use std::{mem, time::Duration};

use super::error_response::ErrorResponse;
use crate::{
    api::{
        answer::{Group, Verdict},
        client::Reply,
        facts::StatedFacts,
        failure::CallError,
    },
    directory::{
        DirectoryError, MutationId, MutationStep, Precondition, Record, RotationId, RotationRow,
        SnapshotExtras,
    },
    domain::{
        change::{Change, DesiredFields},
        facts::Field,
        group::{EnvironmentTag, Properties, UserGroupId},
        history::{Ending, Operation},
        known::{Drift, KnownGroup, Observation, Returned, Sent},
        mutation,
        rotation::State,
        token::{Fingerprint, Token},
    },
    operations::{
        Done, Failure, Operations, Warning,
        recording::changes_for_history,
        rotation::settle::{Evidence, OpenBeforeGet},
    },
    platform::clock::between,
};

/// A good answer, split into what the directory learns and what is only for the caller.
pub(crate) struct GoodAnswer {
    pub returned: Returned,
    pub token: Token,
    pub new_user_group: Option<bool>,
    pub status: u16,
    pub latency: Duration,
    /// What the service states about its own behaviour.
    pub facts: StatedFacts,
}

/// A good answer together with the request it answers.
pub(crate) struct ObservationInput {
    pub operation: Operation,
    pub ending: Ending,
    pub sent: Sent,
    pub read: GoodAnswer,
    pub changes: Option<Change>,
    pub before: Before,
    /// What was open before the get was sent; `None` if the answer settles nothing.
    pub open_before: Option<OpenBeforeGet>,
    /// Ends the claim under which the request was made.
    pub claim: Option<MutationStep>,
    /// The fields that the get returned.
    pub fields: Vec<Field>,
    /// The caller does not use the state after recording.
    pub discards_result: bool,
}

/// What a get found, used to settle creates and updates whose outcome is unknown.
pub(crate) struct ReadEvidence {
    /// Name and properties, as far as the answer contained them.
    pub read: DesiredFields,
    /// Whether this request created the group.
    pub new_user_group: Option<bool>,
}

/// What was known of the group before the answer.
pub(crate) enum Before {
    Read(Option<Box<KnownGroup>>),
    ToRead,
}

/// What was learnt from an answer, and the state of the group's rotations now.
pub(crate) struct Lookup {
    pub done: Done,
    /// The rotations that this answer settled or advanced, with their new state.
    pub moved: Vec<(RotationId, State)>,
    /// The rotations that are still open.
    pub open: Vec<RotationRow>,
}

impl Lookup {
    /// The state of a rotation now, if this answer determines it.
    pub(crate) fn state_of(&self, id: RotationId) -> Option<State> {
        let moved = self.moved.iter().rev().find(|(moved, _)| *moved == id);
        let open = || self.open.iter().find(|row| row.id == id);
        moved
            .map(|(_, state)| *state)
            .or_else(|| open().map(|row| row.rotation.state))
    }
}

/// Attempts to record an answer when other processes keep recording first.
const TRIES: u32 = 5;

fn token_of(group: &KnownGroup) -> Option<Fingerprint> {
    group.fingerprint.as_ref().map(|known| known.value)
}

fn evidence(alarm: Option<&Warning>, read: &GoodAnswer) -> Evidence {
    match alarm {
        Some(alarm) => Evidence::Contradiction(alarm.to_string()),
        None => Evidence::Token(read.returned.fingerprint),
    }
}

impl Operations {
    pub(crate) fn judge(
        &self,
        result: Result<Reply, CallError>,
    ) -> Result<GoodAnswer, ErrorResponse> {
        match result {
            Ok(Reply {
                verdict: Verdict::Success(group),
                status,
                latency,
                facts,
            }) => Ok(GoodAnswer {
                facts,
                ..self.split_answer(group, status, latency)
            }),
            Ok(reply) => Err(ErrorResponse::Answered(Box::new(reply))),
            Err(error) => Err(ErrorResponse::Failed(error)),
        }
    }

    pub(crate) fn split_answer(&self, group: Group, status: u16, latency: Duration) -> GoodAnswer {
        GoodAnswer {
            returned: Returned {
                name: group.name,
                team_id: group.team_id,
                properties: group.properties,
                environment_tag: group.environment_tag,
                fingerprint: self.directory().fingerprinter().of(&group.token),
            },
            token: group.token,
            new_user_group: group.new_user_group,
            status,
            latency,
            facts: StatedFacts::default(),
        }
    }

    pub(crate) fn observation(
        &self,
        id: &UserGroupId,
        sent: Sent,
        returned: Returned,
    ) -> Observation {
        Observation {
            id: id.clone(),
            sent,
            returned: Some(returned),
            rotated_by: None,
            at: self.now(),
            by: self.operator().to_owned(),
        }
    }

    /// Whether the answer carries a token that this installation has seen replaced within the settle window. Such an
    /// answer left the service before the rotation, or comes from a lagging replica: nothing in it is news.
    async fn is_stale(
        &self,
        known: Option<&KnownGroup>,
        returned: &Returned,
    ) -> Result<bool, DirectoryError> {
        let Some((group, last)) =
            known.and_then(|group| Some((group, group.fingerprint.as_ref()?)))
        else {
            return Ok(false);
        };
        if last.value == returned.fingerprint
            || between(last.at, self.now()) >= self.settle_window()
        {
            return Ok(false);
        }
        let owners = self.directory().owners(returned.fingerprint).await?;
        Ok(owners
            .iter()
            .any(|owner| owner.place == self.here() && owner.user_group_id == group.id))
    }

    /// Whether a get returned only what was known already, settles nothing, and raises no alarm.
    pub(crate) fn confirms_what_is_known(&self, input: &ObservationInput) -> bool {
        let (Before::Read(Some(before)), Some(open_before), None) =
            (&input.before, &input.open_before, &input.claim)
        else {
            return false;
        };
        let Returned {
            name,
            properties,
            environment_tag,
            fingerprint,
            ..
        } = &input.read.returned;
        let is_name = |new: &String| before.name.as_ref().is_some_and(|old| old.value == *new);
        let known = before.properties.as_ref();
        let is_same = |new: &Properties| known.is_some_and(|old| old.value == *new);
        token_of(before) == Some(*fingerprint)
            && name.as_ref().is_none_or(is_name)
            && properties.as_ref().is_none_or(is_same)
            && open_before.open.is_empty()
            && open_before.mutations.is_empty()
            && input.ending == Ending::Found
            && self.tag_alarm(environment_tag.as_ref()).is_none()
            && !self.states_new_facts(input.read.facts)
    }

    /// Records a good answer and returns what it means for the caller.
    pub(crate) async fn observe(
        &self,
        id: &UserGroupId,
        input: ObservationInput,
    ) -> Result<Lookup, Failure> {
        let mut input = input;
        // A get that nobody expected to create, and that did not, changed nothing.
        let may_have_created = input.claim.is_some() && input.read.new_user_group != Some(false);
        let not_recorded = if input.ending == Ending::Found && !may_have_created {
            Failure::NotKept
        } else {
            Failure::NotWritten
        };
        // Beside the answer, which counts even if this is refused: the service states the same in the next one.
        let _ = self.record_stated_facts(input.read.facts).await;
        let Returned {
            fingerprint,
            ref environment_tag,
            ..
        } = input.read.returned;
        let judged = Returned {
            name: None,
            team_id: None,
            properties: None,
            environment_tag: environment_tag.clone(),
            fingerprint,
        };
        // The large values exist only in the observation; the directory takes it, and gives it back if it refuses it.
        let returned = mem::replace(&mut input.read.returned, judged);
        let mut observation = self.observation(id, mem::take(&mut input.sent), returned);
        let mut tries = TRIES;
        loop {
            tries -= 1;
            let before = match mem::replace(&mut input.before, Before::ToRead) {
                Before::Read(before) => before.map(|group| *group),
                Before::ToRead => {
                    let known = self.directory().group(self.here(), id).await;
                    known.map_err(not_recorded)?
                }
            };
            let observed = self.observe_once(id, &input, observation, before).await;
            input.discards_result = false;
            match observed {
                Ok(lookup) => return Ok(lookup),
                // Another process has advanced these rotations meanwhile; leave them to it.
                Err((
                    DirectoryError::MovedOn { .. } | DirectoryError::ClaimMoved { .. },
                    Some(spare),
                )) if tries > 0 => {
                    input.open_before = None;
                    observation = *spare;
                }
                // A change made from here meanwhile is more recent than this reading.
                Err((DirectoryError::ReadOvertaken(given), spare)) if tries > 0 => {
                    if let Some(open_before) = &mut input.open_before {
                        open_before.overtaken = true;
                        open_before.mutations.clear();
                    }
                    observation = *spare.unwrap_or(given);
                }
                Err((DirectoryError::Overtaken(given), spare)) if tries > 0 => {
                    observation = *spare.unwrap_or(given);
                }
                Err((error, _)) => return Err(not_recorded(error)),
            }
        }
    }

    /// On an error, the observation is returned unless the directory could not give it back unchanged.
    async fn observe_once(
        &self,
        id: &UserGroupId,
        input: &ObservationInput,
        mut observation: Observation,
        before: Option<KnownGroup>,
    ) -> Result<Lookup, (DirectoryError, Option<Box<Observation>>)> {
        let ObservationInput {
            operation,
            ending,
            read,
            ..
        } = input;
        let overtaken = input
            .open_before
            .as_ref()
            .is_some_and(|open_before| open_before.overtaken);
        let stale = self.is_stale(before.as_ref(), &read.returned).await;
        let stale = stale.map_err(|error| (error, None))?;
        let alarm = self.alarm(*ending, &read.returned);
        let tag_alarm = alarm.as_ref().filter(|alarm| alarm.is_wrong_environment());
        let tag_alarm = tag_alarm.map(Warning::bare);
        let open_before = input.open_before.as_ref().filter(|_| !stale);
        let settled = open_before
            .map(|open_before| self.plan_settlement(open_before, &evidence(alarm.as_ref(), read)))
            .unwrap_or_default();
        let mut records = settled.steps;
        if let Some(open_before) = open_before.filter(|_| alarm.is_none()) {
            records.extend(self.settle_mutations(open_before, &observation, read.new_user_group));
        }
        // Under our own claim no other change can overtake the reading.
        let is_alone = input.claim.is_some();
        let since = input.open_before.as_ref();
        let since = since.filter(|_| !stale && !overtaken && !is_alone);
        let previous = before.as_ref().and_then(token_of);
        // The rotation may also be one of another process that has not recorded its own answer yet.
        let ours = open_before.and_then(|open_before| {
            let mut open = open_before.open.iter();
            open.find(|row| row.sent_at.is_some() && previous == Some(row.rotation.previous))
        });
        let is_new = previous != Some(read.returned.fingerprint);
        let rotated_by = ours.filter(|_| is_new && alarm.is_none());
        let is_kept = stale || overtaken || rotated_by.is_some() || !records.is_empty();
        let spare = is_kept.then(|| Box::new(observation.clone()));
        if let Some(row) = rotated_by {
            observation.rotated_by = Some(row.by.clone());
        }
        if stale || overtaken {
            observation.returned = None;
        }
        let token = observation.returned.as_ref().map(|new| new.fingerprint);
        let token = token.or(previous);
        // The directory returns the group as it is after recording; keeping a copy until then would only take memory.
        let mut noticed = before.map_or_else(Drift::default, |group| group.drift(&observation));
        let mut is_foreign = noticed.is_foreign();
        let own = input.claim.as_ref().map(|step| step.id);
        if is_foreign && self.is_being_changed(id, own).await {
            noticed.name_was = None;
            is_foreign = false;
        }
        let mut warnings: Vec<_> = alarm.into_iter().collect();
        warnings.extend(Warning::of(&noticed));
        if is_foreign {
            // If this fails, the next reading withdraws it: until then the previously known name stays.
            let withdrawn = self.withdraw_sole_writer().await;
            warnings.extend(withdrawn.map_err(|error| (error, spare.clone()))?);
        }
        // A get that found what was expected is not written to the history; one that noticed something is.
        let noteworthy = *operation != Operation::Get || !warnings.is_empty();
        let entry = noteworthy.then(|| {
            let mut entry = self.entry(*operation, id, *ending);
            entry.previous_fingerprint = previous;
            entry.fingerprint = token;
            let changes = input.changes.as_ref();
            entry.changes = changes.and_then(|changes| changes_for_history(*operation, changes));
            let notes: Vec<_> = warnings.iter().map(Warning::to_string).collect();
            entry.note = (!notes.is_empty()).then(|| notes.join("; "));
            entry
        });
        let steps = records.iter().filter_map(|record| record.rotation.as_ref());
        let moved = steps.map(|step| (step.id, step.after.state)).collect();
        records.push(Record {
            observation: Some(observation),
            entry,
            precondition: Precondition::Token(previous),
            created: matches!(ending, Ending::Created | Ending::CreatedByGet),
            key: self.key_id(),
            alarm: tag_alarm,
            since: since.map(|open_before| open_before.recorded),
            mutation: input.claim.clone(),
            discards_result: input.discards_result,
            ..Record::default()
        });
        let recorded = self.directory().record_all(self.here(), records).await;
        let recorded = recorded.map_err(|error| (error, spare))?.pop();
        let recorded = recorded.unwrap_or_default();
        let endings = settled.endings.into_iter();
        warnings.extend(endings.map(|ending| Warning::RotationSettled { ending }));
        warnings.extend(stale.then_some(Warning::StaleAnswer));
        warnings.extend((overtaken && !stale).then_some(Warning::ReadOvertaken));
        let done = Done {
            ending: *ending,
            group: recorded
                .group
                .unwrap_or_else(|| KnownGroup::new(id.clone())),
            token: (!stale).then(|| read.token.clone()),
            previous_fingerprint: previous,
            warnings,
            status: read.status,
            latency: read.latency,
            rotation: None,
            read: input.fields.clone(),
            facts: self.with_configured_facts(recorded.facts),
            open: recorded.mutations,
        };
        Ok(Lookup {
            done,
            moved,
            open: recorded.open,
        })
    }

    /// Settles creates and updates that were open when the get was sent, as far as its answer allows.
    fn settle_mutations(
        &self,
        open_before: &OpenBeforeGet,
        observation: &Observation,
        new_user_group: Option<bool>,
    ) -> Vec<Record> {
        if open_before.mutations.is_empty() {
            return Vec::new();
        }
        let returned = observation.returned.as_ref();
        let found = ReadEvidence {
            read: DesiredFields {
                name: returned.and_then(|returned| returned.name.clone()),
                mapping: None,
                properties: returned.and_then(|returned| returned.properties.clone()),
            },
            new_user_group,
        };
        let mutations = open_before.mutations.iter();
        mutations
            .flat_map(|mutation| self.plan_mutation_settlement(mutation, Some(&found)))
            .collect()
    }

    /// Whether the answer may show a change made from here whose own answer has not arrived yet.
    pub(crate) async fn is_being_changed(&self, id: &UserGroupId, own: Option<MutationId>) -> bool {
        let snapshot = self
            .directory()
            .snapshot(self.here(), id, SnapshotExtras::default())
            .await;
        snapshot.is_ok_and(|snapshot| {
            let mut others = snapshot.mutations.iter();
            let rotates = |row: &RotationRow| row.rotation.state != State::Rotated;
            snapshot.open.iter().any(rotates)
                || others
                    .any(|other| Some(other.id) != own && other.state != mutation::State::Intended)
        })
    }

    /// The alarm for an answer that contradicts all that was known; nothing may follow on it.
    fn alarm(&self, ending: Ending, returned: &Returned) -> Option<Warning> {
        if ending == Ending::CreatedByGet {
            return Some(Warning::CreatedByGet);
        }
        self.tag_alarm(returned.environment_tag.as_ref())
    }

    pub(crate) fn tag_alarm(&self, got: Option<&EnvironmentTag>) -> Option<Warning> {
        match (self.expected_tag(), got) {
            (Some(expected), Some(got)) if expected != *got => Some(Warning::WrongTag {
                expected,
                got: got.clone(),
            }),
            _ => None,
        }
    }
}
