//! Look up, create and update (hazards 1 to 4 and 6 of service.md).

use super::{
    Assurance, Done, Failure, Guarded, Operations, Point, Sends, Warning,
    learning::{Before, Learnt, Lookup, Read},
    no_good::No,
};
use crate::{
    api::wire::GroupRequest,
    domain::{
        change::{Change, Wanted, differences},
        group::UserGroupId,
        history::{Ending, Operation},
        known::{Returned, Sent},
        rotation::State,
        size::fits,
    },
};

/// Entries of a group's history that an earlier create is looked for in.
const RECENT: usize = 50;

const TRY_AGAIN_UPDATE: &str = "Read the group; sending the same update again is safe";
const TRY_AGAIN_CREATE: &str = "Creating it again is safe: an existing group is returned unchanged";

impl Operations {
    /// Reads a group. An id that the directory does not know is refused unless a person says that it exists; a get
    /// that created the group ends as [`Ending::CreatedByGet`].
    ///
    /// It settles the open rotations of the group (rotation.md, rule 2).
    pub async fn look_up(&self, id: &UserGroupId, assurance: Assurance) -> Result<Done, Failure> {
        Ok(self.look_closely(id, assurance).await?.done)
    }

    /// As [`Operations::look_up`], with what became of the rotations of the group.
    pub(super) async fn look_closely(
        &self,
        id: &UserGroupId,
        assurance: Assurance,
    ) -> Result<Lookup, Failure> {
        let (known, asked) = self.ask(id).await.map_err(Failure::NothingSent)?;
        self.may_read(id, known.as_ref(), assurance).await?;
        let is_seen = known
            .as_ref()
            .is_some_and(|group| group.last_seen.is_some());
        let sends = if is_seen {
            Sends::Read
        } else {
            Sends::MayCreate
        };
        let properties = self.profile().read_properties.then(|| {
            let known = known.as_ref().and_then(|group| group.properties.as_ref());
            known.map(|known| known.value.clone()).unwrap_or_default()
        });
        let request = GroupRequest {
            user_group_id: id.as_str().to_owned(),
            properties,
            ..GroupRequest::default()
        };
        self.reached(Point::BeforeGet);
        let read = self.read(sends, &request, id).await?;
        self.reached(Point::GetAnswered);
        let ending = match read.new_user_group {
            Some(true) => Ending::CreatedByGet,
            Some(false) | None => Ending::Found,
        };
        let learnt = Learnt {
            operation: Operation::Get,
            ending,
            sent: Sent::default(),
            read,
            changes: None,
            before: Before::Read(known.map(Box::new)),
            asked: Some(asked),
        };
        let mut lookup = self.learn(id, learnt).await?;
        self.reached(Point::GetDurable);
        self.warn_of_what_stands(&mut lookup);
        Ok(lookup)
    }

    /// What the answer does not say but the directory knows: a wrong tag seen before, a rotation still to be settled.
    fn warn_of_what_stands(&self, lookup: &mut Lookup) {
        let done = &mut lookup.done;
        let tag = done.group.environment_tag.as_ref();
        let alarm = self.tag_alarm(tag.map(|known| &known.value));
        if !done.warnings.iter().any(Warning::is_alarm) {
            done.warnings.splice(0..0, alarm);
        }
        for row in &lookup.open {
            if row.rotation.state != State::Rotated {
                let sent = row.sent_at.unwrap_or(row.started_at);
                done.warnings.push(Warning::RotationOpen {
                    state: row.rotation.state,
                    by: row.by.clone(),
                    decided_from: sent + self.horizon(),
                });
            }
        }
    }

    /// Get-or-create with all that is wanted. A group that was there already is returned unchanged, and the
    /// differences are named.
    pub async fn create(&self, id: &UserGroupId, wanted: &Wanted) -> Result<Done, Failure> {
        self.permitted(Guarded::Create)?;
        fits(wanted)?;
        let request = request(id, wanted);
        let result = self
            .client(Sends::Change(Guarded::Create))
            .await?
            .create(&request, id)
            .await;
        let read = match self.judge(result) {
            Ok(read) => read,
            Err(no) => {
                let failure = no.of_mutation("create", TRY_AGAIN_CREATE);
                return Err(self.note_failure(Operation::Create, id, failure).await);
            }
        };
        let answered = answered(&read.returned);
        let creation_unclear = read.new_user_group.is_none();
        let created = read.new_user_group == Some(true);
        let learnt = Learnt {
            operation: Operation::Create,
            ending: if created {
                Ending::Created
            } else {
                Ending::Existed
            },
            sent: if created {
                sent(wanted)
            } else {
                Sent::default()
            },
            read,
            changes: created.then(|| Change::between(&Wanted::default(), wanted)),
            before: Before::ToRead,
            asked: None,
        };
        let mut done = self.learn(id, learnt).await?.done;
        if creation_unclear || (!created && self.may_have_created(id).await) {
            done.warnings.push(Warning::CreationUnclear);
        }
        let different = differences(wanted, &answered);
        done.warnings
            .extend(different.into_iter().map(Warning::Differs));
        Ok(done)
    }

    /// Hazard 6: after a create whose outcome stayed unknown, "it was there already" says nothing.
    async fn may_have_created(&self, id: &UserGroupId) -> bool {
        let history = self.history(Some(id.clone()), Some(RECENT)).await;
        // The newest create is this one; what counts is how the one before it ended.
        history.is_ok_and(|entries| {
            let mut creates = entries
                .iter()
                .map(|numbered| &numbered.value)
                .filter(|entry| entry.operation == Operation::Create);
            creates
                .nth(1)
                .is_some_and(|before| before.ending == Ending::Unknown)
        })
    }

    /// Sends the whole of what is wanted, then reads the group again. `base` is what the edit started from, for
    /// the history.
    pub async fn update(
        &self,
        id: &UserGroupId,
        base: &Wanted,
        wanted: &Wanted,
        assurance: Assurance,
    ) -> Result<Done, Failure> {
        self.permitted(Guarded::Update)?;
        fits(wanted)?;
        if let Some(known) = self.known(id, assurance).await? {
            self.right_environment(&known, assurance)?;
        }
        let request = request(id, wanted);
        let result = self
            .client(Sends::Change(Guarded::Update))
            .await?
            .update(&request, id)
            .await;
        let read = match self.judge(result) {
            Ok(read) => read,
            Err(no) => {
                let failure = no.of_mutation("update", TRY_AGAIN_UPDATE);
                return Err(self.note_failure(Operation::Update, id, failure).await);
            }
        };
        let answered = answered(&read.returned);
        let learnt = Learnt {
            operation: Operation::Update,
            ending: Ending::Updated,
            sent: sent(wanted),
            read,
            changes: Some(Change::between(base, wanted)),
            before: Before::ToRead,
            asked: None,
        };
        let mut done = self.learn(id, learnt).await?.done;
        let different = differences(wanted, &answered);
        done.warnings
            .extend(different.into_iter().map(Warning::Differs));
        // An alarm stops everything that would follow.
        if !done.warnings.iter().any(Warning::is_alarm) {
            self.read_back(id, &mut done).await;
        }
        Ok(done)
    }

    /// The get after an update: what it shows is news, its failure only a warning.
    async fn read_back(&self, id: &UserGroupId, done: &mut Done) {
        match self.look_up(id, Assurance::Exists).await {
            Ok(again) => {
                done.group = again.group;
                done.token = again.token;
                for warning in again.warnings {
                    if !done.warnings.contains(&warning) {
                        done.warnings.push(warning);
                    }
                }
            }
            Err(failure) => done.warnings.push(Warning::NotReadBack {
                why: failure.to_string(),
            }),
        }
    }

    /// A get whose failure leaves nothing behind.
    pub(super) async fn read(
        &self,
        sends: Sends,
        request: &GroupRequest,
        id: &UserGroupId,
    ) -> Result<Read, Failure> {
        let result = self.client(sends).await?.get_or_create(request, id).await;
        self.judge(result).map_err(No::of_read)
    }
}

/// The whole request for what is wanted; what the review shows is exactly what is sent.
pub fn request(id: &UserGroupId, wanted: &Wanted) -> GroupRequest {
    GroupRequest {
        name: wanted.name.clone(),
        user_group_id: id.as_str().to_owned(),
        mapping: wanted.mapping.clone(),
        properties: wanted.properties.clone(),
    }
}

fn sent(wanted: &Wanted) -> Sent {
    Sent {
        name: wanted.name.clone(),
        mapping: wanted.mapping.clone(),
        properties: wanted.properties.clone(),
    }
}

fn answered(returned: &Returned) -> Wanted {
    Wanted {
        name: returned.name.clone(),
        mapping: None,
        properties: returned.properties.clone(),
    }
}
