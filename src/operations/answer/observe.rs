//! From an answer to what the directory learns: the answer is judged, taken apart, compared with what was known, and
//! written in one transaction with the history and the rotations it settles.

use super::error_response::ErrorResponse;
use crate::{
    api::{
        answer::{Group, Verdict},
        client::Reply,
        failure::CallError,
    },
    directory::{ChangeId, MutationStep, Noted},
    domain::{
        facts::Fact,
        group::Properties,
        known::{Drift, Observation, Returned},
    },
    operations::{
        attempts::Recording,
        prelude::*,
        recording::changes_for_history,
        rotation::settle::{Evidence, OpenBeforeGet, SettlementPlan},
    },
};

/// A good answer, split into what the directory learns and what is only for the caller.
pub(crate) struct GoodAnswer {
    pub returned: Returned,
    pub token: Token,
    pub new_user_group: Option<bool>,
    pub status: u16,
    pub latency: Duration,
    /// What the service states about its own behaviour.
    pub facts: Vec<Fact>,
}

/// A good answer together with the request it answers.
pub(crate) struct ObservationInput {
    pub operation: Operation,
    pub ending: Ending,
    pub sent: DesiredFields,
    pub read: GoodAnswer,
    pub changes: Option<Change>,
    /// What was open and recorded before the get was sent; `None` for a change.
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

/// What was learnt from an answer, and the state of the group's rotations now.
pub(crate) struct Lookup {
    pub done: Done,
    /// The rotations that this answer settled or advanced, with their new state.
    pub moved: Vec<(RotationId, State)>,
    /// The rotations that are still open.
    pub open: Vec<RotationRow>,
    /// The last recorded changes of the group when the answer was recorded.
    pub noted: Noted,
    /// The token of the answer comes from a rotation of this directory that is still open.
    pub token_is_ours: bool,
    /// It settled an earlier create as done.
    pub settled_a_create: bool,
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

/// What decides what an answer means, beside the state of the directory when it is recorded.
struct AnswerContext {
    operation: Operation,
    ending: Ending,
    fingerprint: Fingerprint,
    tag: Option<EnvironmentTag>,
    new_user_group: Option<bool>,
    changes: Option<Change>,
    open_before: Option<OpenBeforeGet>,
    claim: Option<MutationStep>,
    discards_result: bool,
}

/// What an answer means.
struct Meaning {
    /// Nothing in it is news: the token, and with it the whole answer, is older than what is recorded.
    is_old: bool,
    /// Its name and properties are older than what is recorded.
    has_old_fields: bool,
    previous: Option<Fingerprint>,
    warnings: Vec<Warning>,
    /// How rotations were settled.
    endings: Vec<Ending>,
    moved: Vec<(RotationId, State)>,
    noted: Noted,
    token_is_ours: bool,
    settled_a_create: bool,
}

/// Whether an answer contains nothing else than what is known in these fields.
fn has_same_fields(group: Option<&KnownGroup>, returned: &Returned) -> bool {
    let name = group.and_then(|group| group.name.as_ref());
    let properties = group.and_then(|group| group.properties.as_ref());
    let is_name = |new: &String| name.is_some_and(|old| old.value == *new);
    let is_same = |new: &Properties| properties.is_some_and(|old| old.value == *new);
    returned.name.as_ref().is_none_or(is_name) && returned.properties.as_ref().is_none_or(is_same)
}

/// Whether a change of this directory may have reached the service without its outcome being recorded.
pub(crate) fn is_being_changed(found: &GroupSnapshot, own: Option<MutationId>) -> bool {
    let mut others = found.mutations.iter();
    let rotates = |row: &RotationRow| row.rotation.state != State::Rotated;
    found.open.iter().any(rotates)
        || others.any(|other| Some(other.id) != own && other.state != mutation::State::Intended)
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
            facts: Vec::new(),
        }
    }

    pub(crate) fn observation(
        &self,
        id: &UserGroupId,
        sent: DesiredFields,
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

    /// Whether the answer carries a token that was replaced within the settle window, by the directory's own clock:
    /// such an answer comes from a lagging replica, although the request was sent later.
    fn is_stale(&self, found: &GroupSnapshot, fingerprint: Fingerprint) -> bool {
        let known = found.group.as_ref().and_then(KnownGroup::token);
        found.token.is_some()
            && known.is_some_and(|known| known != fingerprint)
            && found.had_token
            && self.is_just_recorded(found)
    }

    /// Whether the token of the group was recorded less than a settle window ago.
    fn is_just_recorded(&self, found: &GroupSnapshot) -> bool {
        let group = found.group.as_ref();
        let Some(known) = group.and_then(|group| group.fingerprint.as_ref()) else {
            return false;
        };
        let recorded = found
            .token
            .as_ref()
            .and_then(|token| token.recorded.as_ref());
        // The clock that only the directory has; the wall clock stands in for it only where a machine has no other.
        let since = self.moment().since_recorded(recorded, known.at);
        since < self.settle_window()
    }

    /// The rotation from here that replaced the token of an answer that counts, if that is current again: the service's
    /// data was restored to an older copy (docs/design/rotation.md, "A token that is current again").
    fn revived(&self, found: &GroupSnapshot) -> Option<RotationRow> {
        let row = found.replaced_by.as_deref().cloned();
        row.filter(|_| !self.is_just_recorded(found))
    }

    /// Whether a get returned only what was known already, settles nothing, and raises no alarm.
    pub(crate) fn confirms_what_is_known(
        &self,
        known: Option<&KnownGroup>,
        input: &ObservationInput,
    ) -> bool {
        let (Some(before), Some(open_before), None) = (known, &input.open_before, &input.claim)
        else {
            return false;
        };
        let returned = &input.read.returned;
        before.token() == Some(returned.fingerprint)
            && has_same_fields(Some(before), returned)
            && open_before.open.is_empty()
            && open_before.mutations.is_empty()
            && input.ending == Ending::Found
            && self.tag_alarm(returned.environment_tag.as_ref()).is_none()
            && !self.states_new_facts(&input.read.facts)
    }

    /// Records a good answer and returns what it means for the caller. The meaning is decided in the transaction that
    /// records it.
    pub(crate) async fn observe(
        &self,
        id: &UserGroupId,
        input: ObservationInput,
    ) -> Result<Lookup, Failure> {
        let ObservationInput {
            operation,
            ending,
            sent,
            read,
            changes,
            open_before,
            claim,
            fields,
            discards_result,
        } = input;
        let GoodAnswer {
            returned,
            token,
            new_user_group,
            status,
            latency,
            facts,
        } = read;
        let fingerprint = returned.fingerprint;
        let mutation = claim.as_ref().map(|claim| claim.id);
        // A get that nobody expected to create, and that did not, changed nothing.
        let may_have_created = claim.is_some() && new_user_group != Some(false);
        let not_recorded = if ending == Ending::Found && !may_have_created {
            Failure::NotKept
        } else {
            Failure::NotWritten
        };
        let context = Arc::new(AnswerContext {
            operation,
            ending,
            fingerprint,
            tag: returned.environment_tag.clone(),
            new_user_group,
            changes,
            open_before,
            claim,
            discards_result,
        });
        let observation = self.observation(id, sent, returned);
        let weight = observation.weight();
        let is_kept = ending != Ending::Found && self.keeps_outcomes();
        let mut last = Some(observation);
        let mut attempts = self.recording(Recording::Outcome);
        let decided = loop {
            let mut kept = if is_kept { last.clone() } else { last.take() };
            let (operations, context) = (self.clone(), Arc::clone(&context));
            let decide = move |found: &GroupSnapshot, may_take: bool| {
                let observation = if may_take { kept.take() } else { kept.clone() };
                let observation = observation.expect("it is taken once");
                operations.decide(&context, found, observation)
            };
            let decided = self
                .directory()
                .decide(self.here(), id, Some(fingerprint), weight, decide)
                .await;
            if !is_kept || !attempts.go_on(&decided).await {
                break decided;
            }
        };
        drop(attempts);
        let (mut recorded, meaning) = match decided {
            Err(error) if error.is_of_others() && ending != Ending::Found => {
                let failure = not_recorded(error);
                return Err(match mutation {
                    Some(mutation) => {
                        let change = ChangeId::Mutation(mutation);
                        self.settled_meanwhile(operation, id, change, failure).await
                    }
                    None => failure,
                });
            }
            decided => decided.map_err(not_recorded)?,
        };
        let recorded = recorded.pop().unwrap_or_default();
        let mut warnings = meaning.warnings;
        let endings = meaning.endings.into_iter();
        warnings.extend(endings.map(|ending| Warning::RotationSettled { ending }));
        let mut done = Done {
            ending,
            group: recorded
                .group
                .unwrap_or_else(|| KnownGroup::new(id.clone())),
            returned_token: (!meaning.is_old).then_some(token),
            previous_fingerprint: meaning.previous,
            warnings,
            status,
            latency,
            rotation: None,
            read: if meaning.has_old_fields {
                Vec::new()
            } else {
                fields
            },
            facts: Facts::default(),
            open: recorded.mutations,
        };
        // Beside the answer: if this fails, the next answer states them again.
        let is_trusted = !done.has_alarm();
        let stated = if is_trusted && !discards_result {
            let stated = self.record_stated_facts(&facts, &recorded.facts).await;
            stated.unwrap_or_default()
        } else {
            None
        };
        done.facts = stated.unwrap_or_else(|| self.with_configured_facts(recorded.facts));
        Ok(Lookup {
            done,
            moved: meaning.moved,
            open: recorded.open,
            noted: meaning.noted,
            token_is_ours: meaning.token_is_ours,
            settled_a_create: meaning.settled_a_create,
        })
    }

    /// What an answer means, given what is recorded now, and all that is to be recorded of it.
    fn decide(
        &self,
        context: &AnswerContext,
        found: &GroupSnapshot,
        mut observation: Observation,
    ) -> (Vec<Record>, Meaning) {
        let fingerprint = context.fingerprint;
        let previous = found.group.as_ref().and_then(KnownGroup::token);
        // Under our own claim no change can overtake the request.
        let noted = match (&context.open_before, &context.claim) {
            (Some(before), None) => Some(before.noted),
            _ => None,
        };
        let token_is_later = noted.is_some_and(|noted| found.noted.token > noted.token);
        let fields_are_later = noted.is_some_and(|noted| found.noted.fields > noted.fields);
        let is_overtaken = token_is_later && previous != Some(fingerprint);
        let is_stale = !is_overtaken && self.is_stale(found, fingerprint);
        let is_old = is_overtaken || is_stale;
        let has_old_fields = is_old
            || fields_are_later
                && observation
                    .returned
                    .as_ref()
                    .is_some_and(|returned| !has_same_fields(found.group.as_ref(), returned));
        let alarm = self.alarm(context.ending, context.tag.as_ref());
        let tag_alarm = alarm.as_ref().filter(|alarm| alarm.is_wrong_environment());
        let tag_alarm = tag_alarm.map(Warning::bare);

        let mut settled = SettlementPlan::default();
        let mut records = Vec::new();
        let before_get = context.open_before.as_ref().filter(|_| !is_old);
        if let Some(before) = before_get.map(|before| before.still_open(found, fields_are_later)) {
            let evidence = match &alarm {
                Some(alarm) => Evidence::Contradiction(alarm.to_string()),
                None => Evidence::Token(fingerprint),
            };
            settled = self.plan_settlement(&before, &evidence);
            records.append(&mut settled.steps);
            if alarm.is_none() {
                let open = before.mutations.iter();
                records.extend(self.settle_mutations(open, &observation, context));
            }
        }
        let own = context.claim.as_ref().map(|step| step.id);
        let others = || {
            let open = found.mutations.iter();
            open.filter(|other| Some(other.id) != own)
        };
        if context.operation == Operation::Create && alarm.is_none() {
            // The group is there now: that settles what earlier creates and first reads were about.
            records.extend(self.settle_mutations(others(), &observation, context));
        }
        if context.ending == Ending::Updated && alarm.is_none() && !is_old {
            records.extend(self.end_replaced(others(), &observation.sent));
        }

        // The rotation may also be one of another process that has not recorded its own answer yet.
        let mut open = found.open.iter();
        let ours = open.find(|row| {
            row.sent_at.is_some()
                && row.rotation.state != State::Rotated
                && previous == Some(row.rotation.previous)
        });
        let is_new = previous != Some(fingerprint);
        let counts = is_new && alarm.is_none() && !is_old;
        let ours = ours.filter(|_| counts);
        observation.rotated_by = ours.map(|row| row.by.clone());
        if is_old {
            observation.returned = None;
        } else if has_old_fields && let Some(returned) = &mut observation.returned {
            returned.name = None;
            returned.properties = None;
        }
        let token = if is_old { previous } else { Some(fingerprint) };

        let mut noticed = drift(found.group.as_ref(), &records, &observation);
        let mut is_foreign = noticed.is_foreign();
        if is_foreign && is_being_changed(found, own) {
            noticed.name_was = None;
            is_foreign = false;
        }
        let revived = counts.then(|| self.revived(found)).flatten();
        let has_alarm = alarm.is_some();
        let mut warnings: Vec<_> = alarm.into_iter().collect();
        warnings.extend(Warning::of(&noticed, revived.as_ref()));
        let facts = self.withdrawn_by(is_foreign, &found.facts);
        warnings.extend(facts.first().map(|_| Warning::NotSoleWriter));
        // A get that found what was expected is not written to the history; one that noticed something is.
        let noteworthy = context.operation != Operation::Get || !warnings.is_empty();
        let entry = noteworthy.then(|| {
            let mut entry = self.entry(context.operation, &observation.id, context.ending);
            entry.previous_fingerprint = previous;
            entry.fingerprint = token;
            let changes = context.changes.as_ref();
            entry.changes =
                changes.and_then(|changes| changes_for_history(context.operation, changes));
            let notes: Vec<_> = warnings.iter().map(Warning::to_string).collect();
            entry.note = (!notes.is_empty()).then(|| notes.join("; "));
            entry
        });
        let steps = records.iter().filter_map(|record| record.rotation.as_ref());
        let moved = steps.map(|step| (step.id, step.after.state)).collect();
        let mut endings = records.iter().filter_map(|record| record.mutation.as_ref());
        let settled_a_create = endings.any(|step| step.ending == Some(Ending::Created));
        // An answer with an alarm may be of another environment: what is open here stays in doubt.
        let replaces = others().filter(|_| !has_alarm).filter_map(|other| {
            let rest = other.sent.clone()?.without(&observation.sent);
            (Some(&rest) != other.sent.as_ref()).then_some((other.id, rest))
        });
        records.push(Record {
            replaces: replaces.collect(),
            observation: Some(observation),
            entry,
            created: matches!(context.ending, Ending::Created | Ending::CreatedByGet),
            key: self.key_id(),
            alarm: tag_alarm,
            token_from: ours.map(|row| row.id),
            revived: revived.map(|row| row.rotation.previous),
            facts,
            mutation: context.claim.clone(),
            discards_result: context.discards_result,
            ..Record::default()
        });
        warnings.extend(is_stale.then_some(Warning::StaleAnswer));
        warnings.extend((has_old_fields && !is_stale).then_some(Warning::ReadOvertaken));
        let meaning = Meaning {
            is_old,
            has_old_fields,
            previous,
            warnings,
            endings: settled.endings,
            moved,
            noted: found.noted,
            token_is_ours: ours.is_some(),
            settled_a_create,
        };
        (records, meaning)
    }

    /// Settles creates and updates, as far as the answer allows.
    fn settle_mutations<'m>(
        &self,
        open: impl Iterator<Item = &'m Mutation>,
        observation: &Observation,
        context: &AnswerContext,
    ) -> Vec<Record> {
        let returned = observation.returned.as_ref();
        let found = ReadEvidence {
            read: DesiredFields {
                name: returned.and_then(|returned| returned.name.clone()),
                mapping: None,
                properties: returned.and_then(|returned| returned.properties.clone()),
            },
            new_user_group: context.new_user_group,
        };
        open.flat_map(|mutation| self.plan_mutation_settlement(mutation, Some(&found)))
            .collect()
    }

    /// The alarm for an answer that contradicts all that was known; nothing may follow on it.
    fn alarm(&self, ending: Ending, tag: Option<&EnvironmentTag>) -> Option<Warning> {
        if ending == Ending::CreatedByGet {
            return Some(Warning::CreatedByGet);
        }
        self.tag_alarm(tag)
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

/// What the answer contradicts, once the changes that it settles are taken into the group.
fn drift(group: Option<&KnownGroup>, settled: &[Record], observation: &Observation) -> Drift {
    let Some(group) = group else {
        return Drift::default();
    };
    let mut sent = settled.iter().filter_map(|one| one.observation.as_ref());
    let Some(first) = sent.next() else {
        return group.drift(observation);
    };
    let mut group = group.clone();
    for sent in std::iter::once(first).chain(sent) {
        group.observe(sent.clone());
    }
    group.drift(observation)
}
