//! Looking up and creating groups (hazards 1 to 3 and 6 of docs/design/service.md).

pub(super) mod annotations;
pub(super) mod claim_holder;
pub(super) mod claims;
pub(super) mod not_known;
pub(super) mod secret_check;
pub(super) mod token_lookup;
pub(super) mod unsettled;
pub(super) mod update;

use super::{
    Failpoint, RequestKind,
    answer::{
        error_response::ErrorResponse,
        observe::{GoodAnswer, Lookup, ObservationInput},
    },
    groups::claims::Claim,
    prelude::*,
    profiles::places::GateSnapshot,
    recording::changes_for_history,
    rotation::settle::BeforeGet,
    run::Slot,
};
use crate::{
    api::wire::GroupRequest,
    domain::{change::differences, known::Returned, size::check_size, undo},
};

/// How often a group is read whose reading was overtaken by a change of this directory.
const READS_WHEN_OVERTAKEN: usize = 3;

/// What a get of a group sends.
enum PlannedGet {
    /// A get of a group that was seen at the service.
    Seen,
    /// One that may create the group, without fields.
    First,
    /// The create of the same person whose answer was lost, again.
    Create(DesiredFields),
}

const TRY_AGAIN_CREATE: &str =
    "To find out, run the same command again; an existing group is returned unchanged";

impl Operations {
    /// Reads a group. An id that the directory does not know is refused unless the operator vouches that it exists; a
    /// get that created the group ends as [`Ending::CreatedByGet`].
    ///
    /// Also settles the open rotations of the group (docs/design/rotation.md, rule 2).
    pub async fn look_up(
        &self,
        id: &UserGroupId,
        assurance: UnknownIdPolicy,
    ) -> Result<Done, Failure> {
        let before = self.snapshot_before_get(id).await;
        let before = before.map_err(Failure::NothingSent)?;
        let known = before.known.as_ref().and_then(KnownGroup::token);
        let found = self.look_up_with_snapshot(before, id, assurance, None);
        let mut done = Box::pin(found).await?.done;
        let token = done.group.token().filter(|token| Some(*token) != known);
        if let Some(token) = token.filter(|_| !done.has_alarm()) {
            done.warnings.extend(self.other_environment(token).await);
        }
        Ok(done)
    }

    /// Another environment of the directory that knows this token.
    async fn other_environment(&self, token: Fingerprint) -> Option<Warning> {
        let owners = self.directory().owners(token).await.ok()?;
        let mut owners = owners.into_iter();
        let other = owners.find(|owner| owner.place != self.here())?;
        let profile = self.profile();
        let named = if profile.from_variables {
            "--variables".into()
        } else {
            quoted(&visible(&profile.name)).into_owned()
        };
        Some(Warning::OfAnotherEnvironment {
            environment: other.environment,
            profile: named,
        })
    }

    /// Refuses what [`Operations::look_up`] refuses before it sends anything. Returns the fields that it would send again,
    /// because the answer to a create of the same person was lost.
    pub async fn would_look_up(
        &self,
        id: &UserGroupId,
        assurance: UnknownIdPolicy,
    ) -> Result<Option<DesiredFields>, Failure> {
        self.may(NextStep::Record)?;
        let before = self.snapshot_before_get(id).await;
        let before = before.map_err(Failure::NothingSent)?;
        match self.planned_get(&before, id, assurance).await? {
            PlannedGet::Seen => Ok(None),
            PlannedGet::First => {
                let get = (Operation::Get, None);
                self.not_locked(id, get, false).await.map(|()| None)
            }
            PlannedGet::Create(wanted) => {
                self.would_create(id, &wanted).await.map(|()| Some(wanted))
            }
        }
    }

    async fn planned_get(
        &self,
        before: &BeforeGet,
        id: &UserGroupId,
        assurance: UnknownIdPolicy,
    ) -> Result<PlannedGet, Failure> {
        self.may_read(id, before.known.as_ref(), assurance).await?;
        if is_seen(before) {
            return Ok(PlannedGet::Seen);
        }
        // A bare get would create the group without its fields if the create never arrived.
        let lost = self.own_lost_create(before);
        Ok(lost.map_or(PlannedGet::First, PlannedGet::Create))
    }

    /// As [`Operations::look_up`], also returning what became of the rotations of the group.
    pub(super) async fn look_up_in_detail(
        &self,
        id: &UserGroupId,
        assurance: UnknownIdPolicy,
    ) -> Result<Lookup, Failure> {
        let before = self.snapshot_before_get(id).await;
        let before = before.map_err(Failure::NothingSent)?;
        self.look_up_with_snapshot(before, id, assurance, None)
            .await
    }

    /// As [`Operations::look_up_in_detail`], for a caller that has just read the snapshot of the group. The slot is released
    /// as soon as no request that follows depends on what is being recorded. A reading that a change of this directory
    /// has overtaken is repeated.
    pub(super) async fn look_up_with_snapshot(
        &self,
        before: BeforeGet,
        id: &UserGroupId,
        assurance: UnknownIdPolicy,
        mut slot: Option<&mut Slot>,
    ) -> Result<Lookup, Failure> {
        let once = self.look_up_once(before, id, assurance, slot.as_deref_mut());
        let mut lookup = Box::pin(once).await?;
        for _ in 1..READS_WHEN_OVERTAKEN {
            if !lookup.done.warnings.contains(&Warning::ReadOvertaken) {
                break;
            }
            let before = self.snapshot_before_get(id).await;
            let before = before.map_err(Failure::NothingSent)?;
            let again = self.look_up_once(before, id, assurance, slot.as_deref_mut());
            let again = Box::pin(again).await?;
            let earlier = std::mem::replace(&mut lookup, again);
            let settled = earlier.done.warnings.into_iter();
            let settled = settled.filter(|warning| warning.settled().is_some());
            lookup.done.warnings.extend(settled);
            lookup.moved.splice(0..0, earlier.moved);
        }
        Ok(lookup)
    }

    async fn look_up_once(
        &self,
        mut before: BeforeGet,
        id: &UserGroupId,
        assurance: UnknownIdPolicy,
        slot: Option<&mut Slot>,
    ) -> Result<Lookup, Failure> {
        let mut claim = None;
        match self.planned_get(&before, id, assurance).await? {
            PlannedGet::Seen => {}
            PlannedGet::Create(wanted) => {
                let mut lookup = Box::pin(self.create_in_detail(before.gate, id, &wanted)).await?;
                if lookup.done.ending == Ending::Existed {
                    lookup.done.ending = Ending::Found;
                }
                return Ok(lookup);
            }
            PlannedGet::First => {
                // It can create: a mutation like any other.
                claim = Some(self.claim(id, Operation::Get, None, before.gate).await?);
                let again = self.snapshot_before_get(id).await;
                before = again.map_err(Failure::NothingSent)?;
                if is_seen(&before) {
                    claim = None;
                }
            }
        }
        let BeforeGet {
            known,
            facts,
            open_before,
            gate,
        } = before;
        let carries = facts.properties_are_readable();
        let properties = carries.then(|| {
            let known = known.as_ref().and_then(|group| group.properties.as_ref());
            known.map(|known| known.value.clone()).unwrap_or_default()
        });
        let request = GroupRequest {
            user_group_id: id.as_str().to_owned(),
            properties,
            ..GroupRequest::default()
        };
        self.reached(Failpoint::BeforeGet);
        let (read, claim) = match claim {
            Some(claim) => {
                let (read, claim) = self.read_with_claim(&request, id, claim).await?;
                (read, Some(claim))
            }
            None => (self.read(&request, id, gate).await?, None),
        };
        self.reached(Failpoint::GetAnswered);
        let ending = match read.new_user_group {
            Some(true) => Ending::CreatedByGet,
            Some(false) | None => Ending::Found,
        };
        let fields = fields_in(&read.returned);
        let mut input = ObservationInput {
            operation: Operation::Get,
            ending,
            sent: DesiredFields::default(),
            read,
            changes: None,
            open_before: Some(open_before),
            claim: claim.map(|claim| claim.end(ending, None)),
            fields,
            discards_result: false,
        };
        let confirms = |input| self.confirms_what_is_known(known.as_ref(), input);
        if let Some(slot) = slot.filter(|_| confirms(&input)) {
            input.discards_result = true;
            slot.release();
        }
        let discards_result = input.discards_result;
        let mut lookup = Box::pin(self.observe(id, input)).await?;
        if discards_result {
            lookup.done.facts = facts;
        }
        self.reached(Failpoint::GetDurable);
        self.add_directory_warnings(&mut lookup);
        Ok(lookup)
    }

    /// Sends a get that can create: over a fresh connection like every write, and journalled.
    async fn read_with_claim(
        &self,
        request: &GroupRequest,
        id: &UserGroupId,
        mut claim: Claim,
    ) -> Result<(GoodAnswer, Claim), Failure> {
        let client = self.client(RequestKind::MayCreate).await?;
        let send_by = claim.sending(None, DesiredFields::default(), None).await?;
        let result = client.until(send_by).create(request, id).await;
        match self.judge(result) {
            Ok(read) => Ok((read, claim)),
            Err(no) => {
                if no.may_have_changed() {
                    let failure = no.into_mutation_failure(id, "create", TRY_AGAIN_CREATE);
                    return Err(self.note_failure(Operation::Get, id, failure, claim).await);
                }
                let failure = no.into_read_failure();
                let ending = failure.ending().unwrap_or(Ending::NotApplied);
                let record = Record {
                    mutation: Some(claim.end(ending, Some(failure.to_string()))),
                    ..Record::default()
                };
                // The outcome of the request matters more than a failure to record it.
                drop(self.write_failed(record, &failure).await);
                Err(failure)
            }
        }
    }

    /// Adds the warnings that come from the directory, not from the answer: an earlier wrong tag, a rotation that is still
    /// to be settled.
    fn add_directory_warnings(&self, lookup: &mut Lookup) {
        let done = &mut lookup.done;
        let tag = done.group.environment_tag.as_ref();
        let alarm = self.tag_alarm(tag.map(|known| &known.value));
        if !done.has_alarm() {
            done.warnings.splice(0..0, alarm);
        }
        for row in &lookup.open {
            if row.rotation.state != State::Rotated {
                // By the clock of the directory: that of the machine that sent it may be wrong.
                let left = self.settle_window_left(row).unwrap_or_default();
                done.warnings.push(Warning::RotationOpen {
                    state: row.rotation.state,
                    by: row.by.clone(),
                    decided_from: self.now() + left,
                });
            }
        }
    }

    /// Creates a group with a get-or-create. A group that existed already is returned unchanged, with its differences
    /// as warnings.
    pub async fn create(&self, id: &UserGroupId, wanted: &DesiredFields) -> Result<Done, Failure> {
        let created = Box::pin(self.create_in_detail(None, id, wanted)).await?;
        Ok(created.done)
    }

    /// As [`Operations::create`], also returning what became of the rotations of the group; `gate` is the gate if it was
    /// just read.
    pub(super) async fn create_in_detail(
        &self,
        gate: Option<GateSnapshot>,
        id: &UserGroupId,
        wanted: &DesiredFields,
    ) -> Result<Lookup, Failure> {
        let all = self.creatable(id, wanted).await?;
        let changes = changes_for_history(Operation::Create, &all);
        let request = request(id, wanted);
        let mut claim = self.claim(id, Operation::Create, changes, gate).await?;
        let client = self.client(RequestKind::Change(Guarded::Create)).await?;
        let send_by = claim.sending(None, wanted.clone(), None).await?;
        let result = client.until(send_by).create(&request, id).await;
        let read = match self.judge(result) {
            Ok(read) => read,
            Err(no) => {
                let failure = no.into_mutation_failure(id, "create", TRY_AGAIN_CREATE);
                return Err(self
                    .note_failure(Operation::Create, id, failure, claim)
                    .await);
            }
        };
        let answered = answered(&read.returned);
        let new_user_group = read.new_user_group;
        let creation_unclear = new_user_group.is_none();
        let created = new_user_group == Some(true);
        let ending = if created {
            Ending::Created
        } else {
            Ending::Existed
        };
        let input = ObservationInput {
            operation: Operation::Create,
            ending,
            sent: if created {
                wanted.clone()
            } else {
                DesiredFields::default()
            },
            read,
            changes: created.then_some(all),
            open_before: None,
            claim: Some(claim.end(ending, None)),
            fields: Vec::new(),
            discards_result: false,
        };
        let mut lookup = Box::pin(self.observe(id, input)).await?;
        let settled_a_create = lookup.settled_a_create;
        let done = &mut lookup.done;
        // Hazard 6: after a create whose outcome is unknown, "it was there already" says nothing.
        if creation_unclear || (!created && settled_a_create) {
            done.warnings.push(Warning::CreationUnclear);
        }
        let different = differences(wanted, &answered);
        done.warnings
            .extend(different.into_iter().map(Warning::Differs));
        Ok(lookup)
    }

    /// Refuses what must not be created, and returns the change.
    async fn creatable(&self, id: &UserGroupId, wanted: &DesiredFields) -> Result<Change, Failure> {
        self.permitted(Guarded::Create)?;
        check_size(wanted)?;
        self.no_secret_to_send(Some(id), &DesiredFields::default(), wanted)
            .await?;
        Ok(Change::between(&DesiredFields::default(), wanted))
    }

    /// Refuses what [`Operations::create`] would refuse before it sends anything.
    pub async fn would_create(
        &self,
        id: &UserGroupId,
        wanted: &DesiredFields,
    ) -> Result<(), Failure> {
        let all = self.creatable(id, wanted).await?;
        let changes = changes_for_history(Operation::Create, &all);
        self.not_locked(id, (Operation::Create, changes.as_ref()), false)
            .await
    }

    /// The fields of the create of this person whose answer was lost, if there is one.
    fn own_lost_create(&self, before: &BeforeGet) -> Option<DesiredFields> {
        let open = before.open_before.mutations.iter();
        let mut lost = open.filter(|open| {
            open.operation == Operation::Create
                && matches!(open.state, mutation::State::Unknown | mutation::State::Open)
                && open.by == self.operator()
        });
        undo::wanted(lost.next()?.changes.as_ref())
    }

    /// The get after an update: what it finds is reported, its failure is only a warning.
    pub(super) async fn read_back(&self, id: &UserGroupId, done: &mut Done) {
        match self.look_up(id, UnknownIdPolicy::Exists).await {
            Ok(again) => {
                done.group = again.group;
                done.returned_token = again.returned_token;
                if !again.warnings.iter().any(Warning::is_stale) {
                    done.read = again.read;
                }
                for warning in again.warnings {
                    // If the reading was overtaken by another process's change, that process reads the group back.
                    if warning != Warning::ReadOvertaken && !done.warnings.contains(&warning) {
                        done.warnings.push(warning);
                    }
                }
            }
            Err(failure) => done.warnings.push(Warning::NotReadBack {
                why: failure.to_string(),
            }),
        }
    }

    /// A get whose failure leaves no trace.
    pub(super) async fn read(
        &self,
        request: &GroupRequest,
        id: &UserGroupId,
        gate: Option<GateSnapshot>,
    ) -> Result<GoodAnswer, Failure> {
        let client = self.client_with_gate(RequestKind::Read, gate).await?;
        let result = client.get_or_create(request, id).await;
        self.judge(result).map_err(ErrorResponse::into_read_failure)
    }
}

/// Builds the complete request for the wanted fields; what the review shows is exactly what is sent.
pub fn request(id: &UserGroupId, wanted: &DesiredFields) -> GroupRequest {
    GroupRequest {
        name: wanted.name.clone(),
        user_group_id: id.as_str().to_owned(),
        mapping: wanted.mapping.clone(),
        properties: wanted.properties.clone(),
    }
}

fn is_seen(before: &BeforeGet) -> bool {
    before.known.as_ref().is_some_and(KnownGroup::is_seen)
}

/// The fields that an answer contains. The mapping is never returned.
pub(super) fn fields_in(returned: &Returned) -> Vec<Field> {
    let name = returned.name.is_some().then_some(Field::Name);
    let properties = returned.properties.is_some().then_some(Field::Properties);
    name.into_iter().chain(properties).collect()
}

pub(super) fn answered(returned: &Returned) -> DesiredFields {
    DesiredFields {
        name: returned.name.clone(),
        mapping: None,
        properties: returned.properties.clone(),
    }
}
