//! Which place a profile means, decided before anything is sent, recorded or settled (hazard 12: a key decides the
//! environment, and a get carries no tag).

mod problem;
mod undecided;

pub use problem::PlaceProblem;

use crate::{
    api::wire::GroupRequest,
    config::{KeySource, objection},
    directory::{
        Alarm, Binding, BindingAnswer, Bound, Caller, Gate, KeyId, KeyState, OtherPlace,
        SnapshotExtras,
    },
    operations::{answer::error_response::ErrorResponse, prelude::*},
};

/// The place of these operations, once it has been determined.
#[derive(Debug, Default)]
pub(crate) struct CurrentPlace(Mutex<Option<Bound>>);

impl CurrentPlace {
    fn get(&self) -> Option<Bound> {
        self.map(Bound::clone)
    }

    /// Applies a function to it.
    fn map<T>(&self, of: impl FnOnce(&Bound) -> T) -> Option<T> {
        let bound = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bound.as_ref().map(of)
    }

    fn set(&self, bound: Option<Bound>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = bound;
    }
}

/// The gate of a place and key, as it was read together with something else.
pub(crate) struct GateSnapshot {
    of: (PlaceId, KeyId),
    gate: Gate,
}

impl GateSnapshot {
    pub(crate) fn of(place: PlaceId, key: KeyId, gate: Gate) -> Self {
        let of = (place, key);
        Self { of, gate }
    }
}

impl Operations {
    /// The place for reading what is known: the one that this profile was last bound to, here or by another process. An
    /// API key that can be read at once is compared: one that the place does not know knows nothing of it.
    pub async fn place(&self) -> Result<PlaceId, DirectoryError> {
        let by_name = self.place_by_name().await?;
        let profile = self.profile();
        if profile.from_variables || self.directory().role() == Some(Role::Viewer) {
            return Ok(by_name.unwrap_or(PlaceId::NONE));
        }
        // New keys of such a profile go on trial by themselves.
        let is_compared = !profile.key_changes && self.key_is_at_hand();
        if let Some(place) = by_name.filter(|_| !is_compared) {
            return Ok(place);
        }
        // Without a binding the profile may have had another name: then the key may also come from a command.
        let Some(key) = self.key_fingerprint().await else {
            return Ok(by_name.unwrap_or(PlaceId::NONE));
        };
        let name_and_url = (&*profile.name, &*profile.url());
        let known = self.directory();
        let known = known.place_with_key(name_and_url, key, false).await?;
        Ok(known.unwrap_or(PlaceId::NONE))
    }

    /// Whether reading the API key runs no command.
    pub fn key_is_at_hand(&self) -> bool {
        !matches!(self.profile().api_key, KeySource::Command(_)) || self.0.key.get().is_some()
    }

    /// Whether the API key cannot be read. No command is run for this: it counts if it was run, and failed. That of a viewer is
    /// never read.
    pub async fn lacks_key(&self) -> bool {
        let is_viewer = self.directory().role() == Some(Role::Viewer);
        let has_none = if self.key_is_at_hand() {
            self.api_key().await.is_err()
        } else {
            self.0.key_fingerprint.get() == Some(&None)
        };
        !is_viewer && has_none
    }

    /// The fingerprint of the API key; `None` if the key cannot be read. Determined once, because reading it may run a
    /// command.
    async fn key_fingerprint(&self) -> Option<Fingerprint> {
        let read = || async {
            let key = self.api_key().await.ok()?;
            Some(self.directory().fingerprinter().of_key(&key))
        };
        *self.0.key_fingerprint.get_or_init(read).await
    }

    /// The name of this profile's place; `None` if it was never bound.
    pub async fn place_name(&self) -> Result<Option<String>, DirectoryError> {
        let here = self.place().await?;
        self.directory().place_name(here).await
    }

    /// As [`Operations::place_name`], but as it was when this process compared the API key: needs no query.
    pub fn bound_place_name(&self) -> Option<String> {
        self.0.here.map(|bound| bound.name.clone())
    }

    /// As [`Operations::place`], by name and address alone: no API key is read, except from a variable for the profile
    /// that variables make: several profiles may share its name and address and differ by their keys.
    pub(crate) async fn place_by_name(&self) -> Result<Option<PlaceId>, DirectoryError> {
        let here = self.0.here.map(|bound| bound.place);
        let profile = self.profile();
        if profile.from_variables && here.is_some() {
            return Ok(here);
        }
        let url = profile.url();
        if profile.from_variables
            && self.directory().role() != Some(Role::Viewer)
            && let Some(key) = self.key_fingerprint().await
        {
            let name_and_url = (&*profile.name, &*url);
            let known = self.directory();
            return known.place_with_key(name_and_url, key, true).await;
        }
        let bound = self.directory().place_of(&profile.name, &url).await?;
        if bound.is_none() && here.is_none() && self.directory().role() == Some(Role::Viewer) {
            // A viewer may not bind; the name alone tells the place.
            return self.directory().place_named(&profile.name, &url).await;
        }
        Ok(bound.or(here))
    }

    /// The places of these profiles, each once, each with the profile that represents it: `first` if possible,
    /// otherwise the first in order. As in [`Operations::place`], a key that is unknown at the address has none; a profile
    /// that was never bound has none either, if only a command tells its key.
    pub(crate) async fn each_place(
        all: &[Self],
        first: usize,
    ) -> Result<Vec<(usize, &Self, PlaceId)>, DirectoryError> {
        let (mine, others): (Vec<_>, Vec<_>) = all
            .iter()
            .enumerate()
            .partition(|(index, _)| *index == first);
        let mut found: Vec<(usize, &Self, PlaceId)> = Vec::new();
        for (index, operations) in mine.into_iter().chain(others) {
            let is_bound = operations.place_by_name().await?.is_some();
            if !is_bound && index != first && !operations.key_is_at_hand() {
                continue;
            }
            let place = operations.place().await?;
            if place != PlaceId::NONE && found.iter().all(|(.., known)| *known != place) {
                found.push((index, operations, place));
            }
        }
        Ok(found)
    }

    /// The place for a person's own text, which needs no trusted key. Binds the profile first if it never was bound. If the
    /// key cannot be read, the place is the one that the profile was last bound to.
    pub(crate) async fn place_of_drafts(&self) -> Result<PlaceId, DirectoryError> {
        self.may(NextStep::Record).map_err(not_bound)?;
        let why = match self.bound().await {
            Ok(bound) => return Ok(bound.place),
            Err(why) => not_bound(why),
        };
        // Profiles of variables differ by their keys alone.
        if self.profile().from_variables || self.key_fingerprint().await.is_some() {
            return Err(why);
        }
        self.place_by_name().await?.ok_or(why)
    }

    /// As [`Operations::may_record`], for what needs no request.
    pub(crate) async fn place_to_write(&self) -> Result<PlaceId, DirectoryError> {
        self.may_record().await.map_err(not_bound)
    }

    /// The place that was bound in this process; for recording the result of an exchange.
    pub(crate) fn here(&self) -> PlaceId {
        let here = self.0.here.map(|bound| bound.place);
        here.unwrap_or(PlaceId::NONE)
    }

    /// The key that requests are now sent with.
    pub(crate) fn key_id(&self) -> Option<KeyId> {
        self.0.here.map(|bound| bound.key)
    }

    /// The tag that answers must not contradict.
    pub(crate) fn expected_tag(&self) -> Option<EnvironmentTag> {
        let configured = self.profile().environment.clone();
        configured.or_else(|| self.0.here.map(|bound| bound.tag.clone()).flatten())
    }

    /// Returns other places of the same address that contain something. Only for a profile made of variables, which
    /// gets a new place without a question.
    pub async fn other_places(&self) -> Result<Vec<OtherPlace>, DirectoryError> {
        let profile = self.profile();
        if !profile.from_variables {
            return Ok(Vec::new());
        }
        let place = self.place().await?;
        self.directory().other_places(&profile.url(), place).await
    }

    /// Returns other places of the same address with groups, if none is known with this key: what another key sees there.
    pub async fn known_with_other_keys(&self) -> Result<Vec<OtherPlace>, DirectoryError> {
        if !self.known_ids().await?.is_empty() {
            return Ok(Vec::new());
        }
        let profile = self.profile();
        let place = self.place().await?;
        let mut others = self.directory().other_places(&profile.url(), place).await?;
        others.retain(|other| other.groups > 0);
        Ok(others)
    }

    /// Whether another place of the same address has rotations with an unknown outcome. The key of a profile made of
    /// variables does not look into such a place.
    pub async fn has_open_elsewhere(&self) -> Result<bool, DirectoryError> {
        let others = self.other_places().await?;
        Ok(others.iter().any(|other| other.open > 0))
    }

    async fn caller(&self) -> Result<Caller, Failure> {
        let key = self.api_key().await?;
        let key = self.directory().fingerprinter().of_key(&key);
        let (profile, by) = (self.profile(), self.operator());
        Ok(caller(profile, key, self.now(), by))
    }

    /// Compares the API key with what is known, before anything is recorded. Refuses if only an operator can say which
    /// place the profile means.
    pub async fn bound(&self) -> Result<Bound, Failure> {
        if let Some(bound) = self.0.here.get() {
            return Ok(bound);
        }
        self.bind().await
    }

    async fn bind(&self) -> Result<Bound, Failure> {
        self.may(NextStep::Record)?;
        let caller = self.caller().await?;
        self.no_secret_in_names().await?;
        let profile = self.profile();
        let binding = self.directory().bind(caller).await;
        match binding.map_err(Failure::NothingSent)? {
            Binding::Bound(bound) => {
                self.0.here.set(Some(bound.clone()));
                Ok(bound)
            }
            Binding::Asked(question) => Err(PlaceProblem::asked(profile, question).into()),
            Binding::TagConflict {
                place,
                profile: other,
            } => Err(PlaceProblem::TagConflict {
                profile: profile.name.clone(),
                other,
                place,
            }
            .into()),
        }
    }

    /// The gate of every request: the key belongs to the place and is not on trial, and no alarm is open. `seen` is the
    /// gate if it was read just before.
    pub(crate) async fn may_send(&self, seen: Option<GateSnapshot>) -> Result<(), Failure> {
        let bound = self.bound_without_alarm(seen).await?;
        self.require_trusted(bound).map(|_| ())
    }

    /// The check before recording anything without a request: the key belongs to the place and is not on trial.
    pub(crate) async fn may_record(&self) -> Result<PlaceId, Failure> {
        let (bound, _) = self.reload_bound(None).await?;
        self.require_trusted(bound)
    }

    /// Reads again what was bound, as other processes may have changed it, and the open alarms.
    async fn reload_bound(
        &self,
        seen: Option<GateSnapshot>,
    ) -> Result<(Bound, Vec<Alarm>), Failure> {
        let mut bound = self.bound().await?;
        let mut gate = match seen.filter(|seen| seen.of == (bound.place, bound.key)) {
            Some(seen) => seen.gate,
            None => self.gate(&bound).await?,
        };
        if gate.key == KeyState::Withdrawn {
            // Another process withdrew the binding, or the place was merged into another.
            self.0.here.set(None);
            bound = self.bind().await?;
            gate = self.gate(&bound).await?;
        }
        // If it was withdrawn again, it counts as never proven.
        bound.on_trial = gate.key != KeyState::Trusted;
        bound.tag = gate.tag;
        self.0.here.set(Some(bound.clone()));
        Ok((bound, gate.alarms))
    }

    async fn gate(&self, bound: &Bound) -> Result<Gate, Failure> {
        let gate = self.directory().gate(bound.place, bound.key).await;
        gate.map_err(Failure::NothingSent)
    }

    async fn bound_without_alarm(&self, seen: Option<GateSnapshot>) -> Result<Bound, Failure> {
        let (bound, alarms) = self.reload_bound(seen).await?;
        if alarms.is_empty() {
            return Ok(bound);
        }
        let place = bound.name;
        Err(PlaceProblem::Alarmed { place, alarms }.into())
    }

    fn require_trusted(&self, bound: Bound) -> Result<PlaceId, Failure> {
        if !bound.on_trial {
            return Ok(bound.place);
        }
        Err(PlaceProblem::OnTrial {
            profile: self.profile().name.clone(),
            place: bound.name,
        }
        .into())
    }

    /// Binds the profile as the operator answered.
    pub async fn answer_binding(&self, answer: BindingAnswer) -> Result<Bound, Failure> {
        let caller = self.caller().await?;
        self.no_secret_in_names().await?;
        let answered = self.directory().answer_binding(caller, answer).await;
        let bound = answered
            .map_err(Failure::NothingSent)?
            .map_err(|refusal| PlaceProblem::Refused { refusal })?;
        self.0
            .here
            .set((answer != BindingAnswer::Undo).then(|| bound.clone()));
        Ok(bound)
    }

    /// Refuses a group that cannot prove the key of this answer, before anything is bound.
    pub async fn can_prove(&self, answer: BindingAnswer, id: &UserGroupId) -> Result<(), Failure> {
        let BindingAnswer::Same { place, .. } = answer else {
            return Ok(());
        };
        let directory = self.directory();
        let meant = directory.place_to_prove(self.caller().await?, place).await;
        let meant = meant.map_err(Failure::NothingSent)?;
        let place = meant.map_err(|refusal| PlaceProblem::Refused { refusal })?;
        let name = directory.place_name(place).await;
        let name = name.map_err(Failure::NothingSent)?.unwrap_or_default();
        let alarms = directory.alarms(place).await;
        let alarms = alarms.map_err(Failure::NothingSent)?;
        if !alarms.is_empty() {
            return Err(PlaceProblem::Alarmed {
                place: name,
                alarms,
            }
            .into());
        }
        self.snapshot_to_prove((place, &name), id).await?;
        Ok(())
    }

    /// What is known of a group that can prove a key: its token was seen, and nothing of it is open.
    async fn snapshot_to_prove(
        &self,
        (place, name): (PlaceId, &str),
        id: &UserGroupId,
    ) -> Result<GroupSnapshot, Failure> {
        let extras = SnapshotExtras::default();
        let snapshot = self.directory().snapshot(place, id, extras).await;
        let snapshot = snapshot.map_err(Failure::NothingSent)?;
        let group = snapshot.group.as_ref();
        let known = group.and_then(|group| group.fingerprint.as_ref().zip(group.last_seen));
        let why = if known.is_none() {
            "its token was never seen there"
        } else if snapshot.open.is_empty() {
            return Ok(snapshot);
        } else {
            "it has open rotations or changes"
        };
        Err(no_proof(id, name, why))
    }

    /// Reads one group named by the operator to prove that a key on trial belongs to its place: the token must be one
    /// that was seen there. Anything else withdraws the binding. Returns whether a key was on trial at all.
    pub async fn prove(&self, id: &UserGroupId) -> Result<bool, Failure> {
        let bound = self.bound_without_alarm(None).await?;
        if !bound.on_trial {
            return Ok(false);
        }
        let no_proof = |why| no_proof(id, &bound.name, why);
        let directory = self.directory();
        let place = (bound.place, bound.name.as_str());
        let snapshot = self.snapshot_to_prove(place, id).await?;
        let request = GroupRequest {
            user_group_id: id.as_str().to_owned(),
            ..GroupRequest::default()
        };
        let reply = self.ungated_client().await?;
        let reply = reply.get_or_create(&request, id).await;
        let answer = self
            .judge(reply)
            .map_err(ErrorResponse::into_read_failure)?;
        let created = answer.new_user_group == Some(true);
        let token = answer.returned.fingerprint;
        let had = directory.had_token(bound.place, id, token).await;
        let not_recorded = if created {
            Failure::NotWritten
        } else {
            Failure::NotKept
        };
        let proven = had.map_err(not_recorded)? && !created;
        if !proven && !created {
            // A rotation from here is recorded as sent before it can be seen at the service.
            let now = directory.snapshot(bound.place, id, SnapshotExtras::default());
            let now = now.await.map_err(not_recorded)?;
            if !now.open.is_empty() || now.noted != snapshot.noted {
                return Err(no_proof(
                    "it was changed while it was being read; try again",
                ));
            }
        }
        let state = if proven {
            KeyState::Trusted
        } else {
            KeyState::Withdrawn
        };
        let note = format!("by reading \"{id}\"");
        let caller = self.caller().await?;
        let ended = directory.end_trial(caller, &bound, state, &note).await;
        self.0.here.set(None);
        let is_ended = ended.map_err(not_recorded)?;
        if !is_ended {
            return Err(no_proof("a colleague has withdrawn the key meanwhile"));
        }
        if proven {
            return Ok(true);
        }
        Err(PlaceProblem::NotProven {
            profile: self.profile().name.clone(),
            place: bound.name,
            id: id.clone(),
            created,
        }
        .into())
    }

    /// Renames a place.
    pub async fn rename_place(&self, place: &Place, name: &str) -> Result<(), Failure> {
        let is_address = name.contains([':', '/']);
        let address = "looks like a URL; use a short name, for example eu-live";
        if let Some(why) = objection(name).or_else(|| is_address.then(|| address.into())) {
            return Err(PlaceProblem::BadName { why }.into());
        }
        self.no_secret_in_text("name", name).await?;
        self.no_secret_in_names().await?;
        let (now, by) = (self.now(), self.operator());
        let renamed = self.directory().rename_place(place.id, name, now, by);
        if renamed.await.map_err(Failure::NothingSent)? {
            return Ok(());
        }
        let name = visible(name).into_owned();
        Err(PlaceProblem::NameTaken { name }.into())
    }

    /// Merges one place into another.
    pub async fn merge_places(&self, from: &Place, into: &Place) -> Result<(), Failure> {
        self.no_secret_in_names().await?;
        let (now, by) = (self.now(), self.operator());
        let merged = self.directory().merge_places(from.id, into.id, now, by);
        let merged = merged.await.map_err(Failure::NothingSent)?;
        merged.map_err(|refusal| PlaceProblem::Refused { refusal }.into())
    }

    /// Acknowledges the alarms of a place, with a reason: what the operator found. Returns their number.
    pub async fn acknowledge(&self, place: &Place, reason: &str) -> Result<usize, Failure> {
        let reason = self.checked_reason(reason).await?;
        self.no_secret_in_names().await?;
        // The profile's tag says nothing about a place that the profile is not bound to.
        let tag = if place.profiles.contains(&self.profile().name) {
            self.profile().environment.clone()
        } else {
            place.tag.clone()
        };
        let (now, by) = (self.now(), self.operator());
        let directory = self.directory();
        let count = directory.acknowledge(place.id, tag, now, by, &reason);
        count.await.map_err(Failure::NothingSent)
    }
}

fn no_proof(id: &UserGroupId, place: &str, why: &'static str) -> Failure {
    let (id, place) = (id.clone(), place.to_owned());
    PlaceProblem::NoProof { id, place, why }.into()
}

/// Who binds a profile with this key.
pub(in crate::operations) fn caller(
    profile: &Profile,
    key: Fingerprint,
    at: Timestamp,
    by: &str,
) -> Caller {
    Caller {
        profile: profile.name.clone(),
        url: profile.url(),
        key,
        environment: profile.environment.clone(),
        from_variables: profile.from_variables,
        key_changes: profile.key_changes,
        at,
        by: by.to_owned(),
    }
}

/// Converts a failed binding into an error for operations that only record.
pub(crate) fn not_bound(failure: Failure) -> DirectoryError {
    match failure {
        Failure::NothingSent(error) => error,
        failure => DirectoryError::NotBound(failure.to_string()),
    }
}
