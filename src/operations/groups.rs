//! Look up, create and update (hazards 1 to 4 and 6 of service.md).

use std::time::Duration;

use super::{Assurance, Done, Failure, Operations, Warning};
use crate::{
    api::{
        answer::{Group, Verdict},
        client::Reply,
        failure::CallError,
        wire::GroupRequest,
    },
    directory::Record,
    domain::{
        change::{Change, Wanted, differences},
        group::UserGroupId,
        history::{Ending, Operation},
        known::{Lesson, Returned, Sent},
        token::Token,
    },
};

/// A good answer, taken apart: what the directory learns, and what is only for the person who asked.
pub(super) struct Read {
    pub returned: Returned,
    pub token: Token,
    pub new_user_group: Option<bool>,
    pub status: u16,
    pub latency: Duration,
}

const TRY_AGAIN_UPDATE: &str = "Read the group; sending the same update again is safe";
const TRY_AGAIN_CREATE: &str = "Creating it again is safe: an existing group is returned unchanged";

impl Operations {
    /// Reads a group. An id that the directory does not know is refused unless a person says that it exists; a get
    /// that created the group ends as [`Ending::CreatedByGet`].
    pub async fn look_up(&self, id: &UserGroupId, assurance: Assurance) -> Result<Done, Failure> {
        let known = self.known(id, assurance).await?;
        let properties = self.profile().read_properties.then(|| {
            known
                .and_then(|group| group.properties)
                .map(|known| known.value)
                .unwrap_or_default()
        });
        let request = GroupRequest {
            user_group_id: id.as_str().to_owned(),
            properties,
            ..GroupRequest::default()
        };
        let read = self.read(&request, id).await?;
        let created = read.new_user_group == Some(true);
        let ending = if created {
            Ending::CreatedByGet
        } else {
            Ending::Found
        };
        let mut done = self
            .learn(
                Operation::Get,
                ending,
                self.lesson(id, Sent::default(), &read),
                read,
                None,
            )
            .await?;
        if created {
            done.warnings.insert(0, Warning::CreatedByGet);
        } else if let Some(fingerprint) = &done.group.fingerprint {
            let settled = self.settle(id, fingerprint.value).await?;
            done.warnings.extend(
                settled
                    .into_iter()
                    .map(|ending| Warning::RotationSettled { ending }),
            );
        }
        Ok(done)
    }

    /// Get-or-create with all that is wanted. A group that was there already is returned unchanged, and the
    /// differences are named.
    pub async fn create(&self, id: &UserGroupId, wanted: &Wanted) -> Result<Done, Failure> {
        self.writable()?;
        let request = request(id, wanted);
        let result = self.client().await?.get_or_create(&request, id).await;
        let read = match self.judge(result) {
            Ok(read) => read,
            Err(no) => {
                let failure = no.of_mutation("create", TRY_AGAIN_CREATE);
                return Err(self.note_failure(Operation::Create, id, failure).await);
            }
        };
        let created = read.new_user_group == Some(true);
        let sent = if created {
            sent(wanted)
        } else {
            Sent::default()
        };
        let answered = answered(&read.returned);
        let creation_unclear = read.new_user_group.is_none();
        let ending = if created {
            Ending::Created
        } else {
            Ending::Existed
        };
        let changes = created.then(|| Change::between(&Wanted::default(), wanted));
        let lesson = self.lesson(id, sent, &read);
        let mut done = self
            .learn(Operation::Create, ending, lesson, read, changes)
            .await?;
        if creation_unclear {
            done.warnings.push(Warning::CreationUnclear);
        }
        let different = differences(wanted, &answered);
        done.warnings
            .extend(different.into_iter().map(Warning::Differs));
        Ok(done)
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
        self.writable()?;
        self.known(id, assurance).await?;
        let request = request(id, wanted);
        let result = self.client().await?.update(&request, id).await;
        let read = match self.judge(result) {
            Ok(read) => read,
            Err(no) => {
                let failure = no.of_mutation("update", TRY_AGAIN_UPDATE);
                return Err(self.note_failure(Operation::Update, id, failure).await);
            }
        };
        let lesson = self.lesson(id, sent(wanted), &read);
        let answered = answered(&read.returned);
        let changes = Change::between(base, wanted);
        let mut done = self
            .learn(
                Operation::Update,
                Ending::Updated,
                lesson,
                read,
                Some(changes),
            )
            .await?;
        let different = differences(wanted, &answered);
        done.warnings
            .extend(different.into_iter().map(Warning::Differs));
        self.read_back(id, &mut done).await;
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
        request: &GroupRequest,
        id: &UserGroupId,
    ) -> Result<Read, Failure> {
        let result = self.client().await?.get_or_create(request, id).await;
        self.judge(result).map_err(No::of_read)
    }

    pub(super) fn judge(&self, result: Result<Reply, CallError>) -> Result<Read, No> {
        match result {
            Ok(Reply {
                verdict: Verdict::Success(group),
                status,
                latency,
            }) => Ok(self.take_apart(group, status, latency)),
            Ok(reply) => Err(No::Answered(reply)),
            Err(error) => Err(No::Failed(error)),
        }
    }

    pub(super) fn take_apart(&self, group: Group, status: u16, latency: Duration) -> Read {
        Read {
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
        }
    }

    pub(super) fn lesson(&self, id: &UserGroupId, sent: Sent, read: &Read) -> Lesson {
        Lesson {
            id: id.clone(),
            sent,
            returned: Some(read.returned.clone()),
            rotated: false,
            at: self.now(),
            by: self.operator().to_owned(),
        }
    }

    /// Writes down a good answer and says what it means for the person who asked.
    async fn learn(
        &self,
        operation: Operation,
        ending: Ending,
        lesson: Lesson,
        read: Read,
        changes: Option<Change>,
    ) -> Result<Done, Failure> {
        let id = lesson.id.clone();
        let before = self.show(&id).await.map_err(Failure::NotWritten)?;
        let previous = before.and_then(|group| group.fingerprint);
        let changed = previous
            .as_ref()
            .is_some_and(|known| known.value != read.returned.fingerprint);
        // A get that found what was expected is no history; one that noticed something is.
        let entry =
            (operation != Operation::Get || ending != Ending::Found || changed).then(|| {
                let mut entry = self.entry(operation, &id, ending);
                entry.previous_fingerprint = previous.as_ref().map(|known| known.value);
                entry.fingerprint = Some(read.returned.fingerprint);
                entry.changes = changes.as_ref().and_then(super::recording::changes_json);
                entry.note = changed.then(|| Warning::TokenChangedElsewhere.to_string());
                entry
            });
        let record = Record {
            lesson: Some(lesson),
            entry,
            rotation: None,
        };
        let recorded = self.write(record).await?;
        let mut warnings = self.tag_alarm(&read.returned);
        warnings.extend(Warning::of(&recorded.noticed));
        Ok(Done {
            ending,
            group: recorded
                .group
                .unwrap_or_else(|| crate::domain::known::KnownGroup::new(id)),
            token: Some(read.token),
            previous_fingerprint: previous.map(|known| known.value),
            warnings,
            status: read.status,
            latency: read.latency,
            rotation: None,
        })
    }

    fn tag_alarm(&self, returned: &Returned) -> Vec<Warning> {
        match (&self.profile().environment, &returned.environment_tag) {
            (Some(expected), Some(got)) if expected != got => vec![Warning::WrongTag {
                expected: expected.clone(),
                got: got.clone(),
            }],
            _ => Vec::new(),
        }
    }
}

/// Anything but a good answer.
pub(super) enum No {
    Answered(Reply),
    Failed(CallError),
}

impl No {
    fn of_read(self) -> Failure {
        match self {
            Self::Answered(reply) => match reply.verdict {
                Verdict::Refused { words, .. } => refused(reply.status, words),
                verdict @ (Verdict::Success(_) | Verdict::SameToken(_) | Verdict::Unclear(_)) => {
                    Failure::Unreadable(explain(&verdict))
                }
            },
            Self::Failed(error) => Failure::Unreachable(error),
        }
    }

    fn of_mutation(self, operation: &'static str, next: &'static str) -> Failure {
        let unknown = |why| Failure::Unknown {
            operation,
            why,
            next,
        };
        match self {
            Self::Answered(reply) => match reply.verdict {
                Verdict::Refused {
                    stated: true,
                    words,
                    ..
                } => refused(reply.status, words),
                verdict => unknown(explain(&verdict)),
            },
            Self::Failed(error @ CallError::NotSent { .. }) => Failure::Unreachable(error),
            Self::Failed(error @ CallError::Lost { .. }) => unknown(error.to_string()),
        }
    }
}

pub(super) fn refused(status: u16, words: Option<String>) -> Failure {
    if status == 401 {
        Failure::KeyRefused { words }
    } else {
        Failure::Refused { status, words }
    }
}

/// What was wrong with an answer, in words.
pub(super) fn explain(verdict: &Verdict) -> String {
    verdict
        .explain()
        .unwrap_or_else(|| "the answer is a success of another kind than was asked for".into())
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
